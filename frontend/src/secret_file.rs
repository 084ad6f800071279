//! Files with a secret shared by several processes, such as for cookies or for entries in Redis.
//! Users derive their own keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Valid lengths. The least is 256 bits, if random.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 32..=4096;

#[derive(Debug, thiserror::Error)]
pub enum BadSecret {
    #[error("cannot read the secret {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Too few or too many bytes.
    #[error(
        "{}: a secret has 32 to 4096 bytes, this has {}{bytes}; make one with: head -c 32 /dev/urandom",
        path.display(),
        if bytes > SECRET_BYTES.end() { "at least " } else { "" }
    )]
    Length {
        path: PathBuf,
        /// Bytes read: at most one more than allowed.
        bytes: usize,
    },
}

/// Reads a secret, at most one byte more than allowed, so endless devices are refused too.
pub fn read_secret(path: &Path) -> Result<Vec<u8>, BadSecret> {
    let mut secret = Vec::new();
    let limit = *SECRET_BYTES.end() as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut secret));
    let path = path.to_owned();
    match read {
        Err(source) => Err(BadSecret::Unreadable { path, source }),
        Ok(bytes) if !SECRET_BYTES.contains(&bytes) => Err(BadSecret::Length { path, bytes }),
        Ok(_) => Ok(secret),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_secret_if_it_is_long_enough() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let error = read_secret(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the secret "), "{error}");
        for (bytes, told) in [
            (0, "this has 0;"),
            (31, "this has 31;"),
            (32, ""),
            (4096, ""),
            (4097, "this has at least 4097;"),
            (5000, "this has at least 4097;"),
        ] {
            std::fs::write(&path, vec![7; bytes]).unwrap();
            match read_secret(&path) {
                Ok(secret) => assert_eq!((secret.len(), told), (bytes, "")),
                Err(error) => assert!(error.to_string().contains(told), "{error}"),
            }
        }
    }

    #[test]
    fn a_device_without_an_end_is_no_secret() {
        let error = read_secret(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, BadSecret::Length { bytes: 4097, .. }));
    }
}
