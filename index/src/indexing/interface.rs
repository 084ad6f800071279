//! Interface of a build: options, progress, report, errors.

use super::repository::RepositorySource;
use crate::block::BLOCK_BYTES;
use crate::codec::ContentCodec;
use crate::corpus::CorpusError;
use crate::directory::IndexError;
use crate::document::Popularity;
use crate::manifest::{Beside, Options};
use crate::precise::{Imported, ScipError};
use crate::shard::ShardError;
use schema::message::RecordedSource;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::{fmt, io, thread};

#[derive(Clone, Debug)]
pub struct BuildOptions {
    pub options: Options,
    /// Approximate; see [`MEMORY_BYTES_MIN`].
    pub memory_bytes: usize,
    pub jobs: usize,
    /// Codec of new shards; by default that of the newest, or raw. Others keep theirs until merged.
    pub content: Option<ContentCodec>,
    /// Less if its tables take too much memory.
    pub shard_bytes: u64,
    /// Popularity by package name, without version.
    pub popularity: HashMap<Vec<u8>, Popularity>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            options: Options {
                block_bytes: BLOCK_BYTES,
                no_ignore: false,
            },
            memory_bytes: MEMORY_BYTES,
            jobs: thread::available_parallelism().map_or(1, |jobs| jobs.get()),
            content: None,
            shard_bytes: SHARD_BYTES,
            popularity: HashMap::new(),
        }
    }
}

impl BuildOptions {
    pub(super) fn codec(&self) -> ContentCodec {
        self.content.unwrap_or_default()
    }
}

pub const MEMORY_BYTES: usize = 512 << 20;

/// For sorting tables, buffers, and the smallest useful segment.
pub const MEMORY_BYTES_MIN: usize = 64 << 20;

/// Default text per shard. Its tables take 170 MB; with less memory it ends earlier.
pub const SHARD_BYTES: u64 = 4 << 30;

/// Effects of an update besides reading changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Directory names, or names for all versions.
    pub remove: Vec<Vec<u8>>,
    /// Drops packages not given.
    pub prune: bool,
    pub replace_versions: bool,
    /// Parents of packages; their entries beside packages are replaced.
    pub parents: Vec<PathBuf>,
    pub beside: Vec<Beside>,
    pub repositories: Vec<RepositorySource>,
    /// Recorded sources; with `prune` the only ones.
    pub recorded: Vec<RecordedSource>,
    /// SCIP files of packages. A package's `index.scip` is imported when it is new.
    pub scip: Vec<PathBuf>,
    /// Compares unchanged files by their bytes.
    pub verify: bool,
    /// Files to compare too.
    pub suspects: Suspects,
}

/// Files that may differ at equal size and times: a store through a mapping moves no time while the
/// page is dirty, on some file systems never.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// Modified at or after this time, in nanoseconds since 1970.
    pub modified_from_ns: Option<i128>,
    /// Absolute.
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Default)]
pub struct Progress {
    pub packages: AtomicU64,
    pub packages_walked: AtomicU64,
    pub bytes_walked: AtomicU64,
    pub files: AtomicU64,
    pub bytes: AtomicU64,
    /// Locked to replace the manifest, and by [`abandon`](super::abandon).
    pub(super) publishing: Mutex<()>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub outcome: Outcome,
    pub packages: u64,
    pub documents: u64,
    pub text_bytes: u64,
    /// Each text counts once per shard.
    pub unique_bytes: u64,
    pub file_bytes: u64,
    pub shards: u64,
    pub read: ReadStats,
    pub kept: u64,
    /// Given unindexed packages, ascending; of a dry run only.
    pub new: Vec<Vec<u8>>,
    /// Ascending.
    pub dropped: Vec<Vec<u8>>,
    /// Kept packages with a given other version.
    pub kept_versions: Vec<(Vec<u8>, Vec<u8>)>,
    pub moved: Vec<Moved>,
    pub renamed: Vec<Renamed>,
    pub unmatched: Vec<Unmatched>,
    pub merged: u64,
    /// Shards without current symbols: rewritten, left.
    pub upgraded: u64,
    pub outdated: u64,
    pub written_bytes: u64,
    /// Entries beside packages, by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub beside: BTreeMap<String, u64>,
    /// Unreadable repositories and dangling references, with reasons. Their indexed content stays.
    pub problems: Vec<(String, String)>,
    pub verified: Option<Verified>,
    pub imported: Vec<Imported>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub package: Vec<u8>,
    pub before: SourcePlace,
    pub now: SourcePlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// A git repository, else a directory.
    pub is_repository: bool,
    pub location: Vec<u8>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_repository {
            "git repository"
        } else {
            "directory"
        };
        write!(f, "{kind} {}", String::from_utf8_lossy(&self.location))
    }
}

/// A package that an older program gave a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renamed {
    /// Directory name, now the name.
    pub directory: Vec<u8>,
    pub before: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    pub pattern: String,
    pub repositories: Vec<Vec<u8>>,
    /// Of the first repository.
    pub reason: String,
    /// No repository matches.
    pub is_everywhere: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub files: u64,
    /// Files that differ or are on one side only.
    pub differing: u64,
    /// First [`DIFFERING_LISTED_MAX`] of them, as `package/path`.
    pub differing_listed: Vec<String>,
    /// Damaged or missing shards, read again.
    pub damaged_shards: u64,
}

/// Listed differing files; all are read again.
pub const DIFFERING_LISTED_MAX: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    pub packages: u64,
    pub documents: u64,
    pub history_documents: u64,
    pub text_bytes: u64,
    /// Each text counts once per shard.
    pub unique_bytes: u64,
    /// By [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub skipped: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// No previous index, or replaced.
    #[default]
    Built,
    Rebuilt,
    Updated,
    /// No change, except to records of sources.
    Unchanged,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    #[error(transparent)]
    Directory(#[from] IndexError),
    #[error("{}: {source}", path.display())]
    Scip { path: PathBuf, source: ScipError },
    #[error("{}: this SCIP file is of none of the given packages: neither it nor its project root is inside of one", .0.display())]
    NoPackage(PathBuf),
    #[error("the history of {package} cannot be read: {reason}")]
    History { package: String, reason: String },
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
