//! Case sensitivity. `auto`: a pattern with an upper-case letter is case-sensitive.

use regex_syntax::ast::{Ast, ClassAsciiKind, ClassSetItem, Visitor, parse::ParserBuilder, visit};
use schema::message::Syntax;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// Smart case.
    Auto,
    Yes,
    No,
}

impl Case {
    pub(super) const CHOICES: [(&str, Case); 3] =
        [("yes", Case::Yes), ("no", Case::No), ("auto", Case::Auto)];

    pub(super) fn ignores(self, text: &str, syntax: Syntax) -> bool {
        match (self, syntax) {
            (Case::Yes, _) => false,
            (Case::No, _) => true,
            (Case::Auto, Syntax::Literal) => Letters::of_literal(text).ignore_case(),
            (Case::Auto, Syntax::Regexp) => Letters::of_regexp(text).ignore_case(),
        }
    }
}

/// Cases of a pattern's letters. Without letters, case is not ignored.
#[derive(Default)]
struct Letters {
    upper: bool,
    lower: bool,
}

impl Letters {
    fn ignore_case(&self) -> bool {
        self.lower && !self.upper
    }

    fn of_literal(text: &str) -> Letters {
        let mut letters = Letters::default();
        text.chars().for_each(|letter| letters.add(letter));
        letters
    }

    /// Literal letters: not the `S` of `\S`. None if the pattern does not parse.
    fn of_regexp(text: &str) -> Letters {
        let parser = ParserBuilder::new()
            .nest_limit(super::limits::NESTING_MAX)
            .build()
            .parse(text);
        match parser {
            Ok(ast) => visit(&ast, Letters::default()).unwrap_or_else(|never| match never {}),
            Err(_) => Letters::default(),
        }
    }

    fn add(&mut self, letter: char) {
        self.upper |= letter.is_uppercase();
        self.lower |= letter.is_lowercase();
    }
}

impl Visitor for Letters {
    type Output = Letters;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Letters, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::Literal(literal) = ast {
            self.add(literal.c);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Literal(literal) => self.add(literal.c),
            ClassSetItem::Range(range) => {
                self.add(range.start.c);
                self.add(range.end.c);
            }
            ClassSetItem::Ascii(class) => match class.kind {
                ClassAsciiKind::Upper => self.upper = true,
                ClassAsciiKind::Lower => self.lower = true,
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_case_letter_makes_a_pattern_case_sensitive() {
        let literal = |text| Case::Auto.ignores(text, Syntax::Literal);
        assert!(literal("foo") && literal("größe") && literal("x_1"));
        assert!(!literal("Foo") && !literal("Ä") && !literal("42") && !literal("=="));
        let regexp = |text| Case::Auto.ignores(text, Syntax::Regexp);
        assert!(regexp("foo") && regexp(r"foo\S+\W") && regexp(r"[a-f]+") && regexp("(?P<N>x)"));
        assert!(!regexp("Foo") && !regexp("[A-Z]x") && !regexp(r"\w+") && !regexp(r"\x41b"));
        assert!(!regexp("[[:upper:]]x") && !regexp("(unclosed"));
        assert!(Case::No.ignores("Foo", Syntax::Literal));
        assert!(!Case::Yes.ignores("foo", Syntax::Literal));
    }
}
