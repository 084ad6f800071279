//! The syntax of regular expressions.

use super::error::BadQuery;
use super::limits::NESTING_MAX;
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, Error, Flag, Flags, FlagsItemKind, GroupKind, Span};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

/// Parses a regular expression as backends do, without folding case: that causes no error, and
/// takes 0.3 ms for each large class.
pub(super) fn check_syntax(text: &str) -> Result<(), BadQuery> {
    hir(text).map(|_| ())
}

/// Parses one without its flag `i`.
pub(super) fn hir(text: &str) -> Result<Hir, BadQuery> {
    let mut parser = ParserBuilder::new().nest_limit(NESTING_MAX).build();
    let parsed = parser.parse(text);
    let mut parsed = parsed.map_err(|error: Error| invalid(error.kind(), error.span()))?;
    keep_case(&mut parsed);
    let mut translator = TranslatorBuilder::new()
        .unicode(true)
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .build();
    let translated = translator.translate(text, &parsed);
    translated.map_err(|error| invalid(error.kind(), error.span()))
}

fn invalid(reason: impl std::fmt::Display, span: &Span) -> BadQuery {
    BadQuery::new(format!("invalid regular expression: {reason}"))
        .at(span.start.offset)
        .hint("search for it as literal text, or escape the character with \\")
}

/// Removes the flag `i`. The parser bounds the depth.
fn keep_case(ast: &mut Ast) {
    match ast {
        Ast::Flags(set) => remove_case(&mut set.flags),
        Ast::Group(group) => {
            if let GroupKind::NonCapturing(flags) = &mut group.kind {
                remove_case(flags);
            }
            keep_case(&mut group.ast);
        }
        Ast::Repetition(repetition) => keep_case(&mut repetition.ast),
        Ast::Alternation(parts) => parts.asts.iter_mut().for_each(keep_case),
        Ast::Concat(parts) => parts.asts.iter_mut().for_each(keep_case),
        _ => {}
    }
}

fn remove_case(flags: &mut Flags) {
    let is_case = |kind: &FlagsItemKind| matches!(kind, FlagsItemKind::Flag(Flag::CaseInsensitive));
    flags.items.retain(|item| !is_case(&item.kind));
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::ParserBuilder as WholeParserBuilder;

    /// The frontend refuses exactly what a backend would.
    #[test]
    fn errors_do_not_depend_on_case() {
        for text in [
            "a",
            "(?i)a",
            "(?-i:[a-z]+)k",
            "(?i",
            "(?i)[a",
            "(?i-x:a)(?x) b",
            r"(?i)\p{Foo}",
            r"(?i)\pL+(?-u)\xff",
            "(?ii)a",
            "(?i)(?P<n>a)|[[:alpha:]&&k]",
            "(?i)a{2,1}",
            r"(?i)[^\w\W]",
            "(?i)**",
            r"\8",
            "(?iu)(?s-i:.)",
            "(?z)",
        ] {
            for ignore_case in [false, true] {
                let mut whole = WholeParserBuilder::new();
                let whole = whole
                    .utf8(false)
                    .multi_line(true)
                    .crlf(true)
                    .nest_limit(NESTING_MAX)
                    .case_insensitive(ignore_case);
                let expected = whole.build().parse(text).is_ok();
                assert_eq!(check_syntax(text).is_ok(), expected, "{text}");
            }
        }
    }
}
