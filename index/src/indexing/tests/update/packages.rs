//! Packages that an update reads, keeps, drops and supersedes.

use super::*;
use crate::corpus::SkipReason;
use crate::manifest::Beside;

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
fn another_version_replaces_older_ones_if_that_is_asked_for() {
    let mut there = There::with(&["foo_1.0", "foo_1.1", "foobar_1.0"]);
    there.write("foo_1.2", "x.c", "needle\n");
    let report = there.update(&["foo_1.1", "foo_1.2"]).unwrap();
    assert_eq!(counts(&report), [1, 2, 1, 0]);
    there.check(&["foo_1.1", "foo_1.2", "foobar_1.0"]);
    // Another separator, another package.
    there.write("foo-1.2", "x.c", "needle\n");
    let report = there.update(&["foo-1.2"]).unwrap();
    assert_eq!(counts(&report), [1, 1, 2, 1]);
    there.check(&["foo-1.2", "foobar_1.0"]);
}

#[test]
fn other_versions_stay_and_are_named_without_a_flag() {
    let mut there = There::with(&["foo_1.0", "foo-1.1", "foobar_1.0"]);
    there.write("foo_1.2", "x.c", "needle\n");
    let changes = Changes::default();
    let previewed = |there: &There, changes: &Changes| {
        let (sources, out) = (there.sources(&["foo_1.2"]), there.path("out"));
        preview(&sources, changes, &out, &there.options).unwrap()
    };
    let planned = previewed(&there, &changes);
    let report = there.change(&["foo_1.2"], &changes).unwrap();
    assert_eq!(counts(&report), [1, 3, 0, 0]);
    let beside = |other: &str| (other.as_bytes().to_vec(), b"foo_1.2".to_vec());
    assert_eq!(report.kept_versions, [beside("foo-1.1"), beside("foo_1.0")]);
    assert_eq!(planned.new, [b"foo_1.2"]);
    assert_eq!(planned.kept_versions, report.kept_versions);
    there.check(&["foo_1.0", "foo-1.1", "foobar_1.0", "foo_1.2"]);
    let replacing = Changes {
        replace_versions: true,
        ..Changes::default()
    };
    let before = there.manifest();
    let planned = previewed(&there, &replacing);
    assert_eq!(planned.dropped, [&b"foo-1.1"[..], b"foo_1.0"]);
    assert_eq!(there.manifest(), before);
    let report = there.change(&["foo_1.2"], &replacing).unwrap();
    assert_eq!(report.dropped, planned.dropped);
    there.check(&["foobar_1.0", "foo_1.2"]);
}

#[test]
fn a_directory_that_is_named_alone_has_no_versions() {
    let mut there = There::with(&["foo_1.0", "foo_1.1"]);
    let own = |there: &There, name: &str| {
        let sources = corpus::sources(&[there.path(name)], false).unwrap();
        let changes = Changes {
            replace_versions: true,
            ..Changes::default()
        };
        let out = there.path("out");
        update(
            sources,
            &changes,
            &out,
            &there.options,
            &Progress::default(),
        )
        .unwrap()
    };
    // Unversioned: replaces nothing and is not removed by the short name.
    there.write("foo_2.0", "x.c", "needle\n");
    assert_eq!(own(&there, "foo_2.0").dropped, [b""; 0]);
    let names = |index: &Index| {
        let shards = index.shards.iter();
        let ids = shards.flat_map(|shard| shard.live_packages().map(move |id| (shard, id)));
        let mut names: Vec<String> = ids
            .map(|(shard, id)| text(shard.package(id).unwrap().name))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&there.index()), ["foo", "foo", "foo_2.0"]);
    there.write("foo_3.0", "x.c", "needle\n");
    let report = there.update(&["foo_3.0"]).unwrap();
    assert_eq!(report.dropped, [b"foo_1.0", b"foo_1.1"]);
    there.change(&[], &removing(&["foo"])).unwrap();
    assert_eq!(names(&there.index()), ["foo_2.0"]);
    // Given with `each` it is versioned, without a read.
    let report = there.update(&["foo_2.0"]).unwrap();
    assert_eq!(counts(&report), [0, 1, 0, 0]);
    assert_eq!(names(&there.index()), ["foo"]);
}

#[test]
fn an_index_of_the_old_rule_says_once_which_names_change() {
    let there = There::with(&["log4j-2", "i3-wm_4.22", "a_b_1"]);
    // As older programs wrote it.
    let mut manifest = there.index().manifest;
    let said: Vec<bool> = manifest.live().map(|it| it.has_own_name).collect();
    assert_eq!(said, [true, false, true]);
    for package in &mut manifest.shards[0].packages {
        package.has_own_name = false;
    }
    directory::write_manifest(&there.path("out"), &manifest.render()).unwrap();
    assert!(!there.is_current(&["log4j-2", "i3-wm_4.22", "a_b_1"], &Changes::default()));
    let report = there.update(&["i3-wm_4.22"]).unwrap();
    let renamed = report.renamed.iter();
    let renamed: Vec<_> = renamed
        .map(|it| (text(&it.directory), text(&it.before)))
        .collect();
    let pair = |now: &str, before: &str| (now.to_owned(), before.to_owned());
    assert_eq!(renamed, [pair("a_b_1", "a_b"), pair("log4j-2", "log4j")]);
    assert_eq!(counts(&report), [0, 3, 0, 0]);
    let again = there.update(&["i3-wm_4.22"]).unwrap();
    assert_eq!(
        (again.outcome, again.renamed),
        (Outcome::Unchanged, Vec::new())
    );
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
    // Removal needs no options; pruned packages are not missed.
    there.change(&[], &removing(&["c"])).unwrap();
    assert!(there.index().manifest.options.no_ignore);
    let report = there.change(&["b_1"], &PRUNE).unwrap();
    assert_eq!(counts(&report), [1, 0, 1, 0]);
    there.check(&["b_1"]);
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
