//! Released formats in `testdata/` stay readable (see its README). A failure means a new format
//! version.

use index::corpus::{TextEncoding, sources};
use index::directory::{Index, is_index, read_manifest};
use index::document::Popularity;
use index::indexing::{BuildOptions, Changes, Progress, update};
use index::manifest::Options;
use index::plan::plan;
use index::posting::Codec;
use index::shard::{BlockId, Candidates, DocId, Shard, TextCache};
use index::trigram::Trigram;
use language::Language;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

/// Documents in `source/`, without the removed package.
fn documents() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let read = |path: &str| fs::read(testdata("source").join(path)).unwrap();
    let many = read("alpha_1.0/tests/many.py");
    let long = read("alpha_1.0/web/long.min.js");
    assert!(
        many.len() > 4096 && long.len() > 4096,
        "several blocks, and a long line"
    );
    vec![
        ("alpha_1.0", "src/empty.h", Vec::new()),
        ("alpha_1.0", "src/main.c", read("alpha_1.0/src/main.c")),
        (
            "alpha_1.0",
            "src/wide.c",
            "/* naïve needle, 漢字, 🔍 */\r\nint wide;\r\n".into(),
        ),
        ("alpha_1.0", "tests/many.py", many),
        ("alpha_1.0", "web/long.min.js", long),
        ("beta-2", "a b.md", b"# Needle\n".to_vec()),
        ("beta-2", "latin1.txt", read("beta-2/latin1.txt")),
    ]
}

fn contents(shard: &Shard) -> Vec<(String, String, Vec<u8>)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut contents = Vec::new();
    for package in shard.live_packages() {
        let package = shard.package(package).unwrap();
        for id in shard.documents_of(&package).unwrap() {
            let document = shard.document(id).unwrap();
            let bytes = shard.text_range(document.blocks).unwrap();
            let bytes = shard.text(bytes, &TextCache::default()).unwrap();
            assert_eq!(blake3::hash(&bytes).as_bytes(), document.hash);
            contents.push((text(package.directory), text(document.path), bytes.to_vec()));
        }
    }
    contents.sort();
    contents
}

