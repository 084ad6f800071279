use super::*;
use crate::frame::{HEADER_BYTES, decode as decode_frame};
use proptest::prelude::*;
use zerocopy::IntoBytes;

/// Copies a frame's payload to aligned memory, as in a decoder.
fn aligned(frame: &[u8]) -> Vec<u64> {
    decode_frame(frame).unwrap().expect("a whole frame");
    let mut words = vec![0; (frame.len() - HEADER_BYTES) / 8];
    words.as_mut_bytes().copy_from_slice(&frame[HEADER_BYTES..]);
    words
}

/// Three shards: the first with a bitmap, the second with all packages, the third with none.
fn visible() -> Option<Vec<VisibleShard>> {
    let shard = |id: u8, packages: &[u8], is_all| VisibleShard {
        shard: [id; 32],
        packages: packages.into(),
        is_all,
    };
    Some(vec![
        shard(5, &[0x81, 1], false),
        shard(6, &[], true),
        shard(7, &[], false),
    ])
}

/// Encodes, decodes and compares.
macro_rules! check_round_trip {
    ($type:ty, $message:expr) => {{
        let message: $type = $message;
        let mut frame = Vec::new();
        message.encode(&mut frame).unwrap();
        assert_eq!(
            <$type>::decode(aligned(&frame).as_bytes()).unwrap(),
            message
        );
    }};
}

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

fn filter(field: Field, reading: Reading, text: &str) -> Expr {
    Expr::Filter(Filter {
        field,
        reading,
        text: text.to_owned(),
    })
}

fn pattern(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        ..Pattern::default()
    })
}

/// Encodes and decodes an expression without normalising it.
fn sent(expr: Expr) -> Result<Expr, MessageError> {
    let mut frame = Vec::new();
    let search = Search {
        expr,
        ..Search::default()
    };
    search.encode(&mut frame).unwrap();
    Ok(Search::decode(aligned(&frame).as_bytes())?.expr)
}

#[test]
fn rejects_expressions_beyond_the_limits() {
    let wide = |atoms| Expr::any((0..atoms).map(|_| pattern("x")));
    assert_eq!(sent(wide(ATOMS_MAX)).unwrap(), wide(ATOMS_MAX));
    assert!(sent(wide(ATOMS_MAX + 1)).is_err());
    let deep = |depth: usize| {
        (1..depth).fold(pattern("x"), |inner, level| match level % 2 {
            0 => Expr::all([inner, pattern("y")]),
            _ => Expr::any([inner, pattern("y")]),
        })
    };
    assert_eq!(deep(DEPTH_MAX).depth(), DEPTH_MAX);
    assert_eq!(sent(deep(DEPTH_MAX)).unwrap(), deep(DEPTH_MAX));
    assert!(sent(deep(DEPTH_MAX + 1)).is_err());
}

#[test]
fn rejects_expressions_not_in_normal_form() {
    let line = |inner| Expr::Line(Box::new(inner));
    for forged in [
        Expr::All(vec![pattern("x")]),
        Expr::Any(Vec::new()),
        Expr::All(vec![
            pattern("x"),
            Expr::All(vec![pattern("y"), pattern("z")]),
        ]),
        Expr::Not(Box::new(pattern("x").negated())),
        line(line(pattern("x"))),
        line(filter(Field::Path, Reading::Exact, "x")),
        line(Expr::Pattern(Pattern {
            in_path: true,
            ..Pattern::default()
        })),
    ] {
        assert!(sent(forged.clone()).is_err(), "{forged:?}");
    }
    assert_eq!(Expr::all([pattern("x")]), pattern("x"));
    assert_eq!(pattern("x").negated().negated(), pattern("x"));
    let joined = Expr::all([Expr::all([pattern("x"), pattern("y")]), pattern("z")]);
    assert_eq!(joined.factors().len(), 3);
}

