//! Why a look-up has no answer.

use std::path::PathBuf;

/// Why a repository, a revision or a log was not read. No variant affects another repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No repository has the name.
    #[error("no repository has this name{}", nearest(.candidates))]
    UnknownRepository {
        /// Names that resemble it, nearest first.
        candidates: Vec<String>,
    },
    /// The repository has no such branch, tag, commit or ancestor.
    #[error("no commit has this name{}", nearest(.candidates))]
    UnknownRevision {
        /// Branches, tags and commit ids that resemble it, nearest first.
        candidates: Vec<String>,
    },
    /// Several objects have the prefix.
    #[error("several objects have this prefix{}", nearest(.candidates))]
    Ambiguous {
        /// Their ids, commits first.
        candidates: Vec<String>,
    },
    /// The question has no answer by rule: a form that is not supported, or a bound.
    #[error("{reason}")]
    Refused {
        /// What was refused, and what to ask instead.
        reason: String,
    },
    /// The repository is damaged, or reading it failed.
    #[error("{reason}")]
    Unreadable {
        /// What could not be read, and why.
        reason: String,
    },
}

impl LookupError {
    pub(crate) fn refused(reason: impl Into<String>) -> LookupError {
        LookupError::Refused {
            reason: reason.into(),
        }
    }

    pub(crate) fn unreadable(reason: impl Into<String>) -> LookupError {
        LookupError::Unreadable {
            reason: reason.into(),
        }
    }
}

/// Why the directory of repositories could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the directory of repositories {}", path.display())]
pub struct RootError {
    /// The directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

fn nearest(candidates: &[String]) -> String {
    if candidates.is_empty() {
        return String::new();
    }
    format!("; nearest: {}", candidates.join(", "))
}
