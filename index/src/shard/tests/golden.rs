//! A golden shard, and the worked example of the format. They fix the format: a change of a single byte
//! fails here and needs a new version.

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

/// Length and meaning of every part of the example in [`format`](mod@crate::format).
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
    (3864, "reserved"),
    (4, "checksum of the header"),
    (7, "CONTENT: document 0, block 0: \"int a;\\n\""),
    (7, "document 1, block 1: \"int b;\\n\""),
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
    (8, "\"int\": list at 0"),
    (8, "\"nt \": list at 2"),
    (8, "\"t a\": block 0"),
    (8, "\"t b\": block 1"),
    (3, "NAMES: \"p_1\""),
    (3, "\"a.c\""),
    (3, "\"b.c\""),
    (7, "padding to a multiple of 8"),
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
    (4, "padding to a multiple of 8"),
    (1, "SKIPPED: of package 0"),
    (1, "path of 1 byte"),
    (1, "\"l\""),
    (1, "reason of 6 bytes"),
    (6, "\"binary\""),
    (6, "padding to a multiple of 8"),
    (4, "CHECKSUMS: of page 1, up to here"),
];

/// Renders the parts of a shard with offset and bytes; long runs of zeros are shortened.
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
fn the_example_of_the_format_is_correct() {
    let files: [File<'_>; 3] = [
        ("p_1", "a.c", b"int a;\n"),
        ("p_1", "b.c", b"int b;\n"),
        ("p_1", "l", b"\0"),
    ];
    let bytes = shard_bytes(&files, 4096);
    expect_file!["../../format/example.md"].assert_eq(&draw(&bytes, &EXAMPLE));
}
