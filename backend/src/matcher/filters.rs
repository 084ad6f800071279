//! Compiles filters for the index.

use super::bad_expr::BadExpr;
use super::compiler::Compiler;
use index::document::Class;
use index::filter::{FilterExpr, NamePattern, Predicate};
use index::plan::BadPattern;
use schema::message::{DocumentKind, Expr, Field, Filter, Reading};

/// Compiles filters until `compiler` is stopped; `atom` counts them.
pub(crate) fn compile(
    expr: &Expr,
    atom: &mut usize,
    compiler: &Compiler,
) -> Result<FilterExpr, BadExpr> {
    let mut each = |parts: &[Expr]| {
        let parts = parts.iter().map(|part| compile(part, atom, compiler));
        parts.collect::<Result<Vec<_>, _>>()
    };
    Ok(match expr {
        Expr::All(parts) => FilterExpr::All(each(parts)?),
        Expr::Any(parts) => FilterExpr::Any(each(parts)?),
        Expr::Not(inner) => FilterExpr::Not(Box::new(compile(inner, atom, compiler)?)),
        Expr::Line(inner) => compile(inner, atom, compiler)?,
        // Not reached: callers pass only filters.
        Expr::Pattern(_) => FilterExpr::All(Vec::new()),
        Expr::Filter(filter) => {
            let number = *atom;
            *atom += 1;
            let stopped = |bad| BadExpr::new(number, bad);
            compiler.check_stop().map_err(stopped)?;
            FilterExpr::Predicate(predicate(filter, number)?)
        }
    })
}

fn predicate(filter: &Filter, atom: usize) -> Result<Predicate, BadExpr> {
    let text = &filter.text[..];
    let value = match filter.reading {
        Reading::Regexp => NamePattern::Regexp(text),
        Reading::RegexpIgnoringCase => NamePattern::RegexpIgnoringCase(text),
        Reading::Exact => NamePattern::Exact(text),
        Reading::Glob => NamePattern::Glob(text),
    };
    let bad = |field| move |bad| BadExpr::filter(atom, field, bad);
    match (filter.field, filter.reading) {
        (Field::Package, _) => Predicate::package(value).map_err(bad("package")),
        (Field::Path, _) => Predicate::path(value).map_err(bad("path")),
        (Field::Name, _) => Predicate::name(value).map_err(bad("name")),
        (Field::Extension, Reading::Exact) => Ok(Predicate::extension(text)),
        (Field::Language, Reading::Exact) => {
            Predicate::language(text).map_err(|unknown| BadExpr::language(atom, &unknown))
        }
        (Field::Revision, _) => Predicate::revision(value, false).map_err(bad("revision")),
        (Field::Branch, _) => Predicate::revision(value, true).map_err(bad("branch")),
        (Field::Kind, Reading::Exact) => kind(text, atom),
        (Field::Type, Reading::Exact) => history_type(text, atom),
        (Field::Author, _) => Predicate::author(value).map_err(bad("author")),
        (Field::Committer, _) => Predicate::committer(value).map_err(bad("committer")),
        (Field::Message, _) => Predicate::message(value).map_err(bad("message")),
        (Field::Before, Reading::Exact) => seconds(text, atom).map(Predicate::before),
        (Field::After, Reading::Exact) => seconds(text, atom).map(Predicate::after),
        (Field::Type | Field::Before | Field::After, _) => {
            let reason = "a type or time is a whole value";
            Err(BadExpr::new(atom, BadPattern::new(reason)))
        }
        (Field::Extension | Field::Language | Field::Kind, _) => {
            let reason =
                "a language, an extension or a kind is a name, not a regular expression or glob";
            Err(BadExpr::new(atom, BadPattern::new(reason)))
        }
    }
}

fn history_type(name: &str, atom: usize) -> Result<Predicate, BadExpr> {
    Predicate::history_type(name).ok_or_else(|| {
        let reason = format!("there is no type {name}: commit and diff are");
        BadExpr::new(atom, BadPattern::new(reason))
    })
}

fn seconds(text: &str, atom: usize) -> Result<i64, BadExpr> {
    let reason = |_| BadPattern::new("a time is a number of seconds since 1970");
    text.parse()
        .map_err(reason)
        .map_err(|bad| BadExpr::new(atom, bad))
}

fn kind(name: &str, atom: usize) -> Result<Predicate, BadExpr> {
    let kind = DocumentKind::named(name).ok_or_else(|| {
        let reason = format!("no document is of the kind {name}");
        BadExpr::new(atom, BadPattern::new(reason))
    })?;
    let class = Class::ALL.into_iter().find(|class| kind_of(*class) == kind);
    Ok(Predicate::class(class.expect("each kind has a class")))
}

pub(crate) fn kind_of(class: Class) -> DocumentKind {
    match class {
        Class::Source => DocumentKind::Source,
        Class::Documentation => DocumentKind::Documentation,
        Class::Tests => DocumentKind::Tests,
        Class::Vendored => DocumentKind::Vendored,
    }
}
