//! A query as it is written in the language of this program.
//!
//! There is one way to write each: a word that could mean anything else is in quotes, what is joined
//! within something else is in parentheses, and options come last. Case and whole words are said by
//! an option where one says it of every pattern, and else by flags.
//!
//! **Invariant:** of what any dialect understands, parsing what is rendered gives the same again.
//! Lines of context, and what is wanted of what is found, are not part of it.

use super::case::Case;
use super::keys::{self, Begin};
use super::lex::Lexer;
use crate::query::filter;
use schema::message::{Expr, Pattern, Syntax};

/// Renders an expression; `limit` 0 is none.
pub(crate) fn render(expr: &Expr, names: bool, limit: u64) -> String {
    let notation = Notation::of(expr, names);
    let mut out = notation.expr(expr, false);
    match notation.case {
        Case::Auto => {}
        Case::Yes => out.push_str(" case:yes"),
        Case::No => out.push_str(" case:no"),
    }
    if notation.word {
        out.push_str(" word:yes");
    }
    if names {
        out.push_str(" type:path");
    }
    if limit > 0 {
        out.push_str(&format!(" count:{limit}"));
    }
    out
}

/// What the options say.
struct Notation {
    case: Case,
    word: bool,
    names: bool,
}

impl Notation {
    fn of(expr: &Expr, names: bool) -> Notation {
        let patterns = expr.patterns();
        let all = |case: Case| {
            let is_so = |pattern: &&Pattern| {
                pattern.ignore_case == case.ignores(&pattern.text, pattern.syntax)
            };
            patterns.iter().all(is_so)
        };
        let cases = [Case::Auto, Case::Yes, Case::No];
        Notation {
            case: cases
                .into_iter()
                .find(|&case| all(case))
                .unwrap_or(Case::Auto),
            word: !patterns.is_empty() && patterns.iter().all(|pattern| pattern.word),
            names,
        }
    }

    /// `in_text`: names are not searched here.
    fn expr(&self, expr: &Expr, in_text: bool) -> String {
        match expr {
            Expr::Pattern(pattern) => self.pattern(pattern, in_text),
            Expr::Filter(filter) => filter::in_query(filter),
            Expr::All(parts) => self.list(parts, " ", in_text),
            Expr::Any(parts) => self.list(parts, " or ", in_text),
            Expr::Not(inner) => format!("-{}", self.within(inner, in_text)),
            Expr::Line(inner) => format!("line:({})", self.expr(inner, true)),
        }
    }

    fn list(&self, parts: &[Expr], joint: &str, in_text: bool) -> String {
        let parts = parts.iter().map(|part| self.within(part, in_text));
        parts.collect::<Vec<_>>().join(joint)
    }

    fn within(&self, expr: &Expr, in_text: bool) -> String {
        let text = self.expr(expr, in_text);
        match expr {
            Expr::All(_) | Expr::Any(_) => format!("({text})"),
            _ => text,
        }
    }

    fn pattern(&self, pattern: &Pattern, in_text: bool) -> String {
        let Pattern { text, syntax, .. } = pattern;
        let key = match self.names && !in_text && !pattern.in_path {
            true => "content:",
            false => "",
        };
        let case = match pattern.ignore_case {
            same if same == self.case.ignores(text, *syntax) => "",
            true => "i",
            false => "c",
        };
        let word = match pattern.word && !self.word {
            true => "w",
            false => "",
        };
        let text = match syntax {
            Syntax::Literal if case.is_empty() && word.is_empty() && is_word(text) => text.clone(),
            Syntax::Literal => quoted(text),
            Syntax::Regexp => slashed(text),
        };
        format!("{key}{text}{case}{word}")
    }
}

/// Whether a text is a word that stands for itself.
fn is_word(text: &str) -> bool {
    let is_special = text.starts_with(['-', '>', '=', '(', ')', '/', '"', '\''])
        || text.contains(['\\', ':'])
        || matches!(text, "or" | "OR" | "and" | "AND" | "not" | "NOT");
    let mut lexer = Lexer::new(text);
    lexer.depth = 1;
    !is_special
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        && lexer.bare(false).1
        && lexer.rest().is_empty()
        && matches!(keys::begin(text), Begin::None)
}

/// In quotes, with a backslash before what would end them.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A regular expression between slashes, with a backslash before those within it.
pub fn slashed(regexp: &str) -> String {
    let mut out = String::from("/");
    let mut escaped = false;
    for letter in regexp.chars() {
        if letter == '/' && !escaped {
            out.push('\\');
        }
        escaped = letter == '\\' && !escaped;
        out.push(letter);
    }
    out.push('/');
    out
}
