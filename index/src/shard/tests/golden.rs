//! Golden shard and worked example: any changed byte needs a new format version.

use super::*;
use expect_test::{Expect, expect, expect_file};
use std::iter::repeat;

fn check(shard: &Shard, expected: &Expect) {
    expected.assert_eq(&dump(shard).unwrap());
}

#[test]
fn the_golden_shard() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let expected = expect![[r#"
        version 2, blocks of 16, id 93de4f1be1271ed6
        48 bytes of texts, 64 of documents, 5396 of file
        Content at 4096, 48 bytes
        Postings at 4144, 18 bytes
        Dictionary at 4168, 184 bytes
        Names at 4352, 85 bytes
        Packages at 4440, 120 bytes
        Texts at 4560, 176 bytes
        Documents at 4736, 192 bytes
        Shared at 4928, 12 bytes
        Blocks at 4944, 84 bytes
        Skipped at 5032, 19 bytes
        Paths at 5056, 280 bytes
        Symbols at 5336, 53 bytes
        Checksums at 5392, 4 bytes
        text 0: 0 lines, af1349b9, documents 0..2
        text 1: 5 lines, 0976cc2f, documents 2..3
            block 0 from line 1: int main;\n
            block 1 from line 2: int a;\r\n\n
            block 2 from line 4: /* mainly */\n
            block 3 from line 5: int b
        text 2: 1 lines, e060bce5, documents 3..6
            block 4 from line 1: MAIN\n
        text 3: 1 lines, 5b8d7bcf, documents 6..8
            block 5 from line 1: na\xefve\n
        package 0 alpha_1: texts 0..3, 42 bytes, inst 0.5, rdep 0.25
          document 0 src/empty.h: text 0, rank 0.577675
          document 1 vendor/empty.c: text 0, rank 0.277675
          document 2 src/main.c: text 1, rank 0.577675
          document 3 tests/t.c: text 2, rank 0.377675
        package 1 beta-2: texts 3..4, 11 bytes, inst 0, rdep 0
          document 4 main.c: text 2, rank 0.3
          document 6 README: text 3, rank 0.2
        package 2 gamma-3: texts 4..4, 11 bytes, inst 0, rdep 0
          document 5 t.c: text 2, rank 0.3
          document 7 README: text 3, rank 0.2
        " */" in [2]
        " a;" in [1]
        " ma" in [0, 2]
        "* m" in [2]
        "/* " in [2]
        definition 4fc807 in [0]
        definition 57dd5b in [1]
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
    expect!["681ff51a51ac9b6e628f671a3938531b704b1276f2578ec0caa6ed326727ea9e"]
        .assert_eq(&blake3::hash(&bytes).to_hex());
}

/// Length and meaning of each part of the example in [`format`](mod@crate::format).
const EXAMPLE: &[(usize, &str)] = &[
    (8, "magic"),
    (4, "version 2"),
    (4, "blocks of 4096 bytes"),
    (32, "id"),
    (4, "2 packages"),
    (4, "2 texts"),
    (4, "3 documents"),
    (4, "1 of them shared"),
    (4, "2 blocks"),
    (4, "codec 0: raw"),
    (8, "14 bytes of texts"),
    (8, "21 bytes of documents"),
    (8, "bytes of the file"),
    (4, "checksum of CHECKSUMS"),
    (4, "version of the symbols"),
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
    (8, "TEXTS is at"),
    (8, "and has bytes"),
    (8, "DOCUMENTS is at"),
    (8, "and has bytes"),
    (8, "SHARED is at"),
    (8, "and has bytes"),
    (8, "BLOCKS is at"),
    (8, "and has bytes"),
    (8, "SKIPPED is at"),
    (8, "and has bytes"),
    (16, "no section DECODED"),
    (8, "PATHS is at"),
    (8, "and has bytes"),
    (32, "FRAMES and LANGUAGES are not there"),
    (8, "SYMBOLS is at"),
    (8, "and has bytes"),
    (8, "CHECKSUMS is at"),
    (8, "and has bytes"),
    (3732, "reserved"),
    (4, "checksum of the header"),
    (7, "CONTENT: text 0, block 0: \"int a;\\n\""),
    (7, "text 1, block 1: \"int b;\\n\""),
    (2, "padding to a multiple of 8"),
    (
        2,
        "POSTINGS: of \"int\": 2 blocks; Elias-Fano: ones at 0 + 0, 1 + 1",
    ),
    (2, "of \"nt \": the same"),
    (8, "padding of POSTINGS"),
    (4, "padding to a multiple of 8"),
    (8, "DICTIONARY: \" a;\": block 0"),
    (8, "\" b;\": block 1"),
    (8, "a definition of \"b\": block 1"),
    (8, "a definition of \"a\": block 0"),
    (8, "\"int\": list at 0"),
    (8, "\"nt \": list at 2"),
    (8, "\"t a\": block 0"),
    (8, "\"t b\": block 1"),
    (3, "NAMES: \"p_1\""),
    (3, "\"a.c\""),
    (3, "\"b.c\""),
    (3, "\"q_1\""),
    (3, "\"c.c\""),
    (1, "padding to a multiple of 8"),
    (8, "PACKAGES: package 0: its name is at 0"),
    (4, "and has 3 bytes"),
    (4, "first text 0"),
    (4, "first entry in SHARED 0"),
    (4, "2 documents"),
    (8, "of 14 bytes"),
    (4, "inst 0"),
    (4, "rdep 0"),
    (8, "package 1: its name is at 9"),
    (4, "and has 3 bytes"),
    (4, "first text 2: it has no text of its own"),
    (4, "first entry in SHARED 0"),
    (4, "1 document"),
    (8, "of 7 bytes"),
    (4, "inst 0"),
    (4, "rdep 0"),
    (4, "TEXTS: text 0: first block 0"),
    (4, "1 line"),
    (4, "first document 0"),
    (32, "BLAKE3"),
    (4, "text 1: first block 1"),
    (4, "1 line"),
    (4, "first document 1"),
    (32, "BLAKE3"),
    (8, "DOCUMENTS: document 0: its path is at 3"),
    (4, "and has 3 bytes"),
    (4, "package 0"),
    (4, "text 0"),
    (4, "static rank 0.3"),
    (8, "document 1: its path is at 6"),
    (4, "and has 3 bytes"),
    (4, "package 0"),
    (4, "text 1"),
    (4, "static rank 0.3"),
    (8, "document 2: its path is at 12"),
    (4, "and has 3 bytes"),
    (4, "package 1"),
    (4, "text 1"),
    (4, "static rank 0.3"),
    (4, "SHARED: of package 1: document 2"),
    (4, "padding to a multiple of 8"),
    (8, "BLOCKS: block 0 begins at 0"),
    (4, "with line 1"),
    (8, "block 1 begins at 7"),
    (4, "with line 1"),
    (8, "the last one ends at 14"),
    (4, ""),
    (4, "padding to a multiple of 8"),
    (1, "SKIPPED: of package 0"),
    (1, "path of 1 byte"),
    (1, "\"l\""),
    (1, "reason of 6 bytes"),
    (6, "\"binary\""),
    (6, "padding to a multiple of 8"),
    (4, "PATHS: 3 trigrams"),
    (4, ""),
    (8, "\"a.c\": group 0"),
    (8, "\"b.c\": group 0"),
    (8, "\"c.c\": group 0"),
    (8, "padding of PATHS"),
    (8, "SYMBOLS: text 0: its symbols are at 24"),
    (8, "text 1: at 30"),
    (8, "the last ones end at 36"),
    (1, "text 0: code, and all definitions"),
    (1, "1 definition"),
    (1, "variable, not a declaration, at the top"),
    (1, "its name is at 4"),
    (1, "and has 1 byte"),
    (1, "no body"),
    (1, "text 1: code, and all definitions"),
    (1, "1 definition"),
    (1, "variable, not a declaration, at the top"),
    (1, "its name is at 4"),
    (1, "and has 1 byte"),
    (1, "no body"),
    (4, "padding to a multiple of 8"),
    (4, "CHECKSUMS: of page 1, up to here"),
];

/// Renders parts with offset and bytes; abridges zeros.
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

#[test]
fn the_example_of_the_format_is_correct() {
    let files: [File<'_>; 4] = [
        ("p_1", "a.c", b"int a;\n"),
        ("p_1", "b.c", b"int b;\n"),
        ("p_1", "l", b"\0"),
        ("q_1", "c.c", b"int b;\n"),
    ];
    let bytes = shard_bytes(&files, 4096);
    expect_file!["../../format/example_2.md"].assert_eq(&draw(&bytes, EXAMPLE));
}

pub(super) fn example_of_version_1() -> Vec<u8> {
    let mut bytes = Vec::new();
    let text = include_str!("../../format/example_1.md");
    for row in text.lines().filter(|row| row.starts_with(' ')) {
        let shown = row[7..].get(..25).unwrap_or(&row[7..]).trim_end();
        match shown.strip_prefix("00 x ") {
            Some(zeros) => bytes.resize(bytes.len() + zeros.parse::<usize>().unwrap(), 0),
            None => {
                let shown = shown.split(' ');
                bytes.extend(shown.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
            }
        }
    }
    bytes
}

#[test]
fn the_example_of_version_1_is_read() {
    let shard = open(&example_of_version_1()).unwrap();
    shard.verify().unwrap();
    check(
        &shard,
        &expect![[r#"
            version 1, blocks of 4096, id 162f5bc1ed191405
            14 bytes of texts, 14 of documents, 4388 of file
            Content at 4096, 14 bytes
            Postings at 4112, 12 bytes
            Dictionary at 4128, 48 bytes
            Names at 4176, 9 bytes
            Packages at 4192, 24 bytes
            Texts at 0, 0 bytes
            Documents at 4216, 112 bytes
            Shared at 0, 0 bytes
            Blocks at 4328, 36 bytes
            Skipped at 4368, 10 bytes
            Paths at 0, 0 bytes
            Checksums at 4384, 4 bytes
            text 0: 1 lines, 0d937065, documents 0..1
                block 0 from line 1: int a;\n
            text 1: 1 lines, 709be070, documents 1..2
                block 1 from line 1: int b;\n
            package 0 p_1: texts 0..2, 14 bytes, inst 0, rdep 0
              document 0 a.c: text 0, rank 0.3
              document 1 b.c: text 1, rank 0.3
            " a;" in [0]
            " b;" in [1]
            "int" in [0, 1]
            "nt " in [0, 1]
            "t a" in [0]
            "t b" in [1]
            skipped: PackageId(0) l: binary
        "#]],
    );
}
