use super::*;
use schema::message::{Field, Filter, Pattern, Reading, Syntax};

fn pattern(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        syntax: Syntax::Regexp,
        ..Pattern::default()
    })
}

fn filter(field: Field, reading: Reading, text: &str) -> Expr {
    Expr::Filter(Filter {
        field,
        reading,
        text: text.to_owned(),
    })
}

fn is_line_strategy(expr: &Expr, names: bool) -> bool {
    let compiled = CompiledQuery::new(expr, names).unwrap();
    matches!(compiled.strategy, Strategy::Lines { .. })
}

#[test]
fn line_strategy_is_used_where_possible() {
    let c = filter(Field::Language, Reading::Exact, "c");
    let (a, b) = (pattern("aaa"), pattern("bbb"));
    let line = Expr::Line(Box::new(Expr::all([a.clone(), b.clone().negated()])));
    for expr in [
        a.clone(),
        Expr::all([a.clone(), c.clone()]),
        Expr::all([a.clone(), c.clone().negated()]),
        Expr::any([a.clone(), b.clone()]),
        Expr::all([
            Expr::any([a.clone(), line.clone()]),
            Expr::any([c.clone(), c.clone()]),
        ]),
        line,
    ] {
        assert!(is_line_strategy(&expr, false), "{expr:?}");
        assert!(!is_line_strategy(&expr, true), "{expr:?}");
    }
    for expr in [
        Expr::all([a.clone(), b.clone()]),
        Expr::any([a.clone(), c.clone()]),
        a.clone().negated(),
        pattern(r"a\nb"),
        c,
    ] {
        assert!(!is_line_strategy(&expr, false), "{expr:?}");
    }
}

#[test]
fn bad_atom_is_numbered_in_the_whole_expression() {
    let good = || [filter(Field::Path, Reading::Exact, "x"), pattern("a")];
    let blame = |bad: Expr| {
        let [filter, pattern] = good();
        let expr = Expr::all([filter, pattern, bad]);
        CompiledQuery::new(&expr, false).err().unwrap()
    };
    for (bad, atom, at, says) in [
        (pattern("b("), 2, Some(1), "unclosed"),
        (
            Expr::any([pattern("b"), pattern(r"c\rd")]),
            3,
            Some(1),
            r"\r cannot",
        ),
        (
            Expr::Line(Box::new(Expr::all([pattern("b"), pattern(r"c\nd")]))),
            3,
            None,
            "on one line",
        ),
        (
            filter(Field::Path, Reading::Regexp, "a["),
            2,
            Some(1),
            "by path",
        ),
        (
            filter(Field::Path, Reading::Glob, "a["),
            2,
            None,
            "not a glob",
        ),
        (
            filter(Field::Language, Reading::Regexp, "C"),
            2,
            None,
            "is a name",
        ),
        (
            Expr::any([
                pattern("b"),
                filter(Field::Language, Reading::Exact, "pyhton"),
            ]),
            3,
            None,
            "no language pyhton",
        ),
    ] {
        let error = blame(bad.clone());
        assert_eq!((error.atom, error.at), (atom, at), "{bad:?}: {error}");
        assert!(error.reason.contains(says), "{bad:?}: {error}");
    }
    let unknown = blame(filter(Field::Language, Reading::Exact, "pyhton"));
    assert_eq!(unknown.hint, "did you mean Python?");
}

#[test]
fn patterns_too_large_together_are_refused() {
    // Different classes, since a common prefix of alternatives is compiled once.
    let large = |with: char| pattern(&format!(r"[\w{with}]{{180}}|x"));
    assert!(CompiledQuery::new(&large('+'), false).is_ok());
    for joined in [
        Expr::all(['+', '=', '/', '%'].map(large)),
        Expr::any(['+', '=', '/', '%'].map(large)),
    ] {
        let refused = CompiledQuery::new(&joined, false).err().unwrap();
        assert!(refused.reason.contains("PATTERNS_BYTES_MAX"), "{refused}");
    }
}
