//! Keys of clients: generation, and the hashes of accepted ones.
//!
//! A key has 256 random bits and cannot be guessed, so a plain BLAKE3 hash protects it.

use blake3::Hash;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::sync::Arc;

/// Prefix of keys, so that leaked ones are recognised.
const PREFIX: &str = "trawl_";

const HASH_PREFIX: &str = "blake3:";

const KEY_BYTES: usize = 32;

const NAME_LEN_MAX: usize = 64;

/// Name of a key, which may be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyName(Arc<str>);

impl KeyName {
    /// Name in the key file.
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

/// Invalid key name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to {NAME_LEN_MAX} letters, digits, `-`, `_` and `.`")]
pub struct BadName;

/// New key and its line.
pub struct NewKey {
    /// Client's secret.
    pub key: String,
    /// Key file line.
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
}
