mod update;

use super::*;
use crate::corpus;
use crate::directory::Index;
use crate::document::Popularity;
use crate::shard::{BlockId, DocId, TextCache};
use std::fs;

fn source(there: &Path, name: &str, files: &[(&str, &[u8])]) -> Source {
    for (path, text) in files {
        let path = there.join(name).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    versioned(corpus::sources(&[there.join(name)], false).unwrap()).remove(0)
}

/// As if found in a directory of packages.
fn versioned(mut sources: Vec<Source>) -> Vec<Source> {
    sources.iter_mut().for_each(|it| it.is_versioned = true);
    sources
}

fn contents(index: &Index) -> Vec<(String, String, Vec<u8>)> {
    let mut all = Vec::new();
    for shard in &index.shards {
        for id in 0..shard.document_count() {
            let document = shard.document(DocId(id)).unwrap();
            let package = shard.package(document.package).unwrap();
            let documents = shard.documents_of(&package).unwrap();
            assert!(documents.contains(&DocId(id)));
            for block in document.blocks.clone() {
                assert_eq!(shard.text_of(BlockId(block)).unwrap(), document.text);
            }
            let text = shard
                .text(
                    shard.text_range(document.blocks.clone()).unwrap(),
                    &TextCache::default(),
                )
                .unwrap();
            assert_eq!(document.hash, blake3::hash(&text).as_bytes());
            all.push((
                String::from_utf8_lossy(package.directory).into_owned(),
                String::from_utf8_lossy(document.path).into_owned(),
                text.to_vec(),
            ));
        }
    }
    all
}

fn several(there: &Path) -> Vec<Source> {
    let long = b"x".repeat(300_000);
    vec![
        source(
            there,
            "b_1",
            &[
                ("z.c", b"int z;\n"),
                ("empty.c", b""),
                ("README", b"hello\n"),
            ],
        ),
        source(
            there,
            "a_2",
            &[("src/long.js", &long), ("bin", b"a\0b"), ("t/x.c", b"arse")],
        ),
        source(
            there,
            "c-3",
            &[
                ("latin", b"na\xefve\n"),
                ("utf16", b"\xff\xfea\0r\0s\0e\0\n\0"),
            ],
        ),
    ]
}

fn options() -> BuildOptions {
    BuildOptions {
        popularity: [(
            b"b".to_vec(),
            Popularity {
                inst: 0.5,
                rdep: 0.1,
            },
        )]
        .into(),
        ..BuildOptions::default()
    }
}

#[test]
fn an_index_holds_the_documents_of_its_sources() {
    let there = tempfile::tempdir().unwrap();
    let (sources, out) = (several(there.path()), there.path().join("out"));
    let report = build(sources, &out, &options(), &Progress::default()).unwrap();
    assert_eq!(
        (report.packages, report.documents, report.shards),
        (3, 7, 1)
    );
    assert_eq!(report.read.skipped, [("binary".to_owned(), 1)].into());
    let index = Index::open(&out).unwrap();
    let found = contents(&index);
    let names: Vec<_> = found
        .iter()
        .map(|(package, path, _)| format!("{package}/{path}"))
        .collect();
    assert_eq!(
        names,
        [
            "b_1/empty.c",
            "b_1/z.c",
            "b_1/README",
            "a_2/src/long.js",
            "a_2/t/x.c",
            "c-3/latin",
            "c-3/utf16",
        ]
    );
    assert_eq!(found[5].2, b"na\xefve\n");
    assert_eq!(found[6].2, b"arse\n");
    let skipped = index.shards[0].skipped().unwrap();
    assert_eq!((skipped.len(), &skipped[0].path[..]), (1, &b"bin"[..]));
}

#[test]
fn workers_and_memory_do_not_change_the_bytes() {
    let there = tempfile::tempdir().unwrap();
    let sources = several(there.path());
    let shard = |jobs, memory_bytes| {
        let out = there.path().join(format!("out-{jobs}-{memory_bytes}"));
        let options = BuildOptions {
            jobs,
            memory_bytes,
            ..options()
        };
        build(sources.clone(), &out, &options, &Progress::default()).unwrap();
        let name = directory::read_manifest(&out).unwrap().shards[0]
            .file
            .clone();
        fs::read(out.join(name)).unwrap()
    };
    let one = shard(1, 512 << 20);
    assert!(one == shard(2, 512 << 20) && one == shard(7, 64 << 20));
}

#[test]
fn a_package_is_never_split_over_shards() {
    let there = tempfile::tempdir().unwrap();
    let (sources, out) = (several(there.path()), there.path().join("out"));
    build(sources.clone(), &out, &options(), &Progress::default()).unwrap();
    let whole = contents(&Index::open(&out).unwrap());
    let options = BuildOptions {
        shard_bytes: 1,
        ..options()
    };
    let report = build(sources, &out, &options, &Progress::default()).unwrap();
    assert_eq!(report.shards, 3);
    let index = Index::open(&out).unwrap();
    assert!(index.shards.iter().all(|shard| shard.package_count() == 1));
    assert_eq!(contents(&index), whole);
    let shards = fs::read_dir(&out).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".shard")
    });
    assert_eq!(shards.count(), 3, "the shard of before is gone");
}

