//! Imports of a file: its lines that name packages.

use schema::name::package_name;

const IMPORTS_MAX: usize = 1000;

/// Longer lines are generated.
const LINE_BYTES_MAX: usize = 500;

const WORDS: [&[u8]; 8] = [
    b"include", b"import", b"use", b"using", b"require", b"from", b"extern", b"with",
];

/// Lines of a file that import something.
#[derive(Default)]
pub(super) struct Imports(Vec<Vec<u8>>);

impl Imports {
    pub(super) fn of(text: &[u8]) -> Imports {
        let lines = text.split(|&byte| byte == b'\n');
        let lines = lines.filter(|line| line.len() <= LINE_BYTES_MAX && is_import(line));
        let lines = lines.take(IMPORTS_MAX);
        Imports(lines.map(<[u8]>::to_vec).map(plain).collect())
    }

    /// True if a line has the name of the package, without its version and directory. `-` and `_`
    /// are the same sign.
    pub(super) fn name(&self, package: &[u8]) -> bool {
        let name = package_name(package);
        let name = name.rsplit(|&byte| byte == b'/').next();
        let name = plain(name.unwrap_or_default().to_vec());
        !name.is_empty() && self.0.iter().any(|line| has_word(line, &name))
    }
}

/// True if one of the first words is of an import.
fn is_import(line: &[u8]) -> bool {
    let words = line.split(|byte| !byte.is_ascii_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).take(3);
    words.any(|word| WORDS.contains(&word)) || memchr::memmem::find(line, b"require(").is_some()
}

fn plain(mut line: Vec<u8>) -> Vec<u8> {
    line.iter_mut().for_each(|byte| {
        if *byte == b'-' {
            *byte = b'_';
        }
    });
    line
}

fn has_word(line: &[u8], word: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|&byte| language::words::is_word(byte));
    memchr::memmem::find_iter(line, word).any(|start| {
        let before = start.checked_sub(1).and_then(|at| line.get(at));
        !is_part(before) && !is_part(line.get(start + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_name_packages() {
        let text = b"#include <curl/curl.h>\nuse serde_json::Value;\nint used = zlib;\n\
            const x = require('left-pad');\nimport \"github.com/spf13/cobra\"\n";
        let imports = Imports::of(text);
        for (package, is_named) in [
            ("curl_8.0", true),
            ("serde-json_1.0", true),
            ("left-pad", true),
            ("spf13/cobra", true),
            ("zlib_1.2", false),
            ("json_1", false),
            ("_1", false),
        ] {
            assert_eq!(imports.name(package.as_bytes()), is_named, "{package}");
        }
        assert!(!Imports::default().name(b"curl"));
    }
}
