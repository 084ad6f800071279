//! A shard spelled out, and a shard damaged: what is in the bytes, and what a reader says of bytes
//! that are not as they were written.
//!
//! The golden shard fixes the format: whoever changes a byte of it sees here what he has changed,
//! and has a version to raise. The damage is exhaustive, since a shard of one page is small.

use super::*;
use crate::corpus;
use crate::directory::{self, Index, MANIFEST};
use crate::filter::{FilterExpr, Filters, Predicate, Value};
use crate::format::{Header, PAGE_BYTES};
use crate::indexing::{BuildOptions, Progress, build};
use crate::manifest::{Options, hex};
use crate::plan::plan;
use expect_test::{Expect, expect, expect_file};
use std::fmt::Write;
use std::fs;
use std::iter::repeat;
use std::path::PathBuf;
use zerocopy::{FromBytes, IntoBytes};

/// A file of a fixture: package, path, bytes.
type File<'a> = (&'a str, &'a str, &'a [u8]);

/// Two packages: an empty file, a binary one, one of several blocks, and one that is all text.
const FIXTURE: [File<'_>; 5] = [
    ("alpha_1", "src/empty.h", b""),
    ("alpha_1", "src/logo.c", b"\x7fELF\0"),
    (
        "alpha_1",
        "src/main.c",
        b"int main;\nint a;\r\n\n/* mainly */\nint b",
    ),
    ("alpha_1", "tests/t.c", b"MAIN\n"),
    ("beta-2", "README", b"na\xefve\n"),
];

