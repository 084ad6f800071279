//! A worker: searches one work unit at a time.

use super::document_search::{DocumentSearch, find_ranges};
use super::evaluate::DocumentMatchers;
use super::request::{Interrupted, ShardTask};
use super::top_k::PendingMatch;
use super::unit_result::UnitResult;
use super::verify::Verifier;
use super::work::{BlockRanges, WorkUnit};
use crate::batch::Packed;
use crate::compiled_query::Strategy;
use crate::line_matcher::LineMatcher;
use crate::scan;
use index::shard::BlockId;

/// A worker's buffers and matchers. The matchers are copies, because a copy has caches of its own.
pub(super) struct Worker<'a> {
    verifier: Verifier<'a>,
    matchers: Matchers<'a>,
}

enum Matchers<'a> {
    Line(Box<LineMatcher>),
    Document(DocumentMatchers<'a>),
}

impl<'a> Worker<'a> {
    pub(super) fn new(task: ShardTask<'a>) -> Self {
        Worker {
            verifier: Verifier::new(task),
            matchers: match &task.request.query.strategy {
                Strategy::Lines { matcher, .. } => Matchers::Line(matcher.clone()),
                Strategy::Documents(matcher) => Matchers::Document(DocumentMatchers::new(matcher)),
            },
        }
    }

    /// Searches a unit. The result is valid only without an error.
    pub(super) fn search(&mut self, unit: WorkUnit<'_>) -> Result<UnitResult, Interrupted> {
        let mut out = UnitResult::default();
        let shard = self.verifier.task.shard;
        match unit {
            WorkUnit::Blocks(blocks) => self.search_blocks(blocks, &mut out)?,
            WorkUnit::Documents(slices, all) => {
                let Matchers::Document(matchers) = &mut self.matchers else {
                    unreachable!("only a query of documents has document candidates");
                };
                let mut search = DocumentSearch {
                    verifier: &mut self.verifier,
                    matchers,
                    slices: all,
                    out: &mut out,
                };
                search.search(slices)?;
            }
        }
        out.pending.finish();
        if let Some((last, _)) = out.last {
            out.static_rank_after = shard.static_rank_bound(last)?;
        }
        shard.intact()?;
        Ok(out)
    }

    fn search_blocks(
        &mut self,
        mut blocks: BlockRanges<'_>,
        out: &mut UnitResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.verifier.task;
        let Matchers::Line(matcher) = &self.matchers else {
            unreachable!("only a query of lines has block candidates");
        };
        while let Some(block) = blocks.peek() {
            request.cancel.check()?;
            let document = shard.document(shard.document_of(BlockId(block))?)?;
            if !document.blocks.contains(&block) {
                return Err(shard.inconsistent("a block of no document").into());
            }
            let mut matches = self.verifier.begin(document)?;
            while let Some(range) = blocks.next_range(matches.document.blocks.end) {
                out.blocks += u64::from(range.end - range.start);
                if !matches.is_done() {
                    self.verifier.verify(matcher, range, &mut matches, out)?;
                }
                request.cancel.check()?;
            }
            let (id, matched) = (matches.document.id, matches.matched);
            self.verifier.end(matches, &mut out.packed)?;
            out.count_document(id, matched);
        }
        Ok(())
    }

    /// Packs pending matches, which are in the order of the shard.
    pub(super) fn pack(&mut self, pending: &[PendingMatch]) -> Result<Packed, Interrupted> {
        let mut packed = Packed::default();
        let verifier = &mut self.verifier;
        let ShardTask { shard, request, .. } = verifier.task;
        for of_document in pending.chunk_by(|a, b| a.document == b.document) {
            let mut matches = verifier.begin(shard.document(of_document[0].document)?)?;
            for pending in of_document {
                request.cancel.check()?;
                let position = pending.position;
                if let Matchers::Document(matchers) = &self.matchers
                    && position.number == 0
                {
                    let path = matches.document.path;
                    let ranges = matchers.matcher.path_ranges(pending.patterns, path);
                    matches.pack_name(&ranges, &mut packed)?;
                    continue;
                }
                let line = shard.text(position.start..position.end)?;
                let ranges = &mut verifier.ranges;
                match &mut self.matchers {
                    Matchers::Document(matchers) => {
                        let document = &matches.document;
                        find_ranges(matchers, shard, document, pending, line, ranges)?;
                    }
                    Matchers::Line(matcher) => {
                        scan::ranges(&matcher.finder, scan::without_end(line), ranges);
                    }
                }
                let rank = pending.key.rank();
                matches
                    .packer()?
                    .push(position, line, rank, ranges, &mut packed)?;
            }
            verifier.end(matches, &mut packed)?;
        }
        shard.intact()?;
        Ok(packed)
    }
}
