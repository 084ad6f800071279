//! Secret shared by frontends with one Redis, and keys derived from it.
//!
//! Authenticates entries: other programs with access to Redis cannot forge answers. **Invariant:**
//! the secret is never shown.

use crate::secret_file::{BadSecret, read_secret};
use std::path::Path;

/// Separate the uses of a secret.
const ENTRIES: &str = "trawl 2026-11 entries in Redis";
const HASHES: &str = "trawl 2026-11 hashes of principals in Redis";

/// A secret that frontends share.
#[derive(Clone)]
pub struct HintSecret(Vec<u8>);

impl std::fmt::Debug for HintSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HintSecret")
    }
}

impl HintSecret {
    /// From these bytes.
    pub fn new(bytes: &[u8]) -> HintSecret {
        HintSecret(bytes.to_vec())
    }

    /// Reads a secret from a file.
    pub fn read(path: &Path) -> Result<HintSecret, BadSecret> {
        read_secret(path).map(HintSecret)
    }

    pub(super) fn hash_key(&self) -> [u8; 32] {
        blake3::derive_key(HASHES, &self.0)
    }
}

pub(super) fn entry_key(secret: Option<&HintSecret>) -> [u8; 32] {
    blake3::derive_key(ENTRIES, secret.map_or(b"", |secret| &secret.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_by_secret_and_by_use() {
        let secrets = [HintSecret::new(b"one"), HintSecret::new(b"two")];
        let keys = secrets.map(|it| (entry_key(Some(&it)), it.hash_key()));
        assert_ne!(keys[0].0, keys[1].0);
        assert_ne!(keys[0].1, keys[1].1);
        assert_ne!(keys[0].0, keys[0].1);
    }
}
