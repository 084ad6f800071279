//! Search of the files of a directory, as ripgrep does it: `trawl grep`.
//!
//! [`flags`] reads ripgrep's command line into [`Arguments`], [`haystack`] walks the directories,
//! [`search`] prints the matches with ripgrep's own crates. `rg` 15.2 is the specification: output,
//! order of flags, messages and exit status.
//!
//! In a large tree, [`session`] finds the files that can match. A process in the background
//! ([`service`]) keeps the index of each [`tree`], watches it, and says what changed since. Without
//! the process, files are compared with the index, and without an index all are searched.

mod arguments;
mod cache;
mod condition;
mod config;
mod connection;
mod diagnostics;
mod doorbell;
mod fields;
mod flags;
mod haystack;
mod help;
mod input;
mod message;
mod mounts;
mod pattern;
mod place;
mod program;
mod search;
mod service;
mod session;
mod tree;
mod watch;
mod worker;

pub use program::{Outcome, Program};

use anyhow::{Context, bail};
use connection::{ConnectError, Connection};
use diagnostics::Diagnostics;
use message::Request;
use place::Place;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Runs the command line after the name of the command. Indexes are below `cache`.
pub fn run(program: Program, words: Vec<OsString>, cache: Option<&Path>) -> Outcome {
    let diagnostics = Diagnostics::new(program);
    match execute(words, cache, &diagnostics) {
        Ok(outcome) => outcome,
        Err(error) if is_broken_pipe(&error) => Outcome::Match,
        Err(error) => {
            diagnostics.print(&format!("{error:#}"));
            Outcome::Error
        }
    }
}

/// Git root of a directory, unless it is too wide for an index: the home directory or one above.
pub fn git_root(directory: &Path) -> Option<PathBuf> {
    let root = session::root_of(directory);
    let has_git = root.join(".git").symlink_metadata().is_ok();
    (has_git && !place::is_too_wide(&root)).then_some(root)
}

/// Tests for a directory that is not indexed unless it is named: the home directory or one above.
pub fn is_too_wide(directory: &Path) -> bool {
    place::is_too_wide(directory)
}

/// Serves the searches of this user until there is none for a while; indexes `root` at once.
///
/// # Errors
/// No private directory for the socket, or no socket.
pub fn serve(cache: &Path, root: Option<&Path>) -> anyhow::Result<()> {
    service::run(place(cache)?, root)
}

/// Updates the index of a tree, as a child of the serving process. Files that changed at or after
/// `from_ns`, and those named on stdin with NUL bytes between, are compared by their bytes.
///
/// # Errors
/// The tree cannot be listed, or the index not be written.
pub fn index(root: PathBuf, directory: &Path, from_ns: Option<i128>) -> anyhow::Result<()> {
    tree::index(root, directory, from_ns, io::stdin().lock())
}

/// Trees and memory of the serving process, if there is one.
///
/// # Errors
/// The process does not answer.
pub fn status(cache: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    ask(cache, &Request::Status)
}

/// Lists the indexes on disk, without a process.
///
/// # Errors
/// `/proc` is not readable.
pub fn indexes(cache: &Path) -> anyhow::Result<String> {
    Ok(cache::status(&place(cache)?, |_| false))
}

/// Sets the limit of all indexes on disk for good, and removes what is beyond.
///
/// # Errors
/// No private directory, or the process does not answer.
pub fn set_limit(cache: &Path, bytes: u64) -> anyhow::Result<()> {
    let place = place(cache)?;
    place.create()?;
    cache::set_limit(&place, bytes).context("cannot write the limit")?;
    if ask(cache, &Request::Evict)?.is_none() {
        cache::evict(&place, |_, _| {});
    }
    Ok(())
}

/// Brings the indexes of the serving process up to date, and returns its status.
///
/// # Errors
/// The process does not answer.
pub fn update(cache: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    ask(cache, &Request::Update)
}

/// Ends the serving process; `None` if there is none.
///
/// # Errors
/// The process does not answer.
pub fn stop(cache: &Path) -> anyhow::Result<Option<()>> {
    Ok(ask(cache, &Request::Stop)?.map(drop))
}

fn ask(cache: &Path, request: &Request) -> anyhow::Result<Option<Vec<u8>>> {
    let place = place(cache)?;
    match Connection::open(&place) {
        Err(ConnectError::Absent) => Ok(None),
        Err(ConnectError::Refused) => bail!("cannot connect to {}", place.socket().display()),
        Ok(connection) => Ok(Some(connection.patient()?.ask(request)?)),
    }
}

fn place(cache: &Path) -> anyhow::Result<Place> {
    Place::new(Some(cache)).context("/proc is not readable")
}

fn execute(
    words: Vec<OsString>,
    cache: Option<&Path>,
    diagnostics: &Diagnostics,
) -> anyhow::Result<Outcome> {
    let mut arguments = flags::parse(words.clone())?;
    diagnostics.configure(&arguments);
    if let Some(special) = arguments.special {
        return help::print(diagnostics.program(), special);
    }
    if !arguments.no_config {
        let configured = config::words(diagnostics);
        if !configured.is_empty() {
            arguments = flags::parse(configured.into_iter().chain(words).collect())?;
            diagnostics.configure(&arguments);
        }
    }
    search::run(arguments, cache, diagnostics)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
