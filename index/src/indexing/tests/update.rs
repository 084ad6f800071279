//! An updated index equals one built from scratch.

mod damage;
mod edits;
mod imports;
mod merging;
mod packages;

mod sequences;

use super::*;
use crate::codec::ContentCodec;
use crate::manifest::Manifest;
use crate::plan::plan;
use crate::shard::{Candidates, TextCache};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

struct There {
    directory: TempDir,
    options: BuildOptions,
    /// Added to file times, which may be too coarse for two writes of a test.
    clock_s: u64,
}

type Row = (String, String, u32, Vec<u8>);

impl There {
    fn new() -> There {
        There {
            directory: tempfile::tempdir().unwrap(),
            options: BuildOptions {
                jobs: 2,
                ..super::options()
            },
            clock_s: 0,
        }
    }

    /// Index of `packages`, each with a file `x.c`.
    fn with(packages: &[&str]) -> There {
        let mut there = There::new();
        for package in packages {
            there.write(package, "x.c", format!("needle of {package}\n"));
        }
        there.update(packages).unwrap();
        there
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&mut self, package: &str, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(package).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.clock_s += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock_s);
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    fn sources(&self, packages: &[&str]) -> Vec<Source> {
        let paths: Vec<_> = packages.iter().map(|package| self.path(package)).collect();
        versioned(corpus::sources(&paths, false).unwrap())
    }

    fn update(&self, packages: &[&str]) -> Result<Report, BuildError> {
        let changes = Changes {
            replace_versions: true,
            ..Changes::default()
        };
        self.change(packages, &changes)
    }

    fn change(&self, packages: &[&str], changes: &Changes) -> Result<Report, BuildError> {
        let (sources, out) = (self.sources(packages), self.path("out"));
        update(sources, changes, &out, &self.options, &Progress::default())
    }

    fn is_current(&self, packages: &[&str], changes: &Changes) -> bool {
        let (sources, out) = (self.sources(packages), self.path("out"));
        is_current(sources, changes, &out, &self.options)
    }

    fn index(&self) -> Index {
        Index::open(&self.path("out")).unwrap()
    }

    fn manifest(&self) -> Vec<u8> {
        fs::read(self.path("out").join(directory::MANIFEST)).unwrap()
    }

    fn fresh(&self, packages: &[&str]) -> Index {
        let out = self.path("fresh");
        let options = &self.options;
        build(self.sources(packages), &out, options, &Progress::default()).unwrap();
        Index::open(&out).unwrap()
    }

    fn check(&self, packages: &[&str]) {
        let (index, fresh) = (self.index(), self.fresh(packages));
        assert_eq!(rows(&index), rows(&fresh));
        assert_eq!(skipped(&index), skipped(&fresh));
        assert_eq!(found(&index), found(&fresh));
        let signatures = |manifest: &Manifest| {
            let live = manifest.live();
            let live = live.map(|package| (package.directory.clone(), package.signature));
            live.collect::<BTreeSet<_>>()
        };
        assert_eq!(signatures(&index.manifest), signatures(&fresh.manifest));
        check_files(&self.path("out"), &index.manifest);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Documents of live packages; checks the shard counts.
fn rows(index: &Index) -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    for shard in &index.shards {
        let mut counts = crate::shard::Counts::default();
        let mut texts = BTreeSet::new();
        for id in shard.live_packages() {
            let package = shard.package(id).unwrap();
            counts.packages += 1;
            counts.parts += 1;
            for id in shard.documents_of(&package).unwrap() {
                let document = shard.document(id).unwrap();
                let range = shard.text_range(document.blocks.clone()).unwrap();
                let (directory, path) = (text(package.directory), text(document.path));
                let of_path = shard.find(package.directory, document.path).unwrap();
                assert_eq!(of_path, Some(id));
                counts.documents += 1;
                counts.text_bytes += range.end - range.start;
                if texts.insert(document.text) {
                    counts.blocks += document.blocks.len() as u32;
                    counts.unique_bytes += range.end - range.start;
                }
                let bytes = shard.text(range, &TextCache::default()).unwrap().to_vec();
                rows.insert((directory, path, document.static_rank.to_bits(), bytes));
            }
        }
        assert_eq!(counts, shard.live_counts());
    }
    rows
}

fn skipped(index: &Index) -> BTreeSet<(String, String, String)> {
    let mut all = BTreeSet::new();
    for shard in &index.shards {
        for file in shard.skipped().unwrap() {
            let package = text(shard.package(file.package).unwrap().directory);
            all.insert((package, text(&file.path), file.reason));
        }
    }
    all
}

/// Candidate blocks of a word that all files contain.
fn found(index: &Index) -> BTreeSet<(String, Vec<u8>)> {
    let mut all = BTreeSet::new();
    for shard in &index.shards {
        let live: Vec<u32> = shard.live_blocks().iter().cloned().flatten().collect();
        let anything = shard.candidates(&plan(".", false).unwrap()).unwrap();
        assert_eq!(anything, Candidates::Ranges(shard.live_blocks().to_vec()));
        let candidates = shard.candidates(&plan("needle", false).unwrap()).unwrap();
        let Candidates::Blocks(blocks) = candidates else {
            panic!("a word has trigrams")
        };
        for block in blocks {
            assert!(live.binary_search(&block).is_ok(), "block {block} is dead");
            let range = shard.text_range(block..block + 1).unwrap();
            let bytes = shard.text(range, &TextCache::default()).unwrap();
            for document in shard.text_with(BlockId(block)).unwrap().documents {
                let package = shard.package_of(DocId(document)).unwrap();
                if shard.is_live(package) {
                    let package = text(shard.package(package).unwrap().directory);
                    all.insert((package, bytes.to_vec()));
                }
            }
        }
    }
    all
}

/// Only lock, manifest and its files are in the directory.
fn check_files(out: &Path, manifest: &Manifest) {
    let files = fs::read_dir(out).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let named = manifest.files().map(str::to_owned);
    let expected = ["lock".to_owned(), directory::MANIFEST.to_owned()];
    assert_eq!(files, named.chain(expected).collect());
}

fn removing(names: &[&str]) -> Changes {
    Changes {
        remove: names.iter().map(|name| name.as_bytes().to_vec()).collect(),
        ..Changes::default()
    }
}

const PRUNE: Changes = Changes {
    remove: Vec::new(),
    prune: true,
    replace_versions: false,
    parents: Vec::new(),
    beside: Vec::new(),
    repositories: Vec::new(),
    recorded: Vec::new(),
    scip: Vec::new(),
    verify: false,
    suspects: edits::NO_SUSPECTS,
};

fn counts(report: &Report) -> [u64; 4] {
    [
        report.read.packages,
        report.kept,
        report.dropped.len() as u64,
        report.merged,
    ]
}
