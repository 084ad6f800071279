//! What would make a query cost less, in words.
//!
//! Nothing is said of a query that costs little: a suggestion is for whoever would wait.

use crate::render::explain::{Class, CostJson};
use frontend::query::Query;
use schema::message::{Estimate, Expr, Pattern, Syntax};

/// A pattern that leaves more than this share of all blocks is hardly helped by the index.
const SHARE_LARGE: f64 = 0.5;

/// Bytes that the index knows text by.
const TRIGRAM_BYTES: usize = 3;

/// What would make it cost less; nothing when it costs little.
pub(super) fn suggestions(query: &Query, estimates: &[Estimate], cost: &CostJson) -> Vec<String> {
    let is_cheap = cost.class == Class::Light && cost.share < SHARE_LARGE;
    if cost.blocks == 0 || is_cheap {
        return Vec::new();
    }
    let expr = query.expr();
    let mut said: Vec<String> = expr
        .patterns()
        .into_iter()
        .zip(estimates)
        .filter(|(pattern, estimate)| is_large(pattern, estimate, cost))
        .map(|(pattern, _)| longer(pattern))
        .collect();
    if is_negative(expr) {
        said.push(
            "nothing is said of what a file does hold, so all are read: add a word or a filter"
                .to_owned(),
        );
    }
    if !has_filter(expr) {
        said.push(
            "name a package, a language or a directory: only its files are looked at then \
             (package:, lang:, path:)"
                .to_owned(),
        );
    }
    said.dedup();
    said
}

fn is_large(pattern: &Pattern, estimate: &Estimate, cost: &CostJson) -> bool {
    !pattern.in_path && estimate.candidates as f64 > cost.of as f64 * SHARE_LARGE
}

/// What could be said of a pattern that the index does not help with.
fn longer(pattern: &Pattern) -> String {
    let text = &pattern.text;
    match pattern.syntax {
        Syntax::Literal if text.len() < TRIGRAM_BYTES => format!(
            "{text:?} has fewer than three bytes, and the index knows text by three in a row: add \
             what stands beside it"
        ),
        Syntax::Literal => {
            format!("{text:?} is in most of the text: add what stands beside it, or a rarer word")
        }
        Syntax::Regexp => format!(
            "of /{text}/ no three bytes in a row are known that are rare: add some letters that \
             every match has, or a word that must be in the file too"
        ),
    }
}

/// Whether it holds of documents without any pattern or filter that must hold.
fn is_negative(expr: &Expr) -> bool {
    match expr {
        Expr::Pattern(_) | Expr::Filter(_) | Expr::Line(_) => false,
        Expr::Not(_) => true,
        Expr::All(parts) => parts.iter().all(is_negative),
        Expr::Any(parts) => parts.iter().any(is_negative),
    }
}

/// Whether a filter must hold.
fn has_filter(expr: &Expr) -> bool {
    expr.factors().iter().any(|factor| match factor {
        Expr::Filter(_) => true,
        Expr::Any(parts) => parts.iter().all(has_filter),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{Field, Filter, Reading};

    fn pattern(text: &str, syntax: Syntax) -> Expr {
        Expr::Pattern(Pattern {
            text: text.to_owned(),
            syntax,
            ..Pattern::default()
        })
    }

    fn cost(blocks: u64) -> CostJson {
        CostJson {
            blocks,
            of: 100_000,
            share: blocks as f64 / 100_000.0,
            bytes: 0,
            milliseconds: 0.0,
            class: match blocks > 8192 {
                true => Class::Heavy,
                false => Class::Light,
            },
        }
    }

    /// The first words of what is said of an expression whose patterns each leave all blocks.
    fn check(expr: Expr, blocks: u64) -> Vec<String> {
        let query = Query::new(expr, 0).unwrap();
        let estimate = Estimate {
            plan: "all".to_owned(),
            candidates: blocks,
        };
        let estimates = vec![estimate; query.expr().patterns().len()];
        let said = suggestions(&query, &estimates, &cost(blocks));
        let first = |said: &String| said.split(' ').take(3).collect::<Vec<_>>().join(" ");
        said.iter().map(first).collect()
    }

    #[test]
    fn what_is_wrong_is_said_first() {
        let short = pattern("if", Syntax::Literal);
        let said = check(short.clone(), 100_000);
        assert_eq!(said, ["\"if\" has fewer", "name a package,"]);
        let regexp = pattern(";$", Syntax::Regexp);
        assert_eq!(check(regexp, 100_000)[0], "of /;$/ no");
        let filter = Expr::Filter(Filter {
            field: Field::Language,
            reading: Reading::Exact,
            text: "C".to_owned(),
        });
        let filtered = Expr::all([short.clone(), filter]);
        assert_eq!(check(filtered, 100_000), ["\"if\" has fewer"]);
        let negative = check(pattern("foo", Syntax::Literal).negated(), 100_000);
        assert!(
            negative.contains(&"nothing is said".to_owned()),
            "{negative:?}"
        );
    }

    #[test]
    fn nothing_is_said_of_what_costs_little() {
        assert!(check(pattern("if", Syntax::Literal), 8192).is_empty());
        assert!(check(pattern("if", Syntax::Literal), 0).is_empty());
        let common = check(pattern("printf", Syntax::Literal), 9000);
        assert_eq!(common, ["name a package,"], "it is not in most of the text");
    }
}
