//! Small text file of an operator, and its errors.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Error of a file.
#[derive(Debug, thiserror::Error)]
pub enum BadFile {
    /// The file is unreadable.
    #[error("cannot read {what} {}", path.display())]
    Unreadable {
        /// Contents, as in `the secrets`.
        what: &'static str,
        /// File path.
        path: PathBuf,
        /// OS error.
        source: io::Error,
    },
    /// The contents are unusable. Names the file and the fault.
    #[error("{0}")]
    Unusable(String),
}

impl BadFile {
    /// Error of a file with this fault.
    pub fn unusable(path: &Path, fault: impl Display) -> BadFile {
        BadFile::Unusable(format!("{}: {fault}", path.display()))
    }
}

/// Reads a text of at most `bytes_max` bytes. Errors call it `what`.
pub fn read_text(path: &Path, what: &'static str, bytes_max: u64) -> Result<String, BadFile> {
    let mut text = String::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(bytes_max + 1).read_to_string(&mut text));
    read.map_err(|source| BadFile::Unreadable {
        what,
        path: path.to_owned(),
        source,
    })?;
    if text.len() as u64 > bytes_max {
        let fault = format_args!("at most {bytes_max} bytes are allowed");
        return Err(BadFile::unusable(path, fault));
    }
    Ok(text)
}
