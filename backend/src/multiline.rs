//! Recognizes patterns that ask for line ends, and so may match over several lines.

use regex_syntax::ast::{self, Ast, Visitor};
use schema::message::{Pattern, Syntax};

/// Returns whether a match may span several lines: the pattern has a line end, by itself or in a
/// class that is not negated, or it sets the flag `s`.
pub fn is_multiline(pattern: &Pattern) -> bool {
    if pattern.syntax == Syntax::Literal {
        return pattern.text.contains('\n');
    }
    let parsed = ast::parse::ParserBuilder::new()
        .nest_limit(250)
        .build()
        .parse(&pattern.text);
    parsed.is_ok_and(|parsed| ast::visit(&parsed, LineEnds::default()).unwrap_or_default())
}

/// Looks for line ends in an expression.
#[derive(Default)]
struct LineEnds {
    found: bool,
    /// The number of enclosing negated classes.
    negated: usize,
}

impl LineEnds {
    fn visit_flags(&mut self, flags: &ast::Flags) {
        let dot_all = ast::Flag::DotMatchesNewLine;
        self.found |= flags.flag_state(dot_all) == Some(true);
    }
}

impl Visitor for LineEnds {
    type Output = bool;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<bool, Self::Err> {
        Ok(self.found)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::Literal(literal) => self.found |= literal.c == '\n',
            Ast::Flags(set) => self.visit_flags(&set.flags),
            Ast::Group(group) => {
                if let ast::GroupKind::NonCapturing(flags) = &group.kind {
                    self.visit_flags(flags);
                }
            }
            Ast::ClassBracketed(class) => self.negated += usize::from(class.negated),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::ClassBracketed(class) = ast {
            self.negated -= usize::from(class.negated);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ast::ClassSetItem::Literal(literal) => {
                self.found |= self.negated == 0 && literal.c == '\n';
            }
            ast::ClassSetItem::Bracketed(class) => self.negated += usize::from(class.negated),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        if let ast::ClassSetItem::Bracketed(class) = item {
            self.negated -= usize::from(class.negated);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_with_line_ends_are_multiline() {
        let is_multiline = |text: &str, syntax| {
            is_multiline(&Pattern {
                text: text.to_owned(),
                syntax,
                ..Pattern::default()
            })
        };
        for text in [
            r"a\nb",
            "a\nb",
            r"a\x0Ab",
            r"[\n;]",
            "(?s)a.b",
            "(?s:a.b)",
            "(?is-m)a.b",
        ] {
            assert!(is_multiline(text, Syntax::Regexp), "{text}");
        }
        for text in [
            "a.b", r"\s", "[^a]", r"[^\n]", "(?-s)a.b", "(?i)a", "a(", r"\\n",
        ] {
            assert!(!is_multiline(text, Syntax::Regexp), "{text}");
        }
        assert!(is_multiline("a\nb", Syntax::Literal));
        assert!(!is_multiline(r"a\nb", Syntax::Literal));
    }
}
