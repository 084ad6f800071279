//! A process that ends with its test, and what came of one that ended by itself.

use crate::{WAIT_MAX, poll};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A running process; dropping it kills it.
pub(crate) struct Process(Child);

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None`: a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Process {
        Process(
            command
                .stdin(Stdio::null())
                .spawn()
                .expect("the binary is there"),
        )
    }

    /// Sends a signal by its name: `INT`, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        self.signals().send(name);
    }

    /// What sends signals to it from elsewhere.
    pub(crate) fn signals(&self) -> Signals {
        Signals(self.0.id())
    }

    /// What it has in memory, as the operating system counts it.
    pub(crate) fn memory_bytes(&self) -> usize {
        let path = format!("/proc/{}/status", self.0.id());
        let status = std::fs::read_to_string(path).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.expect("a line of its own").parse::<usize>().unwrap() << 10
    }

    /// What its descriptors lead to.
    pub(crate) fn descriptors(&self) -> Vec<String> {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.0.id())).expect("it runs");
        // One that has been closed meanwhile leads nowhere.
        let leads = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        leads.map(|to| to.to_string_lossy().into_owned()).collect()
    }

    /// Processor time that it has used so far, in the system's ticks of 10 ms.
    pub(crate) fn cpu_time(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.0.id());
        let stat = std::fs::read_to_string(path).expect("it runs");
        // Behind the name, which may hold anything, stands field 3.
        let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(10 * ticks)
    }

    /// Waits for its end, for `max` at most.
    pub(crate) fn wait(&mut self, max: Duration) -> ExitStatus {
        poll("the end of a process", max, || self.0.try_wait().unwrap())
    }

    /// Kills it. Whether that was before its own end.
    pub(crate) fn kill(mut self) -> bool {
        let _ = self.0.kill();
        self.wait(WAIT_MAX).signal() == Some(9)
    }

    /// What it writes to its standard output, which must be a pipe.
    pub(crate) fn stdout(&mut self) -> impl Read + Send + use<> {
        self.0.stdout.take().expect("a pipe")
    }
}

/// Sends signals to a process that is still there.
#[derive(Clone, Copy)]
pub(crate) struct Signals(u32);

impl Signals {
    pub(crate) fn send(self, name: &str) {
        // The standard library can only kill, and `kill` is the one builtin that every sh has.
        let kill = format!("kill -{name} {}", self.0);
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{kill}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails when it has ended, which is just as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command to its end, with pipes for its output.
pub(crate) fn finish(command: &mut Command) -> Finished {
    let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let stdout = read_to_end(process.stdout());
    let stderr = read_to_end(process.0.stderr.take().expect("a pipe"));
    let status = process.wait(WAIT_MAX);
    Finished {
        code: status.code(),
        stdout: stdout.join().unwrap(),
        stderr: String::from_utf8(stderr.join().unwrap()).expect("messages are text"),
    }
}

fn read_to_end(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Finished {
    /// What it printed, which must be text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// Checks that it ended with `code`, without a panic, and said all of `says`. `what` it was is
    /// for the failure.
    pub(crate) fn check(&self, what: &str, code: i32, says: &[&str]) {
        let stderr = &self.stderr;
        assert_eq!(self.code, Some(code), "{what}: {stderr}");
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        for says in says {
            assert!(stderr.contains(says), "{what}: no `{says}` in: {stderr}");
        }
    }

    /// What it printed, when it ended with 0.
    pub(crate) fn ok(self) -> Vec<u8> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }
}
