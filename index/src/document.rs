//! What is known about a document without opening it: the package it belongs to and how well known
//! that is, the class that orders it within the package, and its language.
//!
//! Everything here is decided from bytes of names alone. No file is opened, so two machines
//! that hold the same tree give the same answer, and a path that is not UTF-8 is as good as any.
//! It is deliberately a guess: a script without an extension has no language here, and a file in
//! `tests/` is a test whatever it holds. The guess only orders results and feeds filters; what is
//! searchable is decided by [`crate::corpus`].

mod class;
mod language;
mod popularity;

pub use class::{Class, classify};
pub use language::{language, language_named, language_similar_to};
pub use popularity::Popularity;

/// The name of a package directory, taken apart: `i3-wm_4.22` is `i3-wm` in version `4.22`.
///
/// Any bytes but `/` and NUL may stand in a directory's name, so nothing here is a `str`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PackageName<'a> {
    /// What filters by package look at. Never empty, unless the directory's name was.
    pub name: &'a [u8],
    /// The version behind the name, beginning with an ASCII digit, if there is one.
    pub version: Option<&'a [u8]>,
}

impl<'a> PackageName<'a> {
    /// Takes the name of a package's directory apart, as [`split_version`] does.
    pub fn parse(directory: &'a [u8]) -> PackageName<'a> {
        let (name, version) = split_version(directory);
        PackageName { name, version }
    }
}

/// Splits the name of a package's directory into name and version.
///
/// `_` is Debian's separator and `-` everybody else's, and either may stand inside a name as well
/// as inside a version. So, of the places where a digit follows and the name before is not empty:
///
/// 1. the last `_`, if the name before has none: Debian's names have none, and
///    `make-dfsg_4.3-4.1` has its `-` in the version;
/// 2. else the last `-` whose rest holds a dot: `md-5-0.10.6` is version 0.10.6 of `md-5`, and
///    `windows_x86_64_gnu-0.52.6` version 0.52.6;
/// 3. else the last `_`, else the first `-`: `foo-7` is version 7 of `foo`.
pub fn split_version(directory: &[u8]) -> (&[u8], Option<&[u8]>) {
    let has_dot = |&at: &usize| memchr::memchr(b'.', &directory[at..]).is_some();
    let underscore = separators(directory, b'_').last();
    let split = underscore
        .filter(|&at| memchr::memchr(b'_', &directory[..at]).is_none())
        .or_else(|| separators(directory, b'-').filter(has_dot).last())
        .or(underscore)
        .or_else(|| separators(directory, b'-').next());
    match split {
        Some(at) => (&directory[..at], Some(&directory[at + 1..])),
        None => (directory, None),
    }
}

/// Where `separator` stands before a digit and behind at least one byte, in ascending order.
fn separators(directory: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(separator, directory)
        .filter(|&at| at > 0 && directory.get(at + 1).is_some_and(u8::is_ascii_digit))
}

/// The directory part of a path, without its last `/`, and its file name.
fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The extension of a file name, without its dot. A leading dot makes a hidden file, no extension.
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
    fn a_version_is_split_from_the_name() {
        let table: &[(&str, &str, Option<&str>)] = &[
            ("i3-wm_4.22", "i3-wm", Some("4.22")),
            ("serde_json-1.0.1", "serde_json", Some("1.0.1")),
            ("make-dfsg_4.3-4.1", "make-dfsg", Some("4.3-4.1")),
            ("re2_20220601+dfsg-1", "re2", Some("20220601+dfsg-1")),
            ("md-5-0.10.6", "md-5", Some("0.10.6")),
            (
                "windows_x86_64_gnu-0.52.6",
                "windows_x86_64_gnu",
                Some("0.52.6"),
            ),
            ("foo_bar_1.0-2", "foo_bar", Some("1.0-2")),
            (
                "wasi-0.11.0+wasi-snapshot-preview1",
                "wasi",
                Some("0.11.0+wasi-snapshot-preview1"),
            ),
            ("clap-3.0.0-beta.2", "clap", Some("3.0.0-beta.2")),
            (
                "node-express_4.18.2+~4.17.14-1",
                "node-express",
                Some("4.18.2+~4.17.14-1"),
            ),
            ("foo-7", "foo", Some("7")),
            ("foo-7-8", "foo", Some("7-8")),
            ("foo_1_2", "foo_1", Some("2")),
            ("a.b-7", "a.b", Some("7")),
            ("foo_7", "foo", Some("7")),
            ("linux", "linux", None),
            ("linux-", "linux-", None),
            ("linux_", "linux_", None),
            ("gtk-rs", "gtk-rs", None),
            ("base64", "base64", None),
            ("_1", "_1", None),
            ("-1", "-1", None),
            ("_1-2.0", "_1", Some("2.0")),
            ("", "", None),
        ];
        for &(directory, name, version) in table {
            let found = split_version(directory.as_bytes());
            assert_eq!(
                found,
                (name.as_bytes(), version.map(str::as_bytes)),
                "{directory}"
            );
        }
    }

    #[test]
    fn a_package_name_may_be_any_bytes() {
        let package = PackageName::parse(b"\xff\xfe \n_1\xff");
        assert_eq!(
            package,
            PackageName {
                name: b"\xff\xfe \n",
                version: Some(b"1\xff")
            }
        );
    }

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
