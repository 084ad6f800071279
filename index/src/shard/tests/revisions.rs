//! Shards with a table of revisions, and its files.

use super::*;
use crate::directory::{IndexError, write_recorded, write_revisions};
use crate::manifest::Manifest;
use crate::revisions::{CURRENT, ObjectId, RevisionTable, SUPERSEDED, TableBuilder};
use schema::message::{Commit, Recorded, RecordedRepository, RecordedRevision};
use std::sync::Arc;

const MAIN: &[u8] = b"refs/heads/main";
/// In both README files, not UTF-8.
const NAIVE: &str = r"(?-u:na\xefve)";

const TAG: &[u8] = b"refs/tags/v1";

fn recorded(commit: char) -> Recorded {
    let revision = |name: &[u8], digit: char| RecordedRevision {
        name: name.to_vec(),
        commit: Commit {
            id: digit.to_string().repeat(40),
            ..Commit::default()
        },
    };
    let repository = RecordedRepository {
        package: b"beta-2".to_vec(),
        default: MAIN.to_vec(),
        revisions: vec![revision(MAIN, commit), revision(TAG, 'b')],
        ..RecordedRepository::default()
    };
    Recorded {
        repositories: vec![repository],
        ..Recorded::default()
    }
}

/// Revisions for documents of `beta-2` by path; `alpha_1` keeps `main.c`.
fn table(shard: &Shard) -> RevisionTable {
    let mut table = TableBuilder::new(shard.file_id(), shard.document_count());
    for id in (0..shard.document_count()).map(DocId) {
        let document = shard.document(id).unwrap();
        let set = match (
            shard.package(document.package).unwrap().directory,
            document.path,
        ) {
            (b"beta-2", b"README") => table.set([TAG]),
            (b"beta-2", _) => table.set([MAIN, TAG]),
            (b"alpha_1", path) if path != b"src/main.c" => SUPERSEDED,
            _ => CURRENT,
        };
        table.entry(set, ObjectId::new(&[id.0 as u8; 20]).unwrap());
    }
    table.entry(SUPERSEDED, ObjectId::NONE);
    table.finish()
}

fn with_revisions() -> Shard {
    let shard = open(&shard_bytes(&FIXTURE, 16)).unwrap();
    let table = table(&shard);
    shard
        .with_revisions(table, [1; 32], &recorded('a'), Vec::new())
        .unwrap()
}

