//! Why there is no answer at all. What an answer lacks is not an error: the answer says it.

use crate::query::BadQuery;
use crate::spool::SpoolError;
use schema::message;

/// What a client that was refused is told to wait, in seconds.
pub(crate) const RETRY_AFTER_S: u64 = 2;

/// Why a frontend cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is nobody to ask.
    #[error("a frontend needs at least one backend")]
    NoBackends,
    /// More than a pointer can tell apart.
    #[error("{0} backends, the most is {max}", max = u16::MAX)]
    TooManyBackends(usize),
    /// The spool directory cannot be used.
    #[error("the spool cannot be used")]
    Spool(#[from] SpoolError),
    /// The operating system gives no thread.
    #[error("no thread for a backend's connection")]
    Thread(#[source] std::io::Error),
}

/// Why a query has no answer, not even an incomplete one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SearchError {
    /// The query's fault.
    #[error(transparent)]
    BadQuery(#[from] BadQuery),
    /// Too many queries run and wait already.
    #[error("too many queries are running, try again in {retry_after_s} s")]
    Overloaded {
        /// When to ask again, in seconds.
        retry_after_s: u64,
    },
    /// The documents of that time cannot be searched any more.
    #[error("the documents have changed since: generation {generation} is not held any more")]
    Gone {
        /// What was asked for.
        generation: String,
    },
}

/// Why a part of a document, or a list, cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Nobody who answered has it, or all of it, and not everybody did.
    #[error("no answer from {}", names(.0))]
    Unreachable(Vec<(String, String)>),
    /// The name is longer than a request may be.
    #[error("the request cannot be sent")]
    Request(#[from] message::MessageError),
}

fn names(backends: &[(String, String)]) -> String {
    let each = |(name, reason): &(String, String)| format!("{name} ({reason})");
    backends.iter().map(each).collect::<Vec<_>>().join(", ")
}
