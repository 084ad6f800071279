//! Tables that specify the languages: `spec.txt` of valid queries, `faults.txt` of invalid ones.
//!
//! A query follows `>`, after its language unless native. Indented lines are this test's output;
//! UPDATE_EXPECT=1 rewrites them.

use crate::sourcegraph::{self, PatternType};
use crate::{BadQuery, ParsedQuery, Query, QueryInput, dcs, filter, github, zoekt};
use expect_test::expect_file;
use language::symbols::Kind;
use schema::message::{Expr, Pattern, Reading, Role, Syntax};
use std::fmt::Write;

#[test]
fn valid_queries_have_this_meaning() {
    let shown = |language: &str, q: &str| match parse(language, q) {
        Ok(parsed) => understood(q, &parsed),
        Err(bad) => panic!("{language}> {q}: {bad:?}"),
    };
    let out = table(include_str!("../spec.txt"), shown);
    assert!(out.matches("> ").count() >= 100);
    expect_file!["../spec.txt"].assert_eq(&out);
}

#[test]
fn invalid_queries_have_these_errors() {
    let shown = |language: &str, q: &str| match parse(language, q) {
        Ok(parsed) => panic!("{language}> {q}: {}", parsed.query.interpreted_as()),
        Err(bad) => fault(q, &bad),
    };
    expect_file!["../faults.txt"].assert_eq(&table(include_str!("../faults.txt"), shown));
}

fn parse(language: &str, q: &str) -> Result<ParsedQuery, BadQuery> {
    match language {
        "dcs" => dcs::parse(q, Syntax::Regexp),
        "dcs literal" => dcs::parse(q, Syntax::Literal),
        "github" => github::parse(q),
        "zoekt" => zoekt::parse(q, 0).map(|zoekt| zoekt.parsed),
        "sourcegraph" => Ok(sourcegraph::parse(q, PatternType::Keyword)?.parsed),
        mode => Query::parse(&QueryInput {
            q,
            mode: Some(mode).filter(|mode| !mode.is_empty()),
            ..QueryInput::default()
        }),
    }
}

fn table(old: &str, shown: impl Fn(&str, &str) -> String) -> String {
    let mut out = String::new();
    for line in old.lines().filter(|line| !line.starts_with("    ")) {
        writeln!(out, "{line}").unwrap();
        if let Some((language, q)) = line.split_once("> ").filter(|_| !line.starts_with('#')) {
            out.push_str(&shown(language, q));
        }
    }
    out
}

fn understood(q: &str, parsed: &ParsedQuery) -> String {
    let query = &parsed.query;
    let one_line = |text: String| text.replace('\n', "␤");
    let mut out = format!("    {}", one_line(notation(&query.expr)));
    if query.names {
        out.push_str("  names");
    }
    if query.limit > 0 {
        write!(out, "  limit {}", query.limit).unwrap();
    }
    if query.context_lines != Query::CONTEXT_DEFAULT {
        write!(out, "  context {}", query.context_lines).unwrap();
    }
    if let Some(timeout) = parsed.timeout {
        write!(out, "  timeout {timeout:?}").unwrap();
    }
    out.push('\n');
    let canonical = one_line(query.interpreted_as());
    if canonical != q {
        writeln!(out, "    = {canonical}").unwrap();
    }
    for notice in &parsed.notices {
        let at = notice.at.map_or(String::new(), |at| format!("{at}: "));
        write!(out, "    ! {at}{}", notice.reason).unwrap();
        let hint = notice.hint.iter();
        hint.for_each(|hint| write!(out, "; {hint}").unwrap());
        out.push('\n');
    }
    out
}

fn fault(q: &str, bad: &BadQuery) -> String {
    let mut out = match bad.at {
        Some(at) => {
            let there: String = q[at..].chars().take(8).collect();
            format!("    {at} `{there}`: {}\n", bad.reason)
        }
        None => format!("    {}\n", bad.reason),
    };
    let hint = bad.hint.iter();
    hint.for_each(|hint| writeln!(out, "    {hint}").unwrap());
    assert_eq!((bad.atom, &bad.filter), (None, &None), "{q}");
    out
}

fn notation(expr: &Expr) -> String {
    let list = |name: &str, parts: &[Expr]| {
        let parts = parts.iter().map(notation).collect::<Vec<_>>();
        format!("({name} {})", parts.join(" "))
    };
    match expr {
        Expr::Pattern(pattern) => pattern_notation(pattern),
        Expr::Filter(filter) => {
            let ignoring = filter.reading == Reading::RegexpIgnoringCase;
            let case = if ignoring { "i" } else { "" };
            let sign = match filter.reading {
                Reading::Regexp | Reading::RegexpIgnoringCase => '~',
                Reading::Exact => '=',
                Reading::Glob => '*',
            };
            let field = filter::name(filter.field);
            format!("{field}{sign}{:?}{case}", filter.text)
        }
        Expr::All(parts) => list("all", parts),
        Expr::Any(parts) => list("any", parts),
        Expr::Not(inner) => format!("(not {})", notation(inner)),
        Expr::Line(inner) => format!("(line {})", notation(inner)),
    }
}

/// Text and flags: `i` ignores case, `w` is a word, `@` is about the path.
fn pattern_notation(pattern: &Pattern) -> String {
    let path = if pattern.in_path { "@" } else { "" };
    let text = match pattern.syntax {
        Syntax::Literal => format!("{:?}", pattern.text),
        Syntax::Regexp => format!("/{}/", pattern.text),
    };
    let case = if pattern.ignore_case { "i" } else { "" };
    let word = if pattern.word { "w" } else { "" };
    let place = &pattern.place;
    let role = match place.role {
        Role::Any => "",
        Role::Definition => "sym:",
        Role::Use => "uses:",
    };
    let mut out = format!("{role}{path}{text}{case}{word}");
    if place.classes != 0 {
        write!(out, "[{:b}]", place.classes).unwrap();
    }
    if place.kinds != 0 {
        write!(out, "[{}]", Kind::names_of(place.kinds).join(" ")).unwrap();
    }
    if !place.parent.is_empty() {
        write!(out, "[in {}]", place.parent).unwrap();
    }
    out
}
