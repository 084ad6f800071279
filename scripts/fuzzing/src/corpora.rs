//! Fuzz targets: corpus files, git's ignore rules, package ranks.

use index::corpus::{self, BINARY_HEAD_BYTES, ReadOutcome, SkipReason, Source, TextEncoding};
use std::fs;
use std::path::Path;

#[path = "../../../cli/src/commands/index/popularity.rs"]
mod popularity;

/// Each thread keeps one and replaces its files.
struct Package {
    directory: tempfile::TempDir,
    source: Source,
}

impl Package {
    fn with(files: &[&str]) -> Package {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("p_1");
        fs::create_dir(&root).expect("the directory is empty");
        let mut sources = corpus::sources(&[root], false).expect("a package");
        let package = Package {
            directory,
            source: sources.remove(0),
        };
        files.iter().for_each(|file| package.write(file, b""));
        package
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.directory.path().join("p_1").join(file);
        fs::create_dir_all(path.parent().expect("the package")).expect("it is writable");
        fs::write(path, bytes).expect("it is writable");
    }
}

/// Reads a file: its bytes, its decoded UTF-16, or nothing if binary.
pub(crate) fn text(data: &[u8]) {
    thread_local!(static PACKAGE: Package = Package::with(&["file"]));
    let (outcome, text) = PACKAGE.with(|package| {
        package.write("file", data);
        let walk = corpus::walk(&package.source, false, 1).expect("the package exists");
        assert_eq!(
            (walk.files.len(), walk.files[0].bytes),
            (1, data.len() as u64)
        );
        let mut text = Vec::new();
        let outcome = corpus::read(&package.source, &walk.files[0], &mut text);
        (outcome.expect("a Vec takes all bytes"), text)
    });
    let is_utf16 = data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff");
    let head = &data[..data.len().min(BINARY_HEAD_BYTES)];
    if !is_utf16 && head.contains(&0) {
        assert_eq!(outcome, ReadOutcome::Skipped(SkipReason::Binary));
        assert!(text.is_empty());
        return;
    }
    let encoding = is_utf16.then(|| match data[0] {
        0xff => TextEncoding::Utf16Le,
        _ => TextEncoding::Utf16Be,
    });
    let bytes_read = data.len() as u64;
    let expected = ReadOutcome::Text {
        bytes_read,
        encoding,
    };
    assert_eq!(outcome, expected);
    if is_utf16 {
        assert_eq!(String::from_utf8(text).expect("UTF-8"), decoded(data));
    } else {
        assert_eq!(text, data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data));
    }
}

/// Follows ripgrep: drops a second mark; an odd last byte gives one replacement character, together
/// with a preceding lone surrogate.
fn decoded(data: &[u8]) -> String {
    let is_little = data.starts_with(b"\xff");
    let (units, rest) = data[2..].as_chunks::<2>();
    let decode = if is_little {
        u16::from_le_bytes
    } else {
        u16::from_be_bytes
    };
    let units = units.iter().copied().map(decode);
    let is_half_pair = |unit| (0xd800..0xdc00).contains(&unit);
    let ends_in_half = units.clone().next_back().is_some_and(is_half_pair);
    let mut text: String = char::decode_utf16(units)
        .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !rest.is_empty() && !ends_in_half {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

pub(crate) fn text_seeds() -> Vec<Vec<u8>> {
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

/// Every file must be found or listed as skipped.
///
/// Input: three rule files separated by NUL.
pub(crate) fn ignore_rules(data: &[u8]) {
    thread_local!(static PACKAGE: Package = Package::with(&FILES));
    let walk = PACKAGE.with(|package| {
        let mut rules = data.splitn(3, |&byte| byte == 0);
        for file in [".gitignore", "b/.gitignore", ".git/info/exclude"] {
            package.write(file, rules.next().unwrap_or_default());
        }
        corpus::walk(&package.source, false, 1).expect("the package exists")
    });
    for file in FILES {
        let found = walk
            .files
            .iter()
            .filter(|found| found.path == file.as_bytes());
        let holds = |skipped: &&corpus::Skipped| {
            let path = Path::new(std::str::from_utf8(&skipped.path).expect("FILES are UTF-8"));
            Path::new(file).starts_with(path)
        };
        let skipped = walk.skipped.iter().filter(holds);
        assert_eq!(found.count() + skipped.count(), 1, "{file}");
    }
}

pub(crate) fn ignore_rule_seeds() -> Vec<Vec<u8>> {
    let files = [
        "*.o\n!b/a.o\n/build/\n**/c\n\0!a.o\nc/d/\n\0# comment\n\\#x\n\\!x\ndoc/\\ \n",
        "b/**/a.c\n[a-b].c\r\n[!x]/a?c\ndoc/*\\\\y\nbuild/**\n\0/[[]x]\n\0/*\n!/b\n",
    ];
    files.map(|files| files.into()).into()
}

/// Walks a package with only the files of the git index. Input: the index without checksum; git
/// accepts zeros instead.
pub(crate) fn git_index(data: &[u8]) {
    thread_local!(static PACKAGE: Package = Package::with(&FILES));
    let walk = PACKAGE.with(|package| {
        package.write(".gitignore", b"*");
        package.write(".git/index", &[data, &[0; 20]].concat());
        corpus::walk(&package.source, false, 1).expect("the package exists")
    });
    let is_damaged = walk.skipped.iter().any(|it| it.path == b".git/index");
    assert!(!is_damaged || walk.files.is_empty(), "{walk:?}");
}

/// Versions 2 and 4; paths are unordered.
pub(crate) fn git_index_seeds() -> Vec<Vec<u8>> {
    [2, 4].map(|version| git_index_of(version, &FILES)).into()
}

fn git_index_of(version: u8, paths: &[&str]) -> Vec<u8> {
    let mut index = [
        b"DIRC\0\0\0",
        &[version][..],
        b"\0\0\0",
        &[paths.len() as u8],
    ]
    .concat();
    let mut before = 0;
    for path in paths {
        let entry = index.len();
        index.extend([0; 24]);
        index.extend(0o100_644_u32.to_be_bytes());
        index.extend([0; 32]);
        index.extend((path.len() as u16).to_be_bytes());
        // No shared prefix.
        index.extend((version == 4).then_some(before as u8));
        before = path.len();
        index.extend(path.as_bytes());
        index.push(0);
        while version == 2 && (index.len() - entry) % 8 != 0 {
            index.push(0);
        }
    }
    index
}

/// Ranks must lie between 0 and 1.
pub(crate) fn package_ranks(data: &[u8]) {
    if let Ok(ranks) = popularity::parse(data) {
        for rank in ranks.values() {
            assert!((0.0..=1.0).contains(&rank.inst) && (0.0..=1.0).contains(&rank.rdep));
        }
    }
}

pub(crate) fn package_rank_seeds() -> Vec<Vec<u8>> {
    let files = [
        r#"{"i3-wm": {"inst": 0.012, "rdep": 1e-3}, "libc6": {"inst": 1}}"#,
        r#"{"a": {"Inst": 0.5, "Rdep": 0}, "\u00e9": {}}"#,
    ];
    files.map(|file| file.into()).into()
}
