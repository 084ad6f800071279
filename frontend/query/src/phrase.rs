//! Phrase of a query: patterns of lines that have its words side by side, as typed.
//!
//! They only affect the order: `return NULL;` finds lines with both words first. One pattern is the
//! typed text; the other allows quotes and parentheses between the words.
//!
//! **Invariant:** a run of blanks equals one blank.

use super::forms;
use schema::message::{Expr, Pattern, Syntax};
use std::ops::Range;

/// Bytes of a typed phrase. Lines of code are shorter.
const TYPED_BYTES_MAX: usize = 512;

const BLANKS: &str = r"[ \t]+";

const GAP: &str = r#"[ \t"'()]+"#;

/// Patterns of a phrase, best first; none without words side by side. `texts` are
/// places of text in the query. With `forms`, other
/// forms of its texts match.
pub(super) fn patterns(
    typed: &str,
    texts: &[Range<usize>],
    expr: &Expr,
    forms: bool,
) -> Vec<Pattern> {
    let regexp = |text: &str| {
        let all = forms.then(|| forms::regexp(text)).flatten();
        all.unwrap_or_else(|| regex_syntax::escape(text))
    };
    let is_left_out = |part: &&Expr| part.is_filter() || matches!(part, Expr::Not(_));
    let factors = expr.factors().iter();
    let parts: Vec<&Expr> = factors.filter(|part| !is_left_out(part)).collect();
    let words: Option<Vec<&Pattern>> = parts.iter().map(|part| word(part)).collect();
    let bytes: usize = texts.iter().map(ExactSizeIterator::len).sum();
    let is_text = parts.iter().all(|part| is_text(part));
    if !is_text || (words.is_none() && parts.len() > 1) || bytes > TYPED_BYTES_MAX {
        return Vec::new();
    }
    let texts = texts.iter().map(|at| &typed[at.clone()]);
    let tokens: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
    if matches!(parts[..], [Expr::Pattern(_)]) {
        return Vec::new();
    }
    let words = words.filter(|words| words.len() > 1);
    let exact = (tokens.len() > 1).then(|| exact(&tokens, &regexp));
    let others = words.map(|words| side_by_side(&words, &regexp));
    let patterns = exact.into_iter().chain(others);
    let pattern = |text| Pattern {
        text,
        syntax: Syntax::Regexp,
        ..Pattern::default()
    };
    patterns.map(pattern).collect()
}

fn word(expr: &Expr) -> Option<&Pattern> {
    match expr {
        Expr::Pattern(pattern) => Some(pattern),
        _ => None,
    }
}

fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(it) => {
            it.syntax == Syntax::Literal && !it.in_path && !it.text.contains(['\n', '\r'])
        }
        Expr::All(parts) | Expr::Any(parts) => parts.iter().all(is_text),
        Expr::Filter(_) | Expr::Not(_) | Expr::Line(_) => false,
    }
}

fn exact(tokens: &[&str], regexp: &dyn Fn(&str) -> String) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (first, last) = (tokens.first(), tokens.last());
    let starts = first.is_some_and(|token| token.starts_with(is_word));
    let ends = last.is_some_and(|token| token.ends_with(is_word));
    let escaped = tokens.iter().map(|token| regexp(token));
    let escaped: Vec<String> = escaped.collect();
    let start = if starts { r"\b{start-half}" } else { "" };
    let end = if ends { r"\b{end-half}" } else { "" };
    format!("{start}{}{end}", escaped.join(BLANKS))
}

fn side_by_side(words: &[&Pattern], regexp: &dyn Fn(&str) -> String) -> String {
    let word = |word: &&Pattern| {
        let flag = if word.ignore_case { "i" } else { "-i" };
        let text = format!("(?{flag}:{})", regexp(&word.text));
        if word.word {
            format!(r"\b{{start-half}}{text}\b{{end-half}}")
        } else {
            text
        }
    };
    words.iter().map(word).collect::<Vec<_>>().join(GAP)
}
