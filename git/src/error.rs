//! Errors of look-ups, and names that resemble an unknown one.

use std::path::PathBuf;

/// Failed look-up. No variant affects another repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("no repository has this name{}", nearest(.candidates))]
    UnknownRepository {
        /// Nearest first.
        candidates: Vec<String>,
    },
    /// No such branch, tag, commit or ancestor.
    #[error("no commit has this name{}", nearest(.candidates))]
    UnknownRevision {
        /// Branches, tags and ids, nearest first.
        candidates: Vec<String>,
    },
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

pub(crate) type Result<T, E = LookupError> = std::result::Result<T, E>;

macro_rules! refused {
    ($($reason:tt)+) => { $crate::LookupError::Refused { reason: format!($($reason)+) } };
}

macro_rules! unreadable {
    ($($reason:tt)+) => { $crate::LookupError::Unreadable { reason: format!($($reason)+) } };
}

pub(crate) use {refused, unreadable};

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

pub(crate) const CANDIDATES_MAX: usize = 5;

/// Bounds the time of a comparison.
const NAME_BYTES_MAX: usize = 255;

const NAMES_MAX: usize = 20_000;

/// Names that resemble `typed`, nearest first. A third of the letters, at least one, may differ;
/// names that contain it count as near.
pub fn similar<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    if typed.is_empty() || typed.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let most = (typed.chars().count() / 3).max(1);
    let distance = |name: &str| {
        if typed.len() > 2 && name.contains(typed) {
            return Some(most);
        }
        let is_near = name.len().abs_diff(typed.len()) <= most * 4 && name.len() <= NAME_BYTES_MAX;
        Some(is_near.then(|| strsim::osa_distance(typed, name))?).filter(|it| *it <= most)
    };
    let mut near: Vec<(usize, &str)> = (names.into_iter().take(NAMES_MAX))
        .filter_map(|name| Some((distance(name)?, name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(CANDIDATES_MAX);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}
