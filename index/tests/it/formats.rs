//! Indexes of released formats, in `testdata/`, can be read; see its README for how they were made. A
//! change that breaks one of these tests needs a new version of the format.

use index::corpus::sources;
use index::directory::{Index, is_index, read_manifest};
use index::document::Popularity;
use index::indexing::{BuildOptions, Changes, Progress, update};
use index::manifest::Options;
use index::plan::plan;
use index::shard::{BlockId, Candidates, Shard};
use std::fs;
use std::path::{Path, PathBuf};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

/// The documents in `source/`: packages, paths and texts, without the removed package.
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

/// Returns the live documents of a shard, ordered by path within their packages.
fn contents(shard: &Shard) -> Vec<(String, String, Vec<u8>)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut contents = Vec::new();
    for package in shard.live_packages() {
        let package = shard.package(package).unwrap();
        for id in package.documents {
            let document = shard.document(index::shard::DocId(id)).unwrap();
            let bytes = shard.text_range(document.blocks).unwrap();
            let bytes = shard.text(bytes).unwrap();
            assert_eq!(blake3::hash(bytes).as_bytes(), document.hash);
            contents.push((text(package.directory), text(document.path), bytes.to_vec()));
        }
    }
    contents.sort();
    contents
}

/// Returns the lines with `word` in its candidates: package, path, line number.
fn lines_with(shard: &Shard, word: &str) -> Vec<(String, String, u32)> {
    let Candidates::Blocks(blocks) = shard.candidates(&plan(word, true).unwrap()).unwrap() else {
        panic!("{word} says something")
    };
    let mut found = Vec::new();
    for block in blocks {
        let document = shard.document_of(BlockId(block)).unwrap();
        let package = shard.package(shard.package_of(document).unwrap()).unwrap();
        let document = shard.document(document).unwrap();
        let text = shard
            .text(shard.text_range(block..block + 1).unwrap())
            .unwrap();
        let first = shard.first_line(BlockId(block)).unwrap();
        for (number, line) in (first..).zip(text.split(|&byte| byte == b'\n')) {
            if line
                .to_ascii_lowercase()
                .windows(word.len())
                .any(|part| part == word.as_bytes())
            {
                let [package, path] = [package.directory, document.path]
                    .map(|name| String::from_utf8_lossy(name).into_owned());
                found.push((package, path, number));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn format_1_is_read() {
    let directory = testdata("format-1");
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
    let expected: Vec<_> = documents()
        .into_iter()
        .map(|(package, path, text)| (package.to_owned(), path.to_owned(), text))
        .collect();
    assert!(contents(shard) == expected);

    let place = |package: &str, path: &str, line| (package.to_owned(), path.to_owned(), line);
    let mut needles: Vec<_> = (1..=300)
        .map(|line| place("alpha_1.0", "tests/many.py", line))
        .collect();
    needles.push(place("alpha_1.0", "src/main.c", 5));
    needles.push(place("alpha_1.0", "src/wide.c", 1));
    needles.push(place("alpha_1.0", "web/long.min.js", 1));
    needles.push(place("beta-2", "a b.md", 1));
    needles.push(place("beta-2", "latin1.txt", 1));
    needles.sort();
    assert_eq!(lines_with(shard, "needle"), needles);
    assert_eq!(
        lines_with(shard, "int main"),
        [place("alpha_1.0", "src/main.c", 3)]
    );
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
    assert_eq!((package.inst, package.rdep), (0.5, 0.25));
}

/// The same files give the same shard, and the same manifest except for the times of files.
#[test]
fn format_1_is_written() {
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
    run(sources(&[testdata("source")], true).unwrap(), &[]);
    run(Vec::new(), &[b"gamma"]);
    let fixture = testdata("format-1");
    let mut expected = read_manifest(&fixture).unwrap();
    let mut manifest = read_manifest(out.path()).unwrap();
    for shard in expected.shards.iter_mut().chain(&mut manifest.shards) {
        shard
            .packages
            .iter_mut()
            .for_each(|package| package.signature = 0);
    }
    assert_eq!(manifest, expected);
    for shard in &expected.shards {
        let [ours, theirs] = [out.path(), &fixture].map(|index| index.join(&shard.file));
        assert!(
            fs::read(ours).unwrap() == fs::read(theirs).unwrap(),
            "{}",
            shard.file
        );
    }
}
