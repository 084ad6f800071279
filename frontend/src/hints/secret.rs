//! The secret that frontends with one Redis share, and the keys that are made of it.
//!
//! It authenticates entries: another program that can write to Redis cannot forge an answer. **Invariant:** the secret
//! is never shown.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file with a secret: 256 bits, if they are random; and at most.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 32..=4096;

/// Distinguish the uses of a secret.
const ENTRIES: &str = "trawl 2026-11 entries in Redis";
const HASHES: &str = "trawl 2026-11 hashes of principals in Redis";

/// Why a file cannot be used as a secret.
#[derive(Debug, thiserror::Error)]
pub enum BadSecret {
    /// It cannot be read.
    #[error("cannot read the secret {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It has too few bytes, or too many.
    #[error("{}: a secret has 32 to 4096 bytes, this has {bytes}; make one with: head -c 32 /dev/urandom", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes that were read.
        bytes: usize,
    },
}

/// A secret that frontends share.
#[derive(Clone)]
pub struct HintSecret(Vec<u8>);

impl std::fmt::Debug for HintSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HintSecret")
    }
}

impl HintSecret {
    /// A secret of these bytes.
    pub fn new(bytes: &[u8]) -> HintSecret {
        HintSecret(bytes.to_vec())
    }

    /// Reads a secret from a file.
    pub fn read(path: &Path) -> Result<HintSecret, BadSecret> {
        let mut bytes = Vec::new();
        let limit = *SECRET_BYTES.end() as u64 + 1;
        let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        let path = path.to_owned();
        match read {
            Err(source) => Err(BadSecret::Unreadable { path, source }),
            Ok(bytes) if !SECRET_BYTES.contains(&bytes) => Err(BadSecret::Length { path, bytes }),
            Ok(_) => Ok(HintSecret(bytes)),
        }
    }

    pub(super) fn hash_key(&self) -> [u8; 32] {
        blake3::derive_key(HASHES, &self.0)
    }
}

/// The key that authenticates entries.
pub(super) fn entry_key(secret: Option<&HintSecret>) -> [u8; 32] {
    blake3::derive_key(ENTRIES, secret.map_or(b"", |secret| &secret.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_secret_if_it_is_long_enough() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let error = HintSecret::read(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the secret "), "{error}");
        for (bytes, is_good) in [
            (0, false),
            (31, false),
            (32, true),
            (4096, true),
            (4097, false),
        ] {
            std::fs::write(&path, vec![7; bytes]).unwrap();
            assert_eq!(HintSecret::read(&path).is_ok(), is_good, "{bytes}");
        }
    }

    #[test]
    fn keys_differ_by_secret_and_by_use() {
        let secrets = [HintSecret::new(b"one"), HintSecret::new(b"two")];
        let keys = secrets.map(|it| (entry_key(Some(&it)), it.hash_key()));
        assert_ne!(keys[0].0, keys[1].0);
        assert_ne!(keys[0].1, keys[1].1);
        assert_ne!(keys[0].0, keys[0].1);
    }
}
