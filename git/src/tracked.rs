//! Files that git tracks in a work tree, from its index file.
//!
//! Keeps 24 bytes and the path per file. `format` parses. Split indexes (`core.splitIndex`) are
//! joined; a sparse one may name a directory in place of its files.
//!
//! **Invariant:** any bytes give an error or a list of paths, in bounded memory.

mod format;

use format::{ParsedIndex, Split, TrackedKind};
use std::fs;
use std::io::Read;
use std::path::Path;

/// Bytes of an index. A million files have about 100 MB.
const INDEX_BYTES_MAX: u64 = 512 << 20;

/// Tracked files of a work tree, relative to its root.
#[derive(Debug)]
pub struct TrackedFiles(ParsedIndex);

impl TrackedFiles {
    /// Reads an index.
    /// Fails if it is missing, damaged or too large; in words.
    pub fn read(index: &Path) -> Result<TrackedFiles, String> {
        let (mut parsed, split) = ParsedIndex::parse(&bytes(index)?).map_err(damaged)?;
        if let Some(Split { shared, deleted }) = split {
            let path = index.with_file_name(format!("sharedindex.{shared}"));
            let name = |reason| format!("{}: {reason}", path.display());
            let (shared, split) = bytes(&path)
                .and_then(|bytes| ParsedIndex::parse(&bytes).map_err(damaged))
                .map_err(name)?;
            if split.is_some() {
                return Err(name(damaged("it has a shared part, too")));
            }
            parsed.join(&shared, &deleted);
        }
        Ok(TrackedFiles(parsed))
    }

    /// True for a tracked file, or a possible one in a directory left out of a sparse checkout.
    pub fn has_file(&self, path: &[u8]) -> bool {
        self.0.kind(path) == Some(TrackedKind::File) || self.is_left_out(path)
    }

    /// True for a submodule, or a directory with tracked files.
    pub fn has_below(&self, directory: &[u8]) -> bool {
        self.0.has_prefix(&[directory, b"/"].concat())
            || self.0.kind(directory) == Some(TrackedKind::Submodule)
            || self.is_left_out(directory)
    }

    fn is_left_out(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &path[..=at]);
        self.0.is_sparse && above.any(|above| self.0.kind(above) == Some(TrackedKind::Directory))
    }
}

fn damaged(reason: &str) -> String {
    format!("damaged: {reason}")
}

/// Reads a regular file: opening a pipe would block.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let words = |error: std::io::Error| error.to_string();
    if !fs::metadata(path).map_err(words)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(words)?;
    let read = file.take(INDEX_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.map_err(words)? as u64 > INDEX_BYTES_MAX {
        return Err("larger than INDEX_BYTES_MAX".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
