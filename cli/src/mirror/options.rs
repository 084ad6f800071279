//! Permissions and limits of a fetch.

use std::path::PathBuf;
use std::time::Duration;

/// Prefix of directories with incomplete clones.
pub(super) const INCOMING: &str = ".incoming-";

#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// Also fetch from addresses outside the public internet.
    pub(crate) allow_private: bool,
    /// All references, not only branches and tags.
    pub(crate) all_references: bool,
    /// A file in the format of `git credential-store`.
    pub(crate) credentials: Option<PathBuf>,
    /// CAs trusted instead of the system's.
    pub(crate) ca: Option<PathBuf>,
    /// Time for one repository, including retries.
    pub(crate) timeout: Duration,
    /// Size of one repository.
    pub(crate) bytes_max: Option<u64>,
    /// Retries after transient failures.
    pub(crate) retries: u32,
    /// Concurrent fetches.
    pub(crate) jobs: usize,
}
