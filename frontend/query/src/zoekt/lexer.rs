//! Tokens: texts without quotes, with escapes.

use crate::error::BadQuery;
use crate::source_text::SourceText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Negate,
    Or,
    Atom(Key),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Text or path.
    Any,
    Content,
    File,
    Repo,
    Lang,
    Symbol,
    Branch,
    Case,
    Type,
    Archived,
    Fork,
    Public,
    Meta,
}

const KEYS: [(&str, Key); 18] = [
    ("archived:", Key::Archived),
    ("b:", Key::Branch),
    ("branch:", Key::Branch),
    ("c:", Key::Content),
    ("case:", Key::Case),
    ("content:", Key::Content),
    ("f:", Key::File),
    ("file:", Key::File),
    ("fork:", Key::Fork),
    ("public:", Key::Public),
    ("r:", Key::Repo),
    ("regex:", Key::Any),
    ("repo:", Key::Repo),
    ("lang:", Key::Lang),
    ("sym:", Key::Symbol),
    ("t:", Key::Type),
    ("type:", Key::Type),
    ("meta.", Key::Meta),
];

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Without its key.
    pub(super) text: SourceText,
    pub(super) end: usize,
}

/// Token at an offset; `None` at the end, and for empty quotes.
pub(super) fn next(typed: &str, at: usize) -> Result<Option<Token>, BadQuery> {
    let rest = &typed[at..];
    let sign = |kind| {
        Ok(Some(Token {
            kind,
            text: SourceText::default(),
            end: at + 1,
        }))
    };
    match rest.chars().next() {
        Some('-') => return sign(Kind::Negate),
        Some(')') => return sign(Kind::Close),
        _ => {}
    }
    let key = KEYS.iter().find(|(name, _)| rest.starts_with(name));
    let (name, key) = key.copied().unwrap_or(("", Key::Any));
    let mut text = SourceText::default();
    let (end, is_open) = read(typed, at + name.len(), &mut text)?;
    if name.is_empty() && rest.starts_with('(') && (is_open || end == at + 1) {
        return sign(Kind::Open);
    }
    if name.is_empty() && text.is_empty() {
        return Ok(None);
    }
    let kind = match &typed[at..end] {
        "or" => Kind::Or,
        _ => Kind::Atom(key),
    };
    Ok(Some(Token { kind, text, end }))
}

/// Returns the end, and true for a space within parentheses.
fn read(typed: &str, start: usize, text: &mut SourceText) -> Result<(usize, bool), BadQuery> {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(letter) = typed[at..].chars().next() {
        let mut bytes = letter.len_utf8();
        match letter {
            ' ' | '\t' | '\n' => return Ok((at, depth > 0)),
            ')' if depth == 0 => break,
            '"' => {
                at = string(typed, at, text)?;
                continue;
            }
            '\\' => {
                let escaped = typed[at + 1..].chars().next();
                let escaped = escaped.ok_or_else(|| BadQuery::new("\\ escapes nothing").at(at))?;
                bytes += escaped.len_utf8();
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        text.push(at, &typed[at..at + bytes]);
        at += bytes;
    }
    Ok((at, false))
}

/// Reads a quoted part, in which a backslash escapes one character and is dropped.
fn string(typed: &str, start: usize, text: &mut SourceText) -> Result<usize, BadQuery> {
    let mut letters = typed[start + 1..].char_indices();
    while let Some((offset, letter)) = letters.next() {
        let at = start + 1 + offset;
        let (at, letter) = match letter {
            '"' => return Ok(at + 1),
            '\\' => match letters.next() {
                Some((_, escaped)) => (at + 1, escaped),
                None => break,
            },
            letter => (at, letter),
        };
        text.push(at, letter.encode_utf8(&mut [0; 4]));
    }
    let bad = BadQuery::new("the quote is not closed").at(start);
    Err(bad.hint("search for it as \\\""))
}
