//! Noted languages.

use super::*;

const SCRIPT: &[u8] = b"#!/usr/bin/env python3\nint = 1\n";

fn languages(shard: &Shard) -> Vec<String> {
    let documents = (0..shard.document_count()).map(DocId);
    let languages = documents.map(|id| {
        let document = shard.document(id).unwrap();
        let package = shard.package(document.package).unwrap();
        let class = shard.class(&document, &package).unwrap();
        let language = shard.language(&document).unwrap();
        format!("{}: {language} {class:?}", document.path.escape_ascii())
    });
    languages.collect()
}

fn files() -> Vec<File<'static>> {
    vec![
        ("p_1", "a.c", b"int a;\n"),
        ("p_1", "hdr.h", b"namespace a {}\n"),
        ("p_1", "run", SCRIPT),
        ("p_1", "x.m", b":- module x.\n"),
        ("q_1", "doc/run", SCRIPT),
        ("q_1", "run.rb", SCRIPT),
        ("q_1", "tool", b"#!/usr/bin/env python3\n"),
    ]
}

#[test]
fn documents_have_the_language_of_their_text() {
    let shard = open(&shard_bytes(&files(), 4096)).unwrap();
    shard.verify().unwrap();
    assert_eq!(
        languages(&shard),
        [
            "a.c: C Source",
            "hdr.h: C++ Source",
            "x.m:  Documentation",
            "run: Python Source",
            "doc/run: Python Documentation",
            "run.rb: Ruby Source",
            "tool: Python Source",
        ]
    );
    // Names: C++, none, Python.
    assert_eq!(shard.section_bytes(Section::Languages), 5 * 8 + 4 + 1 + 7);
    let mut filters = Filters::default();
    add(&mut filters, Predicate::language("python").unwrap(), false);
    let found = filtered(&shard, "python", &filters).unwrap();
    assert_eq!(found, Candidates::Blocks(vec![3, 5]));
}

#[test]
fn a_shard_without_such_documents_has_no_section() {
    let shard = open(&shard_bytes(&files()[..1], 4096)).unwrap();
    assert_eq!(shard.section_bytes(Section::Languages), 0);
    assert_eq!(languages(&shard), ["a.c: C Source"]);
}

#[test]
fn forged_entries_are_errors_or_other_languages() {
    let bytes = shard_bytes(&files(), 4096);
    let header = &open(&bytes).unwrap().file.header;
    let [section, checksums] = [Section::Languages, Section::Checksums].map(|it| header.extent(it));
    let language = |at: u64, byte: u8| {
        let mut forged = bytes.clone();
        forged[(section.start + at) as usize] = byte;
        damage::forge(&mut forged, &checksums, false);
        let forged = open(&forged).unwrap();
        let document = forged.document(DocId(1)).unwrap();
        forged.language(&document).map(str::to_owned)
    };
    assert_eq!(language(41, b'D').unwrap(), "D++");
    for (at, byte) in [(4, 0xff), (6, 0xff), (40, 0xff), (41, 0xff)] {
        let error = language(at, byte).unwrap_err();
        assert!(matches!(error, ShardError::Corrupt { .. }), "{at}: {error}");
    }
}
