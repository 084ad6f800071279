//! What is in directories of source: texts, git's rules; and the ranks of packages.

use index::corpus::{self, BINARY_HEAD_BYTES, ReadOutcome, SkipReason, Source, WalkOptions};
use std::fs;
use std::path::Path;

#[path = "../../../../src/commands/index/popularity.rs"]
mod popularity;

/// A directory that is a package, for as long as this thread lives: its files are replaced.
struct Package {
    there: tempfile::TempDir,
    source: Source,
}

impl Package {
    /// A package with these files, which are empty.
    fn with(files: &[&str]) -> Package {
        let there = tempfile::tempdir().expect("a temporary directory");
        let directory = there.path().join("p_1");
        fs::create_dir(&directory).expect("it is not there");
        let mut sources = corpus::sources(&[directory], false).expect("a package");
        let package = Package {
            there,
            source: sources.remove(0),
        };
        files.iter().for_each(|file| package.write(file, b""));
        package
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.there.path().join("p_1").join(file);
        fs::create_dir_all(path.parent().expect("the package")).expect("it can be made");
        fs::write(path, bytes).expect("it can be written");
    }
}

/// A file: text as it is, or decoded from UTF-16, or binary, by rules that are simple to say.
pub(super) fn text(data: &[u8]) {
    thread_local!(static PACKAGE: Package = Package::with(&["file"]));
    let (outcome, text) = PACKAGE.with(|package| {
        package.write("file", data);
        let walk = corpus::walk(&package.source, &WalkOptions::default()).expect("it is there");
        assert_eq!(
            (walk.files.len(), walk.files[0].bytes),
            (1, data.len() as u64)
        );
        let mut text = Vec::new();
        let outcome = corpus::read(&package.source, &walk.files[0], &mut text);
        (outcome.expect("a sink that takes all"), text)
    });
    let is_utf16 = data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff");
    let head = &data[..data.len().min(BINARY_HEAD_BYTES)];
    if !is_utf16 && head.contains(&0) {
        assert_eq!(outcome, ReadOutcome::Skipped(SkipReason::Binary));
        assert!(text.is_empty());
        return;
    }
    let bytes_read = data.len() as u64;
    assert_eq!(outcome, ReadOutcome::Text { bytes_read });
    match is_utf16 {
        true => assert_eq!(String::from_utf8(text).expect("UTF-8"), decoded(data)),
        false => assert_eq!(text, data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)),
    }
}

/// UTF-16 behind its mark, decoded as ripgrep does it: a second mark is dropped too; half a unit at
/// the end is malformed like half a pair, and with half a pair in front both are one fault.
fn decoded(data: &[u8]) -> String {
    let is_little = data.starts_with(b"\xff");
    let (units, rest) = data[2..].as_chunks::<2>();
    let units = units.iter().map(|&unit| match is_little {
        true => u16::from_le_bytes(unit),
        false => u16::from_be_bytes(unit),
    });
    let is_half_pair = |unit| (0xd800..0xdc00).contains(&unit);
    let ends_in_half = units.clone().next_back().is_some_and(is_half_pair);
    let mut text: String = char::decode_utf16(units)
        .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !rest.is_empty() && !ends_in_half {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    }
}

pub(super) fn text_seeds() -> Vec<Vec<u8>> {
    let text = "int a;\r\nna\u{ef}ve \u{6f22}\u{1f50d}\n\n";
    let units = || text.encode_utf16();
    vec![
        text.into(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [
            &b"\xff\xfe"[..],
            &units().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        ]
        .concat(),
        [
            &b"\xfe\xff"[..],
            &units().flat_map(u16::to_be_bytes).collect::<Vec<_>>(),
        ]
        .concat(),
        b"\xff\xfe\xff\xfea\0\n\0".to_vec(),
        b"\xfe\xff\0a\xd8\x3d\xdd".to_vec(),
        [text.repeat(300).as_bytes(), b"\0", text.as_bytes()].concat(),
    ]
}

/// What the rules are tried on.
const FILES: [&str; 12] = [
    "a.c",
    "a.o",
    "b/a.o",
    "b/c/a.c",
    "b/c/d/[x]",
    "build/x",
    "build/y.o/z",
    "doc/a b",
    "doc/ ",
    "doc/#x",
    "doc/!x",
    "doc/x\\y",
];

/// Three files of git's rules, with NUL between: every file is searchable, or accounted for.
pub(super) fn rules(data: &[u8]) {
    thread_local!(static PACKAGE: Package = Package::with(&FILES));
    let walk = PACKAGE.with(|package| {
        let mut rules = data.splitn(3, |&byte| byte == 0);
        for file in [".gitignore", "b/.gitignore", ".git/info/exclude"] {
            package.write(file, rules.next().unwrap_or_default());
        }
        corpus::walk(&package.source, &WalkOptions::default()).expect("it is there")
    });
    for file in FILES {
        let found = walk
            .files
            .iter()
            .filter(|found| found.path == file.as_bytes());
        let holds = |skipped: &&corpus::Skipped| {
            let path = Path::new(std::str::from_utf8(&skipped.path).expect("our names"));
            Path::new(file).starts_with(path)
        };
        let skipped = walk.skipped.iter().filter(holds);
        assert_eq!(found.count() + skipped.count(), 1, "{file}");
    }
}

pub(super) fn rule_seeds() -> Vec<Vec<u8>> {
    let files = [
        "*.o\n!b/a.o\n/build/\n**/c\n\0!a.o\nc/d/\n\0# comment\n\\#x\n\\!x\ndoc/\\ \n",
        "b/**/a.c\n[a-b].c\r\n[!x]/a?c\ndoc/*\\\\y\nbuild/**\n\0/[[]x]\n\0/*\n!/b\n",
    ];
    files.map(|files| files.into()).into()
}

/// The file that `--package-ranks` names: what is in it are shares.
pub(super) fn ranks(data: &[u8]) {
    if let Ok(ranks) = popularity::parse(data) {
        for rank in ranks.values() {
            assert!((0.0..=1.0).contains(&rank.inst) && (0.0..=1.0).contains(&rank.rdep));
        }
    }
}

pub(super) fn rank_seeds() -> Vec<Vec<u8>> {
    let files = [
        r#"{"i3-wm": {"inst": 0.012, "rdep": 1e-3}, "libc6": {"inst": 1}}"#,
        r#"{"a": {"Inst": 0.5, "Rdep": 0}, "\u00e9": {}}"#,
    ];
    files.map(|file| file.into()).into()
}
