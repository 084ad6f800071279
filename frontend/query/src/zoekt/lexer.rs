//! Tokens: texts without quotes, with escapes.

use crate::error::BadQuery;
use crate::source_text::SourceText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Negate,
    Or,
    Atom(AtomKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomKey {
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

impl AtomKey {
    pub(super) fn finds_text(self) -> bool {
        matches!(self, AtomKey::Any | AtomKey::Content | AtomKey::Symbol)
    }
}

const KEYS: [(&str, AtomKey); 18] = [
    ("archived:", AtomKey::Archived),
    ("b:", AtomKey::Branch),
    ("branch:", AtomKey::Branch),
    ("c:", AtomKey::Content),
    ("case:", AtomKey::Case),
    ("content:", AtomKey::Content),
    ("f:", AtomKey::File),
    ("file:", AtomKey::File),
    ("fork:", AtomKey::Fork),
    ("public:", AtomKey::Public),
    ("r:", AtomKey::Repo),
    ("regex:", AtomKey::Any),
    ("repo:", AtomKey::Repo),
    ("lang:", AtomKey::Lang),
    ("sym:", AtomKey::Symbol),
    ("t:", AtomKey::Type),
    ("type:", AtomKey::Type),
    ("meta.", AtomKey::Meta),
];

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
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
        Some('-') => return sign(TokenKind::Negate),
        Some(')') => return sign(TokenKind::Close),
        _ => {}
    }
    let key = KEYS.iter().find(|(name, _)| rest.starts_with(name));
    let (name, key) = key.copied().unwrap_or(("", AtomKey::Any));
    let mut text = SourceText::default();
    let (end, is_open) = read(typed, at + name.len(), &mut text)?;
    if name.is_empty() && rest.starts_with('(') && (is_open || end == at + 1) {
        return sign(TokenKind::Open);
    }
    if name.is_empty() && text.is_empty() {
        return Ok(None);
    }
    let kind = match &typed[at..end] {
        "or" => TokenKind::Or,
        _ => TokenKind::Atom(key),
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
