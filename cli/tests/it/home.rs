//! Home, cache and working directory of a test's processes.

use crate::http;
use crate::process::{Finished, Process, finish};
use crate::{WAIT_MAX, poll};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use tempfile::{NamedTempFile, TempDir};

const TRAWL: &str = env!("CARGO_BIN_EXE_trawl");

const VARIABLES: [&str; 13] = [
    "XDG_RUNTIME_DIR",
    "TRAWL_LOG",
    "TRAWL_SERVER",
    "TRAWL_KEY",
    "TRAWL_CONFIG",
    "XDG_CONFIG_HOME",
    "CARGO_HOME",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "NO_COLOR",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_SERVICE_NAME",
];

/// Paths are relative to it.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("every path is below the home")).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn shard(&self, index: &str) -> PathBuf {
        let files = fs::read_dir(self.path(index)).unwrap();
        let mut shards = files
            .map(|file| file.unwrap().path())
            .filter(|file| is_shard(file));
        let shard = shards.next().expect("a shard");
        assert_eq!(shards.next(), None, "one shard");
        shard
    }

    /// Arguments are separated by spaces; `''` is an empty one.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(TRAWL);
        let arguments = arguments.split_whitespace();
        command
            .args(arguments.map(|argument| if argument == "''" { "" } else { argument }))
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("XDG_CACHE_HOME", self.path("cache"));
        VARIABLES.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Finished {
        finish(&mut self.command(arguments))
    }

    pub(crate) fn ok(&self, arguments: &str) -> Vec<u8> {
        self.run(arguments).ok()
    }

    /// Waits until `trawl` listens on a free port.
    pub(crate) fn start(&self, arguments: &str) -> Server {
        self.start_command(self.command(arguments))
    }

    pub(crate) fn start_command(&self, mut command: Command) -> Server {
        let log = NamedTempFile::new_in(self.0.path()).unwrap();
        command.stderr(log.reopen().unwrap());
        self.start_logging(command, log)
    }

    /// [`start`](Self::start) with the command's own standard error.
    pub(crate) fn start_unlogged(&self, command: Command) -> Server {
        self.start_logging(command, NamedTempFile::new_in(self.0.path()).unwrap())
    }

    fn start_logging(&self, mut command: Command, log: NamedTempFile) -> Server {
        command.args(["--listen", "127.0.0.1:0"]);
        command.stdout(Stdio::piped());
        let mut process = Process::start(&mut command);
        let (sender, receiver) = mpsc::channel();
        let mut stdout = BufReader::new(process.stdout());
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = sender.send(line);
        });
        let line = receiver.recv_timeout(WAIT_MAX).unwrap_or_default();
        let mut server = Server {
            process,
            address: String::new(),
            has_metrics: line.contains("http://"),
            log,
        };
        server.address =
            address_in(&line).unwrap_or_else(|| panic!("no address: {}", server.log()));
        server
    }
}

/// Dropping it kills it, and fails if it panicked.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: String,
    has_metrics: bool,
    log: NamedTempFile,
}

impl Server {
    pub(crate) fn check_no_panic(&self) {
        assert!(!self.log().contains("panicked"), "{}", self.log());
    }

    /// A thread writes the log.
    pub(crate) fn log_with(&self, says: &str) -> String {
        poll(says, WAIT_MAX, || {
            let log = self.log();
            log.contains(says).then_some(log)
        })
    }

    /// The directory may be gone.
    pub(crate) fn log(&self) -> String {
        let file = self.log.as_file();
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        self.check_no_panic();
        // The server may have ended, or require a key.
        let panics = self.has_metrics.then(|| http::panics(&self.address));
        assert!(panics.flatten().is_none_or(|panics| panics == 0));
    }
}

fn is_shard(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "shard")
}

/// Parses `backend of I on 127.0.0.1:1234` or `http://127.0.0.1:1234/`, also `https`.
fn address_in(line: &str) -> Option<String> {
    let line = line.strip_suffix('\n')?;
    let address = match line.split_once("://") {
        Some((_, rest)) => rest.strip_suffix('/')?,
        None => line.strip_prefix("backend of ")?.rsplit_once(" on ")?.1,
    };
    Some(address.to_owned())
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    poll(what, WAIT_MAX, || holds().then_some(()));
}
