//! Files named by the manifest with their BLAKE3: tables of revisions and the records of sources.
//!
//! **Invariant:** a file gets its name (the first bytes of its hash) when it is on disk; bytes with
//! another hash are an error.

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

/// Writes a table of revisions; returns its manifest entry and length in bytes.
pub fn write_revisions(directory: &Path, table: &RevisionTable) -> io::Result<(NamedFile, u64)> {
    write(directory, &table.encode(), REVISIONS)
}

/// Writes the records of sources; returns their manifest entry and length in bytes.
pub fn write_recorded(directory: &Path, recorded: &Recorded) -> io::Result<(NamedFile, u64)> {
    let bytes = recorded.encode().map_err(|error: MessageError| {
        io::Error::other(format!("a record of a repository: {error}"))
    })?;
    write(directory, &bytes, RECORDED)
}

/// Manifest entry of encoded records of sources.
pub fn recorded_name(bytes: &[u8]) -> NamedFile {
    named(bytes, RECORDED)
}

/// Reads a table of revisions.
pub fn read_revisions(directory: &Path, named: &NamedFile) -> Result<RevisionTable, IndexError> {
    let bytes = read(directory, named)?;
    RevisionTable::decode(&bytes).map_err(|error| damaged(directory, named, error.to_string()))
}

/// Reads the records of sources.
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

/// Reads a file. Damage is located by the file's own checksums; an intact file with another hash is
/// a different file.
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
