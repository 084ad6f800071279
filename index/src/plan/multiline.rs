//! Queries for patterns that match across lines: conditions on documents.
//!
//! Such a match may cross blocks, but a trigram without a line end is inside one block. So the
//! pattern is planned as if a line end were any text, and the query applies to documents.
//! **Invariant:** never a false negative: a matching document satisfies the query.

use super::query::{TrigramQuery, write_joined};
use super::{BadPattern, Info, parse};
use regex_syntax::hir::{Class, Dot, Hir, HirKind, Repetition};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentQuery {
    /// One block satisfies this. [`TrigramQuery::All`] holds even without blocks.
    Block(TrigramQuery),
    /// The path satisfies this.
    Path(TrigramQuery),
    And(Vec<DocumentQuery>),
    Or(Vec<DocumentQuery>),
}

impl DocumentQuery {
    pub const ALL: DocumentQuery = DocumentQuery::Block(TrigramQuery::All);

    pub fn is_all(&self) -> bool {
        match self {
            DocumentQuery::Block(query) | DocumentQuery::Path(query) => *query == TrigramQuery::All,
            DocumentQuery::And(parts) => parts.iter().all(DocumentQuery::is_all),
            DocumentQuery::Or(parts) => parts.iter().any(DocumentQuery::is_all),
        }
    }

    /// Lets each trigram be in another block.
    fn spread(query: TrigramQuery) -> DocumentQuery {
        let all = |parts: Vec<_>| parts.into_iter().map(Self::spread).collect();
        match query {
            TrigramQuery::And(parts) => DocumentQuery::And(all(parts)),
            TrigramQuery::Or(parts) => DocumentQuery::Or(all(parts)),
            leaf => DocumentQuery::Block(leaf),
        }
    }
}

/// Renders `all`, or `["abc"]` for one block or `path ["abc"]`; a space is AND, `(a | b)` is OR.
impl fmt::Display for DocumentQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            all if all.is_all() => out.write_str("all"),
            DocumentQuery::Block(query) => write!(out, "[{query}]"),
            DocumentQuery::Path(query) => write!(out, "path [{query}]"),
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

/// Document query of a regular expression, within a line or across lines.
pub fn plan_multiline(pattern: &str, ignore_case: bool) -> Result<DocumentQuery, BadPattern> {
    plan_name(pattern, ignore_case).map(DocumentQuery::spread)
}

/// Query of a regular expression on a name, in which a line end is like other bytes.
pub fn plan_name(pattern: &str, ignore_case: bool) -> Result<TrigramQuery, BadPattern> {
    let hir = without_line_ends(&parse(pattern, ignore_case)?);
    Ok(Info::of(&hir).into_query())
}

/// Generalises an expression: anything that can match a line end matches any text.
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
            .any(|it| (it.start()..=it.end()).contains(&'\n')),
        Class::Bytes(class) => class
            .iter()
            .any(|it| (it.start()..=it.end()).contains(&b'\n')),
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
        let name = plan_name("abc\ndef", true).unwrap();
        assert_eq!(
            DocumentQuery::Path(name).to_string(),
            r#"path ["abc" "def"]"#
        );
    }
}
