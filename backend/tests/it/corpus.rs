//! Random corpora of packages with difficult files.
//!
//! Words use a small alphabet, so queries match. Lines are pieces of bytes that mix encodings and
//! line ends.

use index::ContentCodec;
use index::corpus::sources;
use index::directory::Index;
use index::indexing::{BuildOptions, Progress, build};
use index::manifest::Options;
use proptest::collection::vec;
use proptest::prelude::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Path and bytes of the files of each package.
pub(crate) type Corpus = Vec<Vec<(Vec<u8>, Vec<u8>)>>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    pub(crate) block_bytes: usize,
    pub(crate) shard_bytes: u64,
    pub(crate) content: ContentCodec,
}

/// Bytes of a long line. Longer ones take debug builds too long.
pub(crate) const LONG_LINE_BYTES: usize = 100_000;

/// Generates one to four packages of up to eight files, some lines of about `long_line_bytes`. Half
/// of the files are copies.
pub(crate) fn corpora(long_line_bytes: usize) -> impl Strategy<Value = Corpus> {
    let file = (
        any::<prop::sample::Index>(),
        prop::option::of(any::<prop::sample::Index>()),
        contents(long_line_bytes),
    );
    let packages = vec(vec(file, 0..=8), 1..=4);
    (packages, vec(contents(long_line_bytes), 1..4)).prop_map(|(packages, copied)| {
        let package = |files: Vec<(prop::sample::Index, Option<prop::sample::Index>, _)>| {
            let files = files.into_iter().map(|(name, copy, own)| {
                (name, copy.map_or(own, |copy| copy.get(&copied).clone()))
            });
            named(files.collect())
        };
        packages.into_iter().map(package).collect()
    })
}

/// Generates small or large blocks, in one shard or one per package, raw or compressed.
pub(crate) fn builds() -> impl Strategy<Value = Build> {
    let block_bytes = prop_oneof![Just(16), Just(64), Just(4096)];
    let shard_bytes = prop_oneof![3 => Just(u64::MAX), 1 => Just(1)];
    let content = prop_oneof![Just(ContentCodec::Raw), Just(ContentCodec::Zstd)];
    (block_bytes, shard_bytes, content).prop_map(|(block_bytes, shard_bytes, content)| Build {
        block_bytes,
        shard_bytes,
        content,
    })
}

pub(crate) struct Built {
    directory: tempfile::TempDir,
    pub(crate) index: Index,
}

impl Built {
    pub(crate) fn new(corpus: &Corpus, how: Build) -> Built {
        let directory = tempfile::tempdir().unwrap();
        for (number, files) in corpus.iter().enumerate() {
            write_package(&directory.path().join(format!("source/p{number}_1")), files);
        }
        build_index(
            &directory.path().join("source"),
            &directory.path().join("out"),
            how,
        );
        let index = Index::open(&directory.path().join("out")).unwrap();
        Built { directory, index }
    }

    /// Takes an index in `directory/out`.
    pub(crate) fn open(directory: tempfile::TempDir) -> Built {
        let index = Index::open(&directory.path().join("out")).unwrap();
        Built { directory, index }
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.directory.path().join("source")
    }
}

