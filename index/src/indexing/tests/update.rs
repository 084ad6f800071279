//! An updated index holds the same as one that is built from scratch.

use super::*;
use crate::corpus::SkipReason;
use crate::manifest::{Beside, Manifest};
use crate::plan::plan;
use crate::shard::Candidates;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Directories of source, and an index of some of them.
struct There {
    directory: TempDir,
    options: BuildOptions,
    /// Added to the time of the next file: the file system's times may be too coarse to distinguish
    /// two writes of a test.
    clock_s: u64,
}

/// A document: package, path, rank, text.
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

    /// An index of `packages`, each of which has a file `x.c` with its name in it.
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
        corpus::sources(&paths, false).unwrap()
    }

    fn update(&self, packages: &[&str]) -> Result<Report, BuildError> {
        self.change(packages, &Changes::default())
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

    /// Builds a fresh index of `packages`.
    fn fresh(&self, packages: &[&str]) -> Index {
        let out = self.path("fresh");
        let options = &self.options;
        build(self.sources(packages), &out, options, &Progress::default()).unwrap();
        Index::open(&out).unwrap()
    }

    /// Checks that the index holds what a fresh one of `packages` holds.
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

/// Returns the documents of live packages and checks their sums against the shards' counts.
fn rows(index: &Index) -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    for shard in &index.shards {
        let mut counts = crate::shard::Counts::default();
        for id in shard.live_packages() {
            let package = shard.package(id).unwrap();
            counts.packages += 1;
            for id in package.documents {
                let document = shard.document(DocId(id)).unwrap();
                let range = shard.text_range(document.blocks.clone()).unwrap();
                let (directory, path) = (text(package.directory), text(document.path));
                let of_path = shard.find(package.directory, document.path).unwrap();
                assert_eq!(of_path, Some(DocId(id)));
                counts.documents += 1;
                counts.blocks += document.blocks.len() as u32;
                counts.text_bytes += range.end - range.start;
                let bytes = shard.text(range).unwrap().to_vec();
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

/// Returns the blocks, found as candidates, that hold the word that all files contain.
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
            let document = shard.document_of(BlockId(block)).unwrap();
            let package = shard.package_of(document).unwrap();
            let package = text(shard.package(package).unwrap().directory);
            let range = shard.text_range(block..block + 1).unwrap();
            all.insert((package, shard.text(range).unwrap().to_vec()));
        }
    }
    all
}

/// Checks that the directory holds only the lock, the manifest and the shards that it names.
fn check_files(out: &Path, manifest: &Manifest) {
    let files = fs::read_dir(out).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let named = manifest.shards.iter().map(|shard| shard.file.clone());
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
    parents: Vec::new(),
    beside: Vec::new(),
    verify: false,
};

/// Packages that were read, kept, dropped and merged.
fn counts(report: &Report) -> [u64; 4] {
    [
        report.read.packages,
        report.kept,
        report.dropped,
        report.merged,
    ]
}

#[test]
fn reads_changed_packages_and_keeps_the_rest() {
    let mut there = There::with(&["a_1", "b_1", "c_1"]);
    let before = there.index();
    there.write("b_1", "x.c", "needle, but another\n");
    let report = there.update(&["a_1", "b_1", "c_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Updated);
    assert_eq!(counts(&report), [1, 2, 0, 0]);
    assert_eq!(
        (report.packages, report.documents, report.shards),
        (3, 3, 2)
    );
    there.check(&["a_1", "b_1", "c_1"]);
    let after = there.index();
    let (old, new) = (&before.shards[0], &after.shards[0]);
    assert_eq!(old.file_id(), new.file_id(), "the file is the same");
    assert_ne!(old.id(), new.id(), "what counts of it is not");
    assert_eq!(new.dead().len(), 1);
}

#[test]
fn keeps_packages_that_are_not_given() {
    let mut there = There::with(&["a_1", "b_1"]);
    there.write("c_1", "x.c", "needle\n");
    let report = there.update(&["c_1"]).unwrap();
    assert_eq!(counts(&report), [1, 2, 0, 0]);
    there.check(&["a_1", "b_1", "c_1"]);
}

#[test]
fn an_update_without_changes_does_not_touch_the_manifest() {
    let there = There::with(&["a_1", "b_1"]);
    let before = there.manifest();
    let written = fs::metadata(there.path("out/manifest")).unwrap();
    let report = there.update(&["b_1", "a_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    assert_eq!((counts(&report), report.written_bytes), ([0, 2, 0, 0], 0));
    assert_eq!((report.packages, report.documents), (2, 2));
    assert_eq!(there.manifest(), before);
    let after = fs::metadata(there.path("out/manifest")).unwrap();
    assert_eq!(after.modified().unwrap(), written.modified().unwrap());
}

#[test]
fn an_index_is_current_when_there_is_nothing_to_do() {
    let mut there = There::with(&["a_1", "b_1"]);
    there.write("a_2", "x.c", "needle\n");
    let given: &[(&[&str], bool, bool)] = &[
        (&["a_1", "b_1"], true, true),
        (&["a_1"], true, false),
        (&["a_1", "a_2"], false, false),
        (&["a_2"], false, false),
    ];
    for &(packages, is_current, is_current_pruned) in given {
        let keep = there.is_current(packages, &Changes::default());
        let prune = there.is_current(packages, &PRUNE);
        assert_eq!(
            (keep, prune),
            (is_current, is_current_pruned),
            "{packages:?}"
        );
    }
    there.write("a_1", "x.c", "another needle\n");
    assert!(!there.is_current(&["a_1", "b_1"], &Changes::default()));
    fs::remove_dir_all(there.path("out")).unwrap();
    assert!(!there.is_current(&["b_1"], &Changes::default()));
}

#[test]
fn another_version_supersedes_older_ones() {
    let mut there = There::with(&["foo_1.0", "foo_1.1", "foobar_1.0"]);
    there.write("foo_1.2", "x.c", "needle\n");
    let report = there.update(&["foo_1.1", "foo_1.2"]).unwrap();
    assert_eq!(counts(&report), [1, 2, 1, 0]);
    there.check(&["foo_1.1", "foo_1.2", "foobar_1.0"]);
    // The same version under another separator is the same package.
    there.write("foo-1.2", "x.c", "needle\n");
    let report = there.update(&["foo-1.2"]).unwrap();
    assert_eq!(counts(&report), [1, 1, 2, 1]);
    there.check(&["foo-1.2", "foobar_1.0"]);
}

#[test]
fn packages_are_removed_by_directory_or_by_name() {
    let there = There::with(&["foo_1.0", "foo_1.1", "bar_1", "bar_2", "baz"]);
    let report = there.change(&[], &removing(&["foo", "bar_2"])).unwrap();
    assert_eq!(counts(&report), [0, 2, 3, 2], "three of five are dead");
    there.check(&["bar_1", "baz"]);
    let report = there.change(&[], &removing(&["bar", "baz"])).unwrap();
    assert_eq!((report.packages, report.shards), (0, 0));
    assert!(there.index().shards.is_empty());
    there.update(&["baz"]).unwrap();
    there.check(&["baz"]);
}

#[test]
fn removing_an_unknown_package_fails_and_changes_nothing() {
    let mut there = There::with(&["i3-wm_4.22", "sed_4.9"]);
    there.write("sed_4.9", "x.c", "needle, but another\n");
    let before = there.manifest();
    for (name, says) in [
        (
            "i3-wn",
            "no package `i3-wn` in the index; did you mean `i3-wm`?",
        ),
        (
            "sed_4.8",
            "no package `sed_4.8` in the index; did you mean `sed_4.9`?",
        ),
        ("emacs", "no package `emacs` in the index"),
    ] {
        let changes = removing(&["i3-wm", name]);
        let error = there.change(&["sed_4.9"], &changes).unwrap_err();
        assert_eq!(error.to_string(), says);
    }
    let both = there.change(&["sed_4.9"], &removing(&["sed"])).unwrap_err();
    assert!(matches!(&both, BuildError::RemovedAndGiven { name } if name == "sed_4.9"));
    assert_eq!(there.manifest(), before);
}

#[test]
fn removing_from_no_index_fails() {
    let there = There::new();
    let error = there.change(&[], &removing(&["a"])).unwrap_err();
    let expected = matches!(
        error,
        BuildError::Directory(directory::IndexError::NotAnIndex { .. })
    );
    assert!(expected, "{error}");
    assert!(!there.path("out").exists());
}

#[test]
fn prune_drops_packages_that_are_not_given() {
    let there = There::with(&["a_1", "b_1", "c_1"]);
    let report = there.change(&["b_1"], &PRUNE).unwrap();
    assert_eq!(counts(&report), [0, 1, 2, 1]);
    there.check(&["b_1"]);
}

#[test]
fn a_changed_popularity_reads_the_package_again() {
    let mut there = There::with(&["a_1", "b_1"]);
    let popularity = Popularity {
        inst: 0.25,
        rdep: 0.0,
    };
    there.options.popularity.insert(b"a".to_vec(), popularity);
    let report = there.update(&["a_1", "b_1"]).unwrap();
    assert_eq!(counts(&report), [1, 1, 0, 0]);
    there.check(&["a_1", "b_1"]);
}

#[test]
fn other_options_rebuild_and_never_drop_silently() {
    let mut there = There::with(&["a_1", "b_1", "c_1"]);
    let before = there.manifest();
    there.options.options.no_ignore = true;
    let error = there.update(&["b_1"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: it was built with other options, so all of its packages must be read again, but \
             these are not among the sources: a_1, c_1; name their directories too, or drop them with --prune",
            there.path("out").display()
        )
    );
    assert_eq!(there.manifest(), before);
    let report = there.update(&["c_1", "b_1", "a_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Rebuilt);
    assert_eq!((counts(&report), report.shards), ([3, 0, 0, 0], 1));
    there.check(&["a_1", "b_1", "c_1"]);
    there.options.options.block_bytes = 64;
    // What is removed needs no options, and what is pruned is not missed.
    there.change(&[], &removing(&["c"])).unwrap();
    assert!(there.index().manifest.options.no_ignore);
    let report = there.change(&["b_1"], &PRUNE).unwrap();
    assert_eq!(counts(&report), [1, 0, 1, 0]);
    there.check(&["b_1"]);
}

#[test]
fn packages_of_a_damaged_shard_are_read_again() {
    let mut there = There::with(&["a_1", "b_1"]);
    there.write("c_1", "x.c", "needle\n");
    there.update(&["c_1"]).unwrap();
    let shard = there
        .path("out")
        .join(&there.index().manifest.shards[0].file);
    fs::write(&shard, "no shard").unwrap();
    let error = there.update(&["a_1"]).unwrap_err();
    assert!(
        matches!(&error, BuildError::NotGiven { packages, .. } if packages == &["b_1"]),
        "{error}"
    );
    let report = there.update(&["a_1", "b_1"]).unwrap();
    assert_eq!(counts(&report), [2, 1, 0, 0]);
    there.check(&["a_1", "b_1", "c_1"]);
}

/// The new shard has the name of the damaged one; a process that has it open watches only the manifest.
#[test]
fn replacing_a_damaged_shard_replaces_the_manifest() {
    let there = There::with(&["a_1", "b_1"]);
    let manifest = there.manifest();
    let stamp = directory::manifest_stamp(&there.path("out")).unwrap();
    let shard = there
        .path("out")
        .join(&there.index().manifest.shards[0].file);
    let bytes = fs::read(&shard).unwrap();
    fs::write(&shard, &bytes[..bytes.len() / 2]).unwrap();
    there.update(&["a_1", "b_1"]).unwrap();
    assert_eq!(fs::read(&shard).unwrap(), bytes);
    assert_eq!(there.manifest(), manifest);
    assert_ne!(
        directory::manifest_stamp(&there.path("out")).unwrap(),
        stamp
    );
}

#[test]
fn an_unusable_manifest_is_replaced_only_with_prune() {
    let there = There::with(&["a_1", "b_1"]);
    fs::write(there.path("out/manifest"), "trawl-index 1\n").unwrap();
    let error = there.update(&["a_1"]).unwrap_err();
    assert!(matches!(error, BuildError::Unusable { .. }), "{error}");
    there.change(&["a_1"], &PRUNE).unwrap();
    there.check(&["a_1"]);
}

#[test]
fn an_interrupted_update_leaves_the_index_as_it_was() {
    let mut there = There::with(&["a_1", "b_1"]);
    let before = there.manifest();
    there.write("b_1", "x.c", "needle, but another\n");
    there.write("c_1", "x.c", "needle\n");
    let mut sources = there.sources(&["a_1", "b_1", "c_1"]);
    sources[2].directory = there.path("gone");
    let out = there.path("out");
    let options = BuildOptions {
        // Of those that can be read each has a shard by then.
        shard_bytes: 1,
        ..there.options.clone()
    };
    let failed = update(
        sources,
        &Changes::default(),
        &out,
        &options,
        &Progress::default(),
    );
    assert!(matches!(failed, Err(BuildError::Corpus(_))), "{failed:?}");
    assert_eq!(there.manifest(), before);
    fs::write(out.join("unfinished.tmp"), "half a shard").unwrap();
    fs::write(out.join("0123456789abcdef.shard"), "never named").unwrap();
    there.update(&["a_1", "b_1", "c_1"]).unwrap();
    there.check(&["a_1", "b_1", "c_1"]);
}

/// Packages with everything that a shard records: other encodings, lines of any length, empty and
/// skipped files.
fn peculiar(there: &mut There, package: &str) {
    let number = package.bytes().map(u32::from).sum::<u32>();
    let long = format!("needle {}\nx\n", "long ".repeat(4_000));
    let lines: String = (0..900)
        .map(|line| format!("{line} {}\n", line * number))
        .collect();
    there.write(package, "src/long.c", long);
    there.write(package, "src/lines.c", lines);
    there.write(package, "src/empty.c", "");
    there.write(package, "src/crlf.c", "a\r\n\r\nneedle");
    there.write(package, "tests/latin", b"na\xefve\n");
    there.write(package, "utf16.c", b"\xff\xfea\0r\0s\0e\0\n\0");
    there.write(package, "bin", b"a\0b");
    there.write(package, "odd/bin", b"\0");
    std::os::unix::fs::symlink("bin", there.path(package).join("link")).unwrap();
}

#[test]
fn merged_shards_equal_those_of_a_fresh_build() {
    let mut there = There::new();
    let packages: Vec<String> = (0..9).map(|number| format!("p{number}_1")).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    for (name, inst) in [("p3", 0.5), ("p7", 0.75), ("p8", 0.5)] {
        let popularity = Popularity { inst, rdep: 0.125 };
        there.options.popularity.insert(name.into(), popularity);
    }
    for (number, package) in (1..).zip(&packages) {
        peculiar(&mut there, package);
        let report = there.update(&[package]).unwrap();
        let expected = if number < 9 { (number, 0) } else { (1, 9) };
        assert_eq!((report.shards, report.merged), expected);
    }
    there.check(&packages);
    let (index, fresh) = (there.index(), there.fresh(&packages));
    assert_eq!(index.manifest, fresh.manifest);
    let read = |index: &Index| fs::read(index.shards[0].path()).unwrap();
    assert!(read(&index) == read(&fresh), "other bytes");
    let unchanged = there.update(&packages).unwrap();
    assert_eq!(unchanged.outcome, Outcome::Unchanged);
}

#[test]
fn mostly_dead_shards_are_merged_without_their_sources() {
    let mut there = There::new();
    for package in ["a_1", "b_1", "c_1"] {
        peculiar(&mut there, package);
    }
    there.update(&["a_1", "b_1", "c_1"]).unwrap();
    fs::rename(there.path("b_1"), there.path("away")).unwrap();
    let report = there.change(&[], &removing(&["a"])).unwrap();
    assert_eq!(counts(&report), [0, 2, 1, 0], "a third is dead");
    let report = there.change(&[], &removing(&["c"])).unwrap();
    assert_eq!(counts(&report), [0, 1, 1, 1], "two thirds are dead");
    assert!(there.index().shards[0].dead().is_empty());
    fs::rename(there.path("away"), there.path("b_1")).unwrap();
    there.check(&["b_1"]);
    assert_eq!(there.index().manifest, there.fresh(&["b_1"]).manifest);
}

/// A step that a user may take; numbers stand for packages and versions.
#[derive(Clone, Debug)]
enum Step {
    /// Write a package and give it.
    Give(u8, u8, u8),
    Remove(u8),
    /// Give the packages of which the bit is set, and no others.
    Prune(u32),
    /// Give all packages that are in it.
    Again,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..14_u8, 0..2_u8, any::<u8>()).prop_map(|(name, version, text)| {
            Step::Give(name, version, text)
        }),
        2 => (0..14_u8).prop_map(Step::Remove),
        1 => any::<u32>().prop_map(Step::Prune),
        1 => Just(Step::Again),
    ]
}

/// The packages that the index must hold.
type Model = BTreeSet<String>;

fn of_name(model: &Model, name: u8) -> Vec<String> {
    let prefix = format!("p{name}_");
    let of_name = model.iter().filter(|package| package.starts_with(&prefix));
    of_name.cloned().collect()
}

fn strings(packages: &[String]) -> Vec<&str> {
    packages.iter().map(String::as_str).collect()
}

fn take(there: &mut There, model: &mut Model, step: &Step) {
    match *step {
        Step::Give(name, version, bytes) => {
            let package = format!("p{name}_{version}");
            let body = "some needle\n".repeat(1 + usize::from(bytes) * 4);
            there.write(&package, &format!("{}.c", bytes % 3), body);
            for other in of_name(model, name) {
                model.remove(&other);
            }
            let report = there.update(&[&package]).unwrap();
            assert_eq!(report.read.packages, 1);
            model.insert(package);
        }
        Step::Remove(name) => {
            let removed = of_name(model, name);
            let result = there.change(&[], &removing(&[&format!("p{name}")]));
            assert_eq!(result.is_ok(), !removed.is_empty(), "{result:?}");
            removed.iter().for_each(|package| {
                model.remove(package);
            });
        }
        Step::Prune(bits) => {
            let numbered = (0..).zip(model.iter());
            let given = numbered.filter(|(number, _)| bits >> number & 1 == 1);
            let given: Vec<String> = given.map(|(_, package)| package.clone()).collect();
            if !given.is_empty() {
                there.change(&strings(&given), &PRUNE).unwrap();
                *model = given.into_iter().collect();
            }
        }
        Step::Again => {
            let all: Vec<String> = model.iter().cloned().collect();
            if !all.is_empty() {
                let before = there.manifest();
                let report = there.update(&strings(&all)).unwrap();
                assert_eq!(report.outcome, Outcome::Unchanged);
                assert_eq!(there.manifest(), before);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_updates_equals_a_fresh_build(
        steps in prop::collection::vec(step(), 1..24),
        shard_bytes in prop::sample::select(vec![2_000, 100_000, SHARD_BYTES]),
    ) {
        let mut there = There::with(&["p0_0"]);
        there.options.shard_bytes = shard_bytes;
        let mut model = Model::from(["p0_0".to_owned()]);
        for step in &steps {
            take(&mut there, &mut model, step);
            let packages: Vec<String> = model.iter().cloned().collect();
            if !packages.is_empty() {
                there.check(&strings(&packages));
            }
        }
    }
}

/// Gives a file other text, but its old size and modification time.
fn rewrite_keeping_size_and_time(path: &Path, text: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), text.len() as u64);
    fs::write(path, text).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn an_edit_that_keeps_size_and_time_is_noticed() {
    let there = There::with(&["a_1", "b_1"]);
    let path = there.path("a_1/x.c");
    // The clock of the file system may be coarse: until it has moved on, the edit has the old time.
    let changed = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        use std::os::unix::fs::MetadataExt;
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let before = changed(&path);
    while changed(&path) == before {
        rewrite_keeping_size_and_time(&path, "noodle of a_1\n");
    }
    assert!(!there.is_current(&["a_1", "b_1"], &Changes::default()));
    assert_eq!(there.update(&["a_1", "b_1"]).unwrap().read.packages, 1);
    there.check(&["a_1", "b_1"]);
}

#[test]
fn a_file_replaced_by_another_of_equal_size_and_time_is_noticed() {
    let mut there = There::with(&["a_1"]);
    there.write("other", "y.c", "noodle of a_1\n");
    let time = fs::metadata(there.path("a_1/x.c")).unwrap().modified();
    let other = File::options().write(true).open(there.path("other/y.c"));
    other.unwrap().set_modified(time.unwrap()).unwrap();
    fs::rename(there.path("other/y.c"), there.path("a_1/x.c")).unwrap();
    assert_eq!(there.update(&["a_1"]).unwrap().read.packages, 1);
    there.check(&["a_1"]);
}

/// Writes the manifest with other signatures: those that `signature` returns.
fn sign(there: &There, signature: impl Fn(&[u8], u64) -> u64) {
    let mut manifest = there.index().manifest;
    for package in manifest.shards.iter_mut().flat_map(|it| &mut it.packages) {
        package.signature = signature(&package.directory, package.signature);
    }
    let path = there.path("out").join(directory::MANIFEST);
    fs::write(path, manifest.render()).unwrap();
}

#[test]
fn an_index_of_a_version_that_signed_less_is_read_again_once() {
    let there = There::with(&["a_1", "b_1"]);
    sign(&there, |_, signature| signature ^ 1);
    assert_eq!(there.update(&["a_1", "b_1"]).unwrap().read.packages, 2);
    let report = there.update(&["a_1", "b_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    there.check(&["a_1", "b_1"]);
}

const VERIFY: Changes = Changes {
    remove: Vec::new(),
    prune: false,
    parents: Vec::new(),
    beside: Vec::new(),
    verify: true,
};

#[test]
fn verify_finds_and_repairs_what_no_time_shows() {
    let mut there = There::with(&["a_1", "b_1"]);
    let verified = there.change(&["a_1", "b_1"], &VERIFY).unwrap().verified;
    let verified = verified.unwrap();
    assert_eq!((verified.files, verified.differing), (2, 0));

    there.write("a_1", "x.c", "noodle\n");
    there.write("a_1", "binary", "\0");
    let fresh = there.fresh(&["a_1", "b_1"]).manifest;
    sign(&there, |directory, _| {
        let mut live = fresh.live();
        live.find(|it| it.directory == directory).unwrap().signature
    });
    let report = there.update(&["a_1", "b_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged, "the signature is right");
    let report = there.change(&["a_1", "b_1"], &VERIFY).unwrap();
    let verified = report.verified.unwrap();
    assert_eq!(verified.differing_listed, ["a_1/x.c"]);
    assert_eq!(report.read.packages, 1);
    there.check(&["a_1", "b_1"]);
}

#[test]
fn verify_reads_the_packages_of_a_damaged_shard_again() {
    let there = There::with(&["a_1"]);
    let file = there.index().manifest.shards[0].file.clone();
    let path = there.path("out").join(file);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|it| it == b"needle").unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let report = there.change(&["a_1"], &VERIFY).unwrap();
    assert_eq!(report.verified.unwrap().damaged_shards, 1);
    assert_eq!(report.read.packages, 1);
    there.check(&["a_1"]);
}

#[test]
fn what_lies_beside_packages_is_kept_until_its_directory_is_given_again() {
    let there = There::with(&["a_1"]);
    let beside = |path: &str| Beside {
        path: path.as_bytes().to_vec(),
        reason: SkipReason::Loose.to_string(),
    };
    let given = |parent: &str, paths: &[&str]| Changes {
        parents: vec![parent.into()],
        beside: paths.iter().map(|path| beside(path)).collect(),
        ..Changes::default()
    };
    there
        .change(&["a_1"], &given("/x", &["/x/1", "/x/2"]))
        .unwrap();
    let report = there.change(&["a_1"], &given("/y", &["/y/1"])).unwrap();
    assert_eq!(report.beside, [("loose".to_owned(), 3)].into());
    there.change(&["a_1"], &given("/x", &["/x/3"])).unwrap();
    let expected = ["/x/3", "/y/1"].map(beside);
    assert_eq!(there.index().manifest.beside, expected);
    there.change(&["a_1"], &PRUNE).unwrap();
    assert!(there.index().manifest.beside.is_empty());
}
