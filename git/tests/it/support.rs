//! Repositories made by `git`, with fixed names and times.

use git::Repositories;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub(crate) struct Root {
    directory: TempDir,
}

pub(crate) struct Worktree {
    pub(crate) path: PathBuf,
}

impl Root {
    pub(crate) fn new() -> Root {
        let directory = tempfile::tempdir().expect("the system has room");
        std::fs::create_dir(directory.path().join("root")).expect("the directory is new");
        Root { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    /// Beside the root; no look-up may read it.
    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    pub(crate) fn repositories(&self) -> Repositories {
        Repositories::new(&self.path()).expect("the directory exists")
    }

    pub(crate) fn init(&self, name: &str) -> Worktree {
        init(&self.path().join(name), &[])
    }
}

pub(crate) fn init(path: &Path, flags: &[&str]) -> Worktree {
    std::fs::create_dir_all(path).expect("the directory can be made");
    let worktree = Worktree {
        path: path.to_owned(),
    };
    worktree.git([&["init", "-q", "-b", "main"], flags].concat());
    worktree
}

impl Worktree {
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        let (text, error) = self.try_git(arguments);
        assert_eq!(error, None, "{text}");
        text
    }

    /// Returns output and error.
    pub(crate) fn try_git<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> (String, Option<String>) {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.path)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", "/nonexistent")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org")
            .env("GIT_AUTHOR_DATE", "1700000000 +0100")
            .env("GIT_COMMITTER_NAME", "Bob")
            .env("GIT_COMMITTER_EMAIL", "bob@example.org")
            .env("GIT_COMMITTER_DATE", self.clock())
            .output()
            .expect("git is installed: apt install git");
        let text = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (text, (!output.status.success()).then_some(error))
    }

    pub(crate) fn commit(&self, file: &str, text: &str, message: &str) -> String {
        let path = self.path.join(file);
        std::fs::create_dir_all(path.parent().expect("a file has a directory"))
            .expect("it can be made");
        std::fs::write(path, text).expect("a file can be written");
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "-m", message]);
        self.git(["rev-parse", "HEAD"])
    }

    pub(crate) fn commits(&self, number: usize) {
        for index in 0..number {
            self.commit("file", &format!("{index}\n"), &format!("change {index}"));
        }
    }

    /// Time of the next commit: a second later.
    fn clock(&self) -> String {
        let path = self.path.join(".clock");
        let hidden = self.path.with_extension("clock");
        let path = if self.path.join(".git").exists() {
            self.path.join(".git/clock")
        } else {
            hidden.with_file_name(path.file_name().expect("it has a name"))
        };
        let seconds: u64 = std::fs::read_to_string(&path)
            .ok()
            .and_then(|it| it.parse().ok())
            .unwrap_or(1_700_000_000);
        let _ = std::fs::write(path, (seconds + 1).to_string());
        format!("{seconds} +0000")
    }
}
