//! Which edits of files an update notices, and what `verify` finds besides.

use super::*;

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
    repositories: Vec::new(),
    recorded: Vec::new(),
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
