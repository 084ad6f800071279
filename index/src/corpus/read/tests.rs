//! Reading files of every kind.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

fn read_bytes(bytes: &[u8]) -> (ReadOutcome, Vec<u8>) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), bytes).unwrap();
    read_file(root.path())
}

fn read_file(root: &Path) -> (ReadOutcome, Vec<u8>) {
    let mut sink = Vec::new();
    let (source, file) = file_in(root);
    let outcome = read(&source, &file, &mut sink).unwrap();
    (outcome, sink)
}

fn file_in(root: &Path) -> (Source, File) {
    let source = Source {
        directory: root.to_owned(),
        name: b"package".to_vec(),
        is_versioned: false,
    };
    (
        source,
        File {
            path: b"file".to_vec(),
            bytes: 0,
            modified_ns: 0,
            changed_ns: 0,
            inode: 0,
            ..File::default()
        },
    )
}

#[track_caller]
fn check(bytes: &[u8], expected: &[u8]) {
    let (outcome, text) = read_bytes(bytes);
    let encoding = match bytes {
        [0xff, 0xfe, ..] => Some(TextEncoding::Utf16Le),
        [0xfe, 0xff, ..] => Some(TextEncoding::Utf16Be),
        _ => None,
    };
    assert_eq!(
        outcome,
        ReadOutcome::Text {
            bytes_read: bytes.len() as u64,
            encoding,
        }
    );
    // `assert_eq` would print megabytes.
    assert!(
        text == expected,
        "{} bytes, expected {}",
        text.len(),
        expected.len()
    );
}

fn utf16(text: &str, mark: bool, encode: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = mark.then_some(0xfeff);
    mark.into_iter()
        .chain(text.encode_utf16())
        .flat_map(encode)
        .collect()
}

#[test]
fn text_is_passed_on_unchanged() {
    for text in [
        &b""[..],
        b"a",
        b"a\r\nb\n\n",
        b"no end of line",
        b"\xff\xfd\xe9 latin 1",
        b"\xef\xbb",
    ] {
        check(text, text);
    }
}

#[test]
fn a_utf8_mark_is_dropped() {
    check(b"\xef\xbb\xbf", b"");
    check(b"\xef\xbb\xbfa\xff", b"a\xff");
    check(b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa");
    check(b"a\xef\xbb\xbf", b"a\xef\xbb\xbf");
}

#[test]
fn utf16_is_decoded() {
    for encode in [u16::to_le_bytes, u16::to_be_bytes] {
        for text in ["", "a", "naïve ∀\r\n𝄞\n", "\u{fffe}", "nul \0 inside"] {
            check(&utf16(text, true, encode), text.as_bytes());
        }
    }
    // The second mark is dropped, the third kept, as by ripgrep.
    check(b"\xff\xfe\xff\xfe\xff\xfea\0", "\u{feff}a".as_bytes());
    // UTF-32, read as UTF-16.
    check(b"\xff\xfe\0\0a\0\0\0", b"\0a\0");
}

#[test]
fn malformed_utf16_becomes_replacement_characters() {
    let lone = |units: &[u16]| -> Vec<u8> {
        [0xfeff]
            .iter()
            .chain(units)
            .flat_map(|unit| unit.to_le_bytes())
            .collect()
    };
    check(&lone(&[0x61, 0xd834, 0x62]), "a\u{fffd}b".as_bytes());
    check(&lone(&[0xdd1e, 0x62]), "\u{fffd}b".as_bytes());
    check(&lone(&[0x61, 0xd834]), "a\u{fffd}".as_bytes());
    check(b"\xff\xfea\0b", "a\u{fffd}".as_bytes());
    check(b"\xfe\xff\0ab", "a\u{fffd}".as_bytes());
    check(b"\xff\xfea", "\u{fffd}".as_bytes());
}

#[test]
fn utf16_without_a_mark_is_not_detected() {
    let (outcome, text) = read_bytes(&utf16("abc", false, u16::to_le_bytes));
    assert_eq!(
        (outcome, text),
        (ReadOutcome::Skipped(SkipReason::Binary), Vec::new())
    );
}

#[test]
fn characters_may_cross_chunks() {
    // Each padding ends a chunk at another byte of 𝄞.
    for padding in CHUNK_BYTES / 2 - 5..CHUNK_BYTES / 2 + 2 {
        let text = format!("{}𝄞\n", "x".repeat(padding)).repeat(2);
        check(&utf16(&text, true, u16::to_le_bytes), text.as_bytes());
        check(&utf16(&text, true, u16::to_be_bytes), text.as_bytes());
    }
}

#[test]
fn an_odd_byte_may_follow_a_full_chunk() {
    let mut bytes = utf16(&"x".repeat(CHUNK_BYTES / 2 - 1), true, u16::to_le_bytes);
    assert_eq!(bytes.len(), CHUNK_BYTES);
    bytes.push(b'x');
    let expected = "x".repeat(CHUNK_BYTES / 2 - 1) + "\u{fffd}";
    check(&bytes, expected.as_bytes());
}

#[test]
fn a_nul_in_the_head_makes_a_file_binary() {
    for (at, is_binary) in [
        (0, true),
        (1, true),
        (7_999, true),
        (8_000, false),
        (8_001, false),
    ] {
        let mut bytes = vec![b'a'; at];
        bytes.push(0);
        let (outcome, text) = read_bytes(&bytes);
        match is_binary {
            true => assert_eq!(
                (outcome, text),
                (ReadOutcome::Skipped(SkipReason::Binary), vec![])
            ),
            false => check(&bytes, &bytes),
        }
    }
    // Found in the first of several chunks.
    let mut bytes = vec![b'a'; 2 * CHUNK_BYTES];
    bytes[7_999] = 0;
    assert_eq!(
        read_bytes(&bytes).0,
        ReadOutcome::Skipped(SkipReason::Binary)
    );
    // A UTF-8 mark does not make it text.
    let outcome = read_bytes(b"\xef\xbb\xbfa\0b").0;
    assert_eq!(outcome, ReadOutcome::Skipped(SkipReason::Binary));
}

#[test]
fn a_file_may_have_any_number_of_chunks() {
    let bytes: Vec<u8> = (0..3u32 << 20).map(|at| (at % 251) as u8 + 1).collect();
    for length in [
        CHUNK_BYTES - 1,
        CHUNK_BYTES,
        CHUNK_BYTES + 1,
        2 * CHUNK_BYTES,
        bytes.len(),
    ] {
        check(&bytes[..length], &bytes[..length]);
    }
}

struct Pieces(Vec<usize>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn pieces_are_bounded_and_never_empty() {
    for head in [&b"\xff\xfe"[..], b"\xef\xbb\xbf", b"aa"] {
        let bytes = [head, &vec![b'a'; 4 * CHUNK_BYTES - head.len()]].concat();
        let mut pieces = Pieces(Vec::new());
        text(bytes.as_slice(), bytes.len() as u64, &mut pieces).unwrap();
        assert!(
            pieces
                .0
                .iter()
                .all(|&bytes| (1..=CHUNK_BYTES).contains(&bytes))
        );
    }
}

/// One byte per read, each after an interruption.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        match self.1 {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => self.0.read(&mut into[..1]),
        }
    }
}

