//! Searches, and what a backend answers besides batches.

use super::expressions::{filter, pattern};
use super::*;

#[test]
fn nothing_is_visible_beyond_the_end_of_a_bitmap() {
    let all = visible().unwrap();
    let seen = |shard: usize| -> Vec<u32> { (0..100).filter(|&n| all[shard].sees(n)).collect() };
    assert_eq!(seen(0), [0, 7, 8]);
    assert_eq!(seen(1).len(), 100);
    assert!(seen(2).is_empty());
    assert!(!all[0].sees(u32::MAX) && all[1].sees(u32::MAX) && !all[2].sees(u32::MAX));
}

#[test]
fn a_request_that_shows_no_shard_is_not_one_that_shows_all() {
    for visible in [None, Some(Vec::new())] {
        check_round_trip!(
            Search,
            Search {
                visible: visible.clone(),
                ..Search::default()
            }
        );
    }
}

#[test]
fn a_search_is_decoded_as_it_was_encoded() {
    check_round_trip!(
        Search,
        Search {
            expr: Expr::all([
                Expr::Pattern(Pattern {
                    text: "naïve.*\\d".to_owned(),
                    syntax: Syntax::Regexp,
                    ignore_case: true,
                    word: true,
                    in_path: true,
                    place: Place {
                        classes: 5,
                        role: Role::Definition,
                        kinds: 1 << 3,
                        parent: "^A$".to_owned(),
                    },
                }),
                filter(Field::Package, Reading::Exact, "i3-wm"),
                filter(Field::Path, Reading::Glob, "^naïve/").negated(),
                Expr::any([
                    filter(Field::Language, Reading::Exact, "C++"),
                    filter(Field::Extension, Reading::Exact, "h"),
                    filter(Field::Name, Reading::Regexp, "^i3"),
                    filter(Field::Name, Reading::RegexpIgnoringCase, "^i3"),
                    filter(Field::Revision, Reading::Glob, "v1.*"),
                    filter(Field::Branch, Reading::Exact, "main"),
                    Expr::Line(Box::new(Expr::all([pattern("a"), pattern("b").negated()]))),
                ]),
            ]),
            context_lines: 2,
            shards: vec![[1; 32], [2; 32]],
            want: Want::Documents,
            limit: 1 << 40,
            deadline_ms: 3000,
            heavy: true,
            names: true,
            phrase: vec![
                Pattern {
                    text: "a[ \\t]+b".to_owned(),
                    syntax: Syntax::Regexp,
                    ..Pattern::default()
                },
                Pattern::default(),
            ],
            uncounted: true,
            per_document: 3,
            first_range: true,
            text: TextOrder::Ranked,
            excluded: vec![Excluded {
                shard: 1,
                packages: vec![0, 7, u32::MAX],
            }],
            visible: visible(),
            resume: vec![
                ResumePoint {
                    shard: 7,
                    ..ResumePoint::default()
                },
                ResumePoint {
                    shard: 1,
                    matches: 5_000_000_000,
                    documents: 9,
                    hash: u32::MAX,
                    last: Some((0, u32::MAX)),
                    skipped: 2,
                    last_skipped: Some(3),
                },
            ],
            trace: Some(TraceContext {
                trace: NonZeroU128::new(1 << 127 | 5).unwrap(),
                span: NonZeroU64::MAX,
                is_sampled: true,
            }),
        }
    );
}

#[test]
fn a_context_of_a_trace_without_an_id_is_none() {
    let mut message = capnp::message::Builder::new_default();
    let mut search = message.init_root::<crate::trawl_capnp::search::Builder<'_>>();
    search.reborrow().init_trace().set_sampled(true);
    for (trace, span) in [(0, 7), (7, 0)] {
        let mut context = search.reborrow().get_trace().unwrap();
        context.set_trace_low(trace);
        context.set_span(span);
        let read = search.reborrow_as_reader();
        assert_eq!(
            Search::decode_from(read).unwrap().trace,
            None,
            "{trace}, {span}"
        );
    }
}

#[test]
fn the_hash_of_many_keys_is_that_of_one_after_the_other() {
    for len in [0, 1, 127, 128, 129, 300] {
        let keys: Vec<(u32, u32)> = (0..len).map(|n| (n / 7, n * n + 1)).collect();
        let one = |hash, &(document, line): &(u32, u32)| ShardEnd::key_hash(hash, document, line);
        let (before, after) = keys.split_at(keys.len() / 3);
        let hash = ShardEnd::keys_hash(0, before.iter().copied());
        let hash = ShardEnd::keys_hash(hash, after.iter().copied());
        let numbers = keys.iter().flat_map(|(document, line)| [document, line]);
        let bytes: Vec<u8> = numbers.flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(hash, crc32c::crc32c(&bytes), "{len} keys");
        assert_eq!(hash, keys.iter().fold(0, one), "{len} keys");
    }
}

#[test]
fn what_a_backend_says_of_a_search_is_decoded_as_it_was_encoded() {
    let shard = ShardInfo {
        id: [3; 32],
        packages: 2,
        parts: 3,
        documents: 7,
        blocks: 40,
        text_bytes: 5_000_000_000,
    };
    check_round_trip!(
        Hello,
        Hello {
            protocol: PROTOCOL,
            shards: vec![shard],
            updated: 1_800_000_000,
            has_repositories: true,
            indexed_repositories: 3,
            semantics: 7,
            has_views: true,
            resumes: true,
        }
    );
    check_round_trip!(
        Progress,
        Progress {
            blocks_done: 1,
            blocks_total: 2,
            documents: 3,
            matches: 4,
            bound: 1.5,
            steps: 5,
            is_queued: true,
        }
    );
    check_round_trip!(
        Skip,
        Skip {
            shard: 1,
            document: 2,
            package: b"a_1".to_vec(),
            path: b"x/\xff\n".to_vec(),
            reason: "too slow".to_owned(),
        }
    );
    let end = ShardEnd {
        shard: 1,
        matches: 2,
        documents: 3,
        matched_documents: 4,
        blocks: 5,
        candidates: 6,
        matched_blocks: 7,
        verified_bytes: 8,
        hash: 9,
        found: 10,
        skipped: 11,
        failure: "corrupt at 4096".to_owned(),
    };
    check_round_trip!(
        End,
        End {
            shards: vec![end, ShardEnd::default()],
            plan: "all".to_owned(),
            phases: Phases {
                plan_us: 1,
                candidates_us: 2,
                verify_us: 3,
            },
            estimates: vec![Estimate {
                plan: "none".to_owned(),
                candidates: 7,
            }],
        }
    );
}

#[test]
fn a_failure_is_decoded_as_it_was_encoded() {
    for (offset, atom) in [(None, None), (Some(0), Some(0)), (Some(17), None)] {
        check_round_trip!(
            Failure,
            Failure {
                kind: FailureKind::BadQuery,
                message: "unclosed group".to_owned(),
                offset,
                atom,
                hint: "close it".to_owned(),
                cost: 5,
            }
        );
    }
}
