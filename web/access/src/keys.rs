//! Keys of clients: generation, and the hashes of accepted ones.
//!
//! A key has 256 random bits and cannot be guessed, so a plain BLAKE3 hash protects it.

use blake3::Hash;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::path::Path;
use std::sync::Arc;
use watched_file::{BadFile, WatchedFile, read_text};

/// Bytes of two thousand keys, each compared with every request.
const BYTES_MAX: u64 = 256 << 10;

/// Prefix of keys, so that leaked ones are recognised.
const PREFIX: &str = "trawl_";

const HASH_PREFIX: &str = "blake3:";

const KEY_BYTES: usize = 32;

const NAME_LEN_MAX: usize = 64;

/// Name of a key, which may be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyName(Arc<str>);

impl KeyName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Client number, not 0.
    pub fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        ("key", self).hash(&mut hasher);
        hasher.finish().max(1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to {NAME_LEN_MAX} letters, digits, `-`, `_` and `.`")]
pub struct BadName;

pub struct NewKey {
    /// Client's secret.
    pub key: String,
    pub line: String,
}

impl NewKey {
    /// Generates a random key.
    ///
    /// # Panics
    /// If the operating system has no random numbers.
    pub fn random(name: &str) -> Result<NewKey, BadName> {
        if !is_name(name) {
            return Err(BadName);
        }
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).expect("the operating system has random numbers");
        let digits = Hash::from_bytes(bytes).to_hex();
        let key = format!("{PREFIX}{digits}");
        let hash = blake3::hash(key.as_bytes()).to_hex();
        let line = format!("{name} {HASH_PREFIX}{hash}");
        Ok(NewKey { key, line })
    }
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=NAME_LEN_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Keys of a file, reread when it changes, to revoke keys at run time.
#[derive(Debug)]
pub struct ApiKeys(WatchedFile<KnownKeys>);

impl ApiKeys {
    pub fn open(path: &Path) -> Result<ApiKeys, BadFile> {
        let read = |path: &Path| {
            let text = read_text(path, "the file of keys", BYTES_MAX)?;
            KnownKeys::parse(&text).map_err(|reason| BadFile::unusable(path, reason))
        };
        WatchedFile::open(path, "keys", read).map(ApiKeys)
    }

    pub(super) fn current(&self) -> Arc<KnownKeys> {
        self.0.current()
    }
}

#[derive(Debug)]
pub(crate) struct KnownKeys(Vec<(KeyName, Hash)>);

impl KnownKeys {
    /// Parses a name and a hash on each line. Empty lines and `#` comments are ignored. Errors show
    /// line numbers, never a possible key.
    pub(super) fn parse(text: &str) -> Result<KnownKeys, String> {
        let mut keys = Vec::new();
        let (mut names, mut hashes) = (HashMap::new(), HashMap::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, hash) = entry(line).map_err(|reason| format!("line {number}: {reason}"))?;
            if let Some(first) = names.insert(name.clone(), number) {
                let name = name.as_str();
                return Err(format!(
                    "line {number}: the name {name} is on line {first} already"
                ));
            }
            if let Some(first) = hashes.insert(*hash.as_bytes(), number) {
                return Err(format!("line {number}: the key of line {first} again"));
            }
            keys.push((name, hash));
        }
        if keys.is_empty() {
            return Err("no keys, so no client could use the API".to_owned());
        }
        Ok(KnownKeys(keys))
    }

    /// Compares all hashes, in constant time.
    pub(crate) fn name_of(&self, key: &[u8]) -> Option<KeyName> {
        let given = blake3::hash(key);
        let found = self.0.iter().fold(
            None,
            |found, (name, hash)| {
                if *hash == given { Some(name) } else { found }
            },
        );
        found.cloned()
    }

    pub(super) fn named(&self, name: &str) -> Option<&(KeyName, Hash)> {
        self.0.iter().find(|(known, _)| known.as_str() == name)
    }
}

