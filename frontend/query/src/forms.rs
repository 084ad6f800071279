//! Other forms of a literal that mean the same, as one regular expression: either line end, either
//! normal form of Unicode, and plain signs for the typographic ones of web pages.
//!
//! **Invariant:** each alternative begins with the typed form, so [`literal`] undoes [`regexp`].

use regex_syntax::ast::Ast;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    LineEnd,
    NormalForm,
    Sign,
}

impl Kind {
    pub(super) const ALL: [(Kind, &str); 3] = [
        (
            Kind::LineEnd,
            "line ends are searched for as both LF and CRLF",
        ),
        (
            Kind::NormalForm,
            "letters are searched for in both normal forms of Unicode (NFC, NFD)",
        ),
        (
            Kind::Sign,
            "typographic quotes, dashes and spaces are searched for as plain ones, too",
        ),
    ];
}

/// Regular expression of all forms; `None` if the text has only one.
pub(super) fn regexp(text: &str) -> Option<String> {
    let pieces = pieces(text);
    let has_forms = pieces.iter().any(|piece| piece.kind.is_some());
    has_forms.then(|| pieces.iter().map(Piece::regexp).collect())
}

/// Literal with this expression of its forms.
pub(super) fn literal(expression: &str) -> Option<String> {
    if !expression.contains(r"\r?\n") && !expression.contains("(?:") {
        return None;
    }
    let mut text = String::new();
    let mut parser = regex_syntax::ast::parse::ParserBuilder::new();
    let parser = parser.nest_limit(super::limits::NESTING_MAX);
    push_first(&parser.build().parse(expression).ok()?, &mut text);
    (regexp(&text).as_deref() == Some(expression)).then_some(text)
}

fn push_first(ast: &Ast, text: &mut String) {
    match ast {
        Ast::Literal(literal) => text.push(literal.c),
        Ast::Concat(parts) => parts.asts.iter().for_each(|part| push_first(part, text)),
        Ast::Alternation(parts) => push_first(&parts.asts[0], text),
        Ast::Group(group) => push_first(&group.ast, text),
        _ => {}
    }
}

pub(super) fn find(text: &str, kind: Kind) -> Option<usize> {
    let mut at = 0;
    for piece in pieces(text) {
        if piece.kind == Some(kind) {
            return Some(at);
        }
        at += piece.text.len();
    }
    None
}

struct Piece<'a> {
    text: &'a str,
    kind: Option<Kind>,
}

impl Piece<'_> {
    fn regexp(&self) -> String {
        let forms = match self.kind {
            None => return regex_syntax::escape(self.text),
            Some(Kind::LineEnd) => return r"\r?\n".to_owned(),
            Some(Kind::Sign) => {
                let plain = self.text.chars().find_map(plain).unwrap_or_default();
                vec![self.text.to_owned(), plain.to_owned()]
            }
            Some(Kind::NormalForm) => {
                let typed = self.text.chars();
                let (composed, decomposed) = (typed.clone().nfc(), typed.clone().nfd());
                let mut forms = vec![escaped(typed), escaped(composed), escaped(decomposed)];
                forms.dedup();
                if forms.first() == forms.last() {
                    forms.pop();
                }
                forms
            }
        };
        format!("(?:{})", forms.join("|"))
    }
}

/// Shows marks, which would hide in the letter before.
fn escaped(letters: impl Iterator<Item = char>) -> String {
    let escaped = letters.map(|letter| match letter {
        mark if is_combining_mark(mark) => format!("\\u{{{:x}}}", u32::from(mark)),
        other => regex_syntax::escape(other.encode_utf8(&mut [0; 4])),
    });
    escaped.collect()
}

/// Joins letters with several forms, so that a run has at most three.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let end = at + unit(&text[at..]);
        let kind = kind(&text[at..end]);
        match pieces.last_mut() {
            Some(last) if last.kind == kind && matches!(kind, None | Some(Kind::NormalForm)) => {
                last.text = &text[start..end];
            }
            _ => {
                start = at;
                let text = &text[at..end];
                pieces.push(Piece { text, kind });
            }
        }
        at = end;
    }
    pieces
}

