//! Permissions and limits of a fetch.

use std::path::PathBuf;
use std::time::Duration;

/// Directories with incomplete clones.
pub(super) const INCOMING: &str = ".incoming-";

#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// Also outside the public internet.
    pub(crate) allow_private: bool,
    /// All references, not only branches and tags.
    pub(crate) all_references: bool,
    /// Format of `git credential-store`.
    pub(crate) credentials: Option<PathBuf>,
    /// Instead of the system's.
    pub(crate) ca: Option<PathBuf>,
    /// For one repository, with retries.
    pub(crate) timeout: Duration,
    /// Of one repository.
    pub(crate) bytes_max: Option<u64>,
    /// For transient failures.
    pub(crate) retries: u32,
    pub(crate) jobs: usize,
}