pub(crate) fn write_package(directory: &Path, files: &[(Vec<u8>, Vec<u8>)]) {
    fs::create_dir_all(directory).unwrap();
    for (path, bytes) in files {
        let path = directory.join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

pub(crate) fn build_index(source: &Path, out: &Path, how: Build) {
    let options = BuildOptions {
        options: Options {
            block_bytes: how.block_bytes,
            no_ignore: true,
        },
        shard_bytes: how.shard_bytes,
        content: Some(how.content),
        jobs: 2,
        ..BuildOptions::default()
    };
    let sources = sources(&[source.to_owned()], true).unwrap();
    build(sources, out, &options, &Progress::default()).unwrap();
}

/// Names files: several classes, hidden, blanks, line ends, invalid UTF-8.
fn named(files: Vec<(prop::sample::Index, Vec<u8>)>) -> Vec<(Vec<u8>, Vec<u8>)> {
    const BEGINS: [&[u8]; 8] = [
        b"",
        b"src/task",
        b"tests/",
        b"doc/a b ",
        b"vendor/x/",
        b".hidden/.",
        b"a\nb:1:",
        b"\xff\xfe",
    ];
    const ENDS: [&str; 4] = [".c", "", ".min.js", ".md"];
    let path = |number: usize, pick: prop::sample::Index| {
        let end = format!("{number}{}", pick.get(&ENDS));
        [BEGINS[pick.index(BEGINS.len())], end.as_bytes()].concat()
    };
    let named = files.into_iter().enumerate();
    named
        .map(|(number, (pick, bytes))| (path(number, pick), bytes))
        .collect()
}

fn contents(long_line_bytes: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        12 => text(),
        2 => (text(), 10..40_usize).prop_map(|(text, times)| text.repeat(times)),
        1 => text().prop_map(|text| [b"\xef\xbb\xbf", &text[..]].concat()),
        1 => text().prop_map(|text| [&b"ab\n".repeat(2700), &b"\0ask\0\n"[..], &text].concat()),
        1 => text().prop_map(|text| [&text, &b"a\0sk"[..]].concat()),
        1 => (line(), text()).prop_map(move |(line, text)| {
            let long = line.repeat(long_line_bytes / line.len().max(1));
            [&text, &long, &b" ask\n"[..], &text].concat()
        }),
        2 => (any::<bool>(), text(), 0..6_u8).prop_map(|(little, text, fault)| {
            utf16(little, &String::from_utf8_lossy(&text), fault)
        }),
    ]
}

/// Encodes UTF-16 with a byte order mark, sometimes with an unpaired surrogate or half a unit at
/// the end.
fn utf16(little: bool, text: &str, fault: u8) -> Vec<u8> {
    let mut units: Vec<u16> = [0xfeff].into_iter().chain(text.encode_utf16()).collect();
    if fault == 0 {
        units.insert(units.len().div_ceil(2), 0xd800);
    }
    let encode = |unit: u16| {
        if little {
            unit.to_le_bytes()
        } else {
            unit.to_be_bytes()
        }
    };
    let mut bytes: Vec<u8> = units.into_iter().flat_map(encode).collect();
    if fault == 1 {
        bytes.push(b'x');
    }
    bytes
}

/// Generates lines with all line ends, or none at the end.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![
        6 => Just(&b"\n"[..]),
        3 => Just(&b"\r\n"[..]),
        1 => Just(&b"\r\r\n"[..]),
    ];
    let lines = vec((line(), end), 0..24);
    (lines, line(), any::<bool>()).prop_map(|(lines, last, open)| {
        let mut text: Vec<u8> = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_vec()].concat())
            .collect();
        if open {
            text.extend(last);
        }
        text
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    vec(piece(), 0..7).prop_map(|pieces| pieces.concat())
}

/// Latin-1, halves of characters, and bytes never in UTF-8.
const NOT_UTF8: [&[u8]; 5] = [b"\xe9", b"\xc5", b"\xbf", b"\xff", b"\x80\x81"];

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => "[abkst]{1,4}".prop_map(String::into_bytes),
        2 => "[abkstABKST]{1,3}".prop_map(String::into_bytes),
        2 => Just(b"task".to_vec()),
        2 => "[ \t_;]{1,2}".prop_map(String::into_bytes),
        1 => "[0-9]{1,3}".prop_map(String::into_bytes),
        2 => "[ſ\u{212a}éÉß漢]".prop_map(String::into_bytes),
        2 => prop::sample::select(NOT_UTF8.as_slice()).prop_map(<[u8]>::to_vec),
        1 => Just(b"\r".to_vec()),
    ]
}
