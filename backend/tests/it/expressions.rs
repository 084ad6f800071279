//! Expressions of patterns and filters: what is found is what a naive reading of them finds.
//!
//! The judge reads an expression from the leaves up: of a document, which runs of lines contribute, or
//! that it does not hold. It knows nothing of blocks, plans, units and marks.

use crate::corpus::{Built, LONG_LINE_BYTES, builds, corpora};
use crate::filter::{self, Filter};
use crate::found::{Batch, How};
use crate::naive::{self, Document, judge};
use crate::oracle::find_alike;
use crate::query::{Query, Recipe, recipes};
use crate::wants;
use backend::CompiledQuery;
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use schema::message::{Expr, Pattern, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// An expression that is to be made, once the corpus is known.
#[derive(Clone, Debug)]
enum Shape {
    Text((Recipe, bool)),
    Path((Recipe, bool)),
    Across(usize),
    Filter(Filter),
    All(Vec<Shape>),
    Any(Vec<Shape>),
    Not(Box<Shape>),
    Line(Box<Shape>),
}

/// An expression for the judge.
#[derive(Debug)]
enum Judged {
    Text(Regex),
    Path(Regex),
    Across(Regex),
    Filter(Filter),
    All(Vec<Judged>),
    Any(Vec<Judged>),
    Not(Box<Judged>),
    Line(Box<Judged>),
}

/// Patterns over lines; they are the same for both.
const ACROSS: [&str; 8] = [
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
        1 => (0..ACROSS.len()).prop_map(Shape::Across),
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
    fn what_is_found_is_what_the_expression_says(
        corpus in corpora(LONG_LINE_BYTES / 10),
        how in builds(),
        shapes in prop::collection::vec((shapes(), any::<bool>()), 8),
    ) {
        let built = Built::new(&corpus, how);
        let documents = naive::documents(&built.source());
        for (shape, names) in shapes {
            if let Some((expr, judged)) = shape.expr(&documents) {
                check(&built, &documents, &expr, &judged, names);
            }
        }
    }
}

impl Shape {
    /// For the backend and for the judge; `None` when one has a pattern that cannot be judged.
    fn expr(&self, documents: &[Document]) -> Option<(Expr, Judged)> {
        let each = |parts: &[Shape]| -> Option<(Vec<Expr>, Vec<Judged>)> {
            let parts: Option<Vec<_>> = parts.iter().map(|part| part.expr(documents)).collect();
            Some(parts?.into_iter().unzip())
        };
        Some(match self {
            Shape::Text(recipe) => pattern(recipe, documents, false)?,
            Shape::Path(recipe) => pattern(recipe, documents, true)?,
            Shape::Across(number) => {
                let pattern = Pattern {
                    text: ACROSS[*number].to_owned(),
                    syntax: Syntax::Regexp,
                    ..Pattern::default()
                };
                let regex = RegexBuilder::new(ACROSS[*number])
                    .multi_line(true)
                    .crlf(true)
                    .build();
                (Expr::Pattern(pattern), Judged::Across(regex.unwrap()))
            }
            Shape::Filter(filter) => (filter::sent(filter), Judged::Filter(*filter)),
            Shape::All(parts) => {
                let (exprs, judged) = each(parts)?;
                (Expr::all(exprs), Judged::All(judged))
            }
            Shape::Any(parts) => {
                let (exprs, judged) = each(parts)?;
                (Expr::any(exprs), Judged::Any(judged))
            }
            Shape::Not(inner) => {
                let (expr, judged) = inner.expr(documents)?;
                (expr.negated(), judged.negated())
            }
            Shape::Line(inner) => {
                let (expr, judged) = inner.expr(documents)?;
                (Expr::Line(Box::new(expr)), Judged::Line(Box::new(judged)))
            }
        })
    }
}

fn pattern(
    (recipe, ignore_case): &(Recipe, bool),
    documents: &[Document],
    in_path: bool,
) -> Option<(Expr, Judged)> {
    let Query { pattern, judged } = recipe.query(documents, *ignore_case);
    // Of a path nothing is a line's end, and the judge of a line does not see one: see the oracle.
    let is_odd = judged.contains(r"\B") || (in_path && pattern.text != judged);
    let regex = judge(&judged, *ignore_case).filter(|_| !is_odd)?;
    let judged = match in_path {
        true => Judged::Path(regex),
        false => Judged::Text(regex),
    };
    Some((Expr::Pattern(Pattern { in_path, ..pattern }), judged))
}

/// Lines, half open, counted from 0.
type Runs = BTreeSet<(usize, usize)>;

impl Judged {
    /// What is not not so is so, and contributes.
    fn negated(self) -> Judged {
        match self {
            Judged::Not(inner) => *inner,
            other => Judged::Not(Box::new(other)),
        }
    }

    /// What contributes to that the expression holds of a document; `None`: it does not.
    fn runs(&self, document: &Document) -> Option<Runs> {
        let lines = document.lines();
        match self {
            Judged::Text(_) => self.on_lines(&lines),
            Judged::Line(inner) => inner.on_lines(&lines),
            Judged::Across(regex) => across(regex, &document.text),
            Judged::Path(regex) => regex.is_match(&document.path).then(Runs::new),
            Judged::Filter(filter) => filter::leave(&[*filter], document).then(Runs::new),
            Judged::Not(inner) => match inner.runs(document) {
                Some(_) => None,
                None => Some(Runs::new()),
            },
            Judged::All(parts) => {
                let parts: Option<Vec<Runs>> = parts.iter().map(|it| it.runs(document)).collect();
                Some(parts?.into_iter().flatten().collect())
            }
            Judged::Any(parts) => {
                let parts: Vec<Runs> = parts.iter().filter_map(|it| it.runs(document)).collect();
                (!parts.is_empty()).then(|| parts.into_iter().flatten().collect())
            }
        }
    }

    fn on_lines(&self, lines: &[naive::Line<'_>]) -> Option<Runs> {
        let numbered = lines.iter().enumerate();
        let matching = numbered.filter(|(_, line)| self.holds(line.judged));
        let runs: Runs = matching.map(|(at, _)| (at, at + 1)).collect();
        (!runs.is_empty()).then_some(runs)
    }

    fn holds(&self, line: &[u8]) -> bool {
        match self {
            Judged::Text(regex) => regex.is_match(line),
            Judged::All(parts) => parts.iter().all(|part| part.holds(line)),
            Judged::Any(parts) => parts.iter().any(|part| part.holds(line)),
            Judged::Not(inner) => !inner.holds(line),
            _ => panic!("not said of a line"),
        }
    }
}

fn across(regex: &Regex, text: &[u8]) -> Option<Runs> {
    let line_of = |at: usize| text[..at].iter().filter(|&&byte| byte == b'\n').count();
    let is_there = |found: &regex::bytes::Match<'_>| {
        let behind_all = found.start() == text.len() && (text.is_empty() || text.ends_with(b"\n"));
        !behind_all
    };
    let run = |found: regex::bytes::Match<'_>| {
        let last = found.end().max(found.start() + 1) - 1;
        (line_of(found.start()), line_of(last.min(text.len())) + 1)
    };
    let runs: Runs = regex.find_iter(text).filter(is_there).map(run).collect();
    (!runs.is_empty()).then_some(runs)
}

