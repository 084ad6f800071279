//! Damaged indexes and interrupted updates.

use super::*;

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

/// The shard name is unchanged; readers watch only the manifest.
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
        // Readable packages already have shards.
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
