//! Why an index could not be built.

use crate::corpus::CorpusError;
use crate::directory::IndexError;
use crate::shard::ShardError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an index could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A source cannot be used.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The index directory cannot be used.
    #[error(transparent)]
    Directory(#[from] IndexError),
    /// The index directory cannot be written.
    #[error("{}: cannot be written", path.display())]
    Write {
        /// The index directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The manifest cannot be used, so it is unknown which packages would be lost.
    #[error("{0}; with --prune the index is rebuilt from the given sources alone")]
    Unusable(IndexError),
    /// A package that is to be removed is not in the index.
    #[error("no package `{name}` in the index{}", did_you_mean(nearest.as_deref()))]
    UnknownPackage {
        /// The name that was given.
        name: String,
        /// The most similar name in the index, if one is similar.
        nearest: Option<String>,
    },
    /// There is no index yet, and none of the repositories could be read.
    #[error("no repository could be read, so no index was written: {}", problems(.0))]
    NothingRead(Vec<(String, String)>),
    /// A source has the name of a package that is read from another place.
    #[error(
        "two sources have the name `{package}`: the {known}, which the index has, and the {given}; \
             drop the first with --remove {package}, or put both below one directory and name that with \
             --git-dir-each or --each"
    )]
    SameName {
        /// The name.
        package: String,
        /// The place that the index has it from.
        known: String,
        /// The other place.
        given: String,
    },
    /// A package is to be removed and is also among the sources.
    #[error("package `{name}` is to be removed and is also among the sources: drop one of the two")]
    RemovedAndGiven {
        /// Its directory's name.
        name: String,
    },
    /// Packages must be read again and are not among the sources.
    #[error("{}: {why}, but these are not among the sources: {}; name their directories too, or \
             drop them with --prune", path.display(), list(packages))]
    NotGiven {
        /// The index directory.
        path: PathBuf,
        /// Why they must be read again.
        why: &'static str,
        /// Their directories' names.
        packages: Vec<String>,
    },
}

impl BuildError {
    /// Converts errors of writing to the index directory `path`.
    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> BuildError + Copy {
        |source| BuildError::Write {
            path: path.to_owned(),
            source,
        }
    }
}

impl From<ShardError> for BuildError {
    fn from(error: ShardError) -> Self {
        BuildError::Directory(error.into())
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    let ask = |nearest| format!("; did you mean `{nearest}`?");
    nearest.map(ask).unwrap_or_default()
}

fn problems(problems: &[(String, String)]) -> String {
    let more = problems.len().saturating_sub(LISTED_MAX);
    let listed = problems[..problems.len() - more].iter();
    let listed: Vec<String> = listed.map(|(name, why)| format!("{name}: {why}")).collect();
    match more {
        0 => listed.join("; "),
        _ => format!("{}; and {more} more", listed.join("; ")),
    }
}

/// Names listed in a message, at most; a longer list does not help.
const LISTED_MAX: usize = 10;

fn list(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED_MAX);
    let listed = names[..names.len() - more].join(", ");
    match more {
        0 => listed,
        _ => format!("{listed} and {more} more"),
    }
}
