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
    /// It is a directory among git repositories, and has none.
    NoRepository,
    /// It was deleted, replaced, or changed in size while it was read.
    Changed,
    /// It is a submodule at this commit of another repository.
    Submodule(String),
    /// Git LFS keeps its content elsewhere: the size in bytes, and the id.
    Lfs(String),
    /// It has so many bytes, more than a repository's file may have.
    TooLarge(String),
    /// A component of its path in a repository is empty, `.` or `..`, or has a slash.
    UnsafePath,
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
            SkipReason::NoRepository => ("no-repository", "a directory without a git repository"),
            SkipReason::Changed => ("changed", "changed while it was read"),
            SkipReason::Submodule(_) => ("submodule", SUBMODULE_AT),
            SkipReason::Lfs(_) => ("lfs", KEPT_BY_LFS),
            SkipReason::TooLarge(_) => ("too-large", TOO_LARGE),
            SkipReason::UnsafePath => ("path", "its path would leave the repository"),
        }
    }

    /// Returns the rule, the message of the operating system, or what else belongs to the reason; empty for the other reasons.
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

    /// Parses the words of a reason; `None` when no reason has them.
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

/// The words before the detail, for reasons that have one.
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
