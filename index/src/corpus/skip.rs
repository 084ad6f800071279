//! Skip reasons, as stored words. The words are part of the index format: new ones may be added,
//! none may change its meaning.

use std::fmt;

/// A skipped file, or a directory skipped with its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// Relative to the source; empty for the source directory.
    pub path: Vec<u8>,
    /// Reason for skipping.
    pub reason: SkipReason,
}

/// Reason for skipping; `Display` renders words and detail.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SkipReason {
    /// `.git`.
    GitDirectory,
    /// Excluded by a rule, as `git check-ignore -v` prints it (`src/.gitignore:3:*.o`), relative to
    /// the source.
    Ignored(String),
    /// Index directory of Trawl.
    Index,
    /// Symbolic link; its target may be searchable.
    Symlink,
    /// Pipe, socket or device.
    NotRegular,
    /// NUL byte near the beginning: git's rule.
    Binary,
    /// Error of the operating system.
    Unreadable(String),
    /// Hidden directory beside packages.
    Hidden,
    /// File beside packages.
    Loose,
    /// Directory among repositories, without one.
    NoRepository,
    /// Deleted, replaced or resized during the read.
    Changed,
    /// Submodule at this commit.
    Submodule(String),
    /// Git LFS pointer: size and id.
    Lfs(String),
    /// Larger than a repository file may be.
    TooLarge(String),
    /// Path in a repository with an empty, `.`, `..` or slashed component.
    UnsafePath,
}

impl SkipReason {
    /// Short key, stable over versions.
    pub fn key(&self) -> &'static str {
        self.key_and_words().0
    }

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
            SkipReason::NoRepository => ("no-repository", "a directory without a git repository"),
            SkipReason::Changed => ("changed", "changed while it was read"),
            SkipReason::Submodule(_) => ("submodule", SUBMODULE_AT),
            SkipReason::Lfs(_) => ("lfs", KEPT_BY_LFS),
            SkipReason::TooLarge(_) => ("too-large", TOO_LARGE),
            SkipReason::UnsafePath => ("path", "its path would leave the repository"),
        }
    }

    /// Rule, message or other detail; may be empty.
    pub fn detail(&self) -> &str {
        match self {
            SkipReason::Ignored(detail)
            | SkipReason::Unreadable(detail)
            | SkipReason::Submodule(detail)
            | SkipReason::Lfs(detail)
            | SkipReason::TooLarge(detail) => detail,
            _ => "",
        }
    }

    /// Parses the words of a reason.
    pub fn from_words(words: &str) -> Option<SkipReason> {
        const PLAIN: [SkipReason; 10] = [
            SkipReason::GitDirectory,
            SkipReason::Index,
            SkipReason::Symlink,
            SkipReason::NotRegular,
            SkipReason::Binary,
            SkipReason::Changed,
            SkipReason::Hidden,
            SkipReason::Loose,
            SkipReason::NoRepository,
            SkipReason::UnsafePath,
        ];
        let detail = |before| words.strip_prefix(before).map(str::to_owned);
        let detailed = [
            detail(EXCLUDED_BY).map(SkipReason::Ignored),
            detail(CANNOT_BE_READ).map(SkipReason::Unreadable),
            detail(SUBMODULE_AT).map(SkipReason::Submodule),
            detail(KEPT_BY_LFS).map(SkipReason::Lfs),
            detail(TOO_LARGE).map(SkipReason::TooLarge),
        ];
        if let Some(reason) = detailed.into_iter().flatten().next() {
            return Some(reason);
        }
        PLAIN.into_iter().find(|reason| reason.to_string() == words)
    }
}

/// Words before the detail.
const EXCLUDED_BY: &str = "excluded by ";
const CANNOT_BE_READ: &str = "cannot be read: ";
const SUBMODULE_AT: &str = "a submodule at commit ";
const KEPT_BY_LFS: &str = "a pointer of Git LFS to ";
const TOO_LARGE: &str = "too large: ";

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
            (
                SkipReason::NoRepository,
                "no-repository",
                "a directory without a git repository",
            ),
            (
                SkipReason::Submodule("ab".into()),
                "submodule",
                "a submodule at commit ab",
            ),
            (
                SkipReason::Lfs("1 byte".into()),
                "lfs",
                "a pointer of Git LFS to 1 byte",
            ),
            (
                SkipReason::TooLarge("9 bytes".into()),
                "too-large",
                "too large: 9 bytes",
            ),
            (
                SkipReason::UnsafePath,
                "path",
                "its path would leave the repository",
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
