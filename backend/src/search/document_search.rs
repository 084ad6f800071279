//! Searches whole documents: evaluates each once, reading little, then searches for the
//! contributing patterns.
//!
//! The first worker at a document evaluates it for all its work units.

use super::document_matches::{DocumentMatches, LineSink, UnitResult};
use super::line_locator::LineLocator;
use super::request::{Evaluation, Interrupted, ShardTask};
use super::slices::{BlockRanges, Slice, Slices};
use super::spans;
use super::top_k::PendingMatch;
use super::verify::{FoundLines, Verifier};
use crate::matcher::document_matcher::{DocumentMatcher, PatternSet, TextMatcher};
use crate::matcher::line_matcher::{self, LineMatcher};
use crate::matcher::long_line::Effort;
use crate::matcher::place::Haystack;
use crate::pack::Match;
use index::shard::{DocId, Document, Shard, ShardError, TextCache, TextId};
use schema::message::Expr;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// Larger documents are skipped in a search over several lines, which reads them whole.
const MULTILINE_BYTES_MAX: u64 = 64 << 20;

static TOO_LARGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "the document is too large for a search over several lines: at most {MULTILINE_BYTES_MAX} \
         bytes (MULTILINE_BYTES_MAX) are searched"
    )
});

/// Combined matchers of a worker, each as large as all patterns. Most queries need two, some one
/// per document.
const LINE_MATCHERS_MAX: usize = 4;

pub(super) struct DocumentSearch<'s, 'a> {
    pub(super) verifier: &'s mut Verifier<'a>,
    pub(super) matchers: &'s mut DocumentMatchers<'a>,
    pub(super) slices: &'s Slices<'s>,
    pub(super) out: &'s mut UnitResult,
}

impl<'a> DocumentSearch<'_, 'a> {
    pub(super) fn search(&mut self, slices: &[Slice]) -> Result<(), Interrupted> {
        self.matchers.known = KnownTerms::default();
        for slice in slices {
            let ShardTask { request, shard, .. } = self.verifier.task;
            request.cancel.check()?;
            self.search_slice(slice, shard.document(DocId(slice.documents.start))?)?;
        }
        Ok(())
    }

    fn search_slice(&mut self, slice: &Slice, document: Document<'a>) -> Result<(), Interrupted> {
        self.out.blocks += self.slices.weight(slice);
        let evaluation = self.evaluation(slice, &document)?;
        let mut matches = self.verifier.begin(document)?;
        matches.is_whole = slice.is_whole;
        match evaluation {
            Evaluation::TooLarge if slice.is_first => {
                self.out.skip(&matches, TOO_LARGE.clone());
            }
            Evaluation::GivenUp if slice.is_first => matches.has_given_up = true,
            Evaluation::TooLarge | Evaluation::GivenUp | Evaluation::Fails => {}
            Evaluation::Matches(patterns) => {
                matches.patterns = patterns;
                let only_name = patterns.texts == 0;
                if !only_name && !self.matchers.matcher.is_multiline() {
                    self.verifier.task.request.cancel.check()?;
                    let matcher = self.matchers.line_matcher(patterns);
                    let blocks = self.slices.block_ranges(slice.blocks.clone());
                    let document = matches.document.clone();
                    let found = (&mut matches, &mut *self.out);
                    (self.verifier).search_blocks(matcher, &document, blocks, found)?;
                } else {
                    // The first slice has all matches of the document.
                    if slice.is_first && only_name {
                        self.push_name(&mut matches)?;
                    } else if slice.is_first {
                        self.search_whole(&mut matches)?;
                    }
                    matches.matched = true;
                }
            }
        }
        Ok(self.verifier.finish(matches, self.out)?)
    }

    /// Evaluation of a slice's document, shared with its other units.
    fn evaluation(
        &mut self,
        slice: &Slice,
        document: &Document<'a>,
    ) -> Result<Evaluation, Interrupted> {
        let evaluations = self.verifier.task.evaluations;
        let (matchers, slices) = (&mut *self.matchers, (slice, self.slices));
        let mut evaluate = || matchers.evaluate(self.verifier, document, slices, self.out);
        if slice.is_whole {
            evaluate()
        } else {
            evaluations.get_or_evaluate(slice.documents.start, evaluate)
        }
    }

    fn search_whole(&mut self, matches: &mut DocumentMatches<'a>) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.verifier.task;
        let blocks = matches.document.blocks.clone();
        if blocks.is_empty() {
            return Ok(());
        }
        let text = shard.text_range(blocks.clone())?;
        let text = &shard.text(text, &self.verifier.texts)?[..];
        self.out.verified_bytes += text.len() as u64;
        let mut locator = LineLocator::new(shard, blocks)?;
        let mut result = Ok(());
        let stop = || request.cancel.is_cancelled();
        let mut effort = Effort::new(&stop);
        let matchers = self.matchers.selected(matches.patterns);
        spans::for_each(&matchers, text, 0, &mut effort, |span, ranges| {
            matches.matched = true;
            self.out.lines += 1;
            result = if matches.counts_only {
                locator.enter(&span)
            } else {
                let position = locator.locate_span(text, &span);
                position.and_then(|position| {
                    matches.push(&Match::new(position, &text[span], ranges), self.out)
                })
            };
            if result.is_err() || matches.is_done() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        matches.has_given_up |= effort.has_given_up;
        self.out.matched_blocks += locator.matched_blocks;
        request.cancel.check()?;
        Ok(result?)
    }

    fn push_name(&mut self, matches: &mut DocumentMatches<'a>) -> Result<(), Interrupted> {
        self.out.lines += 1;
        if matches.counts_only {
            return Ok(());
        }
        let matcher = self.matchers.matcher;
        let ranges = matcher.path_ranges(matches.patterns, matches.document.path);
        Ok(matches.push_name(&ranges, self.out)?)
    }
}

pub(super) struct DocumentMatchers<'a> {
    pub(super) matcher: &'a DocumentMatcher,
    texts: Vec<TextMatcher>,
    /// Combined matchers by their text terms; few, so a scan finds one.
    line_matchers: Vec<(u64, LineMatcher)>,
    known: KnownTerms,
}