/// Builds an index of `files` in `there`/out.
fn index(there: &Path, files: &[File<'_>], block_bytes: usize, shard_bytes: u64) -> PathBuf {
    let source = there.join("source");
    for (package, path, bytes) in files {
        let path = source.join(package).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let popularity = Popularity {
        inst: 0.5,
        rdep: 0.25,
    };
    let options = BuildOptions {
        options: Options {
            block_bytes,
            no_ignore: true,
        },
        shard_bytes,
        popularity: [(b"alpha".to_vec(), popularity)].into(),
        ..BuildOptions::default()
    };
    let out = there.join("out");
    let sources = corpus::sources(&[source], true).unwrap();
    build(sources, &out, &options, &Progress::default()).unwrap();
    out
}

/// The bytes of the one shard that `files` make.
fn shard_bytes(files: &[File<'_>], block_bytes: usize) -> Vec<u8> {
    let there = tempfile::tempdir().unwrap();
    let out = index(there.path(), files, block_bytes, u64::MAX);
    let manifest = directory::read_manifest(&out).unwrap();
    assert_eq!(manifest.shards.len(), 1);
    fs::read(out.join(&manifest.shards[0].file)).unwrap()
}

/// Where the damaged shards of these tests are said to be.
const NAME: &str = "some.shard";

fn open(bytes: &[u8]) -> Result<Shard, ShardError> {
    Shard::from_bytes(Path::new(NAME), Bytes::Owned(bytes.to_vec()))
}

/// All that a shard has to say, in words.
fn dump(shard: &Shard) -> Result<String, ShardError> {
    let header = shard.file.header();
    let mut out = format!(
        "version {}, blocks of {}, codec {}, id {}\n",
        header.version,
        header.block_bytes,
        header.codec,
        hex(&shard.id()[..8]),
    );
    let (text, file) = (shard.text_bytes(), shard.file_bytes());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text} bytes of text, {file} of file");
    for section in Section::ALL {
        let Range { start, end } = header.extent(section);
        let _ = writeln!(out, "{section:?} at {start}, {} bytes", end - start);
    }
    dump_packages(shard, &mut out)?;
    dump_dictionary(shard, &mut out)?;
    for file in shard.skipped()? {
        let (path, reason) = (file.path.escape_ascii(), file.reason);
        let _ = writeln!(out, "skipped: {:?} {path}: {reason}", file.package);
    }
    Ok(out)
}

fn dump_packages(shard: &Shard, out: &mut String) -> Result<(), ShardError> {
    for id in 0..shard.package_count() {
        let package = shard.package(PackageId(id))?;
        let (name, inst, rdep) = (package.directory.escape_ascii(), package.inst, package.rdep);
        let _ = writeln!(out, "package {id} {name}: inst {inst}, rdep {rdep}");
        for document in package.documents {
            assert_eq!(shard.package_of(DocId(document))?, package.id);
            dump_document(shard, shard.document(DocId(document))?, out)?;
        }
    }
    Ok(())
}

fn dump_document(
    shard: &Shard,
    document: Document<'_>,
    out: &mut String,
) -> Result<(), ShardError> {
    let Document {
        id,
        path,
        lines,
        static_rank,
        hash,
        blocks,
    } = document;
    let (path, hash) = (path.escape_ascii(), hex(&hash[..4]));
    let _ = writeln!(
        out,
        "  document {} {path}: {lines} lines, rank {static_rank}, {hash}",
        id.0
    );
    for block in blocks {
        assert_eq!(shard.document_of(BlockId(block))?, id);
        let text = shard.text(shard.text_range(block..block + 1)?)?;
        let (line, text) = (shard.first_line(BlockId(block))?, text.escape_ascii());
        let _ = writeln!(out, "    block {block} from line {line}: {text}");
    }
    Ok(())
}

fn dump_dictionary(shard: &Shard, out: &mut String) -> Result<(), ShardError> {
    for entry in 0..shard.trigram_count() as u32 {
        let trigram = shard.trigram(entry)?;
        let blocks: Vec<u32> = shard.blocks_with(trigram)?.iter().map(|id| id.0).collect();
        let _ = writeln!(out, "{trigram:?} in {blocks:?}");
    }
    Ok(())
}

fn check(shard: &Shard, expected: &Expect) {
    expected.assert_eq(&dump(shard).unwrap());
}

#[test]
fn the_golden_shard() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let expected = expect![[r#"
        version 1, blocks of 16, codec 0, id 9d10b9e56b47af15
        48 bytes of text, 4780 of file
        Content at 4096, 48 bytes
        Postings at 4144, 18 bytes
        Dictionary at 4168, 168 bytes
        Names at 4336, 49 bytes
        Packages at 4392, 48 bytes
        Documents at 4440, 224 bytes
        Blocks at 4664, 84 bytes
        Skipped at 4752, 19 bytes
        Checksums at 4776, 4 bytes
        package 0 alpha_1: inst 0.5, rdep 0.25
          document 0 src/empty.h: 0 lines, rank 0.577675, af1349b9
          document 1 src/main.c: 5 lines, rank 0.577675, 0976cc2f
            block 0 from line 1: int main;\n
            block 1 from line 2: int a;\r\n\n
            block 2 from line 4: /* mainly */\n
            block 3 from line 5: int b
          document 2 tests/t.c: 1 lines, rank 0.377675, e060bce5
            block 4 from line 1: MAIN\n
        package 1 beta-2: inst 0, rdep 0
          document 3 README: 1 lines, rank 0.2, 5b8d7bcf
            block 5 from line 1: na\xefve\n
        " */" in [2]
        " a;" in [1]
        " ma" in [0, 2]
        "* m" in [2]
        "/* " in [2]
        "a;\r" in [1]
        "ain" in [0, 2, 4]
        "a\xefv" in [5]
        "in;" in [0]
        "inl" in [2]
        "int" in [0, 1, 3]
        "ly " in [2]
        "mai" in [0, 2, 4]
        "na\xef" in [5]
        "nly" in [2]
        "nt " in [0, 1, 3]
        "t a" in [1]
        "t b" in [3]
        "t m" in [0]
        "y *" in [2]
        "\xefve" in [5]
        skipped: PackageId(0) src/logo.c: binary
    "#]];
    check(&open(&bytes).unwrap(), &expected);
    expect!["00f82a396d672e505d10a5cdd1c7c08bbb119cc427a58a7527edbe71523ee800"]
        .assert_eq(&blake3::hash(&bytes).to_hex());
}

/// What the bytes of the example in [`format`](mod@crate::format) are, from the first to the last.
const EXAMPLE: [(usize, &str); 79] = [
    (8, "magic"),
    (4, "version 1"),
    (4, "blocks of 4096 bytes"),
    (32, "id"),
    (4, "1 package"),
    (4, "2 documents"),
    (4, "2 blocks"),
    (4, "codec 0: raw"),
    (8, "14 bytes of text"),
    (8, "bytes of the file"),
    (8, "CONTENT is at"),
    (8, "and has bytes"),
    (8, "POSTINGS is at"),
    (8, "and has bytes"),
    (8, "DICTIONARY is at"),
    (8, "and has bytes"),
    (8, "NAMES is at"),
    (8, "and has bytes"),
    (8, "PACKAGES is at"),
    (8, "and has bytes"),
    (8, "DOCUMENTS is at"),
    (8, "and has bytes"),
    (8, "BLOCKS is at"),
    (8, "and has bytes"),
    (8, "SKIPPED is at"),
    (8, "and has bytes"),
    (8, "CHECKSUMS is at"),
    (8, "and has bytes"),
    (4, "checksum of CHECKSUMS"),
    (3864, "nothing yet"),
    (4, "checksum of the header"),
    (7, "CONTENT: document 0, block 0: \"int a;\\n\""),
    (7, "document 1, block 1: \"int b;\\n\""),
    (2, "to a multiple of 8"),
    (
        2,
        "POSTINGS: of \"int\": 2 blocks; Elias-Fano: ones at 0 + 0, 1 + 1",
    ),
    (2, "of \"nt \": the same"),
    (8, "padding of POSTINGS"),
    (4, "to a multiple of 8"),
    (8, "DICTIONARY: \" a;\": block 0"),
    (8, "\" b;\": block 1"),
    (8, "\"int\": list at 0"),
    (8, "\"nt \": list at 2"),
    (8, "\"t a\": block 0"),
    (8, "\"t b\": block 1"),
    (3, "NAMES: \"p_1\""),
    (3, "\"a.c\""),
    (3, "\"b.c\""),
    (7, "to a multiple of 8"),
    (8, "PACKAGES: package 0: its name is at 0"),
    (4, "and has 3 bytes"),
    (4, "first document 0"),
    (4, "inst 0"),
    (4, "rdep 0"),
    (8, "DOCUMENTS: document 0: its path is at 3"),
    (4, "and has 3 bytes"),
    (4, "first block 0"),
    (4, "1 line"),
    (4, "static rank 0.3"),
    (32, "BLAKE3 of its text"),
    (8, "document 1: its path is at 6"),
    (4, "and has 3 bytes"),
    (4, "first block 1"),
    (4, "1 line"),
    (4, "static rank 0.3"),
    (32, "BLAKE3 of its text"),
    (8, "BLOCKS: block 0 begins at 0"),
    (4, "with line 1"),
    (8, "block 1 begins at 7"),
    (4, "with line 1"),
    (8, "the last one ends at 14"),
    (4, ""),
    (4, "to a multiple of 8"),
    (1, "SKIPPED: of package 0"),
    (1, "path of 1 byte"),
    (1, "\"l\""),
    (1, "reason of 6 bytes"),
    (6, "\"binary\""),
    (6, "to a multiple of 8"),
    (4, "CHECKSUMS: of page 1, up to here"),
];

/// Every part of a shard with its offset and its bytes; of many zeros only how many there are.
fn draw(bytes: &[u8], parts: &[(usize, &str)]) -> String {
    let mut out = String::from("```text\n");
    let mut at = 0;
    for &(length, meaning) in parts {
        let part = &bytes[at..at + length];
        if length > 32 && part.iter().all(|&byte| byte == 0) {
            let _ = writeln!(out, "{at:5}  {:<25}{meaning}", format!("00 x {length}"));
        } else {
            let rows = part
                .chunks(8)
                .zip(std::iter::once(meaning).chain(repeat("")));
            for ((row, meaning), at) in rows.zip((at..).step_by(8)) {
                let row: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
                let row = format!("{at:5}  {:<25}{meaning}", row.join(" "));
                let _ = writeln!(out, "{}", row.trim_end());
            }
        }
        at += length;
    }
    assert_eq!(at, bytes.len(), "every byte has a meaning");
    out + "```\n"
}

/// The example of [`format`](mod@crate::format), byte for byte.
#[test]
fn the_worked_example_is_true() {
    let files: [File<'_>; 3] = [
        ("p_1", "a.c", b"int a;\n"),
        ("p_1", "b.c", b"int b;\n"),
        ("p_1", "l", b"\0"),
    ];
    let bytes = shard_bytes(&files, 4096);
    expect_file!["../format/example.md"].assert_eq(&draw(&bytes, &EXAMPLE));
}

/// Asserts that an error says which file is damaged, and where: in the page that `at` is in.
fn assert_names_the_place(error: &ShardError, at: usize) {
    let page = (at / PAGE_BYTES * PAGE_BYTES) as u64;
    match error {
        ShardError::Corrupt { path, offset, .. } => {
            assert_eq!(
                (path.as_path(), *offset),
                (Path::new(NAME), page),
                "byte {at}: {error}"
            );
        }
        // The magic, and a version that is now a later one.
        ShardError::NotAShard { path } => assert!(at < 8 && path == Path::new(NAME), "byte {at}"),
        ShardError::Newer { path, .. } => {
            assert!(
                (8..12).contains(&at) && path == Path::new(NAME),
                "byte {at}"
            );
        }
        ShardError::Io { .. } | ShardError::Changed { .. } => panic!("byte {at}: nothing was read"),
    }
}

#[test]
fn every_truncation_is_noticed_at_open() {
    let bytes = shard_bytes(&FIXTURE, 16);
    for length in 0..bytes.len() {
        let error = open(&bytes[..length]).err();
        let told = match error {
            Some(ShardError::NotAShard { .. }) => length < 8,
            Some(ShardError::Corrupt { offset, .. }) => offset == length as u64,
            _ => false,
        };
        assert!(told, "cut at {length}: {error:?}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(matches!(open(&longer), Err(ShardError::Corrupt { .. })));
}

/// Every byte of a shard is known by a checksum, those without a meaning too.
#[test]
fn every_flipped_byte_is_noticed_at_open_or_by_verify() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let checksums = open(&bytes)
        .unwrap()
        .file
        .header()
        .extent(Section::Checksums);
    let mut broken = bytes.clone();
    for at in 0..bytes.len() {
        for pattern in [0x01, 0x80, 0xff] {
            broken[at] ^= pattern;
            let checked = (PAGE_BYTES..checksums.start as usize).contains(&at);
            match open(&broken) {
                Ok(shard) => {
                    assert!(checked, "byte {at} is checked at open");
                    assert_names_the_place(&shard.verify().unwrap_err(), at);
                    assert_names_the_place(&dump(&shard).unwrap_err(), at);
                }
                Err(ShardError::Corrupt { offset, .. }) if at as u64 >= checksums.start => {
                    assert_eq!(offset, checksums.start);
                }
                Err(error) => assert_names_the_place(&error, at),
            }
            broken[at] = bytes[at];
        }
    }
}

/// Some pages of text and tables.
fn several_pages() -> Vec<u8> {
    let text: Vec<u8> = (0..900_u32)
        .flat_map(|line| format!("line {line} of {}\n", line * line % 97).into_bytes())
        .collect();
    shard_bytes(&[("p_1", "a.c", &text), ("p_1", "b.c", b"line\n")], 256)
}

fn add(filters: &mut Filters, test: Predicate, negated: bool) {
    let tree = FilterExpr::Predicate(test);
    filters.add(match negated {
        true => FilterExpr::Not(Box::new(tree)),
        false => tree,
    });
}

/// The candidates of a pattern in any case, whatever the document.
fn candidates(shard: &Shard, pattern: &str) -> Result<Candidates, ShardError> {
    shard.candidates(&plan(pattern, true).unwrap())
}

fn filtered(shard: &Shard, pattern: &str, filters: &Filters) -> Result<Candidates, ShardError> {
    let query = plan(pattern, true).unwrap();
    let candidates = shard.filtered_candidates(&query, filters, &|| false)?;
    Ok(candidates.expect("nobody stops it"))
}

/// The answers to some queries and the text of their candidates.
fn answers(shard: &Shard) -> Result<Vec<(Candidates, Vec<u8>)>, ShardError> {
    let mut answers = Vec::new();
    for pattern in ["line 8", "of 9[0-6]", "(13|17) of", "nowhere", "line"] {
        let candidates = candidates(shard, pattern)?;
        let Candidates::Blocks(blocks) = &candidates else {
            panic!("{pattern} says something")
        };
        let mut text = Vec::new();
        for &block in blocks {
            let document = shard.document(shard.document_of(BlockId(block))?)?;
            text.extend_from_slice(document.path);
            text.extend_from_slice(shard.text(shard.text_range(block..block + 1)?)?);
        }
        answers.push((candidates, text));
    }
    Ok(answers)
}

#[test]
fn a_damaged_page_gives_an_error_or_is_not_asked() {
    let bytes = several_pages();
    let intact = answers(&open(&bytes).unwrap()).unwrap();
    let checksums = open(&bytes)
        .unwrap()
        .file
        .header()
        .extent(Section::Checksums)
        .start as usize;
    assert!(checksums > 6 * PAGE_BYTES, "some pages");
    for at in (PAGE_BYTES..checksums).step_by(61) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x10;
        let shard = open(&broken).unwrap();
        match answers(&shard) {
            Ok(same) => assert_eq!(same, intact, "byte {at}"),
            Err(error) => assert_names_the_place(&error, at),
        }
        assert_names_the_place(&shard.verify().unwrap_err(), at);
    }
}

#[test]
fn only_the_page_that_is_read_is_checked() {
    let mut bytes = several_pages();
    bytes[2 * PAGE_BYTES] ^= 1;
    let shard = open(&bytes).unwrap();
    assert_eq!(shard.document(DocId(1)).unwrap().path, b"b.c");
    assert_eq!(shard.text(0..10).unwrap(), b"line 0 of ");
    assert!(shard.text(0..4096).is_ok(), "all of page 1");
    for _ in 0..2 {
        let error = shard.text(4000..4097).unwrap_err();
        assert_names_the_place(&error, 2 * PAGE_BYTES);
    }
    let said = shard.verify().unwrap_err().to_string();
    assert_eq!(
        said,
        "some.shard: damaged at byte 8192 (checksum): remove it and build the index again with `trawl index`"
    );
}

/// The bytes of a shard with their checksums made good again, as only an enemy would.
fn forge(bytes: &mut [u8], header: &Header) {
    let checksums = header.extent(Section::Checksums);
    let (pages, table) = bytes.split_at_mut(checksums.start as usize);
    for (page, checksum) in pages[PAGE_BYTES..]
        .chunks(PAGE_BYTES)
        .zip(table.chunks_exact_mut(4))
    {
        checksum.copy_from_slice(&crc32c::crc32c(page).to_le_bytes());
    }
    let mut forged = Header::read_from_prefix(bytes).unwrap().0;
    forged.checksums_crc = crc32c::crc32c(&bytes[checksums.start as usize..]).into();
    forged.crc = forged.checksum().into();
    bytes[..PAGE_BYTES].copy_from_slice(forged.as_bytes());
}

/// Checksums keep accidents out, not forgers: there an answer may be wrong, but none is a panic.
#[test]
fn a_forged_shard_does_not_panic() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let header = open(&bytes).unwrap().file.header().clone();
    let meaningful = (12..224).chain(PAGE_BYTES..bytes.len());
    for at in meaningful {
        for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut forged = bytes.clone();
            forged[at] = value;
            forge(&mut forged, &header);
            if let Ok(shard) = open(&forged) {
                let _ = (read_all(&shard), shard.verify());
            }
        }
    }
}

/// As [`dump`] and [`answers`], without what only holds in a shard that is true.
fn read_all(shard: &Shard) -> Result<(), ShardError> {
    let everything = "(main|int)[^x]*(a|b;|inly)";
    let mut filters = Filters::default();
    add(
        &mut filters,
        Predicate::package(Value::Regexp("a")).unwrap(),
        false,
    );
    add(
        &mut filters,
        Predicate::path(Value::Regexp("x")).unwrap(),
        true,
    );
    let _ = candidates(shard, everything);
    let _ = filtered(shard, everything, &filters);
    let _ = filtered(shard, ".", &filters);
    for entry in 0..shard.trigram_count() as u32 {
        let _ = shard.blocks_with(shard.trigram(entry)?);
    }
    for block in 0..shard.block_count() {
        let _ = shard
            .document_of(BlockId(block))
            .map(|id| shard.static_rank_bound(id));
        let range = shard.text_range(block..block + 1);
        let _ = range.map(|range| shard.text(range).map(<[u8]>::len));
    }
    let _ = shard.find(b"beta-2", b"README");
    for dead in [vec![0], vec![1], vec![0, 1]] {
        let _ = shard
            .with_dead(dead)
            .map(|shard| filtered(&shard, everything, &filters).map(drop));
    }
    let _ = (0..shard.package_count()).try_for_each(|id| shard.package(PackageId(id)).map(drop));
    shard.skipped().map(drop)
}

/// A shard of some pages in a file, opened, and the file's path.
fn opened(there: &Path) -> (Shard, PathBuf) {
    let path = there.join("some.shard");
    fs::write(&path, several_pages()).unwrap();
    (Shard::open(&path).unwrap(), path)
}

/// Cuts a file to `bytes`.
fn cut(path: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(bytes).unwrap();
}

/// Whatever has been checked before: what is asked of a shard whose file was cut is an error that
/// says where, or true.
#[test]
fn a_shard_that_is_cut_while_it_is_open_says_where() {
    let bytes = several_pages();
    let intact = answers(&open(&bytes).unwrap()).unwrap();
    let step = PAGE_BYTES / 2 + 17;
    for (number, bytes) in (0..bytes.len()).step_by(step).enumerate() {
        let there = tempfile::tempdir().unwrap();
        let (shard, path) = opened(there.path());
        if number % 2 == 0 {
            assert_eq!(answers(&shard).unwrap(), intact);
        }
        let text = shard.text(0..20).unwrap();
        cut(&path, bytes as u64);
        let _ = text.to_vec();
        let said = shard.intact().unwrap_err().to_string();
        let expected = format!(
            "{}: damaged at byte {bytes} (the file was cut or its disk failed while it was in use)",
            path.display()
        );
        assert!(said.starts_with(&expected), "{said}");
        for error in [
            shard.verify().unwrap_err(),
            shard.with_dead(vec![0]).err().unwrap(),
            shard.skipped().unwrap_err(),
            answers(&shard).unwrap_err(),
        ] {
            assert!(matches!(error, ShardError::Corrupt { .. }), "{error}");
        }
        assert!(shard.is_damaged());
    }
}

#[test]
fn a_shard_that_is_written_to_while_it_is_open_says_so() {
    let there = tempfile::tempdir().unwrap();
    let (shard, path) = opened(there.path());
    let before = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before).unwrap();
    assert!(matches!(shard.verify(), Err(ShardError::Changed { .. })));
    drop(shard);
    let shard = Shard::open(&path).unwrap();
    shard.verify().unwrap();
    fs::write(&path, several_pages()).unwrap();
    assert!(matches!(answers(&shard), Err(ShardError::Changed { .. })));
    Shard::open(&path).unwrap().verify().unwrap();
}

