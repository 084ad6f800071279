//! Evaluates trigram queries with posting lists, inside ranges of blocks.
//!
//! Blocks outside the ranges are skipped over, not read, so a query inside one package costs what
//! that package costs.
//! **Invariant:** after `stop` has returned true an answer means nothing; the caller asks `stop`
//! once more at the end.

use super::Shard;
use super::error::ShardError;
use crate::plan::TrigramQuery;
use crate::posting::{self, PostingList};
use std::ops::Range;

/// A posting list more than this many times as long as the remaining candidates is not read:
/// verifying one block costs about as much as decoding a thousand ids (1.2 us to 2 us, measured).
const WORTH_READING_RATIO: u64 = 1000;

/// Evaluates queries inside ranges of a shard's blocks. The answer `None` means all blocks of the
/// ranges.
pub(super) struct Evaluator<'s> {
    shard: &'s Shard,
    ranges: &'s [Range<u32>],
    /// Asked before each list. Once it returns true it always does.
    stop: &'s dyn Fn() -> bool,
    /// Blocks in the ranges.
    block_count: u64,
}

impl<'s> Evaluator<'s> {
    pub(super) fn new(
        shard: &'s Shard,
        ranges: &'s [Range<u32>],
        stop: &'s dyn Fn() -> bool,
    ) -> Self {
        Evaluator {
            shard,
            ranges,
            stop,
            block_count: ranges.iter().map(|range| range.len() as u64).sum(),
        }
    }

    /// Returns the blocks that satisfy a query, ascending.
    pub(super) fn blocks(&self, query: &TrigramQuery) -> Result<Option<Vec<u32>>, ShardError> {
        match query {
            TrigramQuery::All => Ok(None),
            TrigramQuery::None => Ok(Some(Vec::new())),
            _ if self.block_count == 0 || (self.stop)() => Ok(Some(Vec::new())),
            TrigramQuery::Trigram(trigram) => {
                let list = self.shard.postings(*trigram)?;
                let blocks = list.map_or(Vec::new(), |list| list.within(self.ranges));
                Ok(Some(blocks))
            }
            TrigramQuery::And(parts) => self.and(parts),
            TrigramQuery::Or(parts) => self.or(parts),
        }
    }

    /// Intersects the operands, cheapest first, until the next one costs more than it saves.
    fn and(&self, queries: &[TrigramQuery]) -> Result<Option<Vec<u32>>, ShardError> {
        let mut operands = Vec::with_capacity(queries.len());
        for query in queries {
            match self.operand(query)? {
                Some(operand) => operands.push(operand),
                None => return Ok(Some(Vec::new())),
            }
        }
        operands.sort_by_key(Operand::cost);
        let mut blocks: Option<Vec<u32>> = None;
        for operand in operands {
            if (self.stop)() {
                break;
            }
            match &mut blocks {
                None => blocks = self.read(&operand)?,
                Some(blocks) if !self.is_worth_reading(&operand, blocks) => break,
                Some(blocks) => self.restrict(blocks, &operand)?,
            }
        }
        Ok(blocks)
    }

    /// Assumes that the share of the operand's ids inside the ranges is that of all blocks: ids
    /// outside are skipped over.
    fn is_worth_reading(&self, operand: &Operand<'_, '_>, blocks: &[u32]) -> bool {
        let all = u128::from(self.shard.block_count());
        let inside = u128::from(operand.cost()) * u128::from(self.block_count) / all;
        inside / u128::from(WORTH_READING_RATIO) <= blocks.len() as u128
    }

    /// Prepares an operand of an AND; `None` when no block satisfies it.
    fn operand<'q>(&self, query: &'q TrigramQuery) -> Result<Option<Operand<'q, 's>>, ShardError> {
        match query {
            TrigramQuery::None => Ok(None),
            TrigramQuery::Trigram(trigram) => Ok(self.shard.postings(*trigram)?.map(Operand::List)),
            other => Ok(Some(Operand::Query(other, self.shard.cost(other)?))),
        }
    }

    fn read(&self, operand: &Operand<'_, '_>) -> Result<Option<Vec<u32>>, ShardError> {
        match operand {
            Operand::List(list) => Ok(Some(list.within(self.ranges))),
            Operand::Query(query, _) => self.blocks(query),
        }
    }

    fn restrict(&self, blocks: &mut Vec<u32>, operand: &Operand<'_, '_>) -> Result<(), ShardError> {
        match operand {
            Operand::List(list) => posting::intersect(blocks, list),
            Operand::Query(query, _) => {
                if let Some(other) = self.blocks(query)? {
                    posting::retain_common(blocks, &other);
                }
            }
        }
        Ok(())
    }

    /// Unites the operands.
    fn or(&self, queries: &[TrigramQuery]) -> Result<Option<Vec<u32>>, ShardError> {
        let mut lists = Vec::new();
        let mut blocks = Vec::new();
        for query in queries {
            if let TrigramQuery::Trigram(trigram) = query {
                lists.extend(self.shard.postings(*trigram)?);
                continue;
            }
            match self.blocks(query)? {
                None => return Ok(None),
                Some(more) => blocks.extend(more),
            }
        }
        if !lists.is_empty() {
            let universe = self.shard.block_count();
            blocks.extend(posting::unite(&lists, universe, self.ranges, self.stop));
        }
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Some(blocks))
    }
}

/// An operand of an AND: a posting list, or a query and its cost.
enum Operand<'q, 's> {
    List(PostingList<'s>),
    Query(&'q TrigramQuery, u64),
}

impl Operand<'_, '_> {
    fn cost(&self) -> u64 {
        match self {
            Operand::List(list) => u64::from(list.len()),
            Operand::Query(_, cost) => *cost,
        }
    }
}

impl Shard {
    /// Estimates how many ids are read to evaluate a query: for a trigram the length of its list,
    /// for an AND the cost of its cheapest operand, for an OR the sum. The operands of an AND are
    /// evaluated in ascending order of this cost.
    pub fn cost(&self, query: &TrigramQuery) -> Result<u64, ShardError> {
        Ok(match query {
            TrigramQuery::All => u64::MAX,
            TrigramQuery::None => 0,
            TrigramQuery::Trigram(trigram) => {
                let list = self.postings(*trigram)?;
                list.map_or(0, |list| u64::from(list.len()))
            }
            TrigramQuery::And(parts) => parts
                .iter()
                .try_fold(u64::MAX, |least, part| Ok(least.min(self.cost(part)?)))?,
            TrigramQuery::Or(parts) => parts
                .iter()
                .try_fold(0, |sum: u64, part| Ok(sum.saturating_add(self.cost(part)?)))?,
        })
    }
}
