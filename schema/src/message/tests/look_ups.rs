//! Look-ups in repositories: commits, histories, references and blames.

use super::*;

#[test]
fn look_ups_and_their_answers_are_decoded_as_they_were_encoded() {
    let lookup = |of| Lookup {
        repository: "tools/trawl".to_owned(),
        of,
    };
    let revision = || "HEAD~25".to_owned();
    check_round_trip!(
        LookupRequest,
        LookupRequest {
            lookups: vec![
                lookup(LookupOf::Commit {
                    revision: String::new(),
                }),
                lookup(LookupOf::Log {
                    revision: revision(),
                    path: b"src/\xff".to_vec(),
                    after: b"\x00cursor".to_vec(),
                    count: 100,
                }),
                lookup(LookupOf::References {
                    after: b"refs/heads/\xff".to_vec(),
                    count: 9,
                }),
                lookup(LookupOf::Blame {
                    revision: revision(),
                    path: b"src/\xff".to_vec(),
                }),
                lookup(LookupOf::Changes {
                    revision: revision(),
                    since: "v1.0".into(),
                    path: b"src/\xff".to_vec(),
                    count: 7,
                }),
            ],
        }
    );
    let signature = |name: &str| Signature {
        name: name.as_bytes().to_vec(),
        email: b"a@\xff".to_vec(),
        seconds: -1,
        offset_minutes: -90,
    };
    let commit = Commit {
        id: "12".repeat(20),
        tree: "34".repeat(20),
        parents: vec!["56".repeat(20), "78".repeat(20)],
        author: signature("A"),
        committer: signature("B"),
        subject: b"schema: add look-ups".to_vec(),
        body: b"Why\n\xff\n".to_vec(),
        tags: vec![b"v1.0".to_vec(), b"\xff".to_vec()],
        shortened: true,
    };
    let reference = |name: &[u8], kind| Reference {
        indexed: false,
        name: name.to_vec(),
        kind,
        id: "12".repeat(20),
    };
    check_round_trip!(
        LookupReply,
        LookupReply {
            answers: vec![
                LookupAnswer::Commit(commit.clone()),
                LookupAnswer::Log(CommitLog {
                    commits: vec![commit, Commit::default()],
                    next: b"next".to_vec(),
                    paths: vec![b"a".to_vec(), Vec::new()],
                }),
                LookupAnswer::References(ReferenceList {
                    references: vec![
                        reference(b"refs/heads/main", ReferenceKind::Branch),
                        reference(b"refs/tags/\xff", ReferenceKind::Tag),
                        reference(b"refs/notes/x", ReferenceKind::Other),
                    ],
                    more: true,
                }),
                LookupAnswer::Blame(blame(signature("C"))),
                LookupAnswer::Changes(ChangeList {
                    commit: "12".repeat(20),
                    changes: vec![Change {
                        path: b"src/\xff".to_vec(),
                        kind: ChangeKind::Renamed,
                        was: b"src/\xfe".to_vec(),
                        before: "34".repeat(20),
                        after: "56".repeat(20),
                        mode_before: 0o100_644,
                        mode_after: 0o100_755,
                    }],
                    more: true,
                    since: "34".repeat(20),
                }),
                LookupAnswer::Problem(LookupProblem {
                    kind: LookupProblemKind::Ambiguous,
                    reason: "two commits".to_owned(),
                    candidates: vec!["12".repeat(20), "12".repeat(19)],
                }),
            ],
        }
    );
}

fn blame(author: Signature) -> Blame {
    let hunk = |first, lines| BlameHunk {
        first,
        lines,
        source: 0,
        source_line: first + 5,
        or_earlier: first > 1,
    };
    Blame {
        found: true,
        commit: "12".repeat(20),
        complete: false,
        hunks: vec![hunk(1, 2), hunk(3, 1)],
        sources: vec![BlameSource {
            commit: "34".repeat(20),
            author,
            subject: b"why \xff".to_vec(),
            path: b"before\xff".to_vec(),
            previous: "56".repeat(20),
            previous_path: b"long before".to_vec(),
        }],
    }
}

#[test]
fn a_blame_has_each_line_once_and_knows_its_source() {
    let decodes = |blame: Blame| {
        let mut frame = Vec::new();
        let answers = vec![LookupAnswer::Blame(blame)];
        LookupReply { answers }.encode(&mut frame).unwrap();
        LookupReply::decode(aligned(&frame).as_bytes()).is_ok()
    };
    let good = blame(Signature::default());
    assert!(decodes(good.clone()));
    for (first, lines, source) in [(2, 2, 0), (1, 1, 0), (1, 3, 0), (1, 2, 1), (1, 0, 0)] {
        let mut bad = good.clone();
        (bad.hunks[0].first, bad.hunks[0].lines, bad.hunks[0].source) = (first, lines, source);
        assert!(!decodes(bad), "{first} {lines} {source}");
    }
}

#[test]
fn a_request_with_too_many_look_ups_is_refused() {
    let lookup = Lookup {
        repository: "r".to_owned(),
        of: LookupOf::Commit {
            revision: String::new(),
        },
    };
    for (count, is_good) in [(LOOKUPS_MAX, true), (LOOKUPS_MAX + 1, false)] {
        let lookups = vec![lookup.clone(); count];
        let mut frame = Vec::new();
        LookupRequest { lookups }.encode(&mut frame).unwrap();
        let decoded = LookupRequest::decode(aligned(&frame).as_bytes());
        assert_eq!(decoded.is_ok(), is_good, "{count} look-ups");
    }
}
