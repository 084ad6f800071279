//! Corpus of the server.

use std::path::PathBuf;

/// Corpus as one request sees it. Calls block.
pub trait Corpus: Send + Sync {
    /// Best matches of a query, of files as they are now.
    fn search(&self, query: &str, matches_max: usize) -> Result<Vec<Found>, CorpusError>;

    /// Lines that define or use a name, nearest first.
    fn named(&self, name: &Named<'_>, lines_max: usize) -> Result<Vec<Found>, CorpusError>;

    /// Text of a document; `None` if it is too long.
    fn text(&self, place: &Place) -> Result<Option<Vec<u8>>, CorpusError>;

    /// Ends running calls; later ones fail.
    fn cancel(&self);
}

#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    /// Document with it.
    pub from: Option<&'a Place>,
    pub definitions: bool,
    pub uses: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CorpusError(pub String);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    pub package: Vec<u8>,
    pub path: Vec<u8>,
}

/// Matching line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Document.
    pub place: Place,
    /// BLAKE3 of its text.
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
    /// All packages, with canonical directories; empty if unknown.
    pub packages: Vec<(Vec<u8>, PathBuf)>,
    /// Directory of texts that have no file; `None` to write none.
    pub cache: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// After `shutdown`, or without another message.
    Regular,
    /// `exit` without `shutdown`.
    Abrupt,
}
