//! Directory selected by a query (`path:^src/`), and revisions that it names.

use super::checked::Query;
use super::filter::{is_special, selected_directory};
use schema::message::{Expr, Field, Filter, Reading};

impl Query {
    /// Longest directory, with its slash, that has every match because of
    /// filters like `path:^src/`.
    pub fn directory(&self) -> Option<Vec<u8>> {
        let directories = self.expr.factors().iter().filter_map(selected);
        directories.max_by_key(Vec::len)
    }

    /// Revisions that have every match; empty if the query has patterns for them, or none.
    pub fn revisions(&self) -> Vec<String> {
        let factors = self.expr.factors().iter();
        let named = factors.map(|factor| match factor {
            Expr::Any(all) => all.iter().map(revision).collect(),
            one => Some(vec![revision(one)?]),
        });
        named.flatten().next().unwrap_or_default()
    }
}

fn revision(filter: &Expr) -> Option<String> {
    match filter {
        Expr::Filter(Filter {
            field: Field::Revision | Field::Branch,
            reading: Reading::Exact,
            text,
        }) => Some(text.clone()),
        _ => None,
    }
}

/// Filter value that selects a directory, given without the last slash.
pub fn selecting(directory: &str) -> String {
    let mut value = "^".to_owned();
    for letter in directory.chars() {
        if is_special(letter) || letter == '\\' {
            value.push('\\');
        }
        value.push(letter);
    }
    value.push('/');
    value
}

fn selected(factor: &Expr) -> Option<Vec<u8>> {
    match factor {
        Expr::Filter(Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text,
        }) => selected_directory(text).map(String::into_bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryInput;

    fn directory(filter: &str) -> Option<String> {
        let typed = QueryInput {
            q: "x",
            filters: &[(Field::Path, filter)],
            ..QueryInput::default()
        };
        let directory = Query::parse(&typed).unwrap().query.directory();
        directory.map(|directory| String::from_utf8(directory).unwrap())
    }

    #[test]
    fn a_filter_selects_a_directory_only_if_it_is_one() {
        assert_eq!(directory("^src/a-b/").as_deref(), Some("src/a-b/"));
        for other in [
            "^src", "src/", "^a.b/", r"^\w/", "^a|b/", "^/", "^(?i)a/", r"^a/\\", "-^a/", "=a/",
        ] {
            assert_eq!(directory(other), None, "{other}");
        }
    }

    #[test]
    fn revisions_are_those_that_are_named() {
        let revisions = |q| {
            let typed = QueryInput {
                q,
                ..QueryInput::default()
            };
            Query::parse(&typed).unwrap().query.revisions()
        };
        assert_eq!(revisions("x rev:v1.0"), ["v1.0"]);
        assert_eq!(revisions("x (rev:a or branch:b)"), ["a", "b"]);
        for other in [
            "x",
            "x -rev:a",
            "x rev:v*",
            "x (rev:a or path:b)",
            "rev:a or x",
        ] {
            assert_eq!(revisions(other), [""; 0], "{other}");
        }
    }

    #[test]
    fn the_filter_that_selects_a_directory_is_read_as_such() {
        for name in [
            "src", "a b", "c++", "a.b/(x)", "[1]*?", r"a\b", "ü", "$x^", "{}|",
        ] {
            assert_eq!(directory(&selecting(name)), Some(format!("{name}/")));
        }
    }
}
