//! Permissions and limits of a fetch.

use std::path::PathBuf;
use std::time::Duration;

/// Prefix of directories with incomplete clones.
pub(super) const INCOMING: &str = ".incoming-";

#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// Allows addresses outside the public internet.
    pub(crate) allow_private: bool,
    /// Fetches more than branches and tags.
    pub(crate) all_references: bool,
    /// File in the format of `git credential-store`.
    pub(crate) credentials: Option<PathBuf>,
    /// CAs instead of the system's.
    pub(crate) ca: Option<PathBuf>,
    /// Time for a repository, with retries.
    pub(crate) timeout: Duration,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) retries: u32,
    pub(crate) jobs: usize,
}
