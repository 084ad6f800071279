//! Why a file or a directory is not searchable, in words and in a stored form.
//!
//! A shard stores a reason in words, from which [`SkipReason::from_words`] reads it. The words are part
//! of the index format: new ones may be added, but none may change its meaning.

use std::fmt;

/// A file that was skipped, or a directory that was skipped with all its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// Relative to the source, `/`-separated. Empty for the source's own directory.
    pub path: Vec<u8>,
    /// Why it is not searchable.
    pub reason: SkipReason,
}

/// Why something is not searchable. `Display` renders the words, with the detail.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SkipReason {
    /// It is `.git`: the repository's own data.
    GitDirectory,
    /// A rule of the work tree excludes it. The rule is in the form of `git check-ignore -v`: file,
    /// line, pattern (`src/.gitignore:3:*.o`), with the file relative to the source (`../` for one
    /// above it).
    Ignored(String),
    /// It is an index directory of Trawl.
    Index,
    /// It is a symbolic link. Its target may be searchable under its own name.
    Symlink,
    /// It is a pipe, a socket or a device.
    NotRegular,
    /// It has a NUL byte near its beginning: git's rule.
    Binary,
    /// The operating system refuses to list or to read it, with this message.
    Unreadable(String),
    /// It is a hidden directory beside packages.
    Hidden,
    /// It is a file beside packages.
    Loose,
    /// It was deleted, replaced, or changed in size while it was read.
    Changed,
}

impl SkipReason {
    /// Returns a short word for the reason, stable over versions.
    pub fn key(&self) -> &'static str {
        self.key_and_words().0
    }

    /// Returns the key, and the words before the detail.
    fn key_and_words(&self) -> (&'static str, &'static str) {
        match self {
            SkipReason::GitDirectory => ("git", "git's own data"),
            SkipReason::Ignored(_) => ("ignored", EXCLUDED_BY),
            SkipReason::Index => ("index", "an index of Trawl"),
            SkipReason::Symlink => ("symlink", "a symbolic link"),
            SkipReason::NotRegular => ("not-regular", "a pipe, socket or device"),
            SkipReason::Binary => ("binary", "binary"),
            SkipReason::Unreadable(_) => ("unreadable", CANNOT_BE_READ),
            SkipReason::Hidden => ("hidden", "a hidden directory beside the packages"),
            SkipReason::Loose => ("loose", "a file beside the packages, in none of them"),
            SkipReason::Changed => ("changed", "changed while it was read"),
        }
    }

    /// Returns the rule or the message of the operating system; empty for the other reasons.
    pub fn detail(&self) -> &str {
        match self {
            SkipReason::Ignored(detail) | SkipReason::Unreadable(detail) => detail,
            _ => "",
        }
    }

    /// Parses the words of a reason; `None` when no reason has them.
    pub fn from_words(words: &str) -> Option<SkipReason> {
        const PLAIN: [SkipReason; 8] = [
            SkipReason::GitDirectory,
            SkipReason::Index,
            SkipReason::Symlink,
            SkipReason::NotRegular,
            SkipReason::Binary,
            SkipReason::Changed,
            SkipReason::Hidden,
            SkipReason::Loose,
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

/// The words before the detail, for reasons that have one.
const EXCLUDED_BY: &str = "excluded by ";
const CANNOT_BE_READ: &str = "cannot be read: ";

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.key_and_words().1, self.detail())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_words_of_every_reason() {
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
            (
                SkipReason::Hidden,
                "hidden",
                "a hidden directory beside the packages",
            ),
            (
                SkipReason::Loose,
                "loose",
                "a file beside the packages, in none of them",
            ),
        ];
        for (reason, key, words) in table {
            assert_eq!(reason.key(), key);
            assert_eq!(reason.to_string(), words);
            assert_eq!(SkipReason::from_words(words), Some(reason));
        }
        assert_eq!(SkipReason::from_words("too tired"), None);
    }
}
