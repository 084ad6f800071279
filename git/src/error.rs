//! Errors of look-ups.

use std::path::PathBuf;

/// Failed look-up. No variant affects another repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Unknown repository.
    #[error("no repository has this name{}", nearest(.candidates))]
    UnknownRepository {
        /// Similar names, nearest first.
        candidates: Vec<String>,
    },
    /// No such branch, tag, commit or ancestor.
    #[error("no commit has this name{}", nearest(.candidates))]
    UnknownRevision {
        /// Similar branches, tags and ids, nearest first.
        candidates: Vec<String>,
    },
    /// Several objects have the prefix.
    #[error("several objects have this prefix{}", nearest(.candidates))]
    Ambiguous {
        /// Ids, commits first.
        candidates: Vec<String>,
    },
    /// Unsupported form, or a bound.
    #[error("{reason}")]
    Refused {
        /// Refused part, and an alternative.
        reason: String,
    },
    /// Damage, or a failed read.
    #[error("{reason}")]
    Unreadable {
        /// Unreadable part, and the cause.
        reason: String,
    },
}

/// Result of a look-up, unless it names another error.
pub(crate) type Result<T, E = LookupError> = std::result::Result<T, E>;

/// [`LookupError::Refused`] with a formatted reason.
macro_rules! refused {
    ($($reason:tt)+) => { $crate::LookupError::Refused { reason: format!($($reason)+) } };
}

/// [`LookupError::Unreadable`] with a formatted reason.
macro_rules! unreadable {
    ($($reason:tt)+) => { $crate::LookupError::Unreadable { reason: format!($($reason)+) } };
}

pub(crate) use {refused, unreadable};

/// Unreadable directory of repositories.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the directory of repositories {}", path.display())]
pub struct RootError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

fn nearest(candidates: &[String]) -> String {
    if candidates.is_empty() {
        return String::new();
    }
    format!("; nearest: {}", candidates.join(", "))
}
