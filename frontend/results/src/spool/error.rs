//! Errors of a spool.

use crate::order::Collision;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// Another frontend holds the lock.
    #[error("the spool directory {0} is in use by another frontend")]
    Locked(PathBuf),
    /// Results in use exhaust the disk budget.
    #[error("the spool is full: its budget of {bytes_max} bytes is used up")]
    Full { bytes_max: u64 },
    #[error(
        "the result has more than {bytes_max} bytes, and there is no writable directory for the rest; \
         set TMPDIR to one, or narrow the query"
    )]
    NoDirectory { bytes_max: u64 },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// Bytes read differ from those written.
    #[error("{path}: checksum mismatch at offset {offset}")]
    Corrupt { path: PathBuf, offset: u64 },
    /// Too many matches in different documents with one name hash.
    #[error("too many matches in documents whose names have the same hash")]
    Collision,
}

impl SpoolError {
    /// Describes the error without paths, for users.
    pub fn in_words(&self) -> String {
        match self {
            SpoolError::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => {
                    "the spool's disk has no storage space left".to_owned()
                }
                // Other errors may name files.
                kind if source.raw_os_error().is_none() => {
                    format!("the spool's disk failed: {kind}")
                }
                _ => format!("the spool's disk failed: {}", io_words(source)),
            },
            SpoolError::Corrupt { .. } => {
                "the spooled data is damaged (checksum mismatch)".to_owned()
            }
            other => other.to_string(),
        }
    }
}

impl From<Collision> for SpoolError {
    fn from(Collision: Collision) -> Self {
        SpoolError::Collision
    }
}

pub(super) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SpoolError + use<> {
    let path = path.to_owned();
    move |source| SpoolError::Io { path, source }
}

/// Error without its number. Many kinds have no words, such as `Input/output error`.
pub fn io_words(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let end = format!(" (os error {number})");
            text.strip_suffix(&end).unwrap_or(&text).to_owned()
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_error_is_named_without_paths() {
        let words = |source| {
            let path = PathBuf::from("/secret/spool");
            SpoolError::Io { path, source }.in_words()
        };
        let of_system = |number| words(io::Error::from_raw_os_error(number));
        assert_eq!(of_system(5), "the spool's disk failed: Input/output error");
        assert_eq!(
            of_system(30),
            "the spool's disk failed: Read-only file system"
        );
        assert_eq!(of_system(28), "the spool's disk has no storage space left");
        let other = words(io::Error::new(io::ErrorKind::UnexpectedEof, "/secret/x"));
        assert_eq!(other, "the spool's disk failed: unexpected end of file");
    }

    #[test]
    fn an_error_of_the_system_is_named_without_its_number() {
        let of = |number| io_words(&io::Error::from_raw_os_error(number));
        assert_eq!(of(5), "Input/output error");
        assert_eq!(of(122), "Disk quota exceeded");
        assert_eq!(
            io_words(&io::Error::other("odd (os error 5)")),
            "odd (os error 5)"
        );
    }
}