/// One shard of an index is cut under its readers: the others go on, and the next manifest is
/// opened with all that is whole.
#[test]
fn a_shard_that_is_cut_is_opened_again_with_the_next_manifest() {
    let there = tempfile::tempdir().unwrap();
    let out = index(there.path(), &FIXTURE, 16, 1);
    let before = Index::open(&out).unwrap().shards;
    let path = before[0].path().to_owned();
    let bytes = fs::read(&path).unwrap();
    cut(&path, 4096);
    let everything = plan("main|ve", true).unwrap();
    assert!(before[0].candidates(&everything).is_err());
    assert!(before[1].candidates(&everything).is_ok());
    assert!(Index::reopen(&out, &before).is_err());
    fs::write(&path, bytes).unwrap();
    let after = Index::reopen(&out, &before).unwrap().shards;
    assert!(before[0].candidates(&everything).is_err());
    assert!(after[0].candidates(&everything).is_ok());
    assert!(Arc::ptr_eq(&before[1], &after[1]), "it was whole");
}

#[test]
fn what_is_dead_is_neither_counted_nor_found() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let whole = open(&bytes).unwrap();
    let without = |dead: &[u32]| whole.with_dead(dead.to_vec()).unwrap();
    let live = |shard: &Shard| {
        shard
            .live_blocks()
            .iter()
            .cloned()
            .flatten()
            .collect::<Vec<_>>()
    };
    assert_eq!(live(&whole), [0, 1, 2, 3, 4, 5]);
    assert_eq!(without(&[]).id(), whole.id());
    let shard = without(&[0]);
    let id = blake3::hash(&[&whole.id()[..], &[0; 4]].concat());
    assert_eq!((shard.id(), shard.file_id()), (*id.as_bytes(), whole.id()));
    let counts = Counts {
        packages: 1,
        documents: 1,
        blocks: 1,
        text_bytes: 6,
    };
    assert_eq!(shard.live_counts(), counts);
    assert_eq!(live(&shard), [5]);
    assert!(shard.skipped().unwrap().is_empty());
    assert_eq!(shard.find(b"alpha_1", b"src/main.c").unwrap(), None);
    assert_eq!(shard.find(b"beta-2", b"README").unwrap(), Some(DocId(3)));
    let blocks = |shard: &Shard, pattern| candidates(shard, pattern).unwrap();
    assert_eq!(blocks(&shard, "main"), Candidates::Blocks(vec![]));
    let range = std::iter::once(5..6).collect();
    assert_eq!(blocks(&shard, "ve|main"), Candidates::Ranges(range));
    let shard = without(&[1]);
    assert_eq!(blocks(&shard, "main"), Candidates::Blocks(vec![0, 2, 4]));
    assert_eq!(live(&shard), [0, 1, 2, 3, 4]);
    let none = without(&[0, 1]);
    assert_eq!(
        (none.live_blocks(), none.live_counts()),
        (&[][..], Counts::default())
    );
    assert_ne!(none.id(), shard.id());
}

