//! Secrets that sign links (keyed BLAKE3, 16 bytes).
//!
//! The first secret signs, all verify. To rotate, add the new secret below the old one on every
//! frontend, then move it above, and remove the old one later. Without secrets, the signature only
//! detects accidents, and all servers accept each other's links.
//!
//! **Invariant:** with secrets, a link cannot be made or changed without one, and none is ever
//! shown.

use blake3::Hash;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use watched_file::{BadFile, WatchedFile, read_text};

/// Separates signatures of links from other uses of a secret.
const CONTEXT: &str = "trawl 2026-11 signed links";

pub const SIGNATURE_BYTES: usize = 16;

/// 32 random hexadecimal digits have 128 bits.
const SECRET_LEN: std::ops::RangeInclusive<usize> = 32..=512;

/// Each costs a hash for a foreign link.
const SECRETS_MAX: usize = 8;

const BYTES_MAX: u64 = 8 << 10;

/// Secrets of a frontend.
#[derive(Clone, Debug, Default)]
pub struct LinkSecrets(Option<Arc<WatchedFile<LinkKeys>>>);

impl LinkSecrets {
    /// Reads a file with one secret a line, now and after changes. Empty lines and `#` comments
    /// are ignored.
    pub fn open(path: &Path) -> Result<LinkSecrets, BadFile> {
        let read = |path: &Path| {
            let text = read_text(path, "the secrets", BYTES_MAX)?;
            LinkKeys::parse(&text).map_err(|reason| BadFile::unusable(path, reason))
        };
        let file = WatchedFile::open(path, "secrets of links", read)?;
        Ok(LinkSecrets(Some(Arc::new(file))))
    }

    /// Keys of the last usable file.
    pub fn current(&self) -> Arc<LinkKeys> {
        let file = self.0.as_ref();
        file.map_or_else(Arc::default, |file| file.current())
    }
}

/// Keys made of the secrets; the first signs.
pub struct LinkKeys(Vec<[u8; 32]>);

impl Default for LinkKeys {
    /// Key of servers without secrets.
    fn default() -> LinkKeys {
        LinkKeys(vec![key("")])
    }
}

impl fmt::Debug for LinkKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkKeys")
    }
}

impl LinkKeys {
    /// Signs with the first secret.
    pub fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_BYTES] {
        signature(&self.0[0], bytes)
    }

    pub fn verify(&self, bytes: &[u8], signed: [u8; SIGNATURE_BYTES]) -> bool {
        let is_by = |key| is_same(signature(key, bytes), signed);
        self.0.iter().any(is_by)
    }

    fn parse(text: &str) -> Result<LinkKeys, String> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut keys = Vec::new();
        for (number, secret) in (1..).zip(lines) {
            if !SECRET_LEN.contains(&secret.len()) {
                return Err(format!(
                    "secret {number} has {} characters, and needs {} to {}; make one with: head -c 32 /dev/urandom | base64",
                    secret.len(),
                    SECRET_LEN.start(),
                    SECRET_LEN.end()
                ));
            }
            keys.push(key(secret));
        }
        match keys.len() {
            0 => Err("there is no secret; make one with: head -c 32 /dev/urandom | base64".into()),
            1..=SECRETS_MAX => Ok(LinkKeys(keys)),
            _ => Err(format!("at most {SECRETS_MAX} secrets are allowed")),
        }
    }
}

fn key(secret: &str) -> [u8; 32] {
    blake3::derive_key(CONTEXT, secret.as_bytes())
}

fn signature(key: &[u8; 32], bytes: &[u8]) -> [u8; SIGNATURE_BYTES] {
    let hash = blake3::keyed_hash(key, bytes);
    *hash.as_bytes().first_chunk().expect("there are 32 bytes")
}

/// Compares in constant time.
fn is_same(one: [u8; SIGNATURE_BYTES], other: [u8; SIGNATURE_BYTES]) -> bool {
    let hash = |signature: [u8; SIGNATURE_BYTES]| {
        let mut bytes = [0; 32];
        bytes[..SIGNATURE_BYTES].copy_from_slice(&signature);
        Hash::from_bytes(bytes)
    };
    hash(one) == hash(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "the old secret, which has more than 32 characters";
    const NEW: &str = "the new secret, which has more than 32 characters";

    #[test]
    fn the_first_secret_signs_and_all_of_them_verify() {
        let keys = |lines: &[&str]| LinkKeys::parse(&lines.join("\n")).unwrap();
        let steps = [
            keys(&[OLD]),
            keys(&[OLD, "# a comment", "", NEW]),
            keys(&[NEW, OLD]),
            keys(&[NEW]),
        ];
        for (number, step) in steps.iter().enumerate() {
            let signed = step.sign(b"link");
            for (other_number, other) in steps.iter().enumerate() {
                let is_known = number.abs_diff(other_number) <= 1;
                if is_known {
                    assert!(other.verify(b"link", signed), "{number} {other_number}");
                }
                assert!(!other.verify(b"lino", signed));
            }
        }
        assert!(!steps[3].verify(b"link", steps[0].sign(b"link")));
        assert!(!steps[0].verify(b"link", LinkKeys::default().sign(b"link")));
        assert!(!LinkKeys::default().verify(b"link", steps[0].sign(b"link")));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_refused_and_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secrets");
        let error = || LinkSecrets::open(&path).unwrap_err().to_string();
        assert!(error().starts_with("cannot read the secrets"));
        std::fs::write(&path, format!("{OLD}\n")).unwrap();
        let secrets = LinkSecrets::open(&path).unwrap();
        let file = secrets.0.clone().unwrap();
        let signed = secrets.current().sign(b"link");
        for (bad, told) in [
            ("# none\n".to_owned(), "there is no secret"),
            (
                format!("{OLD}\nshort\n"),
                "secret 2 has 5 characters, and needs 32 to 512",
            ),
            ("x".repeat(513), "secret 1 has 513 characters"),
            (format!("{OLD}\n").repeat(9), "at most 8 secrets"),
            (format!("{OLD}\n").repeat(400), "at most 8192 bytes"),
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(error().contains(told), "{}", error());
            file.read_if_changed();
            assert!(secrets.current().verify(b"link", signed));
        }
        std::fs::write(&path, NEW).unwrap();
        file.read_if_changed();
        assert!(!secrets.current().verify(b"link", signed));
    }
}
