//! Renders an expression in the native language, in canonical form.
//!
//! Ambiguous words are quoted, nested lists are in parentheses, options come last. Case and whole
//! words are options if all patterns agree, else flags. Expressions of the forms of a text are
//! that text, unless the query has exact ones.
//!
//! **Invariant:** the text parses to the same expression, whatever its original language, except
//! for context and the kind of result.

use super::case::Case;
use super::filter;
use super::forms;
use super::keys::{self, Prefix};
use super::lex::{Lexer, quoted, slashed};
use super::place;
use schema::message::{Expr, Pattern, Role, Syntax};

pub fn interpreted_as(expr: &Expr) -> String {
    render(expr, false, 0)
}

/// Renders an expression with its options; `limit` 0 is none.
pub(super) fn render(expr: &Expr, names: bool, limit: u64) -> String {
    let is_exact =
        |it: &&Pattern| it.syntax == Syntax::Literal && forms::regexp(&it.text).is_some();
    let exact = expr.patterns().iter().any(is_exact);
    let texts = (!exact).then(|| without_forms(expr, false));
    let expr = texts.as_ref().unwrap_or(expr);
    let notation = Notation::of(expr, names);
    let mut out = match expr {
        Expr::Pattern(pattern) => notation.terms(pattern, false).join(" "),
        // A restriction is that of one alternative.
        Expr::Any(_) if notation.classes != 0 => notation.within(expr, false),
        expr => notation.expr(expr, false),
    };
    for term in place::classes_in_query(notation.classes) {
        out.push(' ');
        out.push_str(&term);
    }
    match notation.case {
        Case::Auto => {}
        Case::Yes => out.push_str(" case:yes"),
        Case::No => out.push_str(" case:no"),
    }
    if notation.word {
        out.push_str(" word:yes");
    }
    if exact {
        out.push_str(" exact:yes");
    }
    if names {
        out.push_str(" type:path");
    }
    if limit > 0 {
        out.push_str(&format!(" count:{limit}"));
    }
    out
}

fn without_forms(expr: &Expr, in_line: bool) -> Expr {
    let without = |part: &Expr| without_forms(part, in_line);
    let list = |parts: &[Expr]| parts.iter().map(without).collect();
    match expr {
        Expr::Pattern(pattern) if pattern.syntax == Syntax::Regexp => {
            let text =
                forms::literal(&pattern.text).filter(|text| !in_line || !text.contains('\n'));
            Expr::Pattern(Pattern {
                syntax: text.as_ref().map_or(pattern.syntax, |_| Syntax::Literal),
                text: text.unwrap_or_else(|| pattern.text.clone()),
                ..pattern.clone()
            })
        }
        Expr::Pattern(_) | Expr::Filter(_) => expr.clone(),
        Expr::All(parts) => Expr::All(list(parts)),
        Expr::Any(parts) => Expr::Any(list(parts)),
        Expr::Not(inner) => Expr::Not(Box::new(without(inner))),
        Expr::Line(inner) => Expr::Line(Box::new(without_forms(inner, true))),
    }
}

struct Notation {
    case: Case,
    word: bool,
    /// Classes of all patterns in text.
    classes: u32,
    names: bool,
}

impl Notation {
    fn of(expr: &Expr, names: bool) -> Notation {
        let patterns = expr.patterns();
        let all = |case: Case| {
            let agrees = |pattern: &&Pattern| {
                pattern.ignore_case == case.ignores(&pattern.text, pattern.syntax)
            };
            patterns.iter().all(agrees)
        };
        let is_any = |pattern: &&Pattern| pattern.place.role == Role::Any;
        let mut cases = [Case::Auto, Case::Yes, Case::No].into_iter();
        Notation {
            case: cases.find(|&case| all(case)).unwrap_or(Case::Auto),
            word: patterns.iter().any(is_any) && patterns.iter().all(|it| it.word || !is_any(it)),
            classes: place::common_classes(expr),
            names,
        }
    }

    /// `in_text`: patterns search text, even if the query searches names.
    fn expr(&self, expr: &Expr, in_text: bool) -> String {
        match expr {
            Expr::Pattern(pattern) => match &self.terms(pattern, in_text)[..] {
                [term] => term.clone(),
                terms => format!("({})", terms.join(" ")),
            },
            Expr::Filter(filter) => filter::in_query(filter),
            Expr::All(parts) => self.list(parts, " ", in_text),
            Expr::Any(parts) => self.list(parts, " or ", in_text),
            Expr::Not(inner) => {
                let inner = self.within(inner, in_text);
                // `-1` is text.
                let sign = if inner.starts_with(|first: char| first.is_ascii_digit()) {
                    "not "
                } else {
                    "-"
                };
                format!("{sign}{inner}")
            }
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

    fn terms(&self, pattern: &Pattern, in_text: bool) -> Vec<String> {
        let mut terms = vec![self.pattern(pattern, in_text)];
        match pattern.place.role {
            Role::Definition => terms.extend(place::definition_in_query(&pattern.place)),
            Role::Any if pattern.place.classes != self.classes && !pattern.in_path => {
                terms.extend(place::classes_in_query(pattern.place.classes));
            }
            Role::Any | Role::Use => {}
        }
        terms
    }

    fn pattern(&self, pattern: &Pattern, in_text: bool) -> String {
        let Pattern { text, syntax, .. } = pattern;
        let in_content = self.names && !in_text && !pattern.in_path;
        let role = pattern.place.role;
        let is_exact = role == Role::Definition && *syntax == Syntax::Literal && pattern.word;
        let key = match role {
            Role::Definition if is_exact => "sym:=",
            Role::Definition => "sym:",
            Role::Use => "uses:",
            Role::Any if in_content => "content:",
            Role::Any => "",
        };
        let case = match pattern.ignore_case {
            same if same == self.case.ignores(text, *syntax) => "",
            true => "i",
            false => "c",
        };
        let word = match role {
            Role::Any if pattern.word && !self.word => "w",
            Role::Definition if pattern.word && !is_exact => "w",
            _ => "",
        };
        let text = match syntax {
            Syntax::Literal if role == Role::Definition && !is_exact => quoted(text),
            Syntax::Literal if case.is_empty() && word.is_empty() && is_word(text) => text.clone(),
            Syntax::Literal => quoted(text),
            Syntax::Regexp => slashed(text),
        };
        format!("{key}{text}{case}{word}")
    }
}

fn is_word(text: &str) -> bool {
    let is_special = text.starts_with(['-', '>', '=', '(', ')', '/', '"', '\'', '“', '”'])
        || text.contains(['\\', ':'])
        || matches!(text, "or" | "OR" | "and" | "AND" | "not" | "NOT");
    let mut lexer = Lexer::new(text);
    lexer.depth = 1;
    !is_special
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        && lexer.bare(false).1
        && lexer.rest().is_empty()
        && matches!(keys::prefix(text), Prefix::None)
}