/// Packages whose blocks lie beside each other or not, and documents of several blocks.
const FILTERED: [File<'_>; 7] = [
    (
        "alpha_1",
        "src/main.c",
        b"int main;\nint a;\nint b;\nint main;\n",
    ),
    (
        "alpha_1",
        "src/main.py",
        b"main\nint\nmain int int int\nmain\n",
    ),
    ("alpha_1", "vendor/a.c", b"int main;\n"),
    ("beta_2", "main.c", b"int main;\nint main;\n"),
    ("beta_2", "empty.c", b""),
    ("gamma-3", "src/main.c", b"nothing here\nint main;\n"),
    ("gamma-3", "README", b"main\n"),
];

/// The blocks of candidates, one by one.
fn blocks_of(candidates: Candidates) -> Vec<u32> {
    match candidates {
        Candidates::Ranges(ranges) => ranges.into_iter().flatten().collect(),
        Candidates::Blocks(blocks) => blocks,
    }
}

/// All filters made of one text each for package, path and language, negated or not; an empty text
/// is no filter.
fn all_filters(packages: &[&str], paths: &[&str], languages: &[&str]) -> Vec<Filters> {
    let mut all = Vec::new();
    for (package, path) in packages
        .iter()
        .flat_map(|a| paths.iter().map(move |b| (a, b)))
    {
        for (language, negated) in languages.iter().flat_map(|a| (0..8).map(move |b| (a, b))) {
            let mut filters = Filters::default();
            if !package.is_empty() {
                let value = Value::Regexp(package);
                add(
                    &mut filters,
                    Predicate::package(value).unwrap(),
                    negated & 1 != 0,
                );
            }
            if !path.is_empty() {
                let value = Value::Regexp(path);
                add(
                    &mut filters,
                    Predicate::path(value).unwrap(),
                    negated & 2 != 0,
                );
            }
            if !language.is_empty() {
                add(
                    &mut filters,
                    Predicate::language(language).unwrap(),
                    negated & 4 != 0,
                );
            }
            all.push(filters);
        }
    }
    all
}

