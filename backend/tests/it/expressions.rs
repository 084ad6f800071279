//! Compares expressions of patterns and filters with a naive evaluation.
//!
//! It goes up from the leaves, and returns the contributing spans of lines in a document, without
//! blocks, plans or units.

use crate::corpus::{Built, LONG_LINE_BYTES, builds, corpora};
use crate::filter::{self, Filter};
use crate::found::{Batch, How};
use crate::naive::{self, Document, compile};
use crate::oracle::find_alike;
use crate::query::{Query, Recipe, recipes};
use crate::revisions;
use crate::wants;
use backend::CompiledQuery;
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use schema::message::{Expr, Pattern, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Clone, Debug)]
enum Shape {
    Text((Recipe, bool)),
    Path((Recipe, bool)),
    MultiLine(usize),
    Filter(Filter),
    All(Vec<Shape>),
    Any(Vec<Shape>),
    Not(Box<Shape>),
    Line(Box<Shape>),
}

#[derive(Debug)]
enum Naive {
    Text(Regex),
    Path(Regex),
    MultiLine(Regex),
    Filter(Filter),
    All(Vec<Naive>),
    Any(Vec<Naive>),
    Not(Box<Naive>),
    Line(Box<Naive>),
}

/// Multi-line patterns, the same for both.
const MULTILINE: [&str; 8] = [
    r"a\nb",
    r"k\r?\n",
    r"(?s)t.{0,20}?s",
    r"(?s)task.*k",
    r"\n\n",
    r"[abk]\n\s*[st]",
    r"(?s:a.k)|b",
    r"^s.*\n.*$",
];

fn shapes() -> impl Strategy<Value = Shape> {
    let line = recipes()
        .prop_map(Shape::Text)
        .prop_recursive(2, 6, 3, |inner| {
            let parts = prop::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                2 => parts.clone().prop_map(Shape::All),
                1 => parts.prop_map(Shape::Any),
                1 => inner.prop_map(|inner| Shape::Not(Box::new(inner))),
            ]
        });
    let leaf = prop_oneof![
        6 => recipes().prop_map(Shape::Text),
        2 => recipes().prop_map(Shape::Path),
        1 => (0..MULTILINE.len()).prop_map(Shape::MultiLine),
        2 => filter::one().prop_map(Shape::Filter),
        2 => line.prop_map(|line| Shape::Line(Box::new(line))),
    ];
    leaf.prop_recursive(4, 12, 4, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            4 => parts.clone().prop_map(Shape::All),
            2 => parts.prop_map(Shape::Any),
            1 => inner.prop_map(|inner| Shape::Not(Box::new(inner))),
        ]
    })
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn finds_what_a_naive_evaluation_finds(
        corpus in corpora(LONG_LINE_BYTES / 10),
        how in builds(),
        shapes in prop::collection::vec((shapes(), any::<bool>()), 8),
    ) {
        let built = Built::new(&corpus, how);
        let documents = naive::documents(&built.source());
        for (shape, names) in shapes {
            if let Some((expr, naive)) = shape.expr(&documents) {
                check(&built, &documents, &expr, &naive, names);
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(16))]

    /// Filters of revisions may be anywhere, also below `not`.
    #[test]
    fn finds_what_a_naive_evaluation_finds_in_revisions(
        corpus in corpora(LONG_LINE_BYTES / 10),
        more in corpora(LONG_LINE_BYTES / 10),
        how in builds(),
        seed in any::<u64>(),
        shapes in prop::collection::vec((shapes(), any::<bool>()), 8),
    ) {
        let (built, documents) = revisions::built(&[&corpus, &more], how, seed);
        for (shape, names) in shapes {
            if let Some((expr, naive)) = shape.expr(&documents) {
                check(&built, &documents, &expr, &naive, names);
            }
        }
    }
}

