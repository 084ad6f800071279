//! Values of `rev:` and `branch:`: a branch or tag name, short or full, a prefix of a commit id, or
//! a glob. `HEAD` is the default revision.
//!
//! Filters select indexed revisions: neither regular expressions nor `HEAD~25` are allowed.
//! Characters that Git forbids in names are refused with a hint.

use super::error::BadQuery;
use super::lex::Lexer;
use super::source_text::SourceText;
use schema::message::{Filter, Reading};

/// Signs of globs, which names cannot contain.
const GLOB_SIGNS: [char; 4] = ['*', '?', '[', '{'];

const EXPRESSIONS: [(&str, &str); 2] = [
    ("@{", "@{ reads the log of a branch, which is not indexed"),
    ("..", "a range of commits cannot be searched"),
];

const EXPECTED: &str = "a filter takes a branch, a tag, 7 or more digits of a commit id, or a glob";

/// Reads an unquoted value. Refuses signs of regular expressions that Git allows in names.
pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<(SourceText, Reading), BadQuery> {
    let start = lexer.at;
    let (text, _) = lexer.bare(false);
    let typed = text.as_str();
    let sign = typed
        .find(['|', '('])
        .or_else(|| typed.strip_suffix('$').map(str::len));
    if let Some(at) = sign {
        let names = typed.trim_matches(['(', ')', '^', '$']).replace('|', ",");
        let instead = if names.contains(',') {
            format!("type {{{names}}}")
        } else {
            format!("type {names}")
        };
        return Err(not_regexp(at, typed)
            .at(start + at)
            .hint(format!("{instead}, or mark an exact name with =")));
    }
    let reading = if typed.contains(GLOB_SIGNS) {
        Reading::Glob
    } else {
        Reading::Exact
    };
    Ok((text, reading))
}

pub(super) fn check(filter: &Filter) -> Result<(), BadQuery> {
    let (text, is_glob) = (&filter.text[..], filter.reading == Reading::Glob);
    if let Some(name) = text.strip_prefix('^') {
        let name = name.trim_end_matches(['$', '*', '.', '\\']);
        return Err(not_regexp(0, text)
            .at(0)
            .hint(format!("for names that begin with {name}, type {name}*")));
    }
    for (sign, reason) in EXPRESSIONS {
        if let Some(at) = text.find(sign) {
            return Err(BadQuery::new(reason).at(at).hint(EXPECTED));
        }
    }
    if text.starts_with('/') || text.ends_with('/') {
        return Err(slash(text));
    }
    let mut in_class = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' if is_glob => in_class = true,
            ']' => in_class = false,
            '^' if in_class => {}
            _ if is_glob && GLOB_SIGNS.contains(&letter) => {}
            _ => check_letter(at, letter)?,
        }
    }
    Ok(())
}

fn check_letter(at: usize, letter: char) -> Result<(), BadQuery> {
    let hint = match letter {
        '~' | '^' => format!("{EXPECTED}; /api/v2/commit resolves expressions"),
        ':' => "for a file of a revision, add path:".to_owned(),
        '\\' => "a glob needs no backslash: . is a dot".to_owned(),
        '*' | '?' | '[' => "for a glob, leave out = and quotes".to_owned(),
        _ if letter.is_whitespace() || letter.is_control() => EXPECTED.to_owned(),
        _ => return Ok(()),
    };
    let shown = letter.escape_debug();
    let reason = match letter {
        ' ' => "a space cannot be in the name of a revision".to_owned(),
        '\\' => "\\ cannot be in the name of a revision".to_owned(),
        _ => format!("{shown} cannot be in the name of a revision"),
    };
    Err(BadQuery::new(reason).at(at).hint(hint))
}

fn slash(text: &str) -> BadQuery {
    let inner = text.trim_matches('/');
    let at = if text.starts_with('/') {
        0
    } else {
        text.len() - 1
    };
    let bad = BadQuery::new("the name of a revision neither begins nor ends with a slash").at(at);
    match inner {
        "" => bad.hint(EXPECTED),
        _ if at == 0 => bad.hint(format!("type {inner}, or a glob such as *{inner}*")),
        _ => bad.hint(format!("for all below it, type {inner}/*")),
    }
}

fn not_regexp(at: usize, text: &str) -> BadQuery {
    let sign = text[at..].chars().next().unwrap_or_default();
    BadQuery::new(format!(
        "{sign} is not allowed: a revision is not a regular expression"
    ))
}
