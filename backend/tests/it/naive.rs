//! What there is to be found: the files themselves, read whole and gone through line by line.
//!
//! The rules, said once more and in the simplest way: UTF-16 with a mark is decoded; a mark of
//! UTF-8 is dropped; a NUL byte in the first 8,000 makes a file binary. A line ends with `\n`,
//! which with one `\r` before it is not part of what is matched. What is matched is asked of
//! `regex` itself, a line at a time.

use regex::bytes::{Regex, RegexBuilder};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A searchable file.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) package: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

/// A line of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Of its first byte in the document.
    pub(crate) offset: usize,
    /// Without `\n`.
    pub(crate) text: &'a [u8],
    /// What a pattern is matched against.
    pub(crate) judged: &'a [u8],
}

/// The searchable files of the packages in `source`.
pub(crate) fn documents(source: &Path) -> Vec<Document> {
    let mut documents = Vec::new();
    for package in fs::read_dir(source).unwrap() {
        let package = package.unwrap();
        let mut directories = vec![package.path()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else if let Some(text) = decode(&fs::read(&path).unwrap()) {
                    let name = path.strip_prefix(package.path()).unwrap();
                    documents.push(Document {
                        package: package.file_name().as_bytes().to_vec(),
                        path: name.as_os_str().as_bytes().to_vec(),
                        text,
                    });
                }
            }
        }
    }
    documents
}

/// A file's text; `None` when it is binary.
fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    match bytes {
        [0xff, 0xfe, units @ ..] => Some(decode_utf16(units, u16::from_le_bytes)),
        [0xfe, 0xff, units @ ..] => Some(decode_utf16(units, u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, text @ ..] => Some(text.to_vec()),
        _ if bytes.iter().take(8000).any(|&byte| byte == 0) => None,
        _ => Some(bytes.to_vec()),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (units, half) = bytes.as_chunks();
    let mut text: String = char::decode_utf16(units.iter().map(|&bytes| unit(bytes)))
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !half.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.into_bytes()
}

impl Document {
    /// All lines.
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let mut offset = 0;
        let line = |whole: &'_ [u8]| -> (usize, usize) {
            match whole {
                [.., b'\r', b'\n'] => (whole.len() - 1, whole.len() - 2),
                [.., b'\n'] => (whole.len() - 1, whole.len() - 1),
                _ => (whole.len(), whole.len()),
            }
        };
        let whole = self.text.split_inclusive(|&byte| byte == b'\n');
        whole
            .map(|whole| {
                let (text, judged) = line(whole);
                let start = offset;
                offset += whole.len();
                Line {
                    offset: start,
                    text: &whole[..text],
                    judged: &whole[..judged],
                }
            })
            .collect()
    }
}

/// The judge of a line. `None` when the pattern is larger than `regex` likes by default.
pub(crate) fn judge(pattern: &str, ignore_case: bool) -> Option<Regex> {
    let built = RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .unicode(true)
        .case_insensitive(ignore_case)
        .build();
    match built {
        Ok(regex) => Some(regex),
        Err(regex::Error::CompiledTooBig(_)) => None,
        Err(error) => panic!("{pattern:?}: {error}"),
    }
}

/// What matches in a line, the first `max` of it.
pub(crate) fn ranges(judge: &Regex, line: Line<'_>, max: usize) -> Vec<Range<usize>> {
    let found = judge.find_iter(line.judged);
    found.map(|found| found.range()).take(max).collect()
}