impl Shape {
    /// Expression for backend and naive evaluation; `None` without a naive form.
    fn expr(&self, documents: &[Document]) -> Option<(Expr, Naive)> {
        let each = |parts: &[Shape]| -> Option<(Vec<Expr>, Vec<Naive>)> {
            let parts: Option<Vec<_>> = parts.iter().map(|part| part.expr(documents)).collect();
            Some(parts?.into_iter().unzip())
        };
        Some(match self {
            Shape::Text(recipe) => pattern(recipe, documents, false)?,
            Shape::Path(recipe) => pattern(recipe, documents, true)?,
            Shape::MultiLine(number) => {
                let pattern = Pattern {
                    text: MULTILINE[*number].to_owned(),
                    syntax: Syntax::Regexp,
                    ..Pattern::default()
                };
                let regex = RegexBuilder::new(MULTILINE[*number])
                    .multi_line(true)
                    .crlf(true)
                    .build();
                (Expr::Pattern(pattern), Naive::MultiLine(regex.unwrap()))
            }
            Shape::Filter(filter) => (filter::sent(filter), Naive::Filter(*filter)),
            Shape::All(parts) => {
                let (exprs, naive) = each(parts)?;
                (Expr::all(exprs), Naive::All(naive))
            }
            Shape::Any(parts) => {
                let (exprs, naive) = each(parts)?;
                (Expr::any(exprs), Naive::Any(naive))
            }
            Shape::Not(inner) => {
                let (expr, naive) = inner.expr(documents)?;
                (expr.negated(), naive.negated())
            }
            Shape::Line(inner) => {
                let (expr, naive) = inner.expr(documents)?;
                (Expr::Line(Box::new(expr)), Naive::Line(Box::new(naive)))
            }
        })
    }
}

fn pattern(
    (recipe, ignore_case): &(Recipe, bool),
    documents: &[Document],
    in_path: bool,
) -> Option<(Expr, Naive)> {
    let Query { pattern, naive } = recipe.query(documents, *ignore_case);
    // Patterns that differ at line ends, which paths and the naive scan lack (see `oracle`).
    let is_odd = naive.contains(r"\B") || (in_path && pattern.text != naive);
    let regex = compile(&naive, *ignore_case).filter(|_| !is_odd)?;
    let naive = if in_path {
        Naive::Path(regex)
    } else {
        Naive::Text(regex)
    };
    Some((Expr::Pattern(Pattern { in_path, ..pattern }), naive))
}

/// Half-open ranges of line numbers, from 0.
type Spans = BTreeSet<(usize, usize)>;

impl Naive {
    /// Negates. Two negations cancel, so patterns contribute again.
    fn negated(self) -> Naive {
        match self {
            Naive::Not(inner) => *inner,
            other => Naive::Not(Box::new(other)),
        }
    }

    fn has_revisions(&self) -> bool {
        match self {
            Naive::Filter(filter) => filter.is_of_revisions(),
            Naive::All(parts) | Naive::Any(parts) => parts.iter().any(Naive::has_revisions),
            Naive::Not(inner) => inner.has_revisions(),
            Naive::Text(_) | Naive::Path(_) | Naive::MultiLine(_) | Naive::Line(_) => false,
        }
    }

    /// Spans for a match; `None` without.
    fn spans(&self, document: &Document) -> Option<Spans> {
        let lines = document.lines();
        match self {
            Naive::Text(_) => self.on_lines(&lines),
            Naive::Line(inner) => inner.on_lines(&lines),
            Naive::MultiLine(regex) => multiline_spans(regex, &document.text),
            Naive::Path(regex) => regex.is_match(&document.path).then(Spans::new),
            Naive::Filter(filter) => filter::holds(filter, document).then(Spans::new),
            Naive::Not(inner) => match inner.spans(document) {
                Some(_) => None,
                None => Some(Spans::new()),
            },
            Naive::All(parts) => {
                let parts: Option<Vec<Spans>> = parts.iter().map(|it| it.spans(document)).collect();
                Some(parts?.into_iter().flatten().collect())
            }
            Naive::Any(parts) => {
                let parts: Vec<Spans> = parts.iter().filter_map(|it| it.spans(document)).collect();
                (!parts.is_empty()).then(|| parts.into_iter().flatten().collect())
            }
        }
    }