/// Length of the first line end or letter, with marks.
fn unit(text: &str) -> usize {
    if text.starts_with("\r\n") {
        return 2;
    }
    let mut letters = text.char_indices();
    let first = letters.next().map(|(_, letter)| letter);
    match first.filter(|&letter| letter == '\n' || plain(letter).is_some()) {
        Some(alone) => alone.len_utf8(),
        None => {
            let next = letters.find(|&(_, letter)| is_boundary(letter));
            next.map_or(text.len(), |(at, _)| at)
        }
    }
}

/// True if it never combines with letters before it.
fn is_boundary(letter: char) -> bool {
    letter.is_ascii()
        || (canonical_combining_class(letter) == 0
            && is_nfc_quick(std::iter::once(letter)) == IsNormalized::Yes)
}

fn kind(unit: &str) -> Option<Kind> {
    let mut letters = unit.chars();
    let is_normal = || unit.chars().nfc().eq(unit.chars()) && unit.chars().nfd().eq(unit.chars());
    match letters.next() {
        _ if unit.ends_with('\n') => Some(Kind::LineEnd),
        Some(sign) if plain(sign).is_some() => Some(Kind::Sign),
        _ if unit.is_ascii() || is_normal() => None,
        _ => Some(Kind::NormalForm),
    }
}

/// Expression of the sign that a web page replaced.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{2018}' | '\u{2019}' => "'",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2010}'..='\u{2012}' | '\u{2212}' => "-",
        '\u{2013}' | '\u{2014}' => "--?",
        '\u{a0}' | '\u{202f}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&regexp(text).unwrap_or_default());
    }

    #[test]
    fn an_expression_has_all_forms_of_a_text() {
        check("foo(a)", expect![""]);
        check("ß\r日本", expect![""]);
        check("foo(a,\r\n  b\n", expect![[r#"foo\(a,\r?\n  b\r?\n"#]]);
        check("Café?", expect![[r#"Caf(?:é|e\u{301})\?"#]]);
        check("e\u{301}", expect![[r#"(?:e\u{301}|é)"#]]);
        check(
            "\u{1e69}a\u{323}\u{307}",
            expect![[r#"(?:ṩa\u{323}\u{307}|ṩạ\u{307}|s\u{323}\u{307}a\u{323}\u{307})"#]],
        );
        check("한글", expect!["(?:한글|한글)"]);
        check("“x’s”", expect![[r#"(?:“|")x(?:’|')s(?:”|")"#]]);
        check("–x−1", expect!["(?:–|--?)x(?:−|-)1"]);
    }

    fn texts() -> impl Strategy<Value = String> {
        let letters = "abé\u{301}\u{323}\u{212b}\u{1e69}\u{ac01}\u{1100}\u{1161}\u{958}\u{f73}’“–\u{a0}\r\n'\"- \\(|";
        let letter = prop::sample::select(letters.chars().collect::<Vec<_>>());
        prop::collection::vec(letter, 0..8).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn every_form_is_found_and_the_literal_again(text in prop_oneof![texts(), any::<String>()]) {
            let Some(expression) = regexp(&text) else {
                prop_assert!(text.chars().nfd().eq(text.chars()) && !text.contains('\n'));
                return Ok(());
            };
            // The first `\r` would become a part of the line end.
            let literal = literal(&expression).filter(|_| !text.contains("\r\r\n"));
            let with_lf = Some(text.replace("\r\n", "\n"));
            prop_assert_eq!(literal, with_lf.filter(|_| !text.contains("\r\r\n")));
            let whole = regex::Regex::new(&format!("^(?:{expression})$")).unwrap();
            let plain = |form: &str| form.replace(['‘', '’'], "'").replace(['“', '”'], "\"");
            for form in [text.clone(), text.chars().nfc().collect(), text.chars().nfd().collect()] {
                let lines = form.replace("\r\n", "\n");
                for form in [&form, &plain(&form), &lines, &lines.replace('\n', "\r\n")] {
                    prop_assert!(whole.is_match(form), "{expression:?} {form:?}");
                }
            }
        }
    }
}
