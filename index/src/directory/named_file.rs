//! Named files: tables of revisions and records of sources.
//!
//! **Invariant:** a file gets its name (its hash prefix) when on disk; another hash is an error.

use super::IndexError;
use crate::file::AtomicFile;
use crate::manifest::{NamedFile, hex};
use crate::revisions::RevisionTable;
use schema::message::{MessageError, Recorded};
use std::io::{self, Write};
use std::path::Path;

const REVISIONS: &str = "revisions";
const RECORDED: &str = "repositories";

/// Accepts names of files that only a manifest keeps.
pub fn is_named(name: &str) -> bool {
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix);
    suffix.is_some_and(|suffix| ["shard", REVISIONS, RECORDED].contains(&suffix))
}

/// Writes a table; returns its entry and bytes.
pub fn write_revisions(directory: &Path, table: &RevisionTable) -> io::Result<(NamedFile, u64)> {
    write(directory, &table.encode(), REVISIONS)
}

/// Writes the records; returns their entry and bytes.
pub fn write_recorded(directory: &Path, recorded: &Recorded) -> io::Result<(NamedFile, u64)> {
    let bytes = recorded.encode().map_err(|error: MessageError| {
        io::Error::other(format!("a record of a repository: {error}"))
    })?;
    write(directory, &bytes, RECORDED)
}

/// Entry of encoded records.
pub fn recorded_name(bytes: &[u8]) -> NamedFile {
    named(bytes, RECORDED)
}

/// Reads a table of revisions.
pub fn read_revisions(directory: &Path, named: &NamedFile) -> Result<RevisionTable, IndexError> {
    let bytes = read(directory, named)?;
    RevisionTable::decode(&bytes).map_err(|error| damaged(directory, named, error.to_string()))
}

/// Reads the records.
pub fn read_recorded(directory: &Path, named: &NamedFile) -> Result<Recorded, IndexError> {
    let bytes = read(directory, named)?;
    Recorded::decode(&bytes).map_err(|error| damaged(directory, named, error.to_string()))
}

fn write(directory: &Path, bytes: &[u8], suffix: &str) -> io::Result<(NamedFile, u64)> {
    let named = named(bytes, suffix);
    let file = AtomicFile::create(directory, &named.file)?;
    file.file().write_all(bytes)?;
    file.rename(&named.file)?;
    Ok((named, bytes.len() as u64))
}

fn named(bytes: &[u8], suffix: &str) -> NamedFile {
    let hash = *blake3::hash(bytes).as_bytes();
    let file = format!("{}.{suffix}", hex(&hash[..8]));
    NamedFile { hash, file }
}

/// Damage is located by the file's own checksums; otherwise it is another file.
fn read(directory: &Path, named: &NamedFile) -> Result<Vec<u8>, IndexError> {
    let path = directory.join(&named.file);
    let bytes = std::fs::read(&path).map_err(|source| IndexError::Io {
        path: path.clone(),
        source,
    })?;
    if *blake3::hash(&bytes).as_bytes() == named.hash {
        return Ok(bytes);
    }
    let where_ = if named.file.ends_with(RECORDED) {
        Recorded::decode(&bytes)
            .err()
            .map(|error| error.to_string())
    } else {
        RevisionTable::decode(&bytes)
            .err()
            .map(|error| error.to_string())
    };
    let reason = where_.unwrap_or_else(|| "not the file that the manifest names".to_owned());
    Err(damaged(directory, named, reason))
}

fn damaged(directory: &Path, named: &NamedFile, reason: String) -> IndexError {
    IndexError::Damaged {
        path: directory.join(&named.file),
        reason,
    }
}