#[test]
fn decodes_what_was_encoded() {
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
        }
    );
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
                }),
                filter(Field::Package, Reading::Exact, "i3-wm"),
                filter(Field::Path, Reading::Glob, "^naïve/").negated(),
                Expr::any([
                    filter(Field::Language, Reading::Exact, "C++"),
                    filter(Field::Extension, Reading::Exact, "h"),
                    filter(Field::Name, Reading::Regexp, "^i3"),
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
            excluded: vec![Excluded {
                shard: 1,
                packages: vec![0, 7, u32::MAX],
            }],
            visible: visible(),
        }
    );
    check_round_trip!(
        Progress,
        Progress {
            blocks_done: 1,
            blocks_total: 2,
            documents: 3,
            matches: 4,
            bound: 1.5
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
    for kind in [ListKind::Packages, ListKind::Children, ListKind::Skipped] {
        check_round_trip!(
            ListRequest,
            ListRequest {
                kind,
                package: b"p_1".to_vec(),
                prefix: b"a/".to_vec(),
                after: b"\xff".to_vec(),
                count: 100,
                visible: visible(),
            }
        );
    }
    let entry = ListEntry {
        package: b"p_1".to_vec(),
        path: b"a/\xff".to_vec(),
        documents: 1,
        text_bytes: 1 << 40,
        lines: 1 << 33,
        language: "C".to_owned(),
        hash: vec![5; 32],
        indexed: 1_800_000_000,
        reason: "ignored".to_owned(),
        detail: ".gitignore:1:*.o".to_owned(),
        number: 9,
        is_repository: true,
        repository: Some(IndexedRepository {
            default: "main".to_owned(),
            fetched: 3,
            problem: "gone".to_owned(),
            revisions: vec![
                IndexedRevision {
                    name: "refs/heads/main".to_owned(),
                    commit: "12".repeat(20),
                    committed: -1,
                    behind: Some(0),
                },
                IndexedRevision::default(),
            ],
            revision_count: 70,
        }),
    };
    check_round_trip!(
        ListReply,
        ListReply {
            entries: vec![entry, ListEntry::default()],
            more: true,
        }
    );
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
    for range in [
        FileRange::Lines {
            first: 3,
            count: 10,
        },
        FileRange::Bytes {
            offset: 1 << 40,
            count: 9,
        },
    ] {
        let (package, path) = (b"p".to_vec(), b"a/b".to_vec());
        check_round_trip!(
            FileRequest,
            FileRequest {
                package,
                path,
                range,
                revision: "origin/naïve".to_owned(),
                source: FileSource::Original,
                visible: visible(),
            }
        );
    }
    check_round_trip!(
        FileReply,
        FileReply {
            found: true,
            offset: 10,
            first_line: 2,
            text: b"a\r\nb".to_vec(),
            total_lines: 4,
            total_bytes: 20,
            language: "C".to_owned(),
            hash: vec![5; 32],
            commit: "12".repeat(20),
            revisions: vec!["main".to_owned(), "v1.0".to_owned()],
            newest: "v0.9".to_owned(),
            from_objects: true,
            original: true,
            decoded_from: "utf-16le".to_owned(),
            lfs_pointer: "sha256:ab 12".to_owned(),
            reason: "too large".to_owned(),
        }
    );
}

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
                        kind: ChangeKind::Removed,
                    }],
                    more: true,
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

/// Checks the length: header, Cap'n Proto's table of one segment, and the words.
fn check_words(batch: &Batch<'_>) {
    let mut frame = Vec::new();
    batch.encode(&mut frame).unwrap();
    assert_eq!(frame.len(), HEADER_BYTES + 8 + batch.words() * 8);
}

#[test]
fn the_size_of_a_batch_is_computed_exactly() {
    let batch = batch();
    check_words(&batch);
    let no_ranges = Batch {
        ranges: &[],
        windows: &[],
        ..batch
    };
    check_words(&no_ranges);
    check_words(&Batch {
        language: "",
        path: b"",
        ..batch
    });
    check_words(&Batch {
        language: "Assembly",
        text: b"",
        ..batch
    });
}

fn batch() -> Batch<'static> {
    Batch {
        shard: 0,
        document: 9,
        package: b"i3-wm_4.22",
        path: b"libi3/font.c",
        language: "C",
        kind: DocumentKind::Tests,
        hash: &[8; 32],
        text: b"int a;arse = 1; arsexx",
        lines: &[
            Line {
                number: 3,
                rank: 0.0,
                offset: 20,
                text_bytes: 6,
                ranges: 0,
            },
            Line {
                number: 4,
                rank: 1.25,
                offset: 27,
                text_bytes: 14,
                ranges: 2,
            },
            Line {
                number: 5,
                rank: 0.0,
                offset: 50,
                text_bytes: 2,
                ranges: 0,
            },
        ],
        ranges: &[Range { start: 0, end: 4 }, Range { start: 10, end: 14 }],
        windows: &[Window {
            line: 2,
            start: 0,
            line_bytes: 5_000_000,
        }],
        spans: &[],
        revisions: &[],
        revision_count: 0,
        commit: "",
    }
}