#[test]
fn filtered_candidates_are_those_of_what_is_left() {
    let whole = open(&shard_bytes(&FILTERED, 16)).unwrap();
    let all = all_filters(
        &["", "a", "^beta$", "nowhere"],
        &["", r"\.c$", "^src/", "nowhere"],
        &["", "C", "Python"],
    );
    for dead in [vec![], vec![1], vec![0, 2]] {
        let shard = whole.with_dead(dead).unwrap();
        all.iter()
            .for_each(|filters| check_filtered(&shard, filters));
    }
}

fn check_filtered(shard: &Shard, filters: &Filters) {
    let is_left = |block: &u32| {
        let id = shard.document_of(BlockId(*block)).unwrap();
        let package = shard.package(shard.package_of(id).unwrap()).unwrap();
        filters.accepts_package(package.directory)
            && filters.accepts_document(package.directory, shard.document(id).unwrap().path)
    };
    for pattern in [
        ".",
        "main",
        "int main",
        "main|nothing",
        "(int|not)[a-z ]*(mai|her)",
        "absent",
    ] {
        let mut expected = blocks_of(candidates(shard, pattern).unwrap());
        expected.retain(is_left);
        let found = filtered(shard, pattern, filters).unwrap();
        if let Candidates::Ranges(ranges) = &found {
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            assert!(ranges.iter().all(|range| !range.is_empty()));
        }
        assert_eq!(blocks_of(found), expected, "{pattern} {filters:?}");
    }
}

