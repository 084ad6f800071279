//! Edits that an update or `verify` notices.

use super::*;

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
    // The file system clock may be coarse: retry until the change time moves.
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

pub(super) const NO_SUSPECTS: Suspects = Suspects {
    modified_from_ns: None,
    paths: Vec::new(),
};

const VERIFY: Changes = Changes {
    replace_versions: false,
    remove: Vec::new(),
    prune: false,
    parents: Vec::new(),
    beside: Vec::new(),
    repositories: Vec::new(),
    recorded: Vec::new(),
    scip: Vec::new(),
    verify: true,
    suspects: NO_SUSPECTS,
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

fn map(path: &Path) -> memmap2::MmapMut {
    let file = File::options().read(true).write(true).open(path).unwrap();
    #[allow(unsafe_code)]
    // SAFETY: private to this test and never truncated.
    unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap()
}

fn texts(there: &There, package: &str, path: &str) -> Vec<Vec<u8>> {
    let (index, mut texts) = (there.index(), Vec::new());
    for shard in &index.shards {
        for id in shard.live_packages() {
            let of = shard.package(id).unwrap();
            for id in shard.documents_of(&of).unwrap() {
                let document = shard.document(id).unwrap();
                let is_current = shard.revisions().is_none_or(|of| of.is_indexed(id.0));
                if is_current
                    && (of.directory, document.path) == (package.as_bytes(), path.as_bytes())
                {
                    let range = shard.text_range(document.blocks).unwrap();
                    texts.push(shard.text(range, &TextCache::default()).unwrap().to_vec());
                }
            }
        }
    }
    texts
}

/// A store to a dirty page changes neither size nor times.
#[test]
fn a_store_through_a_mapping_is_found_in_small_and_large_packages() {
    let mut there = There::with(&["a_1"]);
    for number in 0..1_001 {
        there.write("b_1", &format!("{number}.c"), format!("needle {number}\n"));
    }
    there.write("b_1", "x.c", "needle of b_1\n");
    there.update(&["a_1", "b_1"]).unwrap();
    for package in ["a_1", "b_1"] {
        let path = fs::canonicalize(there.path(package)).unwrap().join("x.c");
        let mut mapped = map(&path);
        mapped[0] = b'1';
        there.update(&["a_1", "b_1"]).unwrap();
        mapped[0] = b'2';
        let named = Suspects {
            paths: vec![path.clone(), there.path("none"), there.path("a_1/none")],
            ..Suspects::default()
        };
        let recent = |from| Suspects {
            modified_from_ns: Some(from),
            ..Suspects::default()
        };
        let suspects = [named, recent(0)];
        for (digit, suspects) in (b'2'..).zip(suspects) {
            mapped[0] = digit;
            let changes = Changes {
                suspects,
                ..Changes::default()
            };
            there.change(&["a_1", "b_1"], &changes).unwrap();
            assert_eq!(texts(&there, package, "x.c"), [mapped.to_vec()]);
            let again = there.change(&["a_1", "b_1"], &changes).unwrap();
            assert_eq!(again.outcome, Outcome::Unchanged);
        }
        mapped[0] = b'4';
        there.change(&["a_1", "b_1"], &VERIFY).unwrap();
        assert_eq!(texts(&there, package, "x.c"), [mapped.to_vec()]);
    }
}
