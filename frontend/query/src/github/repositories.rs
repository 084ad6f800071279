//! Filters of `repo:`, `org:` and `user:`.
//!
//! The owner is the name above a package's last one. Packages without one belong to every owner.

use super::{OWNER, Value, by_package, exact};
use schema::message::{Expr, Field};

pub(super) fn named(value: &Value) -> Vec<Expr> {
    let typed = match value {
        Value::Regexp(regexp) => return vec![by_package(regexp.clone())],
        Value::Bare(typed) | Value::Quoted(typed) => typed.trim_end_matches('/'),
    };
    let (owner, name) = match typed.rsplit_once('/') {
        Some((owner, name)) => (owner, name),
        None => ("", typed),
    };
    let part = |text: &str| match value {
        Value::Quoted(_) => regex_syntax::escape(text),
        _ => regex_syntax::escape(text).replace(r"\*", "[^/]*"),
    };
    let pattern = match owner {
        "" => format!("(?:^|/){}$", part(name)),
        _ => format!("^(?:(?:.*/)?{}/)?{}$", part(owner), part(name)),
    };
    let whole = Expr::Filter(exact(Field::Package, name));
    vec![whole, by_package(pattern)]
}

/// A negated owner excludes only its own packages.
pub(super) fn of_owner(value: &Value, is_negated: bool) -> Expr {
    let without = "^[^/]*$";
    let with = |owner: &str| format!("(?:^|/)(?:{owner})/[^/]*$");
    match value {
        Value::Regexp(regexp) => by_package(with(regexp)),
        _ if value.text() == OWNER => by_package(without.to_owned()),
        _ => {
            let owner = with(&regex_syntax::escape(value.text().trim_start_matches('@')));
            by_package(if is_negated {
                owner
            } else {
                format!("{without}|{owner}")
            })
        }
    }
}
