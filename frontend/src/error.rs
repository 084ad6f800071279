//! Why there is no result at all. A lost backend is not an error: the result names it.

use crate::query::BadQuery;
use crate::spool::SpoolError;
use schema::message::{self, LookupProblem};

/// When a refused client should try again, in seconds.
pub(crate) const RETRY_AFTER_S: u64 = 2;

/// When a client whose search was not started because the frontend drains should try again: another frontend may answer at
/// once.
pub(crate) const DRAINING_RETRY_S: u64 = 1;

/// Why a frontend cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No backend is configured.
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

/// Why a query has no result, not even an incomplete one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is invalid.
    #[error(transparent)]
    BadQuery(#[from] BadQuery),
    /// Too many queries run and wait already.
    #[error("too many queries are running, try again in {retry_after_s} s")]
    Overloaded {
        /// When to try again, in seconds.
        retry_after_s: u64,
    },
    /// The frontend is about to end.
    #[error(
        "this server is about to stop and starts no search any more, try again in {retry_after_s} s"
    )]
    Draining {
        /// When to try again, in seconds.
        retry_after_s: u64,
    },
    /// The client has ended its interest. The search goes on for others.
    #[error("this search was ended by its client")]
    Withdrawn,
    /// The requested generation is not served any more.
    #[error("the index has changed: generation {generation} is not available any more")]
    Gone {
        /// The requested generation.
        generation: String,
    },
}

/// Why a document or a list cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// These backends did not answer, and the others do not have all of it. Names and reasons.
    #[error("no answer from {}", names(.0))]
    Unreachable(Vec<(String, String)>),
    /// The request is too large.
    #[error("cannot encode the request")]
    Request(#[from] message::MessageError),
}

/// Why a repository was not asked, or did not answer as wanted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LookupError {
    /// No backend answers for repositories.
    #[error("no backend has repositories")]
    NoRepositories,
    /// These backends did not answer, and the others do not have the repository. Names and reasons.
    #[error("no answer from {}", names(.0))]
    Unreachable(Vec<(String, String)>),
    /// A backend has answered that there is no such commit, or that it cannot tell.
    #[error("{}", .0.reason)]
    Problem(LookupProblem),
    /// Too many callers wait for look-ups.
    #[error("too many requests wait for look-ups in repositories")]
    Busy,
    /// Too many look-ups were waiting, or the backends were slow.
    #[error("the look-up was not answered within {seconds} s")]
    Late {
        /// The time that it had.
        seconds: u64,
    },
}

fn names(backends: &[(String, String)]) -> String {
    let each = |(name, reason): &(String, String)| format!("{name} ({reason})");
    backends.iter().map(each).collect::<Vec<_>>().join(", ")
}
