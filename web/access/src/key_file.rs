//! Key file, reread when it changes, to revoke keys at run time.

use super::keys::KnownKeys;
use crate::followed_file::FollowedFile;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Bytes of two thousand keys, each compared with every request.
const BYTES_MAX: u64 = 256 << 10;

/// Key file error.
#[derive(Debug, thiserror::Error)]
pub enum BadKeyFile {
    /// The file is unreadable.
    #[error("cannot read the file of keys {}", path.display())]
    Unreadable {
        /// File path.
        path: PathBuf,
        /// OS error.
        source: io::Error,
    },
    /// The file is malformed.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// File path.
        path: PathBuf,
        /// Line and fault.
        reason: String,
    },
}

/// Keys of a file.
#[derive(Debug)]
pub struct ApiKeys(Arc<FollowedFile<KnownKeys, BadKeyFile>>);

impl ApiKeys {
    /// Reads a key file.
    pub fn open(path: &Path) -> Result<ApiKeys, BadKeyFile> {
        FollowedFile::open(path, "keys", read).map(|file| ApiKeys(Arc::new(file)))
    }

    pub(super) fn current(&self) -> Arc<KnownKeys> {
        self.0.current()
    }

    /// Rereads the file when it changes. Needs a tokio runtime.
    pub(super) fn follow(&self) {
        FollowedFile::follow(&self.0);
    }
}

fn read(path: &Path) -> Result<KnownKeys, BadKeyFile> {
    let mut text = String::new();
    let file = fs::File::open(path).and_then(|file| {
        let mut file = file.take(BYTES_MAX + 1);
        file.read_to_string(&mut text)
    });
    file.map_err(|source| BadKeyFile::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let parsed = if text.len() as u64 > BYTES_MAX {
        Err(format!("at most {BYTES_MAX} bytes are allowed"))
    } else {
        KnownKeys::parse(&text)
    };
    parsed.map_err(|reason| BadKeyFile::Malformed {
        path: path.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::NewKey;
    use super::*;

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
