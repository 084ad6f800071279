//! Compiles the filters of an expression to what the index evaluates.

use crate::bad_expr::BadExpr;
use index::filter::{Test, Tree, Value};
use schema::message::{Expr, Field, Filter, Reading};

/// Compiles an expression of filters; `atom` counts them.
pub(crate) fn compile(expr: &Expr, atom: &mut usize) -> Result<Tree, BadExpr> {
    let mut each = |parts: &[Expr]| {
        let parts = parts.iter().map(|part| compile(part, atom));
        parts.collect::<Result<Vec<_>, _>>()
    };
    Ok(match expr {
        Expr::All(parts) => Tree::All(each(parts)?),
        Expr::Any(parts) => Tree::Any(each(parts)?),
        Expr::Not(inner) => Tree::Not(Box::new(compile(inner, atom)?)),
        Expr::Line(inner) => compile(inner, atom)?,
        // Not reached: callers pass only filters.
        Expr::Pattern(_) => Tree::All(Vec::new()),
        Expr::Filter(filter) => {
            let number = *atom;
            *atom += 1;
            Tree::Test(test(filter, number)?)
        }
    })
}

fn test(filter: &Filter, atom: usize) -> Result<Test, BadExpr> {
    let text = &filter.text[..];
    let value = match filter.reading {
        Reading::Regexp => Value::Regexp(text),
        Reading::Exact => Value::Exact(text),
        Reading::Glob => Value::Glob(text),
    };
    let bad = |field| move |bad| BadExpr::filter(atom, field, bad);
    match (filter.field, filter.reading) {
        (Field::Package, _) => Test::package(value).map_err(bad("package")),
        (Field::Path, _) => Test::path(value).map_err(bad("path")),
        (Field::Name, _) => Test::name(value).map_err(bad("name")),
        (Field::Extension, Reading::Exact) => Ok(Test::extension(text)),
        (Field::Language, Reading::Exact) => {
            Test::language(text).map_err(|unknown| BadExpr::language(atom, &unknown))
        }
        (Field::Extension | Field::Language, _) => Err(BadExpr {
            atom,
            at: None,
            reason: "a language or an extension is a name, not a regular expression or glob"
                .to_owned(),
            hint: String::new(),
        }),
    }
}
