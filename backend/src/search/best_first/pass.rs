//! Passes of a best-first search: one, or lines with a phrase before lines with its words.

use crate::matcher::compiled_query::Strategy;
use crate::matcher::document_matcher::PatternSet;
use crate::matcher::line_matcher::{self, LineMatcher};
use crate::matcher::phrase::Phrase;
use crate::rank::Tier;
use crate::search::request::Request;
use index::plan::TrigramQuery;
use schema::message::Want;
use std::ops::RangeInclusive;

impl Request<'_> {
    /// Passes, best matches first. `None` if the query needs another kind of search.
    pub(super) fn passes(&self) -> Option<Vec<Pass>> {
        match (&self.query.strategy, &self.query.phrase) {
            (Strategy::Lines { matcher, query }, None) => Some(vec![Pass::last(matcher, query)]),
            (_, Some(_)) if self.search.want == Want::Documents => None,
            (Strategy::Lines { matcher, query }, Some(phrase)) => {
                let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
                let first = Pass {
                    query: query_of_phrase,
                    tiers: Tier::PHRASE..=Tier::MAX,
                    ..Pass::last(matcher, query)
                };
                Some(vec![first, Pass::last(matcher, query)])
            }
            (Strategy::Documents(_), Some(phrase)) if phrase.is_condition => Pass::of_words(phrase),
            (Strategy::Documents(_), _) => None,
        }
    }
}

pub(super) struct Pass {
    pub(super) query: TrigramQuery,
    pub(super) matcher: LineMatcher,
    /// Lines of other tiers are left to other passes.
    pub(super) tiers: RangeInclusive<Tier>,
    /// Contributing patterns, for an expression of documents.
    pub(super) patterns: PatternSet,
}

impl Pass {
    fn last(matcher: &LineMatcher, query: &TrigramQuery) -> Pass {
        Pass {
            query: query.clone(),
            matcher: matcher.for_blocks(0),
            tiers: Tier::default()..=Tier::default(),
            patterns: PatternSet::default(),
        }
    }

    fn of_words(phrase: &Phrase) -> Option<Vec<Pass>> {
        let line = phrase.on_one_line();
        let matcher = LineMatcher::new(&line, &phrase.compiler.for_all()).ok()?;
        let query = line_matcher::plan(&line).ok()?;
        let pass = |tiers, query| Pass {
            tiers,
            patterns: PatternSet::of_texts(phrase.word_count()),
            ..Pass::last(&matcher, &query)
        };
        let query_of_phrase = TrigramQuery::and([query.clone(), phrase.plan()]);
        Some(vec![
            pass(Tier::PHRASE..=Tier::MAX, query_of_phrase),
            pass(Tier::LINE..=Tier::LINE, query),
        ])
    }

    /// False if no match is left after it.
    pub(super) fn is_of_phrase(&self) -> bool {
        *self.tiers.end() > Tier::default()
    }
}
