//! Facts about a document: popularity of its package, class, language.
//!
//! No file is opened, so the same tree gives the same answer everywhere. Deliberately a guess: it
//! only orders results and feeds filters; [`crate::corpus`] decides what is searchable.

mod class;
mod language;

pub use class::{Class, classify, classify_as, may_define};

pub(crate) use self::language::{NotedLanguage, canonical, is_current, language_of, noted};

use ::language::path::split_name;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// Package's part of the static rank, with the weights of Debian Code Search.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}

/// Generic words of package names.
#[rustfmt::skip]
const COMMON: &[&[u8]] = &[
    b"com", b"common", b"core", b"dev", b"dfsg", b"github", b"golang", b"google", b"haskell", b"java", b"lib",
    b"node", b"org", b"perl", b"php", b"python", b"ruby", b"rust", b"src", b"tools", b"utils",
];

const LETTERS_MIN: usize = 2;

/// Finds a package's name in a path or query: `png` of `libpng1.6_1.6.39-2` in
/// `png_create_info_struct`. Copies of a file in other packages lack it. A word of the name is a
/// word of `text`, or set off in one by `_`, digits or case.
pub fn is_named_in(package: &[u8], text: &[u8]) -> bool {
    words(package).any(|word| has_part(text, word))
}

/// Without version, `lib` and numbers.
fn words(package: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (_, name) = split_name(package);
    let version = name
        .windows(2)
        .position(|two| two[0] == b'_' && two[1].is_ascii_digit());
    let name = &name[..version.unwrap_or(name.len())];
    let words = name.split(|byte| !byte.is_ascii_alphanumeric());
    words
        .filter(|word| !COMMON.contains(word))
        .map(|word| {
            let letters = word.iter().rposition(|byte| !byte.is_ascii_digit());
            let word = &word[..letters.map_or(0, |last| last + 1)];
            match word.strip_prefix(b"lib") {
                Some(rest) if rest.len() >= LETTERS_MIN => rest,
                _ => word,
            }
        })
        .filter(|word| word.len() >= LETTERS_MIN && !COMMON.contains(word))
}

fn has_part(text: &[u8], word: &[u8]) -> bool {
    let mut windows = text.windows(word.len()).enumerate();
    windows.any(|(at, window)| {
        let end = at + word.len();
        window.eq_ignore_ascii_case(word)
            && at
                .checked_sub(1)
                .is_none_or(|before| sets_off(text[before], text[at]))
            && text
                .get(end)
                .is_none_or(|&behind| sets_off(text[end - 1], behind))
    })
}

fn sets_off(before: u8, behind: u8) -> bool {
    !before.is_ascii_alphabetic()
        || !behind.is_ascii_alphabetic()
        || before.is_ascii_lowercase() && behind.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_parts_of_words() {
        for (package, text, expected) in [
            ("libpng1.6_1.6.39-2", "png_create_info_struct", true),
            ("libpng1.6_1.6.39-2", "PNGAPI", false),
            ("curl_7.88", "curl_easy_setopt", true),
            ("redis_7", "redisServer", true),
            ("lz4_1.9", "LZ4_compress", true),
            ("git_2.39", "digit_count", false),
            ("git_2.39", "git.c", true),
            ("jinja2_3.1", "src/jinja2/nativetypes.py", true),
            ("python-pip_23", "src/pip/_vendor/urllib3/util.py", true),
            ("rsync_3.2", "zlib/inflate.c", false),
            ("rust-libc_0.2", "src/rust.rs", false),
            ("someone/tool", "tool/main.go", true),
            ("someone/tool", "someone/main.go", false),
            ("golang-github-gorilla-mux_1.8", "mux.go", true),
            ("3_1", "3", false),
            ("", "", false),
        ] {
            assert_eq!(
                is_named_in(package.as_bytes(), text.as_bytes()),
                expected,
                "{package} {text}"
            );
        }
    }
}
