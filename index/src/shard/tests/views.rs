//! Shards with some visible packages.

use super::*;
use crate::plan::TrigramQuery;

fn visible_candidates(files: &[File<'_>], query: &TrigramQuery) -> (usize, Counts) {
    let bytes = shard_bytes(files, 16);
    let shard = open(&bytes).unwrap();
    let is_visible = |id| {
        let package = shard.package(id).unwrap();
        package.directory.starts_with(b"seen")
    };
    let view = shard.view(is_visible).unwrap();
    let Candidates::Blocks(blocks) = view.candidates(query).unwrap() else {
        panic!("the query rules out blocks");
    };
    (blocks.len(), view.live_counts())
}

#[test]
fn candidates_of_a_view_do_not_depend_on_packages_that_are_not_visible() {
    let common = "zzz zzz zzz zzz\n".repeat(3000);
    let other = "nothing is here\n".repeat(6000);
    let seen = [
        ("seen_1", "common.c", common.as_bytes()),
        ("seen_1", "rare.c", b"qqq\n".as_slice()),
        ("seen_1", "both.c", b"qqq zzz\n"),
    ];
    let hidden = [
        ("hidden_1", "other.c", other.as_bytes()),
        ("hidden_1", "rare.c", b"qqq\n"),
        ("hidden_1", "rarer.c", b"qqq qqq zzz\n"),
    ];
    let trigram = |bytes: &[u8; 3]| TrigramQuery::Trigram(Trigram::of(*bytes).unwrap());
    let all = TrigramQuery::And(vec![trigram(b"qqq"), trigram(b"zzz")]);
    let either = TrigramQuery::Or(vec![trigram(b"zzz"), trigram(b"xxx")]);
    let nested = TrigramQuery::And(vec![trigram(b"qqq"), either]);
    for query in [all, nested] {
        let expected = visible_candidates(&seen, &query);
        assert_eq!(expected.0, 1, "only one block has both");
        let both = [&seen[..], &hidden[..]].concat();
        assert_eq!(visible_candidates(&both, &query), expected);
    }
}

#[test]
fn a_view_of_all_packages_has_all_of_them() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let shard = open(&bytes).unwrap();
    let view = shard.view(|_| true).unwrap();
    assert_eq!(view.live_counts(), shard.live_counts());
    assert_eq!(view.live_blocks(), shard.live_blocks());
    let none = shard.view(|_| false).unwrap();
    assert_eq!(none.live_counts(), Counts::default());
}
