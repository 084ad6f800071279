//! The parts that a query is made of: words, strings, regular expressions and values of filters.
//!
//! What makes a word end depends on where it stands: inside of a group an unbalanced `)` does, and
//! in a parameter of an address nothing does. It is not decided here what a word means.

use super::{BadQuery, SourceText};

/// What stands behind a closing quote or slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `i`: case is ignored; `c`: it is not.
    pub(crate) ignore_case: Option<bool>,
    /// `w`: it is a whole word.
    pub(crate) word: bool,
    /// `s`: `.` is a line's end too.
    pub(crate) dot_all: bool,
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
                // `m` is how lines are searched anyway.
                _ => {}
            }
        }
        flags
    }
}

/// A place in what was typed.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    pub(crate) typed: &'a str,
    pub(crate) at: usize,
    /// How many groups are open.
    pub(crate) depth: usize,
    /// A value ends where the text does, whatever is in it.
    pub(crate) whole: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(typed: &'a str) -> Lexer<'a> {
        Lexer {
            typed,
            at: 0,
            depth: 0,
            whole: false,
        }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.typed[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn skip_space(&mut self) {
        self.at = self.typed.len() - self.rest().trim_start().len();
    }

    /// Whether what began before `at` has ended there.
    pub(crate) fn ends_at(&self, at: usize) -> bool {
        match self.typed[at..].chars().next() {
            None => true,
            Some(_) if self.whole => false,
            Some(')') => self.depth > 0,
            Some(letter) => letter.is_whitespace(),
        }
    }

    /// The end of the flags that begin at `at`, if nothing else stands behind them.
    fn flags_end(&self, at: usize, known: &str) -> Option<usize> {
        let flags = self.typed[at..].trim_start_matches(|letter| known.contains(letter));
        let end = self.typed.len() - flags.len();
        self.ends_at(end).then_some(end)
    }

    /// Exact text in quotes, of either kind.
    pub(crate) fn string(&mut self) -> Result<(SourceText, Flags), BadQuery> {
        let open = self.at;
        let (text, close) = self.quoted().ok_or_else(|| {
            let quote = &self.typed[open..=open];
            BadQuery::new(format!("the quote {quote} is not closed"))
                .at(open)
                .hint(format!(
                    "close it, or write \\{quote} for the character itself"
                ))
        })?;
        if text.is_empty() {
            return Err(BadQuery::new("there is nothing between the quotes")
                .at(open)
                .hint("leave them out, or write \\\"\\\" for the quotes themselves"));
        }
        let Some(end) = self.flags_end(close, "icw") else {
            return Err(
                BadQuery::new("something stands right behind a closing quote")
                    .at(close)
                    .hint("put a space between, or write \\\" for a quote within the text"),
            );
        };
        self.at = end;
        Ok((text, Flags::of(&self.typed[close..end])))
    }

    /// What is between quotes, and where it has ended.
    fn quoted(&self) -> Option<(SourceText, usize)> {
        let mut text = SourceText::default();
        let mut letters = self.rest().char_indices();
        let (_, quote) = letters.next()?;
        while let Some((offset, letter)) = letters.next() {
            let next = letters.as_str().chars().next();
            let at = self.at + offset;
            let (escape, escaped) = match quote {
                '"' => ('\\', next.filter(|next| matches!(next, '"' | '\\'))),
                _ => ('\'', next.filter(|&next| next == '\'')),
            };
            match escaped {
                Some(escaped) if letter == escape => {
                    letters.next();
                    text.push(at + 1, escaped.encode_utf8(&mut [0; 4]));
                }
                _ if letter == quote => return Some((text, at + 1)),
                _ => text.push(at, letter.encode_utf8(&mut [0; 4])),
            }
        }
        None
    }

    /// A regular expression between slashes. `None` is what is none: nothing, what is not closed,
    /// and what is a path by its looks, slashes and no character with a meaning.
    ///
    /// It ends at the first `/` without a backslash that flags, and nothing else, stand behind. So
    /// `/[/]/` is one, and of `/usr/include` the second does not end it; but what has such a slash
    /// within has no space behind that.
    pub(crate) fn regexp(&mut self) -> Option<(SourceText, Flags)> {
        let open = self.at;
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
                    return Some((regexp_text(open, body, flags), flags));
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

    /// A word: a backslash before anything but a letter and a digit takes away its meaning. Says
    /// also where a `)` was that closes nothing.
    pub(crate) fn word(&mut self) -> (SourceText, Option<usize>) {
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

    /// A value without quotes. In a regular expression a backslash and what is behind it belong
    /// together, and stay both. Says also whether its parentheses are balanced.
    pub(crate) fn bare(&mut self, escapes: bool) -> (SourceText, bool) {
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
        let mut text = SourceText::default();
        text.push(start, &self.typed[start..self.at]);
        (text, open == 0)
    }
}

fn regexp_text(open: usize, body: &str, flags: Flags) -> SourceText {
    let mut text = SourceText::default();
    if flags.dot_all {
        text.push(open, "(?s)");
    }
    text.push(open + 1, body);
    text.into_regexp()
}

/// Whether there is a character that has a meaning in a regular expression, and is rare in names of
/// files.
pub(crate) fn has_meta(text: &str) -> bool {
    text.contains(['\\', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'])
}