#[test]
fn filtering_stops_when_it_is_told_to() {
    let shard = open(&shard_bytes(&FILTERED, 16)).unwrap();
    let mut filters = Filters::default();
    add(
        &mut filters,
        Predicate::path(Value::Regexp("a")).unwrap(),
        false,
    );
    add(
        &mut filters,
        Predicate::package(Value::Regexp(".")).unwrap(),
        false,
    );
    for pattern in [".", "main", "main|int", "main.*int"] {
        let query = plan(pattern, false).unwrap();
        let asked = std::cell::Cell::new(0);
        let all = shard.filtered_candidates(&query, &filters, &|| {
            asked.set(asked.get() + 1);
            false
        });
        assert!(all.unwrap().is_some());
        let times = asked.get();
        assert!(times > 3, "of packages, lists and documents: {times}");
        for at in 0..times {
            asked.set(0);
            let stop = || asked.replace(asked.get() + 1) >= at;
            let candidates = shard.filtered_candidates(&query, &filters, &stop);
            assert_eq!(candidates.unwrap(), None, "the {at}th time");
            assert!(asked.get() <= at + 3, "it goes on for {}", asked.get() - at);
        }
    }
}

#[test]
fn the_dead_must_be_there_and_in_order() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let shard = open(&bytes).unwrap();
    for dead in [&[2][..], &[0, 2], &[1, 0], &[0, 0], &[u32::MAX]] {
        let error = shard.with_dead(dead.to_vec()).err();
        assert!(
            matches!(error, Some(ShardError::Corrupt { .. })),
            "{dead:?}"
        );
    }
}

