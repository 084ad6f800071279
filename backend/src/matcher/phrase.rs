//! Tier of a line for a phrase: words side by side, on one line, or near.
//!
//! The tier depends only on the lines around, so it is the same in every shard and unit. Patterns
//! of the phrase come with the query, best first, and are compiled on demand, since few searches
//! need them.

use super::bounded_matcher::{BoundedMatcher, OncePerCopy};
use super::compiler::Compiler;
use super::line_matcher;
use super::long_line::Effort;
use super::pattern;
use crate::rank::Tier;
use index::plan::TrigramQuery;
use schema::message::{Expr, PHRASE_PATTERNS_MAX, Pattern};
use std::ops::{Deref, Range};

const NEAR_LINES: usize = 3;

/// Three lines of code have fewer.
pub(crate) const NEAR_BYTES: u64 = 512;

/// Phrase as typed. Each worker needs a clone with its own caches.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// Words that a document must have; empty for fewer than two.
    words: Vec<Word>,
    /// Best first.
    patterns: Vec<LazyPattern>,
    /// A line with all words satisfies the whole expression.
    pub(crate) is_condition: bool,
    pub(crate) compiler: Compiler,
}

#[derive(Clone, Debug)]
struct Word {
    pattern: Pattern,
    matcher: BoundedMatcher,
}

impl Phrase {
    pub(crate) fn new(expr: &Expr, patterns: &[Pattern], compiler: &Compiler) -> Option<Phrase> {
        let compiler = compiler.for_one_of(expr.patterns().len());
        let mut words = Vec::new();
        let is_all = matches!(expr, Expr::All(_));
        for factor in expr.factors().iter().filter(|_| is_all) {
            match factor {
                Expr::Pattern(it) if !it.in_path && !pattern::is_multiline(it) => {
                    words.push(Word {
                        matcher: BoundedMatcher::new(&[it], false, &compiler).ok()?,
                        pattern: it.clone(),
                    });
                }
                Expr::Not(_) => {}
                _ => return None,
            }
        }
        let patterns = patterns.iter().take(PHRASE_PATTERNS_MAX).cloned();
        let lazy = |pattern| LazyPattern {
            pattern,
            matcher: OncePerCopy::default(),
        };
        let patterns: Vec<_> = patterns.map(lazy).collect();
        (!patterns.is_empty()).then(|| Phrase {
            is_condition: words.len() == expr.factors().len(),
            words,
            patterns,
            compiler,
        })
    }

    /// Tier of a line without its end. `around` returns the text around, and its place there.
    pub(crate) fn tier<T: Deref<Target = [u8]>, E>(
        &self,
        line: &[u8],
        around: impl FnOnce() -> Result<(T, Range<usize>), E>,
        effort: &mut Effort<'_>,
    ) -> Result<Tier, E> {
        let missing = |word: &&Word| !matches(&word.matcher, line, effort);
        let missing: Vec<&Word> = self.words.iter().filter(missing).collect();
        if missing.is_empty() {
            return Ok(self.tier_of_line(line, effort));
        }
        let (text, line) = around()?;
        let (before, after) = near(&text, line);
        let is_near = |word: &&Word| {
            let matcher = &word.matcher;
            matcher.is_match_in_short(before) || matcher.is_match_in_short(after)
        };
        Ok(if missing.iter().all(is_near) {
            Tier::NEAR
        } else {
            Tier::default()
        })
    }

    fn tier_of_line(&self, line: &[u8], effort: &mut Effort<'_>) -> Tier {
        let found = self.patterns.iter().position(|it| it.is_in(line, effort));
        match found {
            Some(better) => Tier(Tier::MAX.0 - better as u8),
            None if self.words.len() < 2 => Tier::default(),
            None => Tier::LINE,
        }
    }

    pub(crate) fn on_one_line(&self) -> Expr {
        let words = self.words.iter();
        let words = words.map(|word| Expr::Pattern(word.pattern.clone()));
        Expr::Line(Box::new(Expr::all(words)))
    }

