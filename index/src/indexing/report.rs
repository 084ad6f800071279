//! What a build tells its caller: progress while it runs, a report at the end.

use std::collections::BTreeMap;
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
    /// Packages that were in the index before and no longer are: superseded, removed or pruned.
    pub dropped: u64,
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
