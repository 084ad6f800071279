//! Errors of a build.

use crate::corpus::CorpusError;
use crate::directory::IndexError;
use crate::shard::ShardError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    #[error(transparent)]
    Directory(#[from] IndexError),
    #[error("{}: cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// Unusable manifest: a rebuild could lose packages.
    #[error("{0}; with --prune the index is rebuilt from the given sources alone")]
    Unusable(IndexError),
    #[error("no package `{name}` in the index{}", did_you_mean(nearest.as_deref()))]
    UnknownPackage {
        name: String,
        nearest: Option<String>,
    },
    #[error("no repository could be read, so no index was written: {}", problems(.0))]
    NothingRead(Vec<(String, String)>),
    #[error(
        "two sources have the name `{package}`: the {known}, which the index has, and the {given}; \
             drop the first with --remove {package}, or put both below one directory and name that with \
             --git-dir-each or --each"
    )]
    SameName {
        package: String,
        known: String,
        given: String,
    },
    #[error("package `{name}` is to be removed and is also among the sources: drop one of the two")]
    RemovedAndGiven { name: String },
    #[error("{}: {why}, but these are not among the sources: {}; name their directories too, or \
             drop them with --prune", path.display(), list(packages, ", ", ""))]
    NotGiven {
        path: PathBuf,
        why: &'static str,
        packages: Vec<String>,
    },
}

impl BuildError {
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
    let listed = problems.iter().map(|(name, why)| format!("{name}: {why}"));
    list(&listed.collect::<Vec<_>>(), "; ", ";")
}

const LISTED_MAX: usize = 10;

fn list(items: &[String], separator: &str, end: &str) -> String {
    let more = items.len().saturating_sub(LISTED_MAX);
    let listed = items[..items.len() - more].join(separator);
    match more {
        0 => listed,
        _ => format!("{listed}{end} and {more} more"),
    }
}
