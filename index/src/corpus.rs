//! From directories to the texts of documents.
//!
//! [`sources`] turns directories to packages, [`walk`] lists the files of a package, and [`read`]
//! reads a file as text, chunk by chunk. This module does not know blocks, trigrams or shards, and
//! keeps no text. Paths are bytes, as on Unix; they need not be UTF-8.
//!
//! **Invariant:** a regular file below a source is either in [`Walk::files`] and read to its end, or
//! one [`Skipped`] entry, its own or that of a directory above it, gives the reason. No file is
//! skipped because of its size, its encoding, its line lengths or a leading dot.
//!
//! **Invariant:** a symbolic link below a source is never followed, and no configuration of the user
//! is read: the same tree gives the same result for every user.

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
pub use read::{BINARY_HEAD_BYTES, CHUNK_BYTES, ReadOutcome, TextSink, read, read_bytes};
pub use skip::{SkipReason, Skipped};
pub(crate) use sources::check_length;
pub use sources::{BESIDE_LISTED_MAX, Packages, Source, packages, sources};
pub(crate) use walk::stamp;
pub use walk::{File, Walk, Watched, signature, walk, watched};

/// Why a corpus cannot be read. A problem with a single file is a [`SkipReason`] instead. Paths of
/// sources are as they were given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A source does not exist.
    #[error("{}: no such directory", .0.display())]
    Missing(PathBuf),
    /// A source is not a directory.
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A source cannot be listed.
    #[error("{}: cannot be read", path.display())]
    Unreadable {
        /// The source.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A source has no name for the package: it is the root of the file system.
    #[error("{}: the root directory cannot be a package, which needs a name; name a directory below it", .0.display())]
    NoName(PathBuf),
    /// There is no file below a source.
    #[error("{}: contains no file to index", .0.display())]
    Empty(PathBuf),
    /// With `each`: there is no directory inside.
    #[error("{}: contains no directory that could be a package", .0.display())]
    NoPackages(PathBuf),
    /// Two sources have the same name.
    #[error(
        "two sources are the same package, `{package}`: {} and {}",
        first.display(),
        second.display()
    )]
    Duplicate {
        /// The name.
        package: String,
        /// The first source.
        first: PathBuf,
        /// The second source.
        second: PathBuf,
    },
    /// The sink failed to take the text of a document.
    #[error("{}: its text could not be stored", path.display())]
    Sink {
        /// The file.
        path: PathBuf,
        /// The sink's error.
        source: io::Error,
    },
}
