//! Queries for patterns that may match over several lines: conditions on documents, not on blocks.
//!
//! A match over several lines may cross blocks, but a trigram without a line end is always inside one
//! block. So a pattern is planned as if a line end could be any text, and its query is asked of
//! documents instead of blocks.
//! **Invariant:** never a false negative: a document that matches satisfies the query.

use super::query::{TrigramQuery, write_joined};
use super::{BadPattern, Info, parse};
use regex_syntax::hir::{Class, Dot, Hir, HirKind, Repetition};
use std::fmt;

/// The condition that a document must satisfy to be a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentQuery {
    /// One of its blocks satisfies this. [`TrigramQuery::All`] holds for every document, even for one
    /// without blocks.
    Block(TrigramQuery),
    /// All of these hold.
    And(Vec<DocumentQuery>),
    /// One of these holds.
    Or(Vec<DocumentQuery>),
}

impl DocumentQuery {
    /// Holds for every document.
    pub const ALL: DocumentQuery = DocumentQuery::Block(TrigramQuery::All);

    /// Whether it holds for every document.
    pub fn is_all(&self) -> bool {
        match self {
            DocumentQuery::Block(query) => *query == TrigramQuery::All,
            DocumentQuery::And(parts) => parts.iter().all(DocumentQuery::is_all),
            DocumentQuery::Or(parts) => parts.iter().any(DocumentQuery::is_all),
        }
    }

    /// Converts a query so that each trigram may be in another block.
    fn spread(query: TrigramQuery) -> DocumentQuery {
        match query {
            TrigramQuery::And(parts) => {
                DocumentQuery::And(parts.into_iter().map(Self::spread).collect())
            }
            TrigramQuery::Or(parts) => {
                DocumentQuery::Or(parts.into_iter().map(Self::spread).collect())
            }
            leaf => DocumentQuery::Block(leaf),
        }
    }
}

/// Renders `all`, or `["abc"]` for a condition on one block; a space is AND, `(a | b)` is OR.
impl fmt::Display for DocumentQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            all if all.is_all() => out.write_str("all"),
            DocumentQuery::Block(query) => write!(out, "[{query}]"),
            DocumentQuery::And(parts) => {
                let parts = parts.iter().filter(|part| !part.is_all());
                write_joined(out, parts, " ")
            }
            DocumentQuery::Or(parts) => {
                out.write_str("(")?;
                write_joined(out, parts, " | ")?;
                out.write_str(")")
            }
        }
    }
}

/// Returns the condition that a document satisfies if the regular expression `pattern` matches in it,
/// within a line or over several.
pub fn plan_multiline(pattern: &str, ignore_case: bool) -> Result<DocumentQuery, BadPattern> {
    let hir = without_line_ends(&parse(pattern, ignore_case)?);
    Ok(DocumentQuery::spread(Info::of(&hir).into_query()))
}

/// Returns an expression that matches more: where the given one can match a line end, it matches any
/// text.
fn without_line_ends(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => hir.clone(),
        HirKind::Literal(literal) => lines(&literal.0),
        HirKind::Class(class) if holds_line_end(class) => any_text(),
        HirKind::Class(_) => hir.clone(),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(without_line_ends(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => without_line_ends(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_line_ends).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(without_line_ends).collect())
        }
    }
}

/// Returns the lines of a literal, with any text between them.
fn lines(literal: &[u8]) -> Hir {
    let mut parts = Vec::new();
    for (index, piece) in literal.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            parts.push(any_text());
        }
        parts.push(Hir::literal(piece));
    }
    Hir::concat(parts)
}

fn holds_line_end(class: &Class) -> bool {
    match class {
        Class::Unicode(class) => class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&'\n')),
        Class::Bytes(class) => class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&b'\n')),
    }
}

fn any_text() -> Hir {
    Hir::repetition(Repetition {
        min: 0,
        max: None,
        greedy: true,
        sub: Box::new(Hir::dot(Dot::AnyByte)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: &str) {
        let planned = plan_multiline(pattern, false).unwrap();
        assert_eq!(planned.to_string(), expected, "{pattern}");
    }

    #[test]
    fn requires_no_trigram_across_a_line_end() {
        check("abc", r#"["abc"]"#);
        check(r"abc\ndef", r#"["abc"] ["def"]"#);
        check(r"ab\ncd", "all");
        check(r"(?s)abc.*def", r#"["abc"] ["def"]"#);
        check(r"abc[x\n]def", r#"["abc"] ["def"]"#);
        check(r"abc\s+def", r#"["abc"] ["def"]"#);
        check(r"abc(\n|x)def", r#"["abc"] ["def"]"#);
        check(r"abc\n|\nxyz", r#"(["abc"] | ["xyz"])"#);
        check(r"(abc\n){2}def", r#"["abc"] ["def"]"#);
        check(r"[^a]bcd", r#"["bcd"]"#);
        check(r"\n", "all");
        assert!(plan_multiline(r"\n", false).unwrap().is_all());
        assert!(plan_multiline("a(", false).is_err());
    }
}
