//! Progress and report of a build.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

#[derive(Debug, Default)]
pub struct Progress {
    /// Packages in total.
    pub packages: AtomicU64,
    /// Listed packages.
    pub packages_walked: AtomicU64,
    /// Bytes of listed files.
    pub bytes_walked: AtomicU64,
    /// Files read.
    pub files: AtomicU64,
    /// Bytes read.
    pub bytes: AtomicU64,
    /// Locked to replace the manifest, and by [`abandon`](super::abandon).
    pub(super) publishing: Mutex<()>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub outcome: Outcome,
    pub packages: u64,
    pub documents: u64,
    /// Bytes of documents.
    pub text_bytes: u64,
    /// Bytes of texts, once per shard.
    pub unique_bytes: u64,
    pub file_bytes: u64,
    pub shards: u64,
    pub read: ReadStats,
    /// Packages kept unread.
    pub kept: u64,
    /// Given unindexed packages, ascending; of a dry run only.
    pub new: Vec<Vec<u8>>,
    /// Packages no longer in the index, ascending.
    pub dropped: Vec<Vec<u8>>,
    /// Kept packages with a given other version.
    pub kept_versions: Vec<(Vec<u8>, Vec<u8>)>,
    pub moved: Vec<Moved>,
    /// Packages named differently before.
    pub renamed: Vec<Renamed>,
    pub unmatched: Vec<Unmatched>,
    /// Packages merged into a new shard.
    pub merged: u64,
    pub written_bytes: u64,
    /// Entries beside packages, by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub beside: BTreeMap<String, u64>,
    /// Unreadable repositories and dangling references, with reasons. Their indexed content stays.
    pub problems: Vec<(String, String)>,
    pub verified: Option<Verified>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub package: Vec<u8>,
    pub before: SourcePlace,
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

/// A package that an older program gave a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renamed {
    /// Directory name, now the name.
    pub directory: Vec<u8>,
    pub before: Vec<u8>,
}

/// A pattern without a match in some repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    pub pattern: String,
    /// Repositories, ascending.
    pub repositories: Vec<Vec<u8>>,
    /// Reason for the first of them.
    pub reason: String,
    /// No repository matches.
    pub is_everywhere: bool,
}

/// Byte-by-byte comparison with the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files of unchanged packages.
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

/// Reads from the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    pub packages: u64,
    pub documents: u64,
    /// Bytes of documents.
    pub text_bytes: u64,
    /// Bytes of texts, once per shard.
    pub unique_bytes: u64,
    /// Skipped files by [`SkipReason::key`](crate::corpus::SkipReason::key).
    pub skipped: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// No previous index, or replaced.
    #[default]
    Built,
    Rebuilt,
    /// New manifest.
    Updated,
    /// No change, except to records of sources.
    Unchanged,
}
