//! What must be in a document for patterns to match there, in one line or over several.
//!
//! A pattern that may match over lines cannot be decided inside one block, but each of its trigrams
//! that holds no line's end lies in one: so its query is planned as if anything could stand where a
//! line's end can, and asked of documents instead of blocks.
//! **Invariant:** never a false negative: a document in which the patterns are as the query says is
//! among its documents.

use super::{BadPattern, Info, TrigramQuery, parse};
use regex_syntax::hir::{Class, Dot, Hir, HirKind, Repetition};
use std::fmt;

/// What must hold of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentQuery {
    /// One of its blocks satisfies this; [`TrigramQuery::All`]: nothing need hold.
    Block(TrigramQuery),
    /// All of these hold.
    And(Vec<DocumentQuery>),
    /// One of these holds.
    Or(Vec<DocumentQuery>),
}

impl DocumentQuery {
    /// Every document.
    pub const ALL: DocumentQuery = DocumentQuery::Block(TrigramQuery::All);

    /// Whether nothing need hold.
    pub fn is_all(&self) -> bool {
        match self {
            DocumentQuery::Block(query) => *query == TrigramQuery::All,
            DocumentQuery::And(parts) => parts.iter().all(DocumentQuery::is_all),
            DocumentQuery::Or(parts) => parts.iter().any(DocumentQuery::is_all),
        }
    }

    /// A query of which each trigram may be in another block.
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

/// `all`; `["abc"]`, which holds of one block of it; a space is AND, `(a | b)` is OR.
impl fmt::Display for DocumentQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            all if all.is_all() => out.write_str("all"),
            DocumentQuery::Block(query) => write!(out, "[{query}]"),
            DocumentQuery::And(parts) => {
                let left: Vec<_> = parts.iter().filter(|part| !part.is_all()).collect();
                write_joined(out, &left, " ")
            }
            DocumentQuery::Or(parts) => {
                out.write_str("(")?;
                write_joined(out, &parts.iter().collect::<Vec<_>>(), " | ")?;
                out.write_str(")")
            }
        }
    }
}

fn write_joined(out: &mut fmt::Formatter<'_>, parts: &[&DocumentQuery], with: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.write_str(with)?;
        }
        write!(out, "{part}")?;
    }
    Ok(())
}

/// What a document must hold for the regular expression `pattern` to match in it, over lines or not.
pub fn plan_multiline(pattern: &str, ignore_case: bool) -> Result<DocumentQuery, BadPattern> {
    let hir = without_line_ends(&parse(pattern, ignore_case)?);
    Ok(DocumentQuery::spread(Info::of(&hir).into_query()))
}

/// An expression that matches more, and in which nothing is a line's end: anything may stand there.
fn without_line_ends(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => hir.clone(),
        HirKind::Literal(literal) => pieces(&literal.0),
        HirKind::Class(class) => match holds_line_end(class) {
            true => anything(),
            false => hir.clone(),
        },
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

/// The lines of a literal, with anything between them.
fn pieces(literal: &[u8]) -> Hir {
    let mut parts = Vec::new();
    for (index, piece) in literal.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            parts.push(anything());
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

fn anything() -> Hir {
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
    fn trigrams_over_a_line_end_are_not_asked_for() {
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
