//! What a build tells its caller: progress while it runs, a report at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// How far a build is. Another thread may read it at any time.
#[derive(Debug, Default)]
pub struct Progress {
    /// Packages in total.
    pub packages: AtomicU64,
    /// Packages whose files have been listed.
    pub packages_walked: AtomicU64,
    /// Bytes of the files that have been listed.
    pub bytes_walked: AtomicU64,
    /// Files that have been read, including those that turned out not to be searchable.
    pub files: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
    /// Held while the manifest is replaced, and from [`abandon`](super::abandon) on.
    pub(super) publishing: Mutex<()>,
}

/// The result of a build or an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What happened to the index that was there before.
    pub outcome: Outcome,
    /// Packages in the index.
    pub packages: u64,
    /// Documents in the index.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Bytes of their text, where each text counts once in a shard.
    pub unique_bytes: u64,
    /// Bytes of the index's files.
    pub file_bytes: u64,
    /// Shards.
    pub shards: u64,
    /// What was read from the sources.
    pub read: ReadStats,
    /// Packages that were in the index before, were not read again, and are still in it.
    pub kept: u64,
    /// Packages that were in the index before and no longer are: other versions, removed or pruned;
    /// ascending.
    pub dropped: Vec<Vec<u8>>,
    /// Packages that are kept although another version of them was given, with that one.
    pub kept_versions: Vec<(Vec<u8>, Vec<u8>)>,
    /// Packages that were read from another place than before.
    pub moved: Vec<Moved>,
    /// Packages that have another name than an older program gave them.
    pub renamed: Vec<Renamed>,
    /// Patterns that chose no revision of some repositories.
    pub unmatched: Vec<Unmatched>,
    /// Packages that were moved from older shards to a new one.
    pub merged: u64,
    /// Bytes of all files that were written.
    pub written_bytes: u64,
    /// Number of entries beside the packages of the index, by
    /// [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub beside: BTreeMap<String, u64>,
    /// Repositories that could not be read, and references of others that lead nowhere, with the reason.
    /// What the index had of them stays.
    pub problems: Vec<(String, String)>,
    /// The result of comparing bytes, if that was asked for.
    pub verified: Option<Verified>,
}

/// Result of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Packages that are given and not in the index, ascending.
    pub new: Vec<Vec<u8>>,
    /// The report, without counts.
    pub report: Report,
}

/// A package that was read from another place than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its name.
    pub package: Vec<u8>,
    /// The former place.
    pub before: SourcePlace,
    /// The place that it was read from now.
    pub now: SourcePlace,
}

/// A place that a package is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Whether it is a git repository, or else a directory.
    pub is_repository: bool,
    /// Its path or URL.
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

/// A package with a name that is its own, of which an older program split a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renamed {
    /// The name of its directory, which is its name now.
    pub directory: Vec<u8>,
    /// The name that it had.
    pub before: Vec<u8>,
}

/// A pattern that chose no revision of some repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The pattern, as it was given.
    pub pattern: String,
    /// The repositories, ascending.
    pub repositories: Vec<Vec<u8>>,
    /// The reason for the first of them.
    pub reason: String,
    /// Whether no repository has such a revision.
    pub is_everywhere: bool,
}

/// The result of comparing an index with its sources, byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files of packages that count as unchanged. All of them were read.
    pub files: u64,
    /// Files whose text differs from the index, or that are only there or only in the index.
    pub differing: u64,
    /// The first of them, as `package/path`, at most [`DIFFERING_LISTED_MAX`].
    pub differing_listed: Vec<String>,
    /// Shards whose checksums are wrong, or that are missing. Their packages were read again.
    pub damaged_shards: u64,
}

/// Names of differing files in a [`Verified`], at most. The packages are read again in any case.
pub const DIFFERING_LISTED_MAX: usize = 20;

/// What was read from the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Packages.
    pub packages: u64,
    /// Documents.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Bytes of their text, where each text counts once in a shard.
    pub unique_bytes: u64,
    /// Number of skipped files by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub skipped: BTreeMap<String, u64>,
}

/// What happened to the index that was there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// There was no index, or it was to be replaced.
    #[default]
    Built,
    /// It had been built with other options, so everything was read again.
    Rebuilt,
    /// It has a new manifest.
    Updated,
    /// Nothing had changed, and at most what is recorded of sources was written.
    Unchanged,
}
