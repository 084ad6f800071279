//! The words that stand before a colon.

use crate::similar::similar;
use schema::message::Field;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// What is searched.
    Filter(Field),
    /// A pattern in the text, also where names are searched.
    Content,
    /// Patterns on one line.
    Line,
    /// How the whole query is meant.
    Option(Setting),
}

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Case,
    Word,
    Type,
    Count,
    Context,
    Timeout,
}

/// All of them; the first name of several is the one that is shown.
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

/// What a term begins with.
pub(super) enum Begin<'a> {
    /// A key that there is.
    Known(&'a str, Key),
    /// A word and a colon, which is no key.
    Unknown(&'a str),
    /// Neither.
    None,
}

/// The key at the beginning of a term. What two colons follow is a name of C++, Rust or Perl.
pub(super) fn begin(term: &str) -> Begin<'_> {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || "_.+-".contains(letter);
    let end = term.find(|letter| !is_inner(letter));
    let Some(name) = end.map(|end| &term[..end]) else {
        return Begin::None;
    };
    let is_key = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !is_key || !term[name.len()..].starts_with(':') {
        return Begin::None;
    }
    let known = KEYS.iter().find(|(known, _)| *known == name);
    match known {
        Some(&(known, key)) if !term[name.len()..].starts_with("::") => Begin::Known(known, key),
        _ => Begin::Unknown(name),
    }
}

/// The key that may have been meant by a word that is none.
pub(super) fn near(name: &str) -> Option<&'static str> {
    let long = KEYS.iter().map(|(known, _)| *known);
    let long = long.filter(|known| known.len() > 2);
    similar(name.to_ascii_lowercase(), long).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_few() {
        assert_eq!(near("Path"), Some("path"));
        assert_eq!(near("pakcage"), Some("package"));
        assert_eq!(near("langauge"), Some("language"));
        assert_eq!(near("pth"), Some("path"));
        for far in ["std", "http", "foo", "display", "sym", "select", "C"] {
            assert_eq!(near(far), None, "{far}");
        }
    }
}
