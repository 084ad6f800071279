//! Key file, reread when it changes, to revoke keys at run time.

use super::keys::KnownKeys;
use std::path::Path;
use std::sync::Arc;
use watched_file::{BadFile, WatchedFile, read_text};

/// Bytes of two thousand keys, each compared with every request.
const BYTES_MAX: u64 = 256 << 10;

/// Keys of a file.
#[derive(Debug)]
pub struct ApiKeys(WatchedFile<KnownKeys>);

impl ApiKeys {
    /// Reads a key file, now and after changes.
    pub fn open(path: &Path) -> Result<ApiKeys, BadFile> {
        WatchedFile::open(path, "keys", read).map(ApiKeys)
    }

    pub(super) fn current(&self) -> Arc<KnownKeys> {
        self.0.current()
    }
}

fn read(path: &Path) -> Result<KnownKeys, BadFile> {
    let text = read_text(path, "the file of keys", BYTES_MAX)?;
    KnownKeys::parse(&text).map_err(|reason| BadFile::unusable(path, reason))
}

#[cfg(test)]
mod tests {
    use super::super::keys::NewKey;
    use super::*;
    use std::fs;

    #[test]
    fn a_changed_key_file_is_read_again_and_bad_contents_change_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let (a, b) = (NewKey::random("a").unwrap(), NewKey::random("b").unwrap());
        fs::write(&path, format!("{}\n{}\n", a.line, b.line)).unwrap();
        let keys = ApiKeys::open(&path).unwrap();
        let knows = |key: &NewKey| keys.current().name_of(key.key.as_bytes()).is_some();
        assert!(knows(&a) && knows(&b));
        // Same length, in a new file as an editor writes it.
        let c = NewKey::random("c").unwrap();
        fs::write(
            directory.path().join("new"),
            format!("{}\n{}\n", c.line, b.line),
        )
        .unwrap();
        fs::rename(directory.path().join("new"), &path).unwrap();
        keys.0.read_if_changed();
        assert!(!knows(&a) && knows(&b) && knows(&c));
        for bad in ["", "b", &a.key] {
            fs::write(&path, bad).unwrap();
            keys.0.read_if_changed();
            assert!(knows(&b) && knows(&c), "{bad}");
        }
        fs::remove_file(&path).unwrap();
        keys.0.read_if_changed();
        assert!(knows(&b));
        fs::write(&path, a.line.as_bytes()).unwrap();
        keys.0.read_if_changed();
        assert!(knows(&a) && !knows(&b));
    }

    #[test]
    fn a_key_file_that_cannot_be_used_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let error = || ApiKeys::open(&path).unwrap_err().to_string();
        assert!(error().contains("cannot read the file of keys"));
        fs::write(&path, " \n").unwrap();
        assert!(error().contains("no keys"));
        fs::write(&path, "#".repeat(BYTES_MAX as usize + 1)).unwrap();
        assert!(error().contains("at most 262144 bytes"));
        fs::write(&path, b"\xff").unwrap();
        assert!(error().contains("cannot read"));
    }
}
