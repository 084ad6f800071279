//! Batches: size, reading in place, and contradictory lengths.

use super::*;
use proptest::prelude::*;

/// Checks the length: header, segment table, and words.
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
    check_words(&Batch {
        kinds: &[0, 5, 0],
        ..batch
    });
}

#[test]
fn a_batch_of_a_history_has_its_people_and_the_places_of_its_lines() {
    let change = CommitChange {
        author: Signature {
            name: b"Ada".to_vec(),
            email: b"ada@example.org".to_vec(),
            seconds: -1,
            offset_minutes: 90,
        },
        former_path: b"old/name.c".to_vec(),
        subject: b"first line".to_vec(),
        ..CommitChange::default()
    };
    let lines = [(7, false), (7, true), (8, true)];
    let lines = lines.map(|(number, is_added)| ChangedLine { number, is_added });
    let batch = Batch {
        commit: "abc",
        change: Some(&change),
        changed_lines: &lines.map(ChangedLine::encoded),
        ..batch()
    };
    check_words(&batch);
    let words = encoded(&batch);
    let reader = BatchReader::new(words.as_bytes()).expect("a message");
    let view = reader.view().expect("it is right");
    assert_eq!((view.commit, view.change()), ("abc", Some(change)));
    let found: Vec<_> = view.lines().filter_map(|line| line.changed).collect();
    assert_eq!(found, lines);
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
        kinds: &[],
        change: None,
        changed_lines: &[],
    }
}

/// Number, line count and true for a match, for each line.
fn lines(batch: &Batch<'_>) -> Result<Vec<(u32, u32, bool)>, MessageError> {
    let words = encoded(batch);
    let reader = BatchReader::new(words.as_bytes())?;
    let view = reader.view()?;
    let first = view.lines().find(LineView::is_match);
    assert_eq!(view.first_match(), first.map(|line| line.number));
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
        kinds: &[1, 1],
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
    // A line is 3 words, a range 1; the rest is paid once.
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
        if let Ok(message) = BatchReader::new(words.as_bytes())
            && let Ok(view) = message.view_again()
        {
            view.lines().for_each(|line| line.ranges().for_each(drop));
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