/// Runs that share no line.
fn joined(runs: Runs) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for (start, end) in runs {
        match joined.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => joined.push(start..end),
        }
    }
    joined
}

/// First line and number of lines; 0 and 1: the name.
fn expected(judged: &Judged, names: bool, document: &Document) -> Vec<(u32, u32)> {
    let Some(runs) = judged.runs(document) else {
        return Vec::new();
    };
    match names || runs.is_empty() {
        true => vec![(0, 1)],
        false => joined(runs)
            .into_iter()
            .map(|run| (run.start as u32 + 1, run.len() as u32))
            .collect(),
    }
}

fn check(built: &Built, documents: &[Document], expr: &Expr, judged: &Judged, names: bool) {
    let compiled = CompiledQuery::new(expr, names).unwrap_or_else(|bad| panic!("{expr:?}: {bad}"));
    let how = How::all(1);
    let all = find_alike(built, &compiled, how);
    let mut found: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    for batch in all.batches() {
        let name = (batch.package.clone(), batch.path.clone());
        let document = documents
            .iter()
            .find(|it| (&it.package, &it.path) == (&name.0, &name.1));
        check_batch(&batch, document.expect("it is there"));
        let matches = batch.matches().map(|line| (line.number, line.lines));
        found.entry(name).or_default().extend(matches);
    }
    for document in documents {
        let name = (document.package.clone(), document.path.clone());
        let (ours, theirs) = (
            found.remove(&name).unwrap_or_default(),
            expected(judged, names, document),
        );
        assert!(
            ours == theirs,
            "{expr:?} names {names} in {document:?}: found {ours:?}, there is {theirs:?}"
        );
    }
    assert!(found.is_empty());
    wants::check(&all, |want, limit| {
        find_alike(built, &compiled, How { want, limit, ..how })
    });
}

/// The lines of a batch are those of the document, and ranges are in them.
fn check_batch(batch: &Batch, document: &Document) {
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
