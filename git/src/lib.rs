//! Reads git repositories in this process, with gix.
//!
//! [`Repositories`] are those below one directory; a look-up names one and a revision:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let repositories = git::Repositories::new("/srv/git".as_ref())?;
//! let commit = repositories.commit("tools/trawl", "v1.0~3")?;
//! println!("{} {}", commit.id, String::from_utf8_lossy(&commit.subject));
//! # Ok(()) }
//! ```
//!
//! [`SourceRepository`] is one repository, opened by path for indexing.
//!
//! Repositories are untrusted: no configuration of system or user, hooks, filters or environment;
//! nothing outside is read; damage affects only its look-up. Unlike git, reflogs (`@{…}`), ranges
//! and other objects than commits are refused. Replace refs, grafts and shallow boundaries count,
//! but a replacement is not replaced again.

mod attributes;
mod blame;
mod changes;
mod commit;
mod error;
mod expression;
mod files;
mod history;
mod hunks;
mod location;
mod log;
mod mailmap;
mod names;
mod objects;
mod references;
mod renames;
mod repositories;
mod repository;
mod revision;
mod selection;
mod source;
mod tags;
mod tracked;
mod tree;

pub use attributes::{Attributes, FileAttributes};
pub use blame::{Blame, BlameLimits, BlameSource};
pub use error::{LookupError, RootError, similar};
pub use files::{DamagedDirectory, Files, SourceFile};
pub use gix::ObjectId;
pub use hunks::{
    BlobCache, CHANGE_BYTES_MAX, Changed, ChangedFile, FileHunks, HistoryCommit, HistoryList, Hunk,
    Unchanged,
};
pub use log::{CursorError, Log, LogCursor};
pub use mailmap::Mailmap;
pub use names::{LeftOut, RepositoryTree, repositories_below};
pub use repositories::Repositories;
pub use selection::Selection;
pub use source::{
    ATTRIBUTE_BYTES_MAX, BLOB_BYTES_MAX, SourceOptions, SourceRepository, is_repository,
    repository_name,
};
pub use tracked::TrackedFiles;
pub use tree::{Blob, Hazard, TreeEntryKind, lfs_pointer};
