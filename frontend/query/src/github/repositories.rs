//! Packages of `repo:`, `org:` and `user:`, whose values are `owner/name`.
//!
//! The owner is the directory above the last name of a package, and [`OWNER`] of one without.
//! Packages without one belong to every owner too, for clients that know them as such.

use super::{OWNER, Value, exact};
use schema::message::{Expr, Field, Filter, Reading};

/// Alternatives for a repository, in any case, with or without a version.
pub(super) fn named(value: &Value) -> Vec<Expr> {
    let typed = match value {
        Value::Regexp(regexp) => return vec![by_name(regexp.clone())],
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
    vec![whole, by_name(pattern)]
}

/// With `is_negated`, only packages that have this owner.
pub(super) fn of_owner(value: &Value, is_negated: bool) -> Expr {
    let without = "^[^/]*$";
    let with = |owner: &str| format!("(?:^|/)(?:{owner})/[^/]*$");
    match value {
        Value::Regexp(regexp) => by_name(with(regexp)),
        _ if value.text() == OWNER => by_name(without.to_owned()),
        _ => {
            let owner = with(&regex_syntax::escape(value.text().trim_start_matches('@')));
            by_name(if is_negated {
                owner
            } else {
                format!("{without}|{owner}")
            })
        }
    }
}

fn by_name(regexp: String) -> Expr {
    Expr::Filter(Filter {
        field: Field::Package,
        reading: Reading::RegexpIgnoringCase,
        text: regexp,
    })
}