    fn on_lines(&self, lines: &[naive::Line<'_>]) -> Option<Spans> {
        let numbered = lines.iter().enumerate();
        let matching = numbered.filter(|(_, line)| self.holds(line.body));
        let spans: Spans = matching.map(|(at, _)| (at, at + 1)).collect();
        (!spans.is_empty()).then_some(spans)
    }

    fn holds(&self, line: &[u8]) -> bool {
        match self {
            Naive::Text(regex) => regex.is_match(line),
            Naive::All(parts) => parts.iter().all(|part| part.holds(line)),
            Naive::Any(parts) => parts.iter().any(|part| part.holds(line)),
            Naive::Not(inner) => !inner.holds(line),
            _ => panic!("not an expression of a line"),
        }
    }
}

fn multiline_spans(regex: &Regex, text: &[u8]) -> Option<Spans> {
    let line_of = |at: usize| text[..at].iter().filter(|&&byte| byte == b'\n').count();
    let is_there = |found: &regex::bytes::Match<'_>| {
        let behind_all = found.start() == text.len() && (text.is_empty() || text.ends_with(b"\n"));
        !behind_all
    };
    let span = |found: regex::bytes::Match<'_>| {
        let last = found.end().max(found.start() + 1) - 1;
        (line_of(found.start()), line_of(last.min(text.len())) + 1)
    };
    let spans: Spans = regex.find_iter(text).filter(is_there).map(span).collect();
    (!spans.is_empty()).then_some(spans)
}

fn joined(spans: Spans) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for (start, end) in spans {
        match joined.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => joined.push(start..end),
        }
    }
    joined
}

/// First line and number of lines of each span; 0 and 1 for the name.
fn expected(naive: &Naive, names: bool, document: &Document) -> Vec<(u32, u32)> {
    let Some(spans) = naive.spans(document) else {
        return Vec::new();
    };
    if names || spans.is_empty() {
        return vec![(0, 1)];
    }
    let spans = joined(spans).into_iter();
    spans
        .map(|span| (span.start as u32 + 1, span.len() as u32))
        .collect()
}

fn check(built: &Built, documents: &[Document], expr: &Expr, naive: &Naive, names: bool) {
    let compiled = CompiledQuery::new(expr, names).unwrap_or_else(|bad| panic!("{expr:?}: {bad}"));
    let how = How::all(1);
    let all = find_alike(built, &compiled, how);
    let mut found: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    for batch in all.batches() {
        let document = documents.iter().find(|it| it.name() == batch.name());
        check_batch(&batch, document.expect("a known document"));
        let matches = batch.matches().map(|line| (line.number, line.lines));
        found.entry(batch.name()).or_default().extend(matches);
    }
    let all_revisions = naive.has_revisions();
    let is_reached =
        |document: &&Document| (document.state).is_reached(&document.package, all_revisions);
    for document in documents.iter().filter(is_reached) {
        let (ours, theirs) = (
            found.remove(&document.name()).unwrap_or_default(),
            expected(naive, names, document),
        );
        assert!(
            ours == theirs,
            "{expr:?} names {names} in {document:?}: found {ours:?}, expected {theirs:?}"
        );
    }
    assert!(found.is_empty());
    wants::check(&all, |want, limit| {
        find_alike(built, &compiled, How { want, limit, ..how })
    });
}

/// Checks the lines of a batch, and ranges in them.
fn check_batch(batch: &Batch, document: &Document) {
    document.state.check(&document.package, batch);
    let lines = document.lines();
    for line in &batch.lines {
        if line.number == 0 {
            assert_eq!(line.text, document.path);
            continue;
        }
        let (first, last) = (
            line.number as usize - 1,
            (line.number + line.lines) as usize - 2,
        );
        let start = lines[first].offset;
        let end = lines[last].offset + lines[last].text.len();
        assert_eq!(
            (line.offset, line.line_bytes),
            (start as u64, (end - start) as u64)
        );
        let sent = line.start as usize..line.start as usize + line.text.len();
        assert!(line.text == document.text[start..end][sent.clone()]);
        let in_it = |range: &Range<usize>| sent.start <= range.start && range.end <= sent.end;
        assert!(line.ranges.iter().all(in_it));
        assert!(line.ranges.is_sorted_by(|a, b| a.end <= b.start));
    }
}
