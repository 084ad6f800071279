//! Directories to texts: [`sources`], then [`walk`], then [`read`]. Paths are bytes.
//!
//! **Invariant:** a regular file is in [`Walk::files`] and read to its end, or a [`Skipped`] entry
//! (its own or a parent's) gives the reason. Size, encoding, line length or a leading dot never
//! skip it.
//!
//! **Invariant:** links are never followed, user configuration never read: the same tree gives the
//! same result for every user.

use std::io;
use std::path::PathBuf;

mod read;
mod rules;
mod skip;
mod sources;
mod walk;
mod work_tree;

pub use crate::format::TextEncoding;
pub(crate) use read::hash;
pub use read::{BINARY_HEAD_BYTES, CHUNK_BYTES, ReadOutcome, read, read_bytes};
pub use skip::{SkipReason, Skipped};
pub(crate) use sources::check_length;
pub use sources::{BESIDE_LISTED_MAX, Packages, Source, packages, sources};
pub(crate) use walk::stamp;
pub use walk::{File, Walk, Watched, signature, walk, watched};

/// Unreadable corpus. Problems of single files are a [`SkipReason`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// Missing source.
    #[error("{}: no such directory", .0.display())]
    Missing(PathBuf),
    /// Not a directory.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A source that cannot be listed.
    #[error("{}: cannot be read", path.display())]
    Unreadable {
        /// Source path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Root directory, without a name.
    #[error("{}: the root directory cannot be a package, which needs a name; name a directory below it", .0.display())]
    NoName(PathBuf),
    /// Source without files.
    #[error("{}: contains no file to index", .0.display())]
    Empty(PathBuf),
    /// With `each`: no directory inside.
    #[error("{}: contains no directory that could be a package", .0.display())]
    NoPackages(PathBuf),
    /// Two sources of one name.
    #[error(
        "two sources are the same package, `{package}`: {} and {}",
        first.display(),
        second.display()
    )]
    Duplicate {
        /// Package name.
        package: String,
        /// First source.
        first: PathBuf,
        /// Second source.
        second: PathBuf,
    },
    /// The sink failed.
    #[error("{}: its text could not be stored", path.display())]
    Sink {
        /// File path.
        path: PathBuf,
        /// Error of the sink.
        source: io::Error,
    },
}
