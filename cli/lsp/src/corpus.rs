//! Corpus of the server: searches, texts, and the places of packages on disk.

use std::path::PathBuf;

/// Searched corpus. Calls block.
pub trait Corpus: Send + Sync {
    /// Best matching lines of a query, of files as they are now.
    ///
    /// # Errors
    /// The search failed, or the index is not built yet.
    fn search(&self, query: &str, matches_max: usize) -> Result<Vec<Found>, CorpusError>;

    /// Text of a document; `None` if it is not in the corpus or too long.
    ///
    /// # Errors
    /// The text cannot be read.
    fn text(&self, package: &[u8], path: &[u8]) -> Result<Option<Vec<u8>>, CorpusError>;
}

/// Failed call of a [`Corpus`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CorpusError(pub String);

/// Matching line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Package of the document.
    pub package: Vec<u8>,
    /// Path in the package.
    pub path: Vec<u8>,
    /// Identifies the document's text.
    pub hash: String,
    /// From 1.
    pub line: u32,
    /// Line without its end, or a part of a long one.
    pub text: Vec<u8>,
    /// Offset of the part in a long line.
    pub start: usize,
    /// Matches in `text`, in bytes.
    pub ranges: Vec<[usize; 2]>,
}

/// Directories of a server.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Packages with a directory, which is canonical.
    pub packages: Vec<(Vec<u8>, PathBuf)>,
    /// Directory of texts that have no file; `None` to write none.
    pub cache: Option<PathBuf>,
}

/// End of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// After `shutdown`, or without another message.
    Regular,
    /// `exit` without `shutdown`.
    Abrupt,
}