#[test]
fn short_reads_change_nothing() {
    let mut bytes = vec![b'a'; 7_999];
    for (last, is_binary) in [(b'a', false), (0, true)] {
        bytes.push(last);
        let mut sink = Vec::new();
        let result = text(Slow(&bytes, false), bytes.len() as u64, &mut sink);
        assert_eq!(
            matches!(result, Err(Stop::Skip(SkipReason::Binary))),
            is_binary
        );
        assert_eq!(sink == bytes, !is_binary);
        bytes.pop();
    }
}

#[test]
fn a_file_that_changes_in_size_is_skipped() {
    let bytes = vec![b'a'; 2 * CHUNK_BYTES];
    for size in [0, 1, bytes.len() - 1, bytes.len() + 1, 4 * bytes.len()] {
        let stop = text(bytes.as_slice(), size as u64, &mut Vec::new()).unwrap_err();
        assert!(
            matches!(stop, Stop::Skip(SkipReason::Changed)),
            "{size}: {stop:?}"
        );
    }
}

#[test]
fn a_file_without_end_is_skipped() {
    let stop = text(io::repeat(b'a'), 1 << 20, &mut Vec::new()).unwrap_err();
    assert!(matches!(stop, Stop::Skip(SkipReason::Changed)));
}

struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.is_empty() {
            true => Err(io::Error::other("the disk is broken")),
            false => self.0.read(into),
        }
    }
}

#[test]
fn a_read_error_in_the_middle_skips_the_file() {
    let bytes = vec![b'a'; CHUNK_BYTES + 1];
    let mut sink = Vec::new();
    let stop = text(Failing(&bytes), 2 * CHUNK_BYTES as u64, &mut sink).unwrap_err();
    let Stop::Skip(reason) = stop else {
        panic!("{stop:?}")
    };
    assert_eq!(
        reason,
        SkipReason::Unreadable("the disk is broken".to_owned())
    );
    // The sink must discard this.
    assert_eq!(sink.len(), CHUNK_BYTES);
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_sink_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    for bytes in [&b"a"[..], b"\xff\xfea\0"] {
        fs::write(root.path().join("file"), bytes).unwrap();
        let (source, file) = file_in(root.path());
        let error = read(&source, &file, &mut Full).unwrap_err();
        let expected: PathBuf = root.path().join("file");
        let words = format!("{}: its text could not be stored", expected.display());
        assert_eq!(error.to_string(), words);
        assert_eq!(
            std::error::Error::source(&error).unwrap().to_string(),
            "no space"
        );
    }
}

#[test]
fn a_file_that_was_replaced_is_skipped() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    let changed = (ReadOutcome::Skipped(SkipReason::Changed), Vec::new());
    assert_eq!(read_file(root.path()), changed);
    symlink("/etc/passwd", &path).unwrap();
    assert_eq!(read_file(root.path()), changed);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(read_file(root.path()), changed);
}

#[test]
fn an_unreadable_file_is_skipped() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    fs::write(&path, "a").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Not for the superuser.
    if fs::File::open(&path).is_err() {
        let reason = SkipReason::Unreadable("Permission denied (os error 13)".to_owned());
        assert_eq!(read_file(root.path()).0, ReadOutcome::Skipped(reason));
    }
}
