//! What a fetch is allowed to do, and how much.

use std::path::PathBuf;
use std::time::Duration;

/// How the names of directories begin in which clones are made.
pub(super) const INCOMING: &str = ".incoming-";

/// What is allowed, and how much.
#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// Fetch from addresses that are not on the public internet, too.
    pub(crate) allow_private: bool,
    /// All references, not only branches and tags.
    pub(crate) all_references: bool,
    /// A file in the format of `git credential-store`.
    pub(crate) credentials: Option<PathBuf>,
    /// CAs that are trusted instead of those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// Time for one repository, with all attempts.
    pub(crate) timeout: Duration,
    /// Size of one repository.
    pub(crate) bytes_max: Option<u64>,
    /// Further attempts after failures that may go away.
    pub(crate) retries: u32,
    /// Repositories at once.
    pub(crate) jobs: usize,
}
