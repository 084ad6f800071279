//! Facts about a document from names alone: popularity of its package, class, language.
//!
//! No file is opened, so the same tree gives the same answer everywhere. Deliberately a guess: it
//! only orders results and feeds filters; [`crate::corpus`] decides what is searchable.

mod class;
mod language;
mod own_name;

pub use class::{Class, classify, classify_as, may_define};
pub use language::{language, language_named, language_similar_to, languages};
pub use own_name::is_named_in;

/// Popularity of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Share of installations.
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// Returns the package's part of the static rank, with the weights of Debian Code Search.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}

fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Returns the extension without dot. A leading dot makes a hidden file, not an extension.
pub(crate) fn extension(name: &[u8]) -> Option<&[u8]> {
    match memchr::memrchr(b'.', name) {
        None | Some(0) => None,
        Some(at) => Some(&name[at + 1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_taken_from_the_last_component() {
        assert_eq!(split_name(b"a.d/b/c"), (&b"a.d/b"[..], &b"c"[..]));
        assert_eq!(split_name(b"c"), (&b""[..], &b"c"[..]));
        assert_eq!(extension(b"a.tar.gz"), Some(&b"gz"[..]));
        assert_eq!(extension(b".bashrc"), None);
        assert_eq!(extension(b"Makefile"), None);
        assert_eq!(extension(b"odd."), Some(&b""[..]));
    }
}