/// Candidate lines with `word`: package, path, number.
fn lines_with(shard: &Shard, word: &str) -> Vec<(String, String, u32)> {
    let Candidates::Blocks(blocks) = shard.candidates(&plan(word, true).unwrap()).unwrap() else {
        panic!("{word} says something")
    };
    let mut found = Vec::new();
    for block in blocks {
        let documents = shard.text_with(BlockId(block)).unwrap().documents;
        let documents = documents.map(|id| shard.document(DocId(id)).unwrap());
        let documents = documents.filter(|document| shard.is_live(document.package));
        let names: Vec<_> = documents
            .map(|document| {
                let package = shard.package(document.package).unwrap().directory;
                [package, document.path].map(|name| String::from_utf8_lossy(name).into_owned())
            })
            .collect();
        let text = shard
            .text(
                shard.text_range(block..block + 1).unwrap(),
                &TextCache::default(),
            )
            .unwrap();
        let first = shard.first_line(BlockId(block)).unwrap();
        for (number, line) in (first..).zip(text.split(|&byte| byte == b'\n')) {
            if line
                .to_ascii_lowercase()
                .windows(word.len())
                .any(|part| part == word.as_bytes())
            {
                let copies = names.iter().cloned();
                found.extend(copies.map(|[package, path]| (package, path, number)));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn format_1_is_read() {
    check_fixture("format-1", &[], 1);
}

#[test]
fn format_2_is_read() {
    let read = |path: &str| fs::read(testdata("source-2").join(path)).unwrap();
    let copies = [
        ("delta_1.0", "README", read("delta_1.0/README")),
        ("delta_1.0", "empty", Vec::new()),
        ("delta_1.0", "many.py", read("delta_1.0/many.py")),
        ("delta_1.0", "src/copy.c", read("delta_1.0/src/copy.c")),
    ];
    check_fixture("format-2", &copies, 2);
    check_fixture("format-2-decoded", &copies, 2);
    check_fixture("format-2-best-first", &copies, 2);
    let encodings = |name: &str| -> Vec<TextEncoding> {
        let index = Index::open(&testdata(name)).unwrap();
        let shard = &index.shards[0];
        let documents = (0..shard.document_count()).map(DocId);
        let encodings = documents.map(|document| shard.decoded_from(document).unwrap());
        encodings.flatten().collect()
    };
    assert_eq!(encodings("format-2"), [], "it was not noted then");
    assert_eq!(encodings("format-2-decoded"), [TextEncoding::Utf16Le]);
    let shard = &Index::open(&testdata("format-2")).unwrap().shards[0];
    assert_eq!(
        shard.document_count() - shard.text_count(),
        copies.len() as u32
    );
}

/// `copies`: documents beside those of format 1.
fn check_fixture(name: &str, copies: &[(&str, &str, Vec<u8>)], version: u32) {
    let directory = testdata(name);
    assert!(is_index(&directory));
    let index = Index::open(&directory).unwrap();
    let options = Options {
        block_bytes: 4096,
        no_ignore: true,
    };
    assert_eq!(index.manifest.options, options);
    let [shard] = &index.shards[..] else {
        panic!("one shard")
    };
    shard.verify().unwrap();
    assert_eq!(shard.version(), version);
    let documents = documents().into_iter().chain(copies.iter().cloned());
    let mut expected: Vec<_> = documents
        .map(|(package, path, text)| (package.to_owned(), path.to_owned(), text))
        .collect();
    expected.sort();
    assert!(contents(shard) == expected);
    for id in (0..shard.document_count()).map(DocId) {
        let document = shard.document(id).unwrap();
        let by_path = Language::name_of(document.path).unwrap_or_default();
        assert_eq!(shard.language(&document).unwrap(), by_path);
    }

    let place = |package: &str, path: &str, line| (package.to_owned(), path.to_owned(), line);
    let mut needles: Vec<_> = (1..=300)
        .map(|line| place("alpha_1.0", "tests/many.py", line))
        .collect();
    needles.push(place("alpha_1.0", "src/main.c", 5));
    needles.push(place("alpha_1.0", "src/wide.c", 1));
    needles.push(place("alpha_1.0", "web/long.min.js", 1));
    needles.push(place("beta-2", "a b.md", 1));
    needles.push(place("beta-2", "latin1.txt", 1));
    if !copies.is_empty() {
        needles.extend((1..=300).map(|line| place("delta_1.0", "many.py", line)));
        needles.push(place("delta_1.0", "src/copy.c", 5));
        needles.push(place("delta_1.0", "README", 1));
    }
    needles.sort();
    assert_eq!(lines_with(shard, "needle"), needles);
    let mut mains = vec![place("alpha_1.0", "src/main.c", 3)];
    mains.extend((!copies.is_empty()).then(|| place("delta_1.0", "src/copy.c", 3)));
    assert_eq!(lines_with(shard, "int main"), mains);
    assert_eq!(lines_with(shard, "removed"), []);

    let skipped = shard.skipped().unwrap();
    assert_eq!(
        (skipped.len(), &skipped[0].path[..]),
        (1, &b"data/logo.bin"[..])
    );
    assert_eq!(skipped[0].reason, "binary");
    assert_eq!(shard.dead(), [0], "the most popular comes first");
    let package = shard
        .package(shard.live_packages().next().unwrap())
        .unwrap();
    assert_eq!(
        (package.popularity.inst, package.popularity.rdep),
        (0.5, 0.25)
    );
}

/// Same files, same documents and manifest, except for file times, symbols (the
/// shard's id has the version of their parsers), and one unversioned name: before version 4, `-2`
/// counted as a version.
#[test]
fn format_2_is_written() {
    let out = tempfile::tempdir().unwrap();
    let popularity = |inst, rdep| Popularity { inst, rdep };
    let options = BuildOptions {
        options: Options {
            block_bytes: 4096,
            no_ignore: true,
        },
        popularity: [
            (b"alpha".to_vec(), popularity(0.5, 0.25)),
            (b"gamma".to_vec(), popularity(1.0, 0.0)),
        ]
        .into(),
        ..BuildOptions::default()
    };
    let run = |sources, remove: &[&[u8]]| {
        let changes = Changes {
            remove: remove.iter().map(|name| name.to_vec()).collect(),
            ..Changes::default()
        };
        update(
            sources,
            &changes,
            out.path(),
            &options,
            &Progress::default(),
        )
        .unwrap();
    };
    let given = [testdata("source"), testdata("source-2")];
    run(sources(&given, true).unwrap(), &[]);
    run(Vec::new(), &[b"gamma"]);
    let fixture = testdata("format-2-best-first");
    let mut expected = read_manifest(&fixture).unwrap();
    let mut manifest = read_manifest(out.path()).unwrap();
    let documents = |index: &Path| {
        let index = Index::open(index).unwrap();
        (index.shards[0].version(), contents(&index.shards[0]))
    };
    // Copies in another language are texts of their own, so the blocks differ.
    assert!(documents(out.path()) == documents(&fixture));
    for shard in expected.shards.iter_mut().chain(&mut manifest.shards) {
        (shard.id, shard.file) = ([0; 32], String::new());
        shard
            .packages
            .iter_mut()
            .for_each(|package| package.signature = 0);
    }
    for package in &mut expected.shards[0].packages {
        assert!(
            !package.has_own_name,
            "manifests of version 1 do not say it"
        );
        package.has_own_name = package.directory == b"beta-2";
    }
    assert_eq!(manifest, expected);
}

/// Documents, blocks, and lists of the trigrams of text.
fn assert_same_lists(ours: &Path, theirs: &Path) {
    let [ours, theirs] = [ours, theirs].map(|index| {
        let index = Index::open(index).unwrap();
        let shard = Arc::clone(&index.shards[0]);
        let numbers = 0..shard.trigram_count() as u32;
        let trigrams = numbers.map(|number| shard.trigram(number).unwrap());
        let texts = trigrams.filter(|trigram| !trigram.is_definition());
        let lists = texts.map(|trigram| {
            let list = shard.postings(trigram).unwrap().unwrap();
            let all = 0..shard.block_count();
            (trigram.bytes(), list.within(slice::from_ref(&all)))
        });
        let lists: Vec<_> = lists.collect();
        (
            shard.version(),
            shard.block_count(),
            contents(&shard),
            lists,
        )
    });
    assert!(ours == theirs);
}

const BLOCKS_OF_256: Options = Options {
    block_bytes: 256,
    no_ignore: true,
};

#[test]
fn format_3_is_read() {
    let index = Index::open(&testdata("format-3")).unwrap();
    assert_eq!(index.manifest.options, BLOCKS_OF_256);
    let [shard] = &index.shards[..] else {
        panic!("one shard")
    };
    shard.verify().unwrap();
    assert_eq!((shard.version(), shard.block_count()), (3, 93));
    let codec = |trigram: &[u8; 3]| {
        let list = shard.postings(Trigram::of(*trigram).unwrap()).unwrap();
        list.and_then(|list| list.codec())
    };
    assert_eq!(codec(b"clu"), Some(Codec::Gaps));
    assert_eq!(codec(b"ain"), Some(Codec::Bitmap));
    let path = "epsilon_1/src/runs.py";
    let text = fs::read(testdata("source-3").join(path)).unwrap();
    let (package, path) = path.split_once('/').unwrap();
    let document = (package.to_owned(), path.to_owned(), text);
    assert!(contents(shard) == [document]);
    let place = |line| (package.to_owned(), path.to_owned(), line);
    for word in ["cluster", "needle"] {
        let lines: Vec<_> = (301..=500).map(place).collect();
        assert_eq!(lines_with(shard, word), lines);
    }
    assert_eq!(lines_with(shard, "plain_0300"), [place(300)]);
}

#[test]
fn format_3_is_written() {
    let out = tempfile::tempdir().unwrap();
    let options = BuildOptions {
        options: BLOCKS_OF_256,
        ..BuildOptions::default()
    };
    let sources = sources(&[testdata("source-3")], true).unwrap();
    let (changes, progress) = (Changes::default(), Progress::default());
    update(sources, &changes, out.path(), &options, &progress).unwrap();
    assert_same_lists(out.path(), &testdata("format-3"));
}

#[test]
fn an_index_of_format_1_is_upgraded() {
    let there = tempfile::tempdir().unwrap();
    let out = there.path().join("index");
    fs::create_dir(&out).unwrap();
    for file in fs::read_dir(testdata("format-1")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), out.join(file.file_name())).unwrap();
    }
    let options = BuildOptions {
        options: Options {
            block_bytes: 4096,
            no_ignore: true,
        },
        ..BuildOptions::default()
    };
    let run = || {
        let (changes, progress) = (Changes::default(), Progress::default());
        let report = update(Vec::new(), &changes, &out, &options, &progress).unwrap();
        let index = Index::open(&out).unwrap();
        let shards = index.shards.iter();
        let versions: Vec<_> = shards.map(|it| (it.version(), it.has_symbols())).collect();
        assert_eq!(versions, [(2, true)]);
        let lines = lines_with(&index.shards[0], "needle");
        (report.upgraded, contents(&index.shards[0]), lines)
    };
    let before = &Index::open(&out).unwrap().shards[0];
    let expected = (contents(before), lines_with(before, "needle"));
    let (upgraded, contents, lines) = run();
    assert!((contents, lines) == expected);
    assert_eq!((upgraded, run().0), (1, 0));
}