fn found(shard: &Shard, pattern: &str, filters: &Filters) -> Vec<String> {
    let query = plan(pattern, false).unwrap();
    let candidates = shard.filtered_candidates(&query, filters, &|| false);
    let blocks: Vec<u32> = match candidates.unwrap().unwrap() {
        Candidates::Blocks(blocks) => blocks,
        Candidates::Ranges(ranges) => ranges.into_iter().flatten().collect(),
    };
    let mut names = Vec::new();
    for block in blocks {
        for id in shard
            .text_with(BlockId(block))
            .unwrap()
            .documents
            .map(DocId)
        {
            if shard.is_accepted(filters, id).unwrap() {
                let document = shard.document(id).unwrap();
                let directory = shard.package(document.package).unwrap().directory;
                names.push(
                    [directory, b"/", document.path]
                        .concat()
                        .escape_ascii()
                        .to_string(),
                );
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

#[test]
fn only_documents_in_reach_are_candidates() {
    let shard = with_revisions();
    let default = Filters::default();
    // Folding makes `int main` a candidate.
    assert_eq!(
        found(&shard, "MAIN", &default),
        ["alpha_1/src/main.c", "beta-2/main.c", "gamma-3/t.c"]
    );
    // Only in a tag of beta-2, but also in gamma-3.
    assert_eq!(found(&shard, NAIVE, &default), ["gamma-3/README"]);
    let mut tagged = Filters::default();
    tagged.all_revisions = true;
    let all = [
        "alpha_1/src/main.c",
        "beta-2/README",
        "beta-2/main.c",
        "gamma-3/README",
        "gamma-3/t.c",
    ];
    assert_eq!(found(&shard, &format!("MAIN|{NAIVE}"), &tagged), all);
    tagged.add(FilterExpr::Predicate(
        Predicate::revision(NamePattern::Exact("v1"), false).unwrap(),
    ));
    assert_eq!(found(&shard, &format!("MAIN|{NAIVE}"), &tagged), all[1..3]);
    let mut branch = Filters::default();
    branch.all_revisions = true;
    let is_branch = Predicate::revision(NamePattern::Glob("*"), true).unwrap();
    branch.add(FilterExpr::Not(Box::new(FilterExpr::Predicate(is_branch))));
    assert_eq!(
        found(&shard, &format!("MAIN|{NAIVE}|int"), &branch),
        [
            "alpha_1/src/main.c",
            "beta-2/README",
            "gamma-3/README",
            "gamma-3/t.c"
        ]
    );
}

#[test]
fn counts_are_of_default_documents_and_superseded_texts_are_dead() {
    let whole = open(&shard_bytes(&FIXTURE, 16)).unwrap();
    let shard = with_revisions();
    let counts = shard.live_counts();
    // alpha_1/src/main.c, beta-2/main.c, gamma-3/README and gamma-3/t.c.
    assert_eq!((counts.packages, counts.documents), (3, 4));
    assert_eq!(counts.blocks, whole.live_counts().blocks);
    assert_eq!(shard.skipped().unwrap(), []);
    assert!(shard.find(b"beta-2", b"main.c").unwrap().is_some());
    assert!(shard.find(b"beta-2", b"README").unwrap().is_none());
    assert_eq!(shard.find_all(b"beta-2", b"README").unwrap().len(), 1);
    assert!(shard.find_all(b"alpha_1", b"tests/t.c").unwrap().is_empty());
    // Without gamma-3, only a tag has the text.
    let dead = shard.with_dead(vec![2]).unwrap();
    assert_eq!(dead.live_counts().documents, 2);
    let mut all = Filters::default();
    assert!(found(&dead, NAIVE, &all).is_empty());
    all.all_revisions = true;
    assert_eq!(found(&dead, NAIVE, &all), ["beta-2/README"]);
    // Without beta-2, its block is dead.
    let none = shard.with_dead(vec![1, 2]).unwrap();
    assert!(none.live_counts().blocks < counts.blocks);
    assert!(found(&none, NAIVE, &all).is_empty());
}

fn indexed(there: &Path) -> (PathBuf, Manifest) {
    let out = index(there, &FIXTURE, 16, u64::MAX);
    let mut manifest = directory::read_manifest(&out).unwrap();
    let shard = Shard::open(&out.join(&manifest.shards[0].file)).unwrap();
    let table = write_revisions(&out, &table(&shard)).unwrap();
    manifest.shards[0].revisions = Some(table.0);
    manifest.recorded = Some(write_recorded(&out, &recorded('a')).unwrap().0);
    fs::write(out.join(MANIFEST), manifest.render()).unwrap();
    (out, manifest)
}

#[test]
fn an_open_table_is_used_again_until_it_or_its_records_change() {
    let there = tempfile::tempdir().unwrap();
    let (out, mut manifest) = indexed(there.path());
    let first = Index::open(&out).unwrap();
    let revisions = |index: &Index| std::ptr::from_ref(index.shards[0].revisions().unwrap());
    let mut fetched = recorded('a');
    fetched.repositories[0].fetched = 99;
    manifest.recorded = Some(write_recorded(&out, &fetched).unwrap().0);
    fs::write(out.join(MANIFEST), manifest.render()).unwrap();
    let second = Index::reopen(&out, &first.shards, None).unwrap();
    assert_eq!(revisions(&second), revisions(&first));
    assert_eq!(second.shards[0].id(), first.shards[0].id());
    assert_eq!(second.recorded.repositories[0].fetched, 99);
    manifest.recorded = Some(write_recorded(&out, &recorded('c')).unwrap().0);
    fs::write(out.join(MANIFEST), manifest.render()).unwrap();
    let third = Index::reopen(&out, &second.shards, None).unwrap();
    assert_ne!(third.shards[0].id(), first.shards[0].id());
    assert_eq!(third.shards[0].file_id(), first.shards[0].file_id());
    let main = third.shards[0].find(b"beta-2", b"main.c").unwrap().unwrap();
    let mut of_main = third.shards[0].revisions_of(main).iter();
    assert_eq!(of_main.next().unwrap().commit, "c".repeat(40));
    manifest.shards[0].revisions = None;
    fs::write(out.join(MANIFEST), manifest.render()).unwrap();
    let without = Index::reopen(&out, &third.shards, None).unwrap();
    assert!(without.shards[0].revisions().is_none());
    assert_eq!(without.shards[0].live_counts().documents, 8);
}

#[test]
fn every_flipped_byte_of_the_files_beside_shards_is_an_error_with_file_and_offset() {
    let there = tempfile::tempdir().unwrap();
    let (out, manifest) = indexed(there.path());
    let table = manifest.shards[0].revisions.clone().unwrap();
    for named in [table, manifest.recorded.clone().unwrap()] {
        let path = out.join(&named.file);
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 0x10;
            fs::write(&path, &broken).unwrap();
            match Index::open(&out).map(|_| ()) {
                Err(error @ IndexError::Damaged { .. }) => {
                    let message = error.to_string();
                    assert!(message.contains(&named.file), "byte {at}: {message}");
                    assert!(message.contains("damaged at byte"), "byte {at}: {message}");
                }
                other => panic!("byte {at} of {}: {other:?}", named.file),
            }
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(matches!(Index::open(&out), Err(IndexError::Damaged { .. })));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Index::open(&out), Err(IndexError::Io { .. })));
        fs::write(&path, &bytes).unwrap();
    }
    assert!(Index::open(&out).is_ok());
}

#[test]
fn the_table_of_another_shard_is_an_error() {
    let shard = open(&shard_bytes(&FIXTURE, 16)).unwrap();
    let other = open(&shard_bytes(&FIXTURE[..2], 16)).unwrap();
    let foreign = other.with_revisions(table(&shard), [1; 32], &recorded('a'), Vec::new());
    assert!(matches!(
        foreign.map(|_| ()),
        Err(ShardError::Revisions { .. })
    ));
    let unrecorded =
        |dead| shard.with_revisions(table(&shard), [1; 32], &Recorded::default(), dead);
    let error = unrecorded(Vec::new()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("not recorded"), "{error}");
    // Unrecorded packages stay live.
    let repository = (0..shard.package_count())
        .filter(|&id| shard.package(PackageId(id)).unwrap().directory == b"beta-2");
    let left = unrecorded(repository.collect()).unwrap();
    assert_eq!(left.live_counts().packages, shard.package_count() - 1);
}

#[test]
fn a_shard_with_revisions_has_an_id_of_its_own() {
    let shard = open(&shard_bytes(&FIXTURE, 16)).unwrap();
    let with = |hash, commit| {
        let with = shard.with_revisions(table(&shard), [hash; 32], &recorded(commit), Vec::new());
        Arc::new(with.unwrap())
    };
    let ids = [
        shard.id(),
        shard.with_dead(vec![0]).unwrap().id(),
        with(1, 'a').id(),
        with(2, 'a').id(),
        with(1, 'c').id(),
        with(1, 'a').with_dead(vec![0]).unwrap().id(),
    ];
    for (number, id) in ids.iter().enumerate() {
        assert!(!ids[..number].contains(id), "{number}");
    }
}
