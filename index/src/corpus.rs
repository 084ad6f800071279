//! Directories to texts: [`sources`], then [`walk`], then [`read`]. Paths are bytes.
//!
//! **Invariant:** a regular file is in [`Walk::files`] and read to its end, or a [`Skipped`] entry
//! (its own or a parent's) gives the reason. Size, encoding, line length or a leading dot never
//! skip it.
//!
//! **Invariant:** links are never followed, user configuration never read: the same tree gives the
//! same result for every user.

use std::fmt;
use std::io;
use std::path::PathBuf;

mod attributes;
mod read;
mod rules;
mod sources;
mod walk;
mod work_tree;

pub use crate::format::TextEncoding;
pub(crate) use attributes::set_attributes;
pub(crate) use read::hash;
pub use read::{BINARY_HEAD_BYTES, CHUNK_BYTES, ReadOutcome, read, read_bytes};
pub(crate) use sources::check_length;
pub use sources::{BESIDE_LISTED_MAX, Packages, Source, packages, sources};
pub(crate) use walk::stamp;
pub use walk::{File, Walk, Watched, signature, walk, watched};

/// Problems of single files are a [`SkipReason`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    #[error("{}: no such directory", .0.display())]
    Missing(PathBuf),
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("{}: cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: the root directory cannot be a package, which needs a name; name a directory below it", .0.display())]
    NoName(PathBuf),
    #[error("{}: contains no file to index", .0.display())]
    Empty(PathBuf),
    /// With `each`: no directory inside.
    #[error("{}: contains no directory that could be a package", .0.display())]
    NoPackages(PathBuf),
    #[error(
        "two sources are the same package, `{package}`: {} and {}",
        first.display(),
        second.display()
    )]
    Duplicate {
        package: String,
        first: PathBuf,
        second: PathBuf,
    },
    #[error("{}: its text could not be stored", path.display())]
    Sink { path: PathBuf, source: io::Error },
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// Relative to the source, or empty.
    pub path: Vec<u8>,
    pub reason: SkipReason,
}

/// Reasons with key and words; a detail follows the words. The words are part of the index format:
/// new ones may be added, none may change its meaning.
macro_rules! skip_reasons {
    ($($(#[$doc:meta])* $name:ident $(($detail:ident: $type:ty))? = $key:literal, $words:literal;)*) => {
        #[derive(Clone, Debug, Eq, PartialEq)]
        pub enum SkipReason {
            $($(#[$doc])* $name $(($type))?,)*
        }

        impl SkipReason {
            fn parts(&self) -> (&'static str, &'static str, &str) {
                match self {
                    $(SkipReason::$name $(($detail))? => {
                        ($key, $words, [$($detail.as_str(),)? ""][0])
                    })*
                }
            }

            pub fn from_words(words: &str) -> Option<SkipReason> {
                $(
                    let reason = words
                        .strip_prefix($words)
                        .map(|_detail| SkipReason::$name $((<$type>::from(_detail)))?);
                    if let Some(reason) = reason.filter(|it| it.to_string() == words) {
                        return Some(reason);
                    }
                )*
                None
            }
        }
    };
}

skip_reasons! {
    GitDirectory = "git", "git's own data";
    /// Excluded by a rule, as `git check-ignore -v` prints it (`src/.gitignore:3:*.o`), relative to
    /// the source.
    Ignored(rule: String) = "ignored", "excluded by ";
    Index = "index", "an index of Trawl";
    /// Its target may be searchable.
    Symlink = "symlink", "a symbolic link";
    NotRegular = "not-regular", "a pipe, socket or device";
    /// NUL byte near the beginning: git's rule.
    Binary = "binary", "binary";
    Unreadable(error: String) = "unreadable", "cannot be read: ";
    Hidden = "hidden", "a hidden directory beside the packages";
    Loose = "loose", "a file beside the packages, in none of them";
    NoRepository = "no-repository", "a directory without a git repository";
    /// Deleted, replaced or resized during the read.
    Changed = "changed", "changed while it was read";
    Submodule(commit: String) = "submodule", "a submodule at commit ";
    Lfs(object: String) = "lfs", "a pointer of Git LFS to ";
    TooLarge(size: String) = "too-large", "too large: ";
    /// Path in a repository with an empty, `.`, `..` or slashed component.
    UnsafePath = "path", "its path would leave the repository";
}

impl SkipReason {
    /// Short key, stable over versions.
    pub fn key(&self) -> &'static str {
        self.parts().0
    }

    /// True for a failure to read.
    pub fn is_unread(&self) -> bool {
        matches!(self, SkipReason::Unreadable(_) | SkipReason::Changed)
    }

    /// Rule, message or other detail; may be empty.
    pub fn detail(&self) -> &str {
        self.parts().2
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, words, detail) = self.parts();
        write!(f, "{words}{detail}")
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