#[test]
fn leftovers_of_an_interrupted_build_are_removed() {
    let there = tempfile::tempdir().unwrap();
    let (sources, out) = (several(there.path()), there.path().join("out"));
    build(sources.clone(), &out, &options(), &Progress::default()).unwrap();
    fs::write(out.join("unfinished.tmp"), "half a shard").unwrap();
    fs::write(out.join("0123456789abcdef.shard"), "never named").unwrap();
    assert_eq!(contents(&Index::open(&out).unwrap()).len(), 7);
    let gone = Source {
        directory: there.path().join("gone"),
        name: b"gone".to_vec(),
        is_versioned: false,
    };
    let failed = build(vec![gone], &out, &options(), &Progress::default());
    assert!(matches!(failed, Err(BuildError::Corpus(_))), "{failed:?}");
    assert_eq!(
        contents(&Index::open(&out).unwrap()).len(),
        7,
        "still the old one"
    );
    assert!(!out.join("unfinished.tmp").exists() && !out.join("0123456789abcdef.shard").exists());
}

#[test]
fn two_builds_in_one_directory_exclude_each_other() {
    let there = tempfile::tempdir().unwrap();
    let (sources, out) = (several(there.path()), there.path().join("out"));
    fs::create_dir(&out).unwrap();
    let _lock = Lock::take(&out).unwrap();
    let failed = build(sources, &out, &options(), &Progress::default());
    assert!(matches!(
        failed,
        Err(BuildError::Directory(directory::IndexError::Locked { .. }))
    ));
}

#[test]
fn an_index_inside_its_source_is_skipped() {
    let there = tempfile::tempdir().unwrap();
    let source = source(there.path(), "a_1", &[("x.c", b"int x;\n")]);
    let out = there.path().join("a_1/.trawl");
    for _ in 0..2 {
        let sources = vec![source.clone()];
        let report = build(sources, &out, &options(), &Progress::default()).unwrap();
        assert_eq!(
            (report.documents, report.read.skipped),
            (1, [("index".to_owned(), 1)].into())
        );
    }
}

#[test]
fn an_index_without_documents_can_be_opened() {
    let there = tempfile::tempdir().unwrap();
    fs::create_dir(there.path().join("void")).unwrap();
    let sources = corpus::sources(&[there.path().join("void")], false).unwrap();
    let out = there.path().join("out");
    let report = build(sources, &out, &options(), &Progress::default()).unwrap();
    assert_eq!((report.packages, report.documents), (1, 0));
    assert!(contents(&Index::open(&out).unwrap()).is_empty());
}

#[test]
fn tables_of_a_shard_take_no_more_memory_than_estimated() {
    let there = tempfile::tempdir().unwrap();
    let name = |number: usize| format!("drivers/net/ethernet/{}/file_{number}.c", number / 40);
    let text = |number: usize| format!("int value_of_{number};\n");
    let files: Vec<_> = (0..2_000).map(|it| (name(it), text(it))).collect();
    let files: Vec<_> = (files.iter())
        .map(|(name, text)| (&**name, text.as_bytes()))
        .collect();
    let (sources, out) = (
        vec![source(there.path(), "a_1", &files)],
        there.path().join("out"),
    );
    let report = build(sources, &out, &options(), &Progress::default()).unwrap();
    let index = Index::open(&out).unwrap();
    // Tables were in memory, as was the table of hashes.
    use crate::format::Section;
    let sections = [
        Section::Dictionary,
        Section::Names,
        Section::Texts,
        Section::Documents,
        Section::Blocks,
        Section::Paths,
    ];
    let bytes = sections.map(|section| index.shards[0].section_bytes(section));
    let tables: u64 = bytes.into_iter().sum();
    let hashes = 32 * report.documents;
    let estimate = task::table_bytes(report.documents, report.text_bytes);
    assert!(
        tables + hashes <= estimate,
        "{tables} + {hashes}, estimated {estimate}"
    );
}
