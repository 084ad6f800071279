//! Completion at a place in a query: a key, or its value.
//!
//! The query may be invalid while typed. Nothing completes in quotes and regular expressions.

use super::keys::{self, Key, Prefix, Setting};
use schema::message::Field;

/// Part of a query before the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedPart<'a> {
    /// Byte offset of its text.
    pub from: usize,
    pub text: &'a str,
    pub of: PartOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// A key, or text.
    Word,
    Filter(Field),
    /// The name of a definition, with this mark before a whole name.
    Symbol(&'static str),
    Option(&'static [&'static str]),
}

impl<'a> TypedPart<'a> {
    /// Part of `q` that ends at byte `at`; `None` if nothing completes there.
    pub fn at(q: &'a str, at: usize) -> Option<TypedPart<'a>> {
        let before = q.get(..at)?;
        let is_quoted = before.matches('"').count() % 2 == 1;
        let ends = |letter: char| letter.is_whitespace() || letter == '(';
        let word = before.rsplit(ends).next().unwrap_or_default();
        let term = word.strip_prefix('-').unwrap_or(word);
        if is_quoted || term.starts_with(['/', '"', '\'']) {
            return None;
        }
        let (text, of) = match keys::prefix(term) {
            Prefix::Known(name, key) => (&term[name.len() + 1..], value_of(key)?),
            Prefix::Unknown(_) => return None,
            Prefix::None => (term, PartOf::Word),
        };
        Some(TypedPart {
            from: at - text.len(),
            text,
            of,
        })
    }
}

fn value_of(key: Key) -> Option<PartOf> {
    match key {
        Key::Filter(field) => Some(PartOf::Filter(field)),
        Key::Option(setting) => Some(PartOf::Option(match setting {
            Setting::Case => &["auto", "yes", "no"],
            Setting::Word | Setting::Exact => &["yes", "no"],
            Setting::Type => &["file", "path", "symbol", "commit", "diff"],
            Setting::Count | Setting::Context | Setting::Timeout => return None,
        })),
        Key::In => Some(PartOf::Option(&[
            "code", "comment", "string", "text", "added", "removed",
        ])),
        Key::Symbol | Key::Parent => Some(PartOf::Symbol("=")),
        Key::Uses => Some(PartOf::Symbol("")),
        Key::Content | Key::Line | Key::Changed(_) => None,
    }
}

/// Keys that begin with `prefix`, by main name, with a description.
pub fn keys_with(prefix: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    keys::all().filter(move |(name, _)| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(q: &str, expected: Option<(usize, &str, PartOf)>) {
        let part = TypedPart::at(q, q.len());
        assert_eq!(
            part.map(|part| (part.from, part.text, part.of)),
            expected,
            "{q}"
        );
    }

    #[test]
    fn the_part_that_is_typed_is_a_word_or_a_value() {
        check("", Some((0, "", PartOf::Word)));
        check("errno la", Some((6, "la", PartOf::Word)));
        check("a (-pa", Some((4, "pa", PartOf::Word)));
        check(
            "x lang:py",
            Some((7, "py", PartOf::Filter(Field::Language))),
        );
        check("x -pkg:", Some((7, "", PartOf::Filter(Field::Package))));
        check(
            "case:n",
            Some((5, "n", PartOf::Option(&["auto", "yes", "no"]))),
        );
        check("sym:=ab", Some((4, "=ab", PartOf::Symbol("="))));
        check("a uses:x", Some((7, "x", PartOf::Symbol(""))));
        check("ü kind:t", Some((8, "t", PartOf::Filter(Field::Kind))));
        for nothing in ["\"a b", "x /la", "std::st", "count:1", "http:x"] {
            check(nothing, None);
        }
    }

    #[test]
    fn a_place_that_is_none_has_nothing_to_complete() {
        assert_eq!(TypedPart::at("ü", 1), None);
        assert_eq!(TypedPart::at("a", 2), None);
    }

    #[test]
    fn keys_are_known_by_their_main_names() {
        let keys: Vec<_> = keys_with("c").map(|(name, _)| name).collect();
        assert_eq!(
            keys,
            [
                "content",
                "changed",
                "committer",
                "case",
                "count",
                "context"
            ]
        );
        assert_eq!(keys_with("pkg").count(), 0);
    }
}
