//! Regular expressions of `path:` and `filename:`.

use super::Value;
use crate::regexp::check_syntax;
use std::str::Chars;

const NAME: &str = "(?:^|/)";

pub(super) fn path(value: &Value) -> String {
    let text = match value {
        Value::Regexp(regexp) => return regexp.clone(),
        Value::Quoted(text) => return regex_syntax::escape(text),
        Value::Bare(text) if is_regexp(text) => return text.clone(),
        // Files at the root.
        Value::Bare(text) if text == "/" => return "^[^/]*$".to_owned(),
        Value::Bare(text) => text,
    };
    let (start, rest) = match text.strip_prefix('/') {
        Some(rest) => ("^", rest),
        None if is_glob(text) => (NAME, &text[..]),
        None => ("", &text[..]),
    };
    if is_glob(rest) {
        format!("{start}{}$", glob(rest))
    } else {
        format!("{start}{}", regex_syntax::escape(rest))
    }
}

pub(super) fn file_name(value: &Value) -> String {
    let text = match value {
        Value::Regexp(regexp) => return in_name(regexp),
        Value::Bare(text) if is_regexp(text) => return in_name(text),
        Value::Bare(text) if is_glob(text) => return format!("{NAME}{}$", glob(text)),
        Value::Bare(text) | Value::Quoted(text) => text,
    };
    let (start, end) = (r"(?:[^/]*[^/\pL\pN])?", r"(?:[^/\pL\pN][^/]*)?$");
    format!("{NAME}{start}{}{end}", regex_syntax::escape(text))
}

fn in_name(regexp: &str) -> String {
    match regexp.strip_prefix('^') {
        Some(rest) => format!("{NAME}{rest}"),
        None => regexp.to_owned(),
    }
}

fn is_regexp(text: &str) -> bool {
    let is_meant = text.starts_with('^')
        || text.ends_with('$')
        || ["\\", ".*", ".+"].iter().any(|part| text.contains(part));
    is_meant && check_syntax(text).is_ok()
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?']) || text.contains('{') && text.contains('}')
}

fn glob(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let (mut letters, mut open) = (text.chars(), 0_usize);
    while let Some(letter) = letters.next() {
        match letter {
            '*' => out.push_str(stars(&mut letters)),
            '?' => out.push_str("[^/]"),
            '{' if letters.as_str().contains('}') => {
                open += 1;
                out.push_str("(?:");
            }
            '}' if open > 0 => {
                open -= 1;
                out.push(')');
            }
            ',' if open > 0 => out.push('|'),
            other => out.push_str(&regex_syntax::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push_str(&")".repeat(open));
    out
}

fn stars(letters: &mut Chars<'_>) -> &'static str {
    match letters.as_str() {
        rest if rest.starts_with("*/") => {
            letters.nth(1);
            "(?:.*/)?"
        }
        rest if rest.starts_with('*') => {
            letters.next();
            ".*"
        }
        _ => "[^/]*",
    }
}
