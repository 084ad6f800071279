//! Errors without any result. A lost backend is not one: the result names it.

use query::BadQuery;
use results::spool::SpoolError;
use schema::message::{self, LookupProblem};

/// Seconds until a refused client should try again.
pub(crate) const RETRY_AFTER_S: u64 = 2;

/// The same while draining: another frontend may answer at once.
pub(crate) const DRAINING_RETRY_S: u64 = 1;

/// Time limit of look-ups in repositories.
pub(crate) const LOOK_UP_MAX_S: u64 = 10;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("a frontend needs at least one backend")]
    NoBackends,
    /// More backends than a pointer can address.
    #[error("{0} backends are configured, the limit is {max}", max = u16::MAX)]
    TooManyBackends(usize),
    /// The spool directory cannot be used.
    #[error("cannot use the spool")]
    Spool(#[from] SpoolError),
    /// The operating system refused a thread.
    #[error("cannot start a thread for a backend's connection")]
    Thread(#[source] std::io::Error),
}

/// Reason that a query has no result, not even an incomplete one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    BadQuery(#[from] BadQuery),
    /// Too many queries run and wait.
    #[error("too many queries are running, try again in {retry_after_s} s")]
    Overloaded { retry_after_s: u64 },
    /// The frontend is about to end.
    #[error(
        "this server is about to stop and starts no search any more, try again in {retry_after_s} s"
    )]
    Draining { retry_after_s: u64 },
    /// The client withdrew. The search continues for others.
    #[error("this search was ended by its client")]
    Withdrawn,
    /// The requested generation is no longer served.
    #[error("the index has changed: generation {generation} is not available any more")]
    Gone { generation: String },
}

/// Error of reading a document or list.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Backends without an answer, with reasons; the others do not have all of it.
    #[error("no answer from {}", names(.0))]
    Unreachable(Vec<(String, String)>),
    #[error("cannot encode the request")]
    Request(#[from] message::MessageError),
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum LookupError {
    #[error("no backend has repositories")]
    NoRepositories,
    /// Backends without an answer, with reasons; the others lack the repository.
    #[error("no answer from {}", names(.0))]
    Unreachable(Vec<(String, String)>),
    /// A backend has no such commit, or cannot tell.
    #[error("{}", .0.reason)]
    Problem(LookupProblem),
    /// Too many callers wait.
    #[error("too many requests wait for look-ups in repositories")]
    Busy,
    /// Too many look-ups waited, or backends were slow.
    #[error("the look-up was not answered within {LOOK_UP_MAX_S} s")]
    Late,
}

fn names(backends: &[(String, String)]) -> String {
    let each = |(name, reason): &(String, String)| format!("{name} ({reason})");
    backends.iter().map(each).collect::<Vec<_>>().join(", ")
}
