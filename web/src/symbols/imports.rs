//! Imports of a file: its lines that name packages.

use schema::message::{Field, Filter, Reading};
use schema::name::package_name;

/// A query has 4 KiB.
const NAMES_BYTES_MAX: usize = 1500;

/// Longer lines are generated.
const LINE_BYTES_MAX: usize = 500;

const WORDS: [&[u8]; 8] = [
    b"include", b"import", b"use", b"using", b"require", b"from", b"extern", b"with",
];

/// Names of packages without version and directory, with `-` for `_`.
#[derive(Default)]
pub(super) struct Imports(Vec<String>);

impl Imports {
    pub(super) fn of(text: &[u8]) -> Imports {
        Imports(names(text))
    }

    pub(super) fn filter(&self) -> Option<Filter> {
        let names: Vec<_> = self.0.iter().map(|name| pattern(name)).collect();
        (!names.is_empty()).then(|| Filter {
            field: Field::Package,
            reading: Reading::Regexp,
            text: format!("(?:^|/)(?:{})$", names.join("|")),
        })
    }

    /// True for packages that the filter accepts.
    pub(super) fn name(&self, directory: &[u8]) -> bool {
        [directory, package_name(directory)].iter().any(|name| {
            let last = name.rsplit(|byte| *byte == b'/').next();
            let last = last.unwrap_or_default().iter();
            let last = last.map(|byte| if *byte == b'_' { b'-' } else { *byte });
            self.0.iter().any(|known| known.bytes().eq(last.clone()))
        })
    }
}

fn names(text: &[u8]) -> Vec<String> {
    let lines = text.split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| line.len() <= LINE_BYTES_MAX && is_import(line));
    let words = lines.flat_map(|line| line.split(|byte| !is_in_name(*byte)));
    let with_parts = words.flat_map(|word| {
        let parts = word.split(|byte| *byte == b'.');
        let whole = (parts.clone().count() == 2).then_some(word);
        parts.chain(whole)
    });
    let names = with_parts.filter(|it| !it.is_empty() && !WORDS.contains(it));
    let names = names.filter_map(|name| Some(str::from_utf8(name).ok()?.replace('_', "-")));
    let (mut known, mut bytes) = (Vec::new(), 0);
    for name in names {
        let more = pattern(&name).len() + 1;
        if bytes + more <= NAMES_BYTES_MAX && !known.contains(&name) {
            bytes += more;
            known.push(name);
        }
    }
    known
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte)
}

fn pattern(name: &str) -> String {
    let name = name.replace('.', r"\.").replace('+', r"\+");
    name.replace('-', "[-_]")
}

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
            let filter = Imports::of(text.as_bytes()).filter().map(|it| it.text);
            let names = filter
                .as_deref()
                .and_then(|it| it.strip_prefix("(?:^|/)(?:"));
            let names = names.and_then(|it| it.strip_suffix(")$"));
            assert_eq!(names.unwrap_or_default(), expected, "{text}");
        };
        check("#include <curl/curl.h>\n", r"curl|h|curl\.h");
        check("use serde_json::Value;", "serde[-_]json|Value");
        check("const x = require('left-pad');", "const|x|left[-_]pad");
        check("import \"a.b/c++\"", r"a|b|a\.b|c\+\+");
        check("import org.b.C;", "org|b|C");
        check("int used = zlib;", "");
        check(&format!("use {}", "x".repeat(LINE_BYTES_MAX)), "");
        let many: String = (1000..2000).map(|it| format!("use {it};\n")).collect();
        let filter = Imports::of(many.as_bytes()).filter().unwrap();
        assert_eq!(filter.text.matches('|').count(), NAMES_BYTES_MAX / 5);
    }
    #[test]
    fn names_without_version_and_directory_are_those_of_the_filter() {
        let imports = Imports::of(b"use serde_json::Value;\n#include <curl/curl.h>\n");
        for (package, expected) in [
            ("serde-json-1.0.1", true),
            ("serde_json", true),
            ("curl_7.88.1-10", true),
            ("example.org/curl", true),
            ("curl-dev_7", false),
            ("json", false),
            ("", false),
        ] {
            assert_eq!(imports.name(package.as_bytes()), expected, "{package}");
        }
    }
}
