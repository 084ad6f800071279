//! From directories to the text of documents: the rim through which files come in.
//!
//! [`sources`] turns the directories that a person named to packages, [`walk`] a package to the
//! list of its files, and [`read`] a file to text, chunk by chunk. What this module is not: it
//! knows nothing of blocks, trigrams or shards, and keeps no text.
//!
//! **Invariant:** a regular file below a source is either in [`Walk::files`] and read to its end,
//! or accounted for by one [`Skipped`] entry, its own or that of a directory it is in, with the
//! reason. Nothing is left out for its size, its encoding, its line lengths or a leading dot.
//!
//! **Invariant:** a symbolic link is never followed below a source, and nothing of the user's
//! own configuration is read: the same tree gives the same answer for everybody.
//!
//! Paths are bytes, as they are on Unix; they need not be UTF-8.

use std::io;
use std::path::PathBuf;

mod read;
mod rules;
mod skip;
mod sources;
mod walk;

pub use read::{BINARY_HEAD_BYTES, CHUNK_BYTES, ReadOutcome, TextSink, read};
pub use skip::{SkipReason, Skipped};
pub use sources::{Source, sources};
pub use walk::{File, Walk, WalkOptions, signature, walk};

/// Why a corpus cannot be had. What only concerns one file is a [`SkipReason`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A source is not there.
    #[error("{}: no such directory", path.display())]
    Missing {
        /// The source as it was given.
        path: PathBuf,
    },
    /// A source is something else than a directory.
    #[error("{}: not a directory", path.display())]
    NotADirectory {
        /// The source as it was given.
        path: PathBuf,
    },
    /// A source cannot be listed.
    #[error("{}: cannot be read", path.display())]
    Unreadable {
        /// The source as it was given.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A source has no name to call the package by: it is the root of the file system.
    #[error("{}: has no name that a package could bear; name a directory below it", path.display())]
    NoName {
        /// The source as it was given.
        path: PathBuf,
    },
    /// With `each`: no directory is inside.
    #[error("{}: holds no directory that could be a package", path.display())]
    NoPackages {
        /// The source as it was given.
        path: PathBuf,
    },
    /// Two sources are of one name and version.
    #[error(
        "two sources are the same package, `{package}`: {} and {}",
        first.display(),
        second.display()
    )]
    Duplicate {
        /// The name that both have, with its version.
        package: String,
        /// The one that came first.
        first: PathBuf,
        /// The one that came second.
        second: PathBuf,
    },
    /// The sink could not take the text of a document.
    #[error("{}: its text could not be stored", path.display())]
    Sink {
        /// The file whose text it was.
        path: PathBuf,
        /// What the sink says.
        source: io::Error,
    },
}
