//! Searches documents as wholes: each is evaluated once, and then searched for the patterns that
//! contribute to the result.
//!
//! A document whose slices are in several work units is evaluated by the first worker that comes to
//! it.

use super::evaluate::{DocumentMatchers, MULTILINE_BYTES_MAX};
use super::request::{Evaluation, Interrupted, ShardTask};
use super::spans;
use super::top_k::PendingMatch;
use super::unit_result::{DocumentMatches, UnitResult};
use super::verify::{LineLocator, Verifier};
use super::work::{DocumentSlice, DocumentSlices};
use crate::scan;
use index::shard::{DocId, Document, Shard, ShardError};
use schema::message::Skip;
use std::ops::ControlFlow;

/// The search of one work unit.
pub(super) struct DocumentSearch<'s, 'a> {
    pub(super) verifier: &'s mut Verifier<'a>,
    pub(super) matchers: &'s mut DocumentMatchers<'a>,
    /// All slices of the shard.
    pub(super) slices: &'s DocumentSlices<'s>,
    pub(super) out: &'s mut UnitResult,
}

impl<'a> DocumentSearch<'_, 'a> {
    pub(super) fn search(&mut self, slices: &[DocumentSlice]) -> Result<(), Interrupted> {
        for slice in slices {
            let ShardTask { request, shard, .. } = self.verifier.task;
            request.cancel.check()?;
            self.search_slice(slice, shard.document(DocId(slice.document))?)?;
        }
        Ok(())
    }

    fn search_slice(
        &mut self,
        slice: &DocumentSlice,
        document: Document<'a>,
    ) -> Result<(), Interrupted> {
        let id = document.id;
        self.out.blocks += slice.weight();
        let evaluation = self.evaluation(slice, &document)?;
        let mut matches = self.verifier.begin(document)?;
        match evaluation {
            Evaluation::TooLarge if slice.is_first => self.skip(&matches),
            Evaluation::TooLarge | Evaluation::Fails => {}
            Evaluation::Matches(patterns) => {
                matches.patterns = patterns;
                let only_name = patterns.texts == 0;
                if !only_name && !self.matchers.matcher.is_multiline() {
                    self.search_lines(slice, &mut matches)?;
                } else {
                    // The first slice has the matches of the whole document.
                    if slice.is_first && only_name {
                        self.push_name(&mut matches)?;
                    } else if slice.is_first {
                        self.search_whole(&mut matches)?;
                    }
                    matches.matched = true;
                }
            }
        }
        let matched = matches.matched;
        self.verifier.end(matches, &mut self.out.packed)?;
        self.out.count_document(id, matched);
        Ok(())
    }

    /// Returns the evaluation of a slice's document. It is shared with the units of its other
    /// slices.
    fn evaluation(
        &mut self,
        slice: &DocumentSlice,
        document: &Document<'a>,
    ) -> Result<Evaluation, Interrupted> {
        let evaluations = self.verifier.task.evaluations;
        let slices = (slice, self.slices);
        let mut evaluate = || {
            self.matchers
                .evaluate(self.verifier, document, slices, self.out)
        };
        if slice.is_whole {
            evaluate()
        } else {
            evaluations.get_or_evaluate(slice.document, evaluate)
        }
    }

    /// Finds the matching lines in a slice.
    fn search_lines(
        &mut self,
        slice: &DocumentSlice,
        matches: &mut DocumentMatches<'a>,
    ) -> Result<(), Interrupted> {
        let matcher = self.matchers.line_matcher(matches.patterns);
        let mut blocks = self.slices.blocks(slice);
        while let Some(blocks) = blocks.next_range(u32::MAX) {
            if !matches.is_done() {
                self.verifier.verify(matcher, blocks, matches, self.out)?;
            }
            self.verifier.task.request.cancel.check()?;
        }
        Ok(())
    }

    /// Finds the spans in a whole document.
    fn search_whole(&mut self, matches: &mut DocumentMatches<'a>) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.verifier.task;
        let blocks = matches.document.blocks.clone();
        if blocks.is_empty() {
            return Ok(());
        }
        let text = shard.text(shard.text_range(blocks.clone())?)?;
        self.out.verified_bytes += text.len() as u64;
        let mut locator = LineLocator::new(shard, blocks)?;
        let mut result = Ok(());
        let stop = || request.cancel.is_cancelled();
        let matchers = self.matchers.selected(matches.patterns);
        spans::for_each(&matchers, text, 0, &stop, |span, ranges| {
            matches.matched = true;
            self.out.lines += 1;
            result = if matches.counts_only {
                locator.enter(&span)
            } else {
                let position = locator.locate_span(text, &span);
                position.and_then(|position| matches.push(position, &text[span], ranges, self.out))
            };
            if result.is_err() || matches.is_done() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
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

    fn skip(&mut self, matches: &DocumentMatches<'a>) {
        let skip = Skip {
            shard: self.verifier.task.index,
            document: matches.document.id.0,
            package: matches.package.to_vec(),
            path: matches.document.path.to_vec(),
            reason: format!(
                "the document is too large for a search over several lines: at most \
                 {MULTILINE_BYTES_MAX} bytes (MULTILINE_BYTES_MAX) are searched"
            ),
        };
        self.out.skipped += 1;
        skip.encode(&mut self.out.skips)
            .expect("two names and a reason are smaller than a frame");
    }
}

/// Finds the ranges that match in `line`, a match of a document that was evaluated before.
pub(super) fn find_ranges(
    matchers: &mut DocumentMatchers<'_>,
    shard: &Shard,
    document: &Document<'_>,
    pending: &PendingMatch,
    line: &[u8],
    ranges: &mut Vec<(usize, usize)>,
) -> Result<(), ShardError> {
    if !matchers.matcher.is_multiline() {
        let finder = &matchers.line_matcher(pending.patterns).finder;
        scan::ranges(finder, scan::without_end(line), ranges);
        return Ok(());
    }
    let document = shard.text_range(document.blocks.clone())?;
    // A span contains its matches, so nothing behind it is needed to find their ranges again.
    let text = shard.text(document.start..pending.position.end)?;
    let at = pending.position.start.saturating_sub(document.start) as usize;
    let selected = matchers.selected(pending.patterns);
    spans::for_each(&selected, text, at, &|| false, |_, found| {
        ranges.clone_from(found);
        ControlFlow::Break(())
    });
    Ok(())
}
