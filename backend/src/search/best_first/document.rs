//! Search of one document, within the bound of verified blocks.

use super::{BLOCKS_MAX, PER_DOCUMENT_MAX, Part, ShardSearch};
use crate::search::plan::{SLOW_LINE_BYTES, ShardCandidates};
use crate::search::request::{Interrupted, ShardTask};
use crate::search::slices::BlockRanges;
use crate::search::top_k::PendingMatch;
use index::shard::{Candidates, DocId, Document, ShardError};
use std::mem;
use std::ops::Range;
use std::slice;

/// First blocks searched in a document if blocks without a definition score the same.
const FIRST_BLOCKS: usize = 8;

/// Documents with their own candidate computation. For more, that of the whole shard is cheaper.
const SINGLE_DOCUMENTS: usize = 32;

impl<'a> ShardSearch<'_, 'a> {
    pub(super) fn search(&mut self, id: DocId, part: Part) -> Result<bool, Interrupted> {
        let matches = self.task.request.search.per_document.min(PER_DOCUMENT_MAX);
        if matches > 0 {
            return self.search_for_score(id, matches as usize);
        }
        let document = self.task.shard.document(id)?;
        let is_whole = self.searches_whole_documents();
        let defining = self.defining.get(&id.0).map(|(_, blocks)| blocks.clone());
        let candidates = match (part, defining) {
            (Part::Defining, defining) => Candidates::Blocks(defining.unwrap_or_default()),
            (Part::Rest | Part::OfGroup(_), Some(defining)) if !is_whole => {
                let is_new = |block: &u32| defining.binary_search(block).is_err();
                Candidates::Blocks(match self.candidates_of(&document.blocks)? {
                    Candidates::Blocks(mut blocks) => {
                        blocks.retain(is_new);
                        blocks
                    }
                    Candidates::Ranges(_) => document.blocks.clone().filter(is_new).collect(),
                })
            }
            (Part::Rest | Part::OfGroup(_), _) => self.candidates_of(&document.blocks)?,
        };
        let Some(pending) = self.verify(document, candidates)? else {
            return Ok(false);
        };
        pending
            .iter()
            .for_each(|pending| self.top.offer(&pending.key));
        self.task.threshold.raise_to(self.top);
        let matches = &mut self.found.matches;
        matches.extend(pending);
        matches.retain(|pending| !self.top.leaves_out(&pending.key));
        Ok(true)
    }

    /// Searches a document until its best score is known, and keeps the best matches seen. Returns
    /// `false` if it would verify too many blocks.
    fn search_for_score(&mut self, id: DocId, matches: usize) -> Result<bool, Interrupted> {
        if self.found.documents.contains(&id.0) {
            return Ok(true);
        }
        let document = self.task.shard.document(id)?;
        let mut blocks: Vec<u32> = match self.candidates_of(&document.blocks)? {
            Candidates::Blocks(blocks) => blocks,
            Candidates::Ranges(_) => document.blocks.clone().collect(),
        };
        // Lines of one tier without a definition score the same, so a few blocks suffice.
        let mut at_once = blocks.len();
        if self.other_level == 0 && self.pass.tiers.start() == self.pass.tiers.end() {
            let defining = self.defining.get(&id.0).map(|(_, blocks)| &blocks[..]);
            let defining = defining.unwrap_or_default();
            at_once = defining.len() + FIRST_BLOCKS;
            blocks.sort_by_key(|block| defining.binary_search(block).is_err());
        }
        while !blocks.is_empty() {
            let rest = blocks.split_off(at_once.min(blocks.len()));
            blocks.sort_unstable();
            let verified = self.verify(document.clone(), Candidates::Blocks(blocks))?;
            let Some(mut pending) = verified else {
                return Ok(false);
            };
            pending.sort_unstable_by(|a, b| a.key.cmp(&b.key));
            pending.truncate(matches);
            if let Some(first) = pending.first() {
                if !self.top.leaves_out(&first.key) {
                    self.top.offer(&first.key);
                    // The threshold stays: matches of the best documents may be worse than the best
                    // of others.
                    self.found.matches.extend(pending);
                }
                self.found.documents.insert(id.0);
                break;
            }
            blocks = rest;
        }
        Ok(true)
    }

    fn verify(
        &mut self,
        document: Document<'a>,
        candidates: Candidates,
    ) -> Result<Option<Vec<PendingMatch>>, Interrupted> {
        let ShardTask { shard, .. } = self.task;
        let candidates = ShardCandidates::Blocks(candidates);
        let blocks = candidates.blocks();
        if blocks == 0 {
            return Ok(Some(Vec::new()));
        }
        self.blocks += blocks;
        self.found.end.candidates += blocks;
        let has_slow_line = self.pass.matcher.is_slow(0)
            && candidates.has_block_longer_than(SLOW_LINE_BYTES, shard)?;
        if self.blocks > BLOCKS_MAX || has_slow_line {
            return Ok(None);
        }
        let (verifier, matcher) = (&mut self.verifier, &self.matcher);
        let blocks_of_document = document.blocks.clone();
        let mut matches = verifier.begin(document)?;
        matches.patterns = self.pass.patterns;
        let blocks = match &candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => BlockRanges::listed(blocks),
            _ => BlockRanges::all(blocks_of_document),
        };
        let document = matches.document.clone();
        let found = (&mut matches, &mut self.out);
        verifier.search_blocks(matcher, &document, blocks, found)?;
        verifier.finish(matches, &mut self.out)?;
        let mut pending = mem::take(&mut self.out.pending).0;
        pending.retain(|it| self.pass.tiers.contains(&it.tier));
        self.kept += pending.len() as u64;
        Ok(Some(pending))
    }

    fn candidates_of(&mut self, of: &Range<u32>) -> Result<Candidates, ShardError> {
        let ShardTask { shard, request, .. } = self.task;
        let stop = || request.cancel.is_cancelled();
        if of.is_empty() {
            return Ok(Candidates::Blocks(Vec::new()));
        }
        if self.candidates.is_none() && self.single < SINGLE_DOCUMENTS {
            self.single += 1;
            return shard.candidates_within(&self.query, slice::from_ref(of), &stop);
        }
        let all = match &mut self.candidates {
            Some(all) => all,
            none => {
                none.insert(shard.candidates_within(&self.query, shard.live_blocks(), &stop)?)
            }
        };
        Ok(match all {
            Candidates::Blocks(blocks) => {
                let start = blocks.partition_point(|&block| block < of.start);
                let own = blocks[start..].partition_point(|&block| block < of.end);
                Candidates::Blocks(blocks[start..start + own].to_vec())
            }
            Candidates::Ranges(_) => Candidates::Ranges(vec![of.clone()]),
        })
    }
}
