//! Progress of a running build, and its final report.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Progress of a build, readable by any thread.
#[derive(Debug, Default)]
pub struct Progress {
    /// Packages in total.
    pub packages: AtomicU64,
    /// Packages listed so far.
    pub packages_walked: AtomicU64,
    /// Bytes of the listed files.
    pub bytes_walked: AtomicU64,
    /// Files read, unsearchable ones included.
    pub files: AtomicU64,
    /// Bytes of these files.
    pub bytes: AtomicU64,
    /// Locked while the manifest is replaced, and by [`abandon`](super::abandon).
    pub(super) publishing: Mutex<()>,
}

/// Result of a build or an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Change of the previous index.
    pub outcome: Outcome,
    /// Packages in the index.
    pub packages: u64,
    /// Documents in the index.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Bytes of their text; each text counts once per shard.
    pub unique_bytes: u64,
    /// Bytes of the index files.
    pub file_bytes: u64,
    /// Shards.
    pub shards: u64,
    /// Reads from the sources.
    pub read: ReadStats,
    /// Packages kept without reading them.
    pub kept: u64,
    /// Packages no longer in the index (other versions, removed, pruned), ascending.
    pub dropped: Vec<Vec<u8>>,
    /// Packages kept although another version was given, with that version.
    pub kept_versions: Vec<(Vec<u8>, Vec<u8>)>,
    /// Packages read from a new place.
    pub moved: Vec<Moved>,
    /// Packages that an older program named differently.
    pub renamed: Vec<Renamed>,
    /// Patterns that matched no revision of some repositories.
    pub unmatched: Vec<Unmatched>,
    /// Packages merged from older shards into a new one.
    pub merged: u64,
    /// Bytes of all written files.
    pub written_bytes: u64,
    /// Entries beside packages, by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub beside: BTreeMap<String, u64>,
    /// Unreadable repositories and dangling references, with the reason. Their indexed content
    /// stays.
    pub problems: Vec<(String, String)>,
    /// Result of the byte comparison, if requested.
    pub verified: Option<Verified>,
}

/// Result of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Given packages that are not indexed, ascending.
    pub new: Vec<Vec<u8>>,
    /// Report without counts.
    pub report: Report,
}

/// A package read from a new place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Package name.
    pub package: Vec<u8>,
    /// Previous place.
    pub before: SourcePlace,
    /// Current place.
    pub now: SourcePlace,
}

/// Origin of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// A git repository, else a directory.
    pub is_repository: bool,
    /// Path or URL.
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

/// A package that an older program gave a version by mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renamed {
    /// Directory name, now its name.
    pub directory: Vec<u8>,
    /// Previous name.
    pub before: Vec<u8>,
}

/// A pattern that matched no revision of some repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Pattern as given.
    pub pattern: String,
    /// Affected repositories, ascending.
    pub repositories: Vec<Vec<u8>>,
    /// Reason for the first of them.
    pub reason: String,
    /// No repository has such a revision.
    pub is_everywhere: bool,
}

/// Result of comparing an index with its sources, byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files of seemingly unchanged packages, all read.
    pub files: u64,
    /// Files with different text, or on one side only.
    pub differing: u64,
    /// The first as `package/path`, at most [`DIFFERING_LISTED_MAX`].
    pub differing_listed: Vec<String>,
    /// Shards missing or with wrong checksums; their packages were read again.
    pub damaged_shards: u64,
}

/// Differing files listed in a [`Verified`]. Packages are read again in any case.
pub const DIFFERING_LISTED_MAX: usize = 20;

/// Reads from the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Number of packages.
    pub packages: u64,
    /// Number of documents.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Bytes of their text; each text counts once per shard.
    pub unique_bytes: u64,
    /// Skipped files by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub skipped: BTreeMap<String, u64>,
}

/// Change of the previous index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// No previous index, or it was replaced.
    #[default]
    Built,
    /// Rebuilt because of other options.
    Rebuilt,
    /// New manifest.
    Updated,
    /// Unchanged; at most the records of sources were written.
    Unchanged,
}
