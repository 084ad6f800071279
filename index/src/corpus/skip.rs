//! Why a file or a directory is not searchable, in words for people and in a form that is stored.
//!
//! A reason is stored as its key and its detail, or in a shard in its words; it comes back with
//! [`SkipReason::from_parts`] or [`SkipReason::from_words`]. Both are part of the index format: they may
//! be added, but none may change its meaning.

use std::fmt;

/// One entry of what was left out: a file, or a directory with all that is in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// Relative to the source, `/`-separated. Empty for the source's own directory.
    pub path: Vec<u8>,
    /// Why it is not searchable.
    pub reason: SkipReason,
}

/// Why something is not searchable. `Display` says it in plain words, with the detail.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SkipReason {
    /// It is `.git`: the repository itself, not a source in it.
    GitDirectory,
    /// A rule of the work tree excludes it. The rule is told as `git check-ignore -v` tells it:
    /// file, line, pattern (`src/.gitignore:3:*.o`), the file relative to the source (with `../`
    /// for one above it).
    Ignored(String),
    /// It is a directory that `trawl index` writes to.
    Index,
    /// It is a symbolic link. What it points to may be searchable under its own name.
    Symlink,
    /// It is a pipe, a socket or a device.
    NotRegular,
    /// It has a NUL byte near its beginning: git's rule.
    Binary,
    /// The operating system refuses to list or to read it, in these words.
    Unreadable(String),
    /// It vanished, was replaced, or changed in size while it was read.
    Changed,
}

impl SkipReason {
    /// A short word for the reason, stable over versions.
    pub fn key(&self) -> &'static str {
        match self {
            SkipReason::GitDirectory => "git",
            SkipReason::Ignored(_) => "ignored",
            SkipReason::Index => "index",
            SkipReason::Symlink => "symlink",
            SkipReason::NotRegular => "not-regular",
            SkipReason::Binary => "binary",
            SkipReason::Unreadable(_) => "unreadable",
            SkipReason::Changed => "changed",
        }
    }

    /// What the key does not say: the rule, or the words of the operating system. Else empty.
    pub fn detail(&self) -> &str {
        match self {
            SkipReason::Ignored(detail) | SkipReason::Unreadable(detail) => detail,
            _ => "",
        }
    }

    /// The reason that has this key and this detail; `None` when no reason has that key.
    pub fn from_parts(key: &str, detail: &str) -> Option<SkipReason> {
        Some(match key {
            "git" => SkipReason::GitDirectory,
            "ignored" => SkipReason::Ignored(detail.to_owned()),
            "index" => SkipReason::Index,
            "symlink" => SkipReason::Symlink,
            "not-regular" => SkipReason::NotRegular,
            "binary" => SkipReason::Binary,
            "unreadable" => SkipReason::Unreadable(detail.to_owned()),
            "changed" => SkipReason::Changed,
            _ => return None,
        })
    }

    /// The reason that these are the words of; `None` when no reason says that.
    pub fn from_words(words: &str) -> Option<SkipReason> {
        const PLAIN: [SkipReason; 6] = [
            SkipReason::GitDirectory,
            SkipReason::Index,
            SkipReason::Symlink,
            SkipReason::NotRegular,
            SkipReason::Binary,
            SkipReason::Changed,
        ];
        if let Some(rule) = words.strip_prefix(EXCLUDED_BY) {
            return Some(SkipReason::Ignored(rule.to_owned()));
        }
        if let Some(message) = words.strip_prefix(CANNOT_BE_READ) {
            return Some(SkipReason::Unreadable(message.to_owned()));
        }
        PLAIN.into_iter().find(|reason| reason.to_string() == words)
    }
}

/// What stands before the details of the reasons that have one.
const EXCLUDED_BY: &str = "excluded by ";
const CANNOT_BE_READ: &str = "cannot be read: ";

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::GitDirectory => f.write_str("git's own data"),
            SkipReason::Ignored(rule) => write!(f, "{EXCLUDED_BY}{rule}"),
            SkipReason::Index => f.write_str("an index of Trawl"),
            SkipReason::Symlink => f.write_str("a symbolic link"),
            SkipReason::NotRegular => f.write_str("a pipe, socket or device"),
            SkipReason::Binary => f.write_str("binary"),
            SkipReason::Unreadable(message) => write!(f, "{CANNOT_BE_READ}{message}"),
            SkipReason::Changed => f.write_str("changed while it was read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_survives_being_stored() {
        let table = [
            (SkipReason::GitDirectory, "git", "git's own data"),
            (
                SkipReason::Ignored("a:1:*.o".into()),
                "ignored",
                "excluded by a:1:*.o",
            ),
            (SkipReason::Index, "index", "an index of Trawl"),
            (SkipReason::Symlink, "symlink", "a symbolic link"),
            (
                SkipReason::NotRegular,
                "not-regular",
                "a pipe, socket or device",
            ),
            (SkipReason::Binary, "binary", "binary"),
            (
                SkipReason::Unreadable("no".into()),
                "unreadable",
                "cannot be read: no",
            ),
            (SkipReason::Changed, "changed", "changed while it was read"),
        ];
        for (reason, key, words) in table {
            assert_eq!(reason.key(), key);
            assert_eq!(reason.to_string(), words);
            assert_eq!(SkipReason::from_words(words), Some(reason.clone()));
            assert_eq!(SkipReason::from_parts(key, reason.detail()), Some(reason));
        }
        assert_eq!(SkipReason::from_words("too tired"), None);
        assert_eq!(SkipReason::from_parts("tired", ""), None);
    }
}