fn entry(line: &str) -> Result<(KeyName, Hash), String> {
    let mut words = line.split_whitespace();
    let (name, hash, more) = (words.next(), words.next(), words.next());
    let name = name.unwrap_or_default();
    if [Some(name), hash]
        .into_iter()
        .flatten()
        .any(|word| word.starts_with(PREFIX))
    {
        return Err(
            "this is a key, and the file must have its hash: replace the key, since it was written \
             down, by the line that `trawl key NAME` prints"
                .to_owned(),
        );
    }
    let (Some(hash), None) = (hash, more) else {
        return Err(format!(
            "expected a name and a hash, such as: robot {HASH_PREFIX}64 hexadecimal digits"
        ));
    };
    if !is_name(name) {
        return Err(BadName.to_string());
    }
    let digits = hash.strip_prefix(HASH_PREFIX);
    let hash = digits.and_then(|digits| Hash::from_hex(digits).ok());
    let hash = hash.ok_or_else(|| {
        format!("the hash of {name} is not {HASH_PREFIX} and 64 hexadecimal digits; `trawl key NAME` makes a new key")
    })?;
    Ok((KeyName(name.into()), hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn parsed(text: &str) -> Vec<String> {
        let keys = KnownKeys::parse(text).unwrap();
        keys.0.iter().map(|(name, _)| name.0.to_string()).collect()
    }

    #[test]
    fn a_new_key_is_accepted_by_its_line_alone() {
        let (a, b) = (NewKey::random("a").unwrap(), NewKey::random("b").unwrap());
        let keys = KnownKeys::parse(&format!("# comment\n\n{}\r\n {}\n", a.line, b.line)).unwrap();
        assert_eq!(keys.name_of(a.key.as_bytes()).unwrap().as_str(), "a");
        assert_eq!(keys.name_of(b.key.as_bytes()).unwrap().as_str(), "b");
        let hash = a.line.split(' ').next_back().unwrap();
        for wrong in [
            "",
            "trawl_",
            hash,
            &a.key[..a.key.len() - 1],
            &a.key.to_uppercase(),
        ] {
            assert_eq!(keys.name_of(wrong.as_bytes()), None, "{wrong}");
        }
        assert!(!a.line.contains(&a.key));
        assert_ne!(a.key, b.key);
        assert_eq!(parsed(&a.line), ["a"]);
    }

    #[test]
    fn names_of_keys_are_short_words() {
        for bad in ["", "a b", "a:b", "é", "#a", &"x".repeat(NAME_LEN_MAX + 1)] {
            assert!(NewKey::random(bad).is_err(), "{bad}");
        }
        assert!(NewKey::random("team.robot-2_x").is_ok());
    }

    #[test]
    fn a_bad_line_of_the_key_file_is_named_and_not_shown() {
        let good = NewKey::random("good").unwrap();
        let other = NewKey::random("other").unwrap();
        let digits = "0".repeat(64);
        for (text, expected) in [
            (String::new(), "no keys"),
            ("# none\n".to_owned(), "no keys"),
            ("robot".to_owned(), "line 1: expected a name and a hash"),
            (
                format!("robot blake3:{digits} x"),
                "line 1: expected a name",
            ),
            (
                format!("#\nrobot blake3:{}", &digits[1..]),
                "line 2: the hash of robot is not",
            ),
            (
                format!("robot {digits}"),
                "line 1: the hash of robot is not",
            ),
            (
                format!("robot sha256:{digits}"),
                "line 1: the hash of robot is not",
            ),
            (
                format!("ro/bot blake3:{digits}"),
                "line 1: a name has 1 to 64",
            ),
            (good.key.clone(), "line 1: this is a key"),
            (format!("robot {}", good.key), "line 1: this is a key"),
            (
                format!("{}\n{}", good.line, other.line.replace("other", "good")),
                "line 2: the name good is on line 1 already",
            ),
            (
                format!("{}\n{}", good.line, good.line.replace("good", "other")),
                "line 2: the key of line 1 again",
            ),
        ] {
            let error = KnownKeys::parse(&text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains(&good.key), "{error}");
        }
    }

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
