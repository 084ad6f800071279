//! Translates regular expressions from RE2 and Go.
//!
//! Differences: `\Q…\E` is literal; `{` without a repetition and `[` in a class are literal;
//! classes have no operators. The rest is copied, errors included.

use crate::source_text::SourceText;

pub(super) fn translated(typed: &str, at: usize) -> SourceText {
    let mut scanner = Scanner {
        typed,
        base: at,
        ..Scanner::default()
    };
    while scanner.at < typed.len() {
        scanner.step();
    }
    scanner.text.into_regexp()
}

#[derive(Default)]
struct Scanner<'a> {
    typed: &'a str,
    base: usize,
    at: usize,
    text: SourceText,
    class: Option<usize>,
}

impl Scanner<'_> {
    fn step(&mut self) {
        let rest = &self.typed[self.at..];
        if let Some(literal) = rest.strip_prefix("\\Q") {
            let end = literal.find("\\E").unwrap_or(literal.len());
            self.at += 2;
            for letter in literal[..end].chars() {
                self.literal(letter);
            }
            self.at = (self.at + 2).min(self.typed.len());
            return;
        }
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { return };
        match letter {
            '\\' => {
                let next = letters.next().map_or(0, char::len_utf8);
                return self.copy(1 + next);
            }
            '[' if self.class.is_none() => {
                self.copy(1);
                if self.typed[self.at..].starts_with('^') {
                    self.copy(1);
                }
                self.class = Some(self.at);
                return;
            }
            '[' if rest.starts_with("[:") => match rest.find(":]") {
                Some(end) => return self.copy(end + 2),
                None => return self.literal('['),
            },
            '[' => return self.literal('['),
            ']' if self.class.is_some_and(|start| start < self.at) => self.class = None,
            // Doubled, they would be operators.
            '&' | '~' if self.class.is_some() => return self.literal(letter),
            '-' if self.class.is_some() && rest.starts_with("--") => return self.literal('-'),
            '{' if self.class.is_none() && !is_repetition(rest) => return self.literal('{'),
            _ => {}
        }
        self.copy(letter.len_utf8());
    }

    fn copy(&mut self, bytes: usize) {
        let end = self.at + bytes;
        self.text
            .push(self.base + self.at, &self.typed[self.at..end]);
        self.at = end;
    }

    fn literal(&mut self, letter: char) {
        if regex_syntax::is_meta_character(letter) {
            self.text.push(self.base + self.at, "\\");
        }
        self.copy(letter.len_utf8());
    }
}

/// True for `{2}`, `{2,}` and `{2,3}`.
fn is_repetition(rest: &str) -> bool {
    let inner = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let is_number = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    inner.is_some_and(|(inner, _)| match inner.split_once(',') {
        Some((least, most)) => !least.is_empty() && is_number(least) && is_number(most),
        None => !inner.is_empty() && is_number(inner),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_what_differs() {
        let check = |typed: &str, expected: &str| {
            assert_eq!(translated(typed, 0).as_str(), expected, "{typed}");
            let checked = crate::regexp::check_syntax(expected);
            assert!(checked.is_ok(), "{expected}: {checked:?}");
        };
        check(r"a\Qb.c(\E.d", r"ab\.c\(.d");
        check(r"\Qa\b", r"a\\b");
        check(r"\Q\E", "");
        check(r"if (x) {", r"if (x) \{");
        check(r"x{2}y{2,}z{2,3}{a}{}", r"x{2}y{2,}z{2,3}\{a}\{}");
        check(r"[[(]x[]a[]", r"[\[(]x[]a\[]");
        check(r"[^][:alpha:]&&~]", r"[^][:alpha:]\&\&\~]");
        check(r"[a-z][--/]", r"[a-z][\--/]");
        check(r"\[a&&b\]", r"\[a&&b\]");
        check(r"(?i)a|b\/", r"(?i)a|b/");
        assert_eq!(translated(r"a\Qb(\E[", 7).at(4), 14);
    }
}