    pub(crate) fn plan(&self) -> TrigramQuery {
        let plan = |it: &LazyPattern| line_matcher::plan_pattern(&it.pattern);
        let plans = self.patterns.iter().map(plan);
        // A pattern without a plan matches nothing.
        TrigramQuery::or(plans.map(|plan| plan.unwrap_or(TrigramQuery::None)))
    }

    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }
}

fn matches(matcher: &BoundedMatcher, line: &[u8], effort: &mut Effort<'_>) -> bool {
    matcher.is_match(line, effort).unwrap_or_default()
}

fn near(text: &[u8], line: Range<usize>) -> (&[u8], &[u8]) {
    let (before, after) = (&text[..line.start], &text[line.end..]);
    // The last end is that of the line before.
    let start = memchr::memrchr_iter(b'\n', before).nth(NEAR_LINES);
    let end = memchr::memchr_iter(b'\n', after).nth(NEAR_LINES - 1);
    (
        &before[start.map_or(0, |at| at + 1)..],
        &after[..end.unwrap_or(after.len())],
    )
}

#[derive(Clone, Debug)]
struct LazyPattern {
    pattern: Pattern,
    /// `None`, for a failure, matches nothing.
    matcher: OncePerCopy<Option<BoundedMatcher>>,
}

impl LazyPattern {
    fn is_in(&self, line: &[u8], effort: &mut Effort<'_>) -> bool {
        let compiler = || Compiler::default().for_one_of(PHRASE_PATTERNS_MAX);
        let compile = || BoundedMatcher::new(&[&self.pattern], false, &compiler()).ok();
        let matcher = self.matcher.get(compile).as_ref();
        matcher.is_some_and(|matcher| matches(matcher, line, effort))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::Syntax;
    use std::convert::Infallible;

    fn pattern(text: &str, syntax: Syntax) -> Pattern {
        Pattern {
            text: text.to_owned(),
            syntax,
            ..Pattern::default()
        }
    }

    fn phrase(words: &[&str], patterns: &[&str]) -> Phrase {
        let words = words
            .iter()
            .map(|it| Expr::Pattern(pattern(it, Syntax::Literal)));
        let patterns = patterns.iter().map(|it| pattern(it, Syntax::Regexp));
        Phrase::new(
            &Expr::all(words),
            &patterns.collect::<Vec<_>>(),
            &Compiler::default(),
        )
        .unwrap()
    }

    fn tiers(phrase: &Phrase, text: &str) -> Vec<u8> {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let range = at..at + line.len();
            at = range.end;
            let body = line_matcher::without_end(line.as_bytes());
            let around = || Ok::<_, Infallible>((text.as_bytes(), range));
            let effort = &mut Effort::new(&|| false);
            phrase.tier(body, around, effort).unwrap().0
        });
        let lines: Vec<_> = lines.collect();
        let bodies = text.lines().zip(lines);
        bodies
            .filter_map(|(body, tier)| (!body.is_empty()).then_some(tier))
            .collect()
    }

    #[test]
    fn words_side_by_side_rank_above_those_on_one_line_and_near_each_other() {
        let phrase = phrase(&["if", "x"], &["if[ \t]+\\(x\\)", "if[ \t()]+x"]);
        assert_eq!(
            tiers(&phrase, "if (x)\nif x\nx if\nx\nif\n"),
            [4, 3, 2, 1, 1]
        );
        assert_eq!(tiers(&phrase, "if\n\n\nx\n"), [1, 1]);
        assert_eq!(tiers(&phrase, "if\n\n\n\nx\n"), [0, 0]);
        assert_eq!(tiers(&phrase, "x\r\nif"), [1, 1]);
    }

    #[test]
    fn one_word_or_alternatives_have_only_the_phrase_itself() {
        let any = Expr::any(["a", "b"].map(|it| Expr::Pattern(pattern(it, Syntax::Literal))));
        let phrase = Phrase::new(
            &any,
            &[pattern("a or b", Syntax::Regexp)],
            &Compiler::default(),
        )
        .unwrap();
        assert_eq!(tiers(&phrase, "a or b\na b\nb\n"), [4, 0, 0]);
        assert!(Phrase::new(&any, &[], &Compiler::default()).is_none());
    }
}