/// Returns number, count of lines and whether it is a match, for each line of a batch.
fn lines(batch: &Batch<'_>) -> Result<Vec<(u32, u32, bool)>, MessageError> {
    let words = encoded(batch);
    let reader = BatchReader::new(words.as_bytes())?;
    let view = reader.view()?;
    let line = |line: LineView<'_>| (line.number, line.lines, line.is_match());
    Ok(view.lines().map(line).collect())
}

#[test]
fn a_batch_names_the_revisions_of_its_document() {
    let names = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
    let commit = "12".repeat(20);
    let sent = |revisions: &[String], revision_count| {
        let revisions: Vec<_> = revisions.iter().map(String::as_str).collect();
        let batch = Batch {
            revisions: &revisions,
            revision_count,
            commit: &commit,
            ..batch()
        };
        check_words(&batch);
        let words = encoded(&batch);
        let message = BatchReader::new(words.as_bytes())?;
        let view = message.view()?;
        let names: Vec<_> = view.revisions().map(str::to_owned).collect();
        Ok::<_, MessageError>((names, view.revision_count, view.commit.to_owned()))
    };
    for names in [
        vec!["main".to_owned(), "naïve".to_owned(), "v1.0.0.0".to_owned()],
        names(REVISIONS_MAX, REVISIONS_BYTES_MAX / REVISIONS_MAX),
    ] {
        let expected = (names.clone(), 1000, commit.clone());
        assert_eq!(sent(&names, 1000).unwrap(), expected);
        assert!(sent(&names, names.len() as u32 - 1).is_err());
    }
    assert!(sent(&names(REVISIONS_MAX + 1, 1), 100).is_err());
    assert!(sent(&names(1, REVISIONS_BYTES_MAX + 1), 1).is_err());
    let words = encoded(&batch());
    let message = BatchReader::new(words.as_bytes()).unwrap();
    let view = message.view().unwrap();
    assert_eq!(
        (view.revisions().count(), view.revision_count, view.commit),
        (0, 0, "")
    );
}

#[test]
fn a_match_may_span_several_lines() {
    let with = |number, spans: &[Span]| {
        let mut batch = batch();
        let mut sent = batch.lines.to_vec();
        sent[2].number = number;
        batch.lines = &sent;
        batch.spans = spans;
        check_words(&batch);
        lines(&batch)
    };
    let run = Span { line: 1, lines: 3 };
    let found = with(7, &[run]).unwrap();
    assert_eq!(found, [(3, 1, false), (4, 3, true), (7, 1, false)]);
    assert!(with(6, &[run]).is_err(), "line 6 twice");
    assert!(with(7, &[Span { line: 3, lines: 2 }]).is_err());
    assert!(with(7, &[run, run]).is_err());
}

#[test]
fn a_document_matches_by_its_path_once() {
    let name = Line {
        number: 0,
        rank: 1.0,
        offset: 0,
        text_bytes: 12,
        ranges: 1,
    };
    let with = |sent: &[Line]| {
        lines(&Batch {
            text: &b"libi3/font.clibi3/font.c"[..12 * sent.len()],
            lines: sent,
            ranges: &[Range { start: 6, end: 10 }; 2][..sent.len()],
            windows: &[],
            ..batch()
        })
    };
    assert_eq!(with(&[name]).unwrap(), [(0, 1, true)]);
    assert!(with(&[name, Line { number: 1, ..name }]).is_err());
}

fn encoded(batch: &Batch<'_>) -> Vec<u64> {
    let mut frame = Vec::new();
    batch.encode(&mut frame).unwrap();
    aligned(&frame)
}

