//! Patterns compiled by a backend and run on a text.

use backend::compiled_query::{CompiledQuery, Strategy};
use backend::line_matcher::{self, LineMatcher, LineSearch};
use backend::long_line::Effort;
use backend::place::Haystack;
use frontend::Query;
use index::filter::{DocumentFacts, FilterExpr, NamePattern, Predicate};
use index::plan;
use index::trigram::Trigram;
use schema::message::{Expr, Pattern, Syntax};
use std::collections::HashSet;

/// Longer patterns are slower and reach no other code.
const PATTERN_BYTES_MAX: usize = 200;

/// Plans must keep matching lines, ranges must lie within lines, and frontends must accept patterns
/// of backends.
///
/// Input: option byte, pattern (also tried as a filter), NUL, text.
pub(crate) fn pattern(data: &[u8]) {
    let Some((&options, data)) = data.split_first() else {
        return;
    };
    let mut parts = data.splitn(2, |&byte| byte == 0);
    let expression = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let text = parts.next().unwrap_or_default();
    if expression.len() > PATTERN_BYTES_MAX {
        return;
    }
    let pattern = Pattern {
        text: expression.into_owned(),
        syntax: if options & 1 == 0 {
            Syntax::Literal
        } else {
            Syntax::Regexp
        },
        ignore_case: options & 2 != 0,
        ..Pattern::default()
    };
    for value in [
        NamePattern::Regexp(&pattern.text),
        NamePattern::Glob(&pattern.text),
    ] {
        if let Ok(test) = Predicate::path(value) {
            let _ = FilterExpr::Predicate(test).holds(&DocumentFacts {
                directory: b"p_1",
                path: text,
                ..DocumentFacts::default()
            });
        }
    }
    let expr = Expr::Pattern(pattern.clone());
    let query = Query::new(expr.clone(), 0);
    let Ok(compiled) = CompiledQuery::new(&expr, false) else {
        return;
    };
    let query = query.unwrap_or_else(|bad| panic!("{pattern:?}: {bad:?}"));
    assert!(!query.interpreted_as().is_empty());
    if let Strategy::Lines { matcher, query } = &compiled.strategy {
        let mut effort = Effort::new(&|| false);
        let mut lines = LineSearch::new(matcher, Haystack::plain(text), 0);
        while let Some(line) = lines.next(&mut effort) {
            check_line(matcher, query, &text[line]);
        }
    }
}

fn check_line(matcher: &LineMatcher, query: &plan::TrigramQuery, line: &[u8]) {
    let trigrams = line
        .windows(3)
        .filter_map(|bytes| Trigram::of([bytes[0], bytes[1], bytes[2]]));
    assert!(
        holds(query, &trigrams.collect()),
        "{query} of {}",
        line.escape_ascii()
    );
    let line = line_matcher::without_end(line);
    let mut ranges = Vec::new();
    let haystack = Haystack::plain(line);
    line_matcher::ranges(matcher, haystack, &mut Effort::new(&|| false), &mut ranges);
    assert!((1..=line_matcher::RANGES_MAX).contains(&ranges.len()));
    let mut at = 0;
    for (start, end) in ranges {
        assert!(at <= start && start <= end && end <= line.len());
        at = end;
    }
}

/// True if a block is a candidate.
fn holds(query: &plan::TrigramQuery, trigrams: &HashSet<Trigram>) -> bool {
    match query {
        plan::TrigramQuery::All => true,
        plan::TrigramQuery::None => false,
        plan::TrigramQuery::Trigram(trigram) => trigrams.contains(trigram),
        plan::TrigramQuery::And(parts) => parts.iter().all(|part| holds(part, trigrams)),
        plan::TrigramQuery::Or(parts) => parts.iter().any(|part| holds(part, trigrams)),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let text = "int task_init (void)\r\ntask TASK ta\u{17f}k \u{212a}\n\nna\u{ef}ve 123-4567;\n";
    let patterns = [
        (0, "task"),
        (2, "TASK"),
        (1, "^int|task.*(void|[A-Z]+)"),
        (3, "ta[s\u{17f}]{1,2}(?-i:k)"),
        (1, "[0-9]{3}-[0-9]{4};$"),
        (1, r"\b\w+_init\s*\(|\xff?\A$|(?-u:\xef)"),
        (1, "(?x) [^\"] # comment"),
    ];
    patterns
        .map(|(options, pattern)| [&[options], pattern.as_bytes(), b"\0", text.as_bytes()].concat())
        .into()
}
