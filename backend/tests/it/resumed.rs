//! Resumes an answer after each of its frames.

use crate::corpus::{Build, Built, Corpus, LONG_LINE_BYTES, builds, corpora};
use crate::found::{How, Matches, find, find_rest};
use crate::oracle::rendered;
use backend::CompiledQuery;
use index::ContentCodec;
use index::shard::Shard;
use proptest::prelude::*;
use schema::frame;
use schema::message::{Expr, Pattern, ResumePoint, ShardEnd, Syntax, TextOrder, Want};
use std::sync::Arc;

const CUTS_MAX: usize = 40;

fn frames(mut bytes: &[u8]) -> Vec<(&[u8], Matches)> {
    let mut frames = Vec::new();
    while let Some(frame) = frame::decode(bytes).unwrap() {
        let (this, rest) = bytes.split_at(frame.bytes);
        frames.push((this, Matches::decode(&frame)));
        bytes = rest;
    }
    frames
}

fn points<'a>(shards: usize, sent: impl Iterator<Item = &'a Matches>) -> Vec<ResumePoint> {
    let point = |shard| ResumePoint {
        shard,
        ..ResumePoint::default()
    };
    let mut points: Vec<ResumePoint> = (0..shards as u32).map(point).collect();
    for batch in sent {
        let point = &mut points[batch.shard() as usize];
        for (document, line) in batch.keys() {
            let last = point.last.map(|(document, _)| document);
            point.documents += u64::from(last != Some(document));
            point.matches += 1;
            point.hash = ShardEnd::key_hash(point.hash, document, line);
            point.last = Some((document, line));
        }
    }
    points
}

/// Independent of resuming.
fn counts(end: &ShardEnd) -> impl PartialEq + std::fmt::Debug + use<> {
    let counts = [end.matches, end.found, end.matched_documents, end.skipped];
    (end.shard, counts, end.hash, end.blocks, end.candidates)
}

/// Cuts after each frame, and requests the rest: of all shards, or for all matches of every second.
fn check(shards: &[Arc<Shard>], expr: &Expr, names: bool, how: How) {
    let compiled = CompiledQuery::new(expr, names).unwrap();
    let all = find(shards, &compiled, how);
    let sent = frames(&all.frames);
    let step = (sent.len() / CUTS_MAX).max(1);
    for cut in (0..=sent.len()).step_by(step) {
        let points = points(shards.len(), sent[..cut].iter().map(|(_, batch)| batch));
        for every in [1, 2] {
            if every == 2 && how.limit > 0 {
                continue;
            }
            let is_asked = |shard: u32| shard as usize % every == cut % every;
            let asked: Vec<ResumePoint> = points
                .iter()
                .copied()
                .filter(|it| is_asked(it.shard))
                .collect();
            let of = |point: &ResumePoint| Arc::clone(&shards[point.shard as usize]);
            let their: Vec<Arc<Shard>> = asked.iter().map(of).collect();
            let rest = find_rest(&their, &compiled, how, &asked);
            let expected = sent[cut..]
                .iter()
                .filter(|(_, batch)| is_asked(batch.shard()));
            let expected: Vec<&[u8]> = expected.map(|(bytes, _)| *bytes).collect();
            let of = format!("cut at {cut} of {}: {how:?}", sent.len());
            match how.text {
                TextOrder::None => assert!(rest.frames == expected.concat(), "{of}"),
                // Text depends on the lines before.
                text if every == 1 => {
                    let (before, rest) = (sent[..cut].iter(), frames(&rest.frames));
                    let both = before.chain(&rest).map(|(_, found)| found);
                    let whole = sent.iter().map(|(_, found)| found);
                    let is_ranked = text == TextOrder::Ranked;
                    assert!(
                        rendered(both, is_ranked) == rendered(whole, is_ranked),
                        "{of}"
                    );
                }
                TextOrder::Ranked | TextOrder::Found => {}
            }
            let ends = all.ends.iter().filter(|end| is_asked(end.shard));
            assert!(rest.ends.iter().map(counts).eq(ends.map(counts)), "{how:?}");
        }
    }
}

fn hows() -> impl Iterator<Item = How> {
    let kinds = [
        (Want::Matches, 0),
        (Want::Documents, 0),
        (Want::Count, 0),
        (Want::Matches, 7),
        (Want::Documents, 3),
    ];
    let text = |text| How {
        text,
        ..How::all(0)
    };
    let batches = kinds
        .into_iter()
        .enumerate()
        .map(|(number, (want, limit))| How {
            workers: 1 + number % 2,
            context_lines: 1 + number as u32 % 2,
            want,
            limit,
            first_range: number % 2 == 1,
            text: TextOrder::None,
        });
    batches.chain([TextOrder::Ranked, TextOrder::Found].map(text))
}

fn regexp(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        syntax: Syntax::Regexp,
        ..Pattern::default()
    })
}

fn check_all(built: &Built) {
    let both = Expr::all([regexp("a"), regexp("t|s").negated()]);
    for how in hows() {
        for text in ["a", "task", "[st]", "$", "t\\n."] {
            check(&built.index.shards, &regexp(text), false, how);
        }
        check(&built.index.shards, &both, false, how);
        check(&built.index.shards, &regexp("[a-z]"), true, how);
    }
}

/// Documents in several units, and texts of many documents.
#[test]
fn a_large_answer_goes_on_after_each_frame() {
    let text: String = (0..3000)
        .map(|line| format!("int task {line};\n"))
        .collect();
    let large = vec![
        (b"large.c".to_vec(), text.clone().into_bytes()),
        (b"copy.c".to_vec(), text.into_bytes()),
    ];
    let name = |file| format!("{file:03}.c").into_bytes();
    let copies = (0..300).map(|file| (name(file), b"a task\n\nint\n".to_vec()));
    let corpus: Corpus = vec![copies.collect(), large.clone(), large];
    for (block_bytes, shard_bytes) in [(64, u64::MAX), (4096, 1)] {
        let how = Build {
            block_bytes,
            shard_bytes,
            content: ContentCodec::Raw,
        };
        let shards = &Built::new(&corpus, how).index.shards;
        for how in hows() {
            check(shards, &regexp("task"), false, how);
            check(
                shards,
                &Expr::all([regexp("task"), regexp("int")]),
                false,
                how,
            );
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(12))]

    #[test]
    fn an_answer_goes_on_after_each_frame(
        corpus in corpora(LONG_LINE_BYTES),
        how in builds(),
    ) {
        check_all(&Built::new(&corpus, how));
    }
}
