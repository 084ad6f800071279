//! Keys: the words before a colon.

use crate::similar::similar;
use schema::message::Field;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Restricts the documents.
    Filter(Field),
    /// A pattern in the text, even where names are searched.
    Content,
    /// Patterns on one line.
    Line,
    /// Holds for the whole query.
    Option(Setting),
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Case,
    Word,
    Type,
    Count,
    Context,
    Timeout,
}

/// All keys; the first name of several is canonical.
const KEYS: &[(&str, Key)] = &[
    ("package", Key::Filter(Field::Package)),
    ("pkg", Key::Filter(Field::Package)),
    ("repo", Key::Filter(Field::Package)),
    ("r", Key::Filter(Field::Package)),
    ("path", Key::Filter(Field::Path)),
    ("file", Key::Filter(Field::Path)),
    ("f", Key::Filter(Field::Path)),
    ("name", Key::Filter(Field::Name)),
    ("lang", Key::Filter(Field::Language)),
    ("language", Key::Filter(Field::Language)),
    ("filetype", Key::Filter(Field::Language)),
    ("l", Key::Filter(Field::Language)),
    ("ext", Key::Filter(Field::Extension)),
    ("content", Key::Content),
    ("c", Key::Content),
    ("line", Key::Line),
    ("case", Key::Option(Setting::Case)),
    ("word", Key::Option(Setting::Word)),
    ("type", Key::Option(Setting::Type)),
    ("count", Key::Option(Setting::Count)),
    ("context", Key::Option(Setting::Context)),
    ("ctx", Key::Option(Setting::Context)),
    ("timeout", Key::Option(Setting::Timeout)),
];

/// The prefix of a term.
pub(super) enum Prefix<'a> {
    /// A key.
    Known(&'a str, Key),
    /// An unknown word before a colon.
    Unknown(&'a str),
    /// Neither.
    None,
}

/// Returns the key at the start of a term. A word before `::` is not a key, but a name in C++, Rust or
/// Perl.
pub(super) fn prefix(term: &str) -> Prefix<'_> {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || "_.+-".contains(letter);
    let end = term.find(|letter| !is_inner(letter));
    let Some(name) = end.map(|end| &term[..end]) else {
        return Prefix::None;
    };
    let is_key = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !is_key || !term[name.len()..].starts_with(':') {
        return Prefix::None;
    }
    let known = KEYS.iter().find(|(known, _)| *known == name);
    match known {
        Some(&(known, key)) if !term[name.len()..].starts_with("::") => Prefix::Known(known, key),
        _ => Prefix::Unknown(name),
    }
}

/// Returns the key that an unknown word resembles.
pub(super) fn near(name: &str) -> Option<&'static str> {
    let long = KEYS.iter().map(|(known, _)| *known);
    let long = long.filter(|known| known.len() > 2);
    similar(name.to_ascii_lowercase(), long).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_keys_only_for_near_misses() {
        assert_eq!(near("Path"), Some("path"));
        assert_eq!(near("pakcage"), Some("package"));
        assert_eq!(near("langauge"), Some("language"));
        assert_eq!(near("pth"), Some("path"));
        for far in ["std", "http", "foo", "display", "sym", "select", "C"] {
            assert_eq!(near(far), None, "{far}");
        }
    }
}
