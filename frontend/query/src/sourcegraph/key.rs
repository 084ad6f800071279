//! Names of fields before a colon.

use super::options::PatternType;
use crate::error::BadQuery;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKey {
    Repository,
    File,
    Language,
    Revision,
    Content,
    PatternType,
    Case,
    Count,
    Select,
    Type,
    Timeout,
    Context,
    Ignored,
    Commit,
}

const KEYS: [(&str, FieldKey); 14] = [
    ("repo r", FieldKey::Repository),
    ("file f path", FieldKey::File),
    ("lang l language", FieldKey::Language),
    ("rev revision", FieldKey::Revision),
    ("content", FieldKey::Content),
    ("patterntype", FieldKey::PatternType),
    ("case", FieldKey::Case),
    ("count", FieldKey::Count),
    ("select", FieldKey::Select),
    ("type", FieldKey::Type),
    ("timeout", FieldKey::Timeout),
    ("context", FieldKey::Context),
    ("archived fork visibility index stable", FieldKey::Ignored),
    (
        "author committer before until after since message msg",
        FieldKey::Commit,
    ),
];

pub(super) fn prefix(rest: &str) -> Option<(bool, FieldKey, usize)> {
    let typed = rest.strip_prefix('-').unwrap_or(rest);
    let end = typed.find(|letter: char| !letter.is_ascii_alphabetic())?;
    let name = typed[..end].to_ascii_lowercase();
    let is_it = |(names, _): &&(&str, FieldKey)| names.split(' ').any(|known| known == name);
    let (_, key) = KEYS.iter().find(is_it)?;
    let is_key = typed[end..].starts_with(':') && !typed[end..].starts_with("::");
    let signed = rest.len() - typed.len();
    is_key.then_some((signed > 0, *key, signed + end + 1))
}

pub(super) fn pattern_type(query: &str) -> Result<Option<PatternType>, BadQuery> {
    let words = query.split_whitespace();
    let mut values = words.filter_map(|word| match prefix(word)? {
        (false, FieldKey::PatternType, start) => Some(&word[start..]),
        _ => None,
    });
    let Some(value) = values.next_back() else {
        return Ok(None);
    };
    let value = value.trim_matches(['"', '\'', ')']);
    let found = PatternType::named(value).ok_or_else(|| {
        let expected = "keyword, standard, literal or regexp";
        BadQuery::invalid(&format!("patterntype:{value}"), expected)
    })?;
    Ok(Some(found))
}
