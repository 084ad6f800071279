//! Notices about ambiguous terms.

use crate::error::Notice;
use crate::keys;
use crate::lex::{Lexer, has_meta, quoted, slashed};

fn notice(at: usize, reason: String, hint: Option<String>) -> Notice {
    Notice {
        at: Some(at),
        reason,
        hint,
    }
}

pub(super) fn unknown_key(lexer: &Lexer<'_>, at: usize, name: &str) -> Notice {
    let (text, _) = lexer.clone().word();
    let text = text.as_str();
    let hint = match keys::near(name).filter(|_| !text.contains("::")) {
        Some(near) => format!("did you mean {near}:?"),
        None => format!("quotes make it text: {}", quoted(text)),
    };
    let colons = if text[name.len()..].starts_with("::") {
        "::"
    } else {
        ":"
    };
    let reason = format!("{text} is searched for as text: there is no key {name}{colons}");
    notice(at, reason, Some(hint))
}

/// A group with one word, or followed by text, may be meant as text.
pub(super) fn group(lexer: &Lexer<'_>, open: usize, is_word: bool) -> Option<Notice> {
    let is_followed = !lexer.ends_at(lexer.at);
    (is_word || is_followed).then(|| {
        let typed = &lexer.typed[open..lexer.at];
        let reason = format!("the parentheses of {typed} only group terms");
        let hint = format!("to search for them, type {}", quoted(typed));
        notice(open, reason, Some(hint))
    })
}

/// A regular expression with more than two slashes may be a path.
pub(super) fn slashes(lexer: &Lexer<'_>, at: usize) -> Option<Notice> {
    let typed = &lexer.typed[at..lexer.at];
    let plain = typed.replace("\\\\", "").replace("\\/", "");
    (plain.matches('/').count() > 2).then(|| {
        let reason = format!("{typed} is a regular expression");
        let hint = format!("to search for the text, type {}", quoted(typed));
        notice(at, reason, Some(hint))
    })
}

/// A word with an unmatched `)`, or one that looks like a regular expression.
pub(super) fn word(lexer: &Lexer<'_>, at: usize, stray: Option<usize>, notices: &mut Vec<Notice>) {
    let typed = &lexer.typed[at..lexer.at];
    if let Some(stray) = stray {
        let reason = "this ) closes no parenthesis and is searched for as text".to_owned();
        notices.push(notice(stray, reason, None));
    }
    let has_notice = notices.last().is_some_and(|notice| notice.at == Some(at));
    let plain = typed.replace("\\\\", "");
    let classes = ["\\w", "\\s", "\\d", "\\b", "\\W", "\\S", "\\D", "\\B"];
    let mut signs = [".*", ".+"].iter().chain(&classes);
    if !has_notice && signs.any(|sign| plain.contains(sign)) {
        notices.push(as_text(at, typed, typed));
    }
}

/// Typographic quotes are read as the plain ones, with one notice for all.
pub(super) fn quotes(lexer: &Lexer<'_>, at: usize, notices: &mut Vec<Notice>) {
    let reason = "typographic quotes enclose exact text, like plain ones";
    if notices.iter().all(|notice| notice.reason != reason) {
        let typed = lexer.typed[at..lexer.at].trim_end_matches(['i', 'c', 'w']);
        let hint = format!("to search for them, type {}", quoted(typed));
        notices.push(notice(at, reason.to_owned(), Some(hint)));
    }
}

/// A filter value between slashes may be meant as a directory.
pub(super) fn directory(lexer: &Lexer<'_>, at: usize, name: &str, regexp: &str) -> Option<Notice> {
    let typed = &lexer.typed[at..lexer.at];
    let is_path = typed.starts_with('/') && typed.ends_with('/') && !has_meta(typed);
    (is_path && regexp == typed.trim_matches('/')).then(|| {
        let reason = format!("{name}:{typed} is the regular expression {regexp}");
        let hint = format!("for a directory type {name}:(^|/){regexp}/");
        notice(at, reason, Some(hint))
    })
}

/// Text with a leading slash may be meant as a regular expression.
pub(super) fn unclosed(at: usize, typed: &str, close: &str) -> Option<Notice> {
    if typed.ends_with('/') && typed.len() > 2 {
        return Some(as_text(at, typed, typed.trim_matches('/')));
    }
    let looks_like_regexp = typed.contains(['*', '?', '[', '(', '|', '$']) && typed != "/*";
    looks_like_regexp.then(|| Notice {
        hint: Some(close.to_owned()),
        ..as_text(at, typed, typed)
    })
}

fn as_text(at: usize, typed: &str, regexp: &str) -> Notice {
    let reason = format!("{typed} is searched for as text");
    let hint = format!("for a regular expression type {}", slashed(regexp));
    notice(at, reason, Some(hint))
}
