//! Imports of a file: its lines that name packages.

use schema::message::{Field, Filter, Reading};
use std::collections::BTreeSet;
use std::iter;

/// Names, also parts of names with dots.
const NAMES_MAX: usize = 1000;

/// Longer lines are generated.
const LINE_BYTES_MAX: usize = 500;

const WORDS: [&[u8]; 8] = [
    b"include", b"import", b"use", b"using", b"require", b"from", b"extern", b"with",
];

/// Filter for the packages that the file imports: their names, without version and directory, stand
/// in such a line. `-` and `_` are the same sign.
pub(super) fn packages(text: &[u8]) -> Option<Filter> {
    let lines = text.split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| line.len() <= LINE_BYTES_MAX && is_import(line));
    let words = lines.flat_map(|line| line.split(|byte| !is_in_name(*byte)));
    let with_parts = words.flat_map(|word| iter::once(word).chain(word.split(|it| *it == b'.')));
    let names = with_parts.filter_map(|name| str::from_utf8(name).ok());
    let names: BTreeSet<_> = names.filter(|it| !it.is_empty()).take(NAMES_MAX).collect();
    let names: Vec<_> = names.into_iter().map(pattern).collect();
    (!names.is_empty()).then(|| Filter {
        field: Field::Package,
        reading: Reading::Regexp,
        text: format!("(?:^|/)(?:{})$", names.join("|")),
    })
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte)
}

fn pattern(name: &str) -> String {
    let name = name.replace('.', r"\.").replace('+', r"\+");
    name.replace('_', "-").replace('-', "[-_]")
}

/// True if one of the first words is of an import.
fn is_import(line: &[u8]) -> bool {
    let words = line.split(|byte| !byte.is_ascii_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).take(3);
    words.any(|word| WORDS.contains(&word)) || memchr::memmem::find(line, b"require(").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packages_are_words_of_imports() {
        let check = |text: &str, expected: &str| {
            let filter = packages(text.as_bytes()).map(|it| it.text);
            let names = filter
                .as_deref()
                .and_then(|it| it.strip_prefix("(?:^|/)(?:"));
            let names = names.and_then(|it| it.strip_suffix(")$"));
            assert_eq!(names.unwrap_or_default(), expected, "{text}");
        };
        check("#include <curl/curl.h>\n", r"curl|curl\.h|h|include");
        check("use serde_json::Value;", "Value|serde[-_]json|use");
        check(
            "const x = require('left-pad');",
            "const|left[-_]pad|require|x",
        );
        check("import \"a.b/c++\"", r"a|a\.b|b|c\+\+|import");
        check("int used = zlib;", "");
        check(&format!("use {}", "x".repeat(LINE_BYTES_MAX)), "");
    }
}
