//! Searches of texts that cost too much.

use super::*;
use crate::CompiledQuery;
use index::directory::Index;
use index::{corpus, indexing};
use schema::message::{Expr, Pattern, Search, Skip, Syntax};
use std::cell::Cell;

struct Collector(Vec<u8>);

impl Sink for Collector {
    fn frames(&mut self, frames: Vec<u8>, _: &Progress) -> Result<(), Stopped> {
        self.0.extend_from_slice(&frames);
        Ok(())
    }
}

fn regexp(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        syntax: Syntax::Regexp,
        ..Pattern::default()
    })
}

fn with_request<T>(text: &str, expr: &Expr, each: impl FnOnce(Request<'_>) -> T) -> T {
    let directory = tempfile::tempdir().unwrap();
    let (source, out) = (directory.path().join("p_1"), directory.path().join("index"));
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("long.txt"), text).unwrap();
    let sources = corpus::sources(&[source], false).unwrap();
    indexing::build(sources, &out, &Default::default(), &Default::default()).unwrap();
    each(Request {
        shards: &Index::open(&out).unwrap().shards,
        query: &CompiledQuery::new(expr, false).unwrap(),
        search: &Search::default(),
        workers: 2,
        cancel: &Cancel::default(),
    })
}

/// Indexes a file, and returns skipped documents and matches.
fn search(text: &str, expr: &Expr) -> (Vec<Skip>, u64) {
    with_request(text, expr, |request| {
        let plan = request.plan(true).expect("not cancelled");
        let mut sent = Collector(Vec::new());
        let ends = request.run(plan, &mut sent).unwrap();
        let skips: Vec<Skip> = skips(&sent.0);
        assert_eq!(ends[0].skipped, skips.len() as u64);
        (skips, ends[0].matches)
    })
}

fn skips(mut frames: &[u8]) -> Vec<Skip> {
    let mut skips = Vec::new();
    while let Some(frame) = schema::frame::decode(frames).unwrap() {
        if frame.kind == schema::frame::Kind::Skip {
            skips.push(Skip::decode(frame.payload).unwrap());
        }
        frames = &frames[frame.bytes..];
    }
    skips
}

/// Lines over several units, some with too many steps.
fn long_lines() -> String {
    let long = format!("{} zzE zzF\n", "z".repeat(30_000));
    let short = format!("{}E\n", "z".repeat(2000));
    let filler = "zzE zzF a line of no interest\n".repeat(200);
    [&short, &long, &filler.repeat(80), &long, &short]
        .map(String::as_str)
        .concat()
}

#[test]
fn a_document_with_a_line_of_too_many_steps_is_skipped_once_and_its_other_lines_are_found() {
    let (skips, matches) = search(&long_lines(), &regexp("z{2000,}E"));
    assert_eq!(skips.len(), 1);
    assert_eq!(skips[0].path, b"long.txt");
    assert!(
        skips[0].reason.contains("LINE_STEPS_MAX"),
        "{}",
        skips[0].reason
    );
    assert_eq!(matches, 2);
}

#[test]
fn a_document_that_cannot_be_evaluated_is_skipped() {
    let expr = Expr::all(vec![
        regexp("interest"),
        Expr::Not(Box::new(regexp("z{2000,}F"))),
    ]);
    let (skips, matches) = search(&long_lines(), &expr);
    assert_eq!((skips.len(), matches), (1, 0));
}

#[test]
fn a_search_that_may_take_long_in_one_line_is_heavy() {
    let slow = regexp("z{2000,}E");
    let whole_documents = Expr::all(vec![regexp("interest"), slow.clone()]);
    let short = "zzE zzF a line of no interest\n".repeat(200);
    for (expr, text, is_heavy) in [
        (&slow, &long_lines(), true),
        (&whole_documents, &long_lines(), true),
        (&slow, &short, false),
        (&whole_documents, &short, false),
        (&regexp("zzE"), &long_lines(), false),
    ] {
        with_request(text, expr, |request| {
            let refused = request.plan(false).err();
            assert_eq!(
                refused,
                is_heavy.then_some(PlanError::SlowLines),
                "{expr:?}"
            );
            assert_eq!(request.plan(true).unwrap().is_heavy(), is_heavy);
        });
    }
}

#[test]
fn a_search_stops_inside_a_span_of_lines() {
    let stops = Cell::new(0);
    let stop = || {
        stops.set(stops.get() + 1);
        stops.get() > 3
    };
    let expr = regexp(r"(?s)z{2000,}.*E\nF");
    let query = CompiledQuery::new(&expr, false).unwrap();
    let Strategy::Documents(matcher) = &query.strategy else {
        unreachable!("the pattern has a line end");
    };
    let all: Vec<_> = matcher.texts.iter().map(|text| &text.matcher).collect();
    let text = "z".repeat(30_000);
    let mut effort = Effort::new(&stop);
    spans::for_each(&all, text.as_bytes(), 0, &mut effort, |_, _| {
        panic!("there is no such span")
    });
    assert!(effort.is_stopped() && !effort.has_given_up);
}
