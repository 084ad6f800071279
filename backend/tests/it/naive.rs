//! Computes expected matches from files, line by line.
//!
//! Rules: UTF-16 with a byte order mark is decoded, the mark of UTF-8 dropped; a NUL among the
//! first 8,000 bytes means binary. Lines end with `\n`, which is not matched, nor is one `\r`
//! before it. `regex` matches each line alone.

use crate::revisions::State;
use regex::bytes::{Regex, RegexBuilder};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) package: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) state: State,
    /// True for a repository, with a name without version.
    pub(crate) is_of_repository: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) offset: usize,
    /// Without `\n`.
    pub(crate) text: &'a [u8],
    /// Without any line end, for matching.
    pub(crate) body: &'a [u8],
}

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
                        state: State::File,
                        is_of_repository: false,
                    });
                }
            }
        }
    }
    documents
}

/// Decodes a file; `None` for binary.
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
    pub(crate) fn name(&self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let hash = blake3::hash(&self.text).as_bytes().to_vec();
        (self.package.clone(), self.path.clone(), hash)
    }

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
                let (text, body) = line(whole);
                let start = offset;
                offset += whole.len();
                Line {
                    offset: start,
                    text: &whole[..text],
                    body: &whole[..body],
                }
            })
            .collect()
    }
}

/// Compiles a pattern for lines. `None` over the default size limit of `regex`.
pub(crate) fn compile(pattern: &str, ignore_case: bool) -> Option<Regex> {
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

pub(crate) fn ranges(regex: &Regex, line: Line<'_>, max: usize) -> Vec<Range<usize>> {
    let found = regex.find_iter(line.body);
    found.map(|found| found.range()).take(max).collect()
}
