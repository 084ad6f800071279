//! Tokens of a query: words, strings, regular expressions and filter values; and quoting.
//!
//! A word ends by context: in a group at an unbalanced `)`, in a parameter at the end.

use super::error::BadQuery;
use super::source_text::SourceText;

/// Flags after a closing quote or slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// `i`: ignores case; `c`: does not.
    pub(super) ignore_case: Option<bool>,
    pub(super) word: bool,
    /// `s`: `.` matches line ends.
    pub(super) dot_all: bool,
}

impl Flags {
    fn of(letters: &str) -> Flags {
        let mut flags = Flags::default();
        for letter in letters.chars() {
            match letter {
                'i' => flags.ignore_case = Some(true),
                'c' => flags.ignore_case = Some(false),
                'w' => flags.word = true,
                's' => flags.dot_all = true,
                _ => {}
            }
        }
        flags
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lexer<'a> {
    pub(super) typed: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Values end only at the end of input.
    pub(super) whole: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(typed: &'a str) -> Lexer<'a> {
        Lexer {
            typed,
            ..Lexer::default()
        }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.typed[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.typed.len() - self.rest().trim_start().len();
    }

    pub(super) fn ends_at(&self, at: usize) -> bool {
        match self.typed[at..].chars().next() {
            None => true,
            Some(_) if self.whole => false,
            Some(')') => self.depth > 0,
            Some(letter) => letter.is_whitespace(),
        }
    }

    fn flags_end(&self, at: usize, known: &str) -> Option<usize> {
        let flags = self.typed[at..].trim_start_matches(|letter| known.contains(letter));
        let end = self.typed.len() - flags.len();
        self.ends_at(end).then_some(end)
    }

    pub(super) fn string(&mut self) -> Result<(SourceText, Flags), BadQuery> {
        let open = self.at;
        let (text, close) = self.quoted().ok_or_else(|| {
            let quote: String = self.peek().into_iter().collect();
            BadQuery::new(format!("the quote {quote} is not closed"))
                .at(open)
                .hint("for exact text, close it")
        })?;
        if text.is_empty() {
            return Err(BadQuery::new("the quotes are empty").at(open));
        }
        let Some(end) = self.flags_end(close, "icw") else {
            return Err(BadQuery::new("unexpected text after the closing quote")
                .at(close)
                .hint("for exact text, insert a space"));
        };
        self.at = end;
        Ok((text, Flags::of(&self.typed[close..end])))
    }

    fn quoted(&self) -> Option<(SourceText, usize)> {
        let mut text = SourceText::default();
        let mut letters = self.rest().char_indices();
        let (_, quote) = letters.next()?;
        while let Some((offset, letter)) = letters.next() {
            let next = letters.as_str().chars().next();
            let at = self.at + offset;
            let (escape, escaped) = match quote {
                '\'' => ('\'', next.filter(|&next| next == '\'')),
                _ => ('\\', next.filter(|next| matches!(next, '"' | '\\'))),
            };
            let is_close = match quote {
                '“' | '”' => matches!(letter, '“' | '”'),
                _ => letter == quote,
            };
            match escaped {
                Some(escaped) if letter == escape => {
                    letters.next();
                    text.push(at + 1, escaped.encode_utf8(&mut [0; 4]));
                }
                _ if is_close => return Some((text, at + letter.len_utf8())),
                _ => text.push(at, letter.encode_utf8(&mut [0; 4])),
            }
        }
        None
    }

    /// Reads a regular expression between slashes. `None` if it is empty, unclosed, begins with a
    /// repetition (the comment `/* x */`), or looks like a path: several slashes, no metacharacter.
    /// Ends at the first unescaped `/` followed only by flags; no space may follow an inner slash.
    pub(super) fn regexp(&mut self) -> Option<(SourceText, Flags)> {
        let open = self.at;
        if self.rest()[1..].starts_with(['*', '+', '?']) {
            return None;
        }
        let (mut escaped, mut inner) = (false, false);
        for (offset, letter) in self.typed[open..].char_indices().skip(1) {
            let at = open + offset;
            if letter == '/' && !escaped {
                if let Some(end) = self.flags_end(at + 1, "ismcw") {
                    let body = &self.typed[open + 1..at];
                    if body.is_empty() || (inner && !has_meta(body)) {
                        return None;
                    }
                    self.at = end;
                    let flags = Flags::of(&self.typed[at + 1..end]);
                    let mut text = SourceText::default();
                    if flags.dot_all {
                        text.push(open, "(?s)");
                    }
                    text.push(open + 1, body);
                    return Some((text.into_regexp(), flags));
                }
                inner = true;
            }
            if inner && letter.is_whitespace() && !self.whole {
                return None;
            }
            escaped = letter == '\\' && !escaped;
        }
        None
    }

    /// Reads a word; a backslash escapes all but letters and digits. Also returns the
    /// offset of the first stray `)`.
    pub(super) fn word(&mut self) -> (SourceText, Option<usize>) {
        let (mut text, mut open, mut stray) = (SourceText::default(), 0, None);
        while let Some(letter) = self.peek() {
            let mut at = self.at;
            match letter {
                '\\' => {
                    let next = self.typed[at + 1..].chars().next();
                    if let Some(next) = next.filter(|next| !next.is_ascii_alphanumeric()) {
                        at += 1;
                        text.push(at, next.encode_utf8(&mut [0; 4]));
                        self.at = at + next.len_utf8();
                        continue;
                    }
                }
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.depth > 0 => break,
                ')' => stray = stray.or(Some(at)),
                _ if self.ends_at(at) => break,
                _ => {}
            }
            text.push(at, letter.encode_utf8(&mut [0; 4]));
            self.at += letter.len_utf8();
        }
        (text, stray)
    }

    /// Reads an unquoted value; with `escapes`, a backslash keeps the next character. Also returns
    /// if parentheses are balanced.
    pub(super) fn bare(&mut self, escapes: bool) -> (SourceText, bool) {
        let (start, mut open, mut escaped) = (self.at, 0_usize, false);
        while let Some(letter) = self.peek() {
            match letter {
                _ if escaped || self.whole => {}
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                _ if self.ends_at(self.at) => break,
                _ => {}
            }
            escaped = escapes && letter == '\\' && !escaped;
            self.at += letter.len_utf8();
        }
        let text = SourceText::plain(start, &self.typed[start..self.at]);
        (text, open == 0)
    }
}

/// True with metacharacters that are rare in file names.
pub(super) fn has_meta(text: &str) -> bool {
    text.contains(['\\', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'])
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn slashed(regexp: &str) -> String {
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
