//! Trigram queries over posting lists, inside ranges of blocks.
//!
//! What lies outside of the ranges is sought over, not read, so that a query inside one package costs
//! what that package costs.
//! **Invariant:** who asks looks whether it was stopped once more at the end: what is answered after
//! that means nothing.

use super::{Shard, ShardError};
use crate::format::{PAYLOAD, SINGLE, Section};
use crate::plan::TrigramQuery;
use crate::posting::{self, PADDING_BYTES, PostingList};
use crate::trigram::Trigram;
use std::ops::Range;

/// A list that would have to be read over this many times as long as the candidates that are left
/// is not worth its reading: verifying one block costs about as much as decoding a thousand ids
/// (1.2 us to 2 us, measured).
const WORTH_READING_RATIO: u64 = 1000;

/// Bytes to look at for a list's length.
const LENGTH_BYTES_MAX: u64 = 5;

/// Evaluates queries inside ranges of a shard's blocks. An answer of `None` stands for all of them.
pub(super) struct Inside<'s> {
    shard: &'s Shard,
    ranges: &'s [Range<u32>],
    /// Asked before each list: once it says yes, it always will.
    stop: &'s dyn Fn() -> bool,
    /// Blocks in the ranges.
    block_count: u64,
}

impl<'s> Inside<'s> {
    pub(super) fn new(
        shard: &'s Shard,
        ranges: &'s [Range<u32>],
        stop: &'s dyn Fn() -> bool,
    ) -> Self {
        Inside {
            shard,
            ranges,
            stop,
            block_count: ranges.iter().map(|range| range.len() as u64).sum(),
        }
    }

    /// The blocks that satisfy a query, ascending.
    pub(super) fn blocks(&self, query: &TrigramQuery) -> Result<Option<Vec<u32>>, ShardError> {
        match query {
            TrigramQuery::All => Ok(None),
            TrigramQuery::None => Ok(Some(Vec::new())),
            _ if self.block_count == 0 || (self.stop)() => Ok(Some(Vec::new())),
            TrigramQuery::Trigram(trigram) => {
                let list = self.shard.postings(*trigram)?;
                Ok(Some(
                    list.map_or(Vec::new(), |list| list.within(self.ranges)),
                ))
            }
            TrigramQuery::And(parts) => self.all_of(parts),
            TrigramQuery::Or(parts) => self.one_of(parts),
        }
    }

    /// Rarest part first, and no further than it pays.
    fn all_of(&self, queries: &[TrigramQuery]) -> Result<Option<Vec<u32>>, ShardError> {
        let mut parts = Vec::with_capacity(queries.len());
        for query in queries {
            match self.part(query)? {
                Some(part) => parts.push(part),
                None => return Ok(Some(Vec::new())),
            }
        }
        parts.sort_by_key(Part::cost);
        let mut blocks: Option<Vec<u32>> = None;
        for part in parts {
            if (self.stop)() {
                break;
            }
            match &mut blocks {
                None => blocks = self.read(&part)?,
                Some(blocks) if !self.is_worth_reading(&part, blocks) => break,
                Some(blocks) => self.restrict(blocks, &part)?,
            }
        }
        Ok(blocks)
    }

    /// Of a part's ids a share lies inside, about that of the blocks; the others are sought over.
    fn is_worth_reading(&self, part: &Part<'_, '_>, blocks: &[u32]) -> bool {
        let all = u128::from(self.shard.block_count());
        let inside = u128::from(part.cost()) * u128::from(self.block_count) / all;
        inside / u128::from(WORTH_READING_RATIO) <= blocks.len() as u128
    }