#[test]
fn a_batch_is_read_in_place() {
    let words = encoded(&batch());
    let message = BatchReader::new(words.as_bytes()).unwrap();
    let view = message.view().unwrap();
    assert_eq!(
        (view.package, view.path, view.language),
        (&b"i3-wm_4.22"[..], &b"libi3/font.c"[..], "C")
    );
    let lines: Vec<_> = view.lines().collect();
    assert_eq!(
        lines.iter().map(|line| line.text).collect::<Vec<_>>(),
        [&b"int a;"[..], b"arse = 1; arse", b"xx"]
    );
    assert_eq!(
        lines.iter().map(LineView::is_match).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(lines[1].ranges().collect::<Vec<_>>(), batch().ranges);
    assert_eq!((lines[1].line_bytes, lines[2].line_bytes), (14, 5_000_000));
}

#[test]
fn rejects_contradicting_lengths() {
    let check = |broken: Batch<'_>| {
        let words = encoded(&broken);
        let message = BatchReader::new(words.as_bytes()).unwrap();
        assert!(matches!(message.view(), Err(MessageError::Impossible(_))));
    };
    let line = Line {
        number: 1,
        rank: 0.0,
        offset: 0,
        text_bytes: 4,
        ranges: 1,
    };
    let one = |line| [line];
    let whole = Batch {
        text: b"arse",
        lines: &one(line),
        ranges: &[Range { start: 0, end: 4 }],
        windows: &[],
        ..batch()
    };
    check(Batch {
        text: b"ars",
        ..whole
    });
    check(Batch {
        text: b"arses",
        ..whole
    });
    check(Batch {
        ranges: &[],
        ..whole
    });
    check(Batch {
        ranges: &[Range { start: 0, end: 5 }],
        ..whole
    });
    check(Batch {
        ranges: &[Range { start: 2, end: 1 }],
        ..whole
    });
    check(Batch {
        ranges: &[Range { start: 0, end: 1 }, Range { start: 2, end: 3 }],
        ..whole
    });
    check(Batch {
        lines: &one(Line { number: 0, ..line }),
        ..whole
    });
    check(Batch {
        lines: &one(Line {
            ranges: u32::MAX,
            ..line
        }),
        ..whole
    });
    check(Batch {
        windows: &[Window {
            line: 1,
            start: 0,
            line_bytes: 10,
        }],
        ..whole
    });
    check(Batch {
        windows: &[Window {
            line: 0,
            start: u64::MAX,
            line_bytes: 10,
        }],
        ..whole
    });
}

#[test]
fn the_bytes_of_a_match_on_the_wire() {
    let lines = [Line {
        number: 1,
        rank: 1.0,
        offset: 0,
        text_bytes: 4,
        ranges: 1,
    }];
    let ranges = [Range { start: 0, end: 4 }];
    let one = Batch {
        lines: &lines,
        ranges: &ranges,
        text: b"arse",
        windows: &[],
        ..batch()
    };
    let alone = encoded(&one).len() * 8;
    let lines: Vec<_> = (1..=100)
        .map(|number| Line { number, ..lines[0] })
        .collect();
    let text = b"arse".repeat(100);
    let hundred = encoded(&Batch {
        lines: &lines,
        ranges: &[ranges[0]; 100],
        text: &text,
        ..one
    });
    // A line is 3 words, a range 1; everything else of the batch is paid once.
    assert_eq!(hundred.len() * 8 - alone, 99 * (24 + 8) + 400 - 8);
}

proptest! {
    #[test]
    fn damaged_messages_never_panic(at in 0_usize..400, bits in 1_u8.., cut in 0_usize..60) {
        let mut words = encoded(&batch());
        let length = words.len();
        words.truncate(length.saturating_sub(cut));
        if let Some(byte) = words.as_mut_bytes().get_mut(at) {
            *byte ^= bits;
        }
        if let Ok(message) = BatchReader::new(words.as_bytes())
            && let Ok(view) = message.view()
        {
            assert!(view.lines().all(|line| line.ranges().all(|range| range.start <= range.end)));
        }
        let _ = Hello::decode(words.as_bytes());
        let _ = Search::decode(words.as_bytes());
        let _ = End::decode(words.as_bytes());
        let _ = FileReply::decode(words.as_bytes());
        let _ = ListRequest::decode(words.as_bytes());
        let _ = ListReply::decode(words.as_bytes());
        let _ = LookupRequest::decode(words.as_bytes());
        let _ = LookupReply::decode(words.as_bytes());
    }
}