#[test]
fn a_later_version_says_what_to_do() {
    let mut bytes = shard_bytes(&FIXTURE, 16);
    bytes[8] = 2;
    let error = open(&bytes).err().unwrap();
    assert!(matches!(error, ShardError::Newer { version: 2, .. }));
    assert_eq!(
        error.to_string(),
        "some.shard: a shard of format 2; this version of Trawl reads format 1: update Trawl, or \
         build the index again"
    );
}

#[test]
fn what_is_no_shard_says_so() {
    let there = tempfile::tempdir().unwrap();
    let path = there.path().join("x.shard");
    for bytes in [&b""[..], b"TRAWL", b"#!/bin/sh\n", &[0; 8192]] {
        fs::write(&path, bytes).unwrap();
        let error = Shard::open(&path).err().unwrap();
        assert!(matches!(error, ShardError::NotAShard { .. }));
        let expected = format!(
            "{}: not a shard of a Trawl index: remove it and build the index again with `trawl \
             index`",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
    }
    let error = Shard::open(&there.path().join("none.shard")).err().unwrap();
    assert!(
        matches!(error, ShardError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[test]
fn shards_that_have_changed_places_are_noticed() {
    let there = tempfile::tempdir().unwrap();
    let out = index(there.path(), &FIXTURE, 16, 1);
    let manifest = Index::open(&out).unwrap().manifest;
    let [first, second] = [0, 1].map(|shard| out.join(&manifest.shards[shard].file));
    let other = out.join("other");
    fs::rename(&first, &other).unwrap();
    fs::rename(&second, &first).unwrap();
    fs::rename(&other, &second).unwrap();
    match Index::open(&out).err() {
        Some(directory::IndexError::Swapped { path }) => assert_eq!(path, first),
        other => panic!("{other:?}"),
    }
    fs::remove_file(out.join(MANIFEST)).unwrap();
    assert!(matches!(
        Index::open(&out).err(),
        Some(directory::IndexError::NotAnIndex { .. })
    ));
}