    /// A part of an AND; `None`: nothing can satisfy it.
    fn part<'q>(&self, query: &'q TrigramQuery) -> Result<Option<Part<'q, 's>>, ShardError> {
        match query {
            TrigramQuery::None => Ok(None),
            TrigramQuery::Trigram(trigram) => Ok(self.shard.postings(*trigram)?.map(Part::List)),
            other => Ok(Some(Part::Query(other, self.shard.cost(other)?))),
        }
    }

    fn read(&self, part: &Part<'_, '_>) -> Result<Option<Vec<u32>>, ShardError> {
        match part {
            Part::List(list) => Ok(Some(list.within(self.ranges))),
            Part::Query(query, _) => self.blocks(query),
        }
    }

    fn restrict(&self, blocks: &mut Vec<u32>, part: &Part<'_, '_>) -> Result<(), ShardError> {
        match part {
            Part::List(list) => posting::intersect(blocks, list),
            Part::Query(query, _) => {
                if let Some(other) = self.blocks(query)? {
                    posting::retain_common(blocks, &other);
                }
            }
        }
        Ok(())
    }

    fn one_of(&self, queries: &[TrigramQuery]) -> Result<Option<Vec<u32>>, ShardError> {
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
            blocks.extend(posting::unite(
                &lists,
                self.shard.block_count(),
                self.ranges,
                self.stop,
            ));
        }
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Some(blocks))
    }
}

/// A part of an AND, and how many ids there are to read it from.
enum Part<'q, 's> {
    List(PostingList<'s>),
    Query(&'q TrigramQuery, u64),
}

impl Part<'_, '_> {
    fn cost(&self) -> u64 {
        match self {
            Part::List(list) => u64::from(list.len()),
            Part::Query(_, cost) => *cost,
        }
    }
}

impl Shard {
    /// About how many ids are read to evaluate a query: the length of a trigram's list, of an AND
    /// that of its shortest part, of an OR the sum. An AND is evaluated in this order of its parts.
    pub fn cost(&self, query: &TrigramQuery) -> Result<u64, ShardError> {
        Ok(match query {
            TrigramQuery::All => u64::MAX,
            TrigramQuery::None => 0,
            TrigramQuery::Trigram(trigram) => self
                .postings(*trigram)?
                .map_or(0, |list| u64::from(list.len())),
            TrigramQuery::And(parts) => {
                let costs: Result<Vec<u64>, ShardError> =
                    parts.iter().map(|part| self.cost(part)).collect();
                costs?.into_iter().min().unwrap_or(0)
            }
            TrigramQuery::Or(parts) => parts
                .iter()
                .try_fold(0, |sum: u64, part| Ok(sum.saturating_add(self.cost(part)?)))?,
        })
    }

    /// A trigram's posting list, if any block holds it. Dead blocks are in it too.
    pub fn postings(&self, trigram: Trigram) -> Result<Option<PostingList<'_>>, ShardError> {
        let key = u64::from(trigram.value()) << 40;
        let index = self.partition_point(
            Section::Dictionary,
            |entry: &zerocopy::little_endian::U64| entry.get() < key,
        )?;
        if u64::from(index) == self.trigram_count() {
            return Ok(None);
        }
        let entry = self.dictionary_entry(index)?;
        if entry & !PAYLOAD != key {
            return Ok(None);
        }
        self.list(entry & PAYLOAD).map(Some)
    }

    fn list(&self, payload: u64) -> Result<PostingList<'_>, ShardError> {
        let bad = || self.corrupt(Section::Dictionary, "a posting list");
        if payload & SINGLE != 0 {
            let block = (payload & !SINGLE) as u32;
            return if block < self.block_count() {
                Ok(PostingList::One(block))
            } else {
                Err(bad())
            };
        }
        let end = self.section_bytes(Section::Postings);
        let head = self.slice(
            Section::Postings,
            payload..(payload + LENGTH_BYTES_MAX).min(end),
        )?;
        let bytes = posting::list_bytes(head, self.block_count()).ok_or_else(bad)?;
        let end = payload + (bytes + PADDING_BYTES) as u64;
        let list = self.slice(Section::Postings, payload..end)?;
        PostingList::decode(list, self.block_count()).ok_or_else(bad)
    }
}
