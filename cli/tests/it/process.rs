//! Running and finished processes.

use crate::{WAIT_MAX, poll};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Dropping it kills it.
pub(crate) struct Process(Child);

#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if ended by a signal.
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

    pub(crate) fn signal(&self, name: &str) {
        self.signals().send(name);
    }

    pub(crate) fn signals(&self) -> Signals {
        Signals(self.0.id())
    }

    /// Excludes program pages, which depend on linked code.
    pub(crate) fn memory_bytes(&self) -> usize {
        let path = format!("/proc/{}/status", self.0.id());
        let status = std::fs::read_to_string(path).expect("it runs");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.expect("a line of its own").parse::<usize>().unwrap() << 10
    }

    pub(crate) fn descriptors(&self) -> Vec<String> {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.0.id())).expect("it runs");
        // The descriptor may be closed before.
        let leads = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        leads.map(|to| to.to_string_lossy().into_owned()).collect()
    }

    pub(crate) fn wait(&mut self, max: Duration) -> ExitStatus {
        poll("the end of a process", max, || self.0.try_wait().unwrap())
    }

    pub(crate) fn kill(mut self) -> bool {
        let _ = self.0.kill();
        self.wait(WAIT_MAX).signal() == Some(9)
    }

    pub(crate) fn stdout(&mut self) -> impl Read + Send + use<> {
        self.0.stdout.take().expect("a pipe")
    }
}

/// The process must not have ended.
#[derive(Clone, Copy)]
pub(crate) struct Signals(u32);

impl Signals {
    pub(crate) fn send(self, name: &str) {
        // The standard library can only kill.
        let kill = format!("kill -{name} {}", self.0);
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{kill}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn finish(command: &mut Command) -> Finished {
    let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let stdout = read_to_end(process.stdout());
    let stderr = read_to_end(process.0.stderr.take().expect("a pipe"));
    let status = process.wait(WAIT_MAX);
    Finished {
        code: status.code(),
        stdout: stdout.join().unwrap(),
        stderr: String::from_utf8(stderr.join().unwrap()).expect("messages are UTF-8"),
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
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// Status `code`, no panic, all of `says` on standard error.
    pub(crate) fn check(&self, what: &str, code: i32, says: &[&str]) {
        let stderr = &self.stderr;
        assert_eq!(self.code, Some(code), "{what}: {stderr}");
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        for says in says {
            assert!(stderr.contains(says), "{what}: no `{says}` in: {stderr}");
        }
    }

    pub(crate) fn ok(self) -> Vec<u8> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }
}