/// Results of text terms in the last text, which the next document may share. Not kept between
/// units: reads must not depend on the worker.
#[derive(Default)]
struct KnownTerms {
    text: Option<TextId>,
    /// Match of a term, and true if a part of the text was left out.
    terms: Vec<Option<(bool, bool)>>,
}

impl KnownTerms {
    fn of(&mut self, text: TextId, terms: usize) -> &mut [Option<(bool, bool)>] {
        if self.text != Some(text) {
            self.text = Some(text);
            self.terms.clear();
            self.terms.resize(terms, None);
        }
        &mut self.terms
    }
}

impl<'a> DocumentMatchers<'a> {
    pub(super) fn new(matcher: &'a DocumentMatcher) -> Self {
        let texts = matcher.texts.iter();
        DocumentMatchers {
            matcher,
            texts: texts.map(|text| text.matcher.clone()).collect(),
            line_matchers: Vec::new(),
            known: KnownTerms::default(),
        }
    }

    pub(super) fn line_matcher(&mut self, patterns: PatternSet) -> &LineMatcher {
        let key = patterns.texts;
        let known = self.line_matchers.iter().position(|(it, _)| *it == key);
        let index = known.unwrap_or_else(|| {
            if self.line_matchers.len() == LINE_MATCHERS_MAX {
                self.line_matchers.clear();
            }
            let texts = self.matcher.texts.iter().enumerate();
            let selected = texts.filter(|(index, _)| patterns.has_text(*index));
            let expr = Expr::any(selected.map(|(_, text)| text.expr.clone()));
            let joined = LineMatcher::new(&expr, &self.matcher.compiler.for_all());
            let joined = joined.expect("all patterns together are within the limits");
            self.line_matchers.push((key, joined));
            self.line_matchers.len() - 1
        });
        &self.line_matchers[index].1
    }

    pub(super) fn selected(&self, patterns: PatternSet) -> Vec<&TextMatcher> {
        let texts = self.texts.iter().enumerate();
        let selected = texts.filter(|(index, _)| patterns.has_text(*index));
        selected.map(|(_, matcher)| matcher).collect()
    }

