//! Expressions: limits and normal form.

use super::aligned;
use crate::message::{
    ATOMS_MAX, DEPTH_MAX, Expr, Field, Filter, MessageError, Pattern, Reading, Search,
};
use zerocopy::IntoBytes;

pub(super) fn filter(field: Field, reading: Reading, text: &str) -> Expr {
    Expr::Filter(Filter {
        field,
        reading,
        text: text.to_owned(),
    })
}

pub(super) fn pattern(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        ..Pattern::default()
    })
}

/// Round trip without normalising.
fn sent(expr: Expr) -> Result<Expr, MessageError> {
    let mut frame = Vec::new();
    let search = Search {
        expr,
        ..Search::default()
    };
    search.encode(&mut frame).unwrap();
    Ok(Search::decode(aligned(&frame).as_bytes())?.expr)
}

#[test]
fn rejects_expressions_beyond_the_limits() {
    let wide = |atoms| Expr::any((0..atoms).map(|_| pattern("x")));
    assert_eq!(sent(wide(ATOMS_MAX)).unwrap(), wide(ATOMS_MAX));
    assert!(sent(wide(ATOMS_MAX + 1)).is_err());
    let deep = |depth: usize| {
        (1..depth).fold(pattern("x"), |inner, level| match level % 2 {
            0 => Expr::all([inner, pattern("y")]),
            _ => Expr::any([inner, pattern("y")]),
        })
    };
    assert_eq!(deep(DEPTH_MAX).depth(), DEPTH_MAX);
    assert_eq!(sent(deep(DEPTH_MAX)).unwrap(), deep(DEPTH_MAX));
    assert!(sent(deep(DEPTH_MAX + 1)).is_err());
}

#[test]
fn rejects_expressions_not_in_normal_form() {
    let line = |inner| Expr::Line(Box::new(inner));
    for forged in [
        Expr::All(vec![pattern("x")]),
        Expr::Any(Vec::new()),
        Expr::All(vec![
            pattern("x"),
            Expr::All(vec![pattern("y"), pattern("z")]),
        ]),
        Expr::Not(Box::new(pattern("x").negated())),
        line(line(pattern("x"))),
        line(filter(Field::Path, Reading::Exact, "x")),
        line(Expr::Pattern(Pattern {
            in_path: true,
            ..Pattern::default()
        })),
    ] {
        assert!(sent(forged.clone()).is_err(), "{forged:?}");
    }
    assert_eq!(Expr::all([pattern("x")]), pattern("x"));
    assert_eq!(pattern("x").negated().negated(), pattern("x"));
    let joined = Expr::all([Expr::all([pattern("x"), pattern("y")]), pattern("z")]);
    assert_eq!(joined.factors().len(), 3);
}