    /// `slice` is one of the document's in `slices`.
    pub(super) fn evaluate(
        &mut self,
        verifier: &mut Verifier<'a>,
        document: &Document<'a>,
        (slice, slices): (&Slice, &Slices<'_>),
        out: &mut UnitResult,
    ) -> Result<Evaluation, Interrupted> {
        let shard = verifier.task.shard;
        let bytes = shard.text_range(document.blocks.clone())?;
        if self.matcher.is_multiline() && bytes.end - bytes.start > MULTILINE_BYTES_MAX {
            return Ok(Evaluation::TooLarge);
        }
        let cancel = verifier.task.request.cancel;
        let stop = || cancel.is_cancelled();
        let texts = &self.texts;
        let mut search = |term: usize| match &texts[term] {
            TextMatcher::Line(matcher) => {
                let blocks = slices.document_blocks(slice);
                has_line(matcher, verifier, document, blocks, out)
            }
            TextMatcher::MultiLine(matcher) => {
                let text = shard.text(bytes.clone(), &verifier.texts)?;
                out.verified_bytes += text.len() as u64;
                let mut effort = Effort::new(&stop);
                let is_found = spans::is_any(matcher, &text, &mut effort);
                Ok((is_found, effort.has_given_up))
            }
        };
        if !slice.is_whole {
            self.known = KnownTerms::default();
        }
        let known = self.known.of(document.text, self.texts.len());
        let mut has_given_up = false;
        let has_text = |term: usize| -> Result<bool, Interrupted> {
            let (is_found, is_undecided) = match known[term] {
                Some(known) => known,
                None => *known[term].insert(search(term)?),
            };
            has_given_up |= is_undecided;
            Ok(is_found)
        };
        let package = shard.package(document.package)?;
        let facts = shard.facts(document, &package, self.matcher.reads_languages)?;
        let patterns = self.matcher.evaluate(&facts, has_text)?;
        cancel.check()?;
        if has_given_up {
            return Ok(Evaluation::GivenUp);
        }
        Ok(patterns.map_or(Evaluation::Fails, Evaluation::Matches))
    }
}

/// True if there is a line; also true if none was found, and a part was left out.
fn has_line(
    matcher: &LineMatcher,
    verifier: &mut Verifier<'_>,
    document: &Document<'_>,
    blocks: BlockRanges<'_>,
    out: &mut UnitResult,
) -> Result<(bool, bool), Interrupted> {
    let shard = verifier.task.shard;
    if !blocks
        .clone()
        .all(|range| document.blocks.contains(&range.start))
    {
        return Err(shard.inconsistent("a block of another document").into());
    }
    let (mut found, matched_blocks) = (FoundLines::of_any(), out.matched_blocks);
    verifier.search_blocks(matcher, document, blocks, (&mut found, out))?;
    out.matched_blocks = matched_blocks;
    // If a line was found, others do not matter.
    let is_undecided = found.has_given_up && found.count == 0;
    Ok((found.count > 0, is_undecided))
}

pub(super) fn find_ranges(
    matchers: &mut DocumentMatchers<'_>,
    (shard, texts): (&Shard, &TextCache),
    document: &Document<'_>,
    pending: &PendingMatch,
    line: Haystack<'_>,
    (effort, ranges): (&mut Effort<'_>, &mut Vec<(usize, usize)>),
) -> Result<(), ShardError> {
    if !matchers.matcher.is_multiline() {
        let matcher = matchers.line_matcher(pending.patterns);
        line_matcher::ranges(matcher, line, effort, ranges);
        return Ok(());
    }
    let document = shard.text_range(document.blocks.clone())?;
    // A span contains its matches. Later text serves the next span.
    let text = shard.text(document.clone(), texts)?;
    let end = pending.position.end.clamp(document.start, document.end);
    let text = &text[..(end - document.start) as usize];
    let at = pending.position.start.saturating_sub(document.start) as usize;
    let selected = matchers.selected(pending.patterns);
    spans::for_each(&selected, text, at, effort, |_, found| {
        ranges.clone_from(found);
        ControlFlow::Break(())
    });
    Ok(())
}
