//! Candidate blocks of a trigram query and filters.
//!
//! Filters run by cost. Package filters come first: posting lists are intersected only inside the
//! text ranges of accepted packages, so a query in one package costs what that package costs.
//! Filters of documents come last and test only documents that still have a candidate.
//!
//! A view ([`Shard::view`]) uses every posting list. Elsewhere long lists are skipped; in a view
//! that would leak, since a list's length counts blocks of invisible packages.
//!
//! **Invariant:** a block is a candidate only if its text has a live document that the filters
//! accept; filters rule out no block of such a text. Matches are filtered by document again
//! ([`Shard::is_accepted`]).

use super::error::Result;
use super::{BlockId, Shard, UnreadList};
use crate::filter::Filters;
use crate::plan::TrigramQuery;
use crate::posting::{self, push_range};
use crate::trigram::Trigram;
use std::borrow::Cow;
use std::ops::Range;

/// Lists with more bytes per remaining candidate are not read. Skipping this many bytes takes about
/// 1 us, verifying a block 1.2 to 2 us (measured).
const BYTES_PER_CANDIDATE: u64 = 8 << 10;

/// Bytes skipped in the time of decoding one id; a thousand ids cost as much as verifying a block.
const BYTES_PER_DECODED_ID: u64 = 8;

/// An OR of more parts is evaluated once; fewer are probed with the candidates.
const SOUGHT_PARTS_MAX: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All blocks in these ascending, nonempty, separate ranges.
    Ranges(Vec<Range<u32>>),
    Blocks(Vec<u32>),
}

impl Shard {
    pub fn candidates(&self, query: &TrigramQuery) -> Result<Candidates> {
        let candidates = self.filtered_candidates(query, &Filters::default(), &|| false)?;
        Ok(candidates.expect("stop never returns true"))
    }

    /// Live blocks that satisfy `query` and `filters`, or `None` once `stop` returned
    /// true. `stop` is called per package, posting list and document; true is final.
    pub fn filtered_candidates(
        &self,
        query: &TrigramQuery,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Candidates>> {
        if filters.in_histories != self.is_history() {
            return Ok(Some(Candidates::Ranges(Vec::new())));
        }
        self.read_lists_ahead(query);
        let ranges = match self.texts_of_accepted(filters, stop)? {
            Cow::Borrowed(_) => Cow::Borrowed(self.live_blocks()),
            Cow::Owned(texts) => Cow::Owned(self.blocks_of_all(&texts)?),
        };
        let blocks = self.blocks_within(query, &ranges, stop)?;
        let asks = filters.has_document_filters() || self.has_out_of_reach(filters);
        let candidates = match (blocks, asks) {
            (Some(blocks), false) => Some(Candidates::Blocks(blocks)),
            (None, false) => Some(Candidates::Ranges(ranges.into_owned())),
            (Some(blocks), true) => self
                .accepted_blocks(filters, &blocks, stop)?
                .map(Candidates::Blocks),
            (None, true) => (self.accepted_ranges(filters, &ranges, stop)?).map(Candidates::Ranges),
        };
        self.intact()?;
        Ok(candidates.filter(|_| !stop()))
    }

    pub fn candidates_within(
        &self,
        query: &TrigramQuery,
        blocks: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Candidates> {
        let found = self.blocks_within(query, blocks, stop)?;
        Ok(match found {
            Some(blocks) => Candidates::Blocks(blocks),
            None => Candidates::Ranges(blocks.to_vec()),
        })
    }

    /// Texts with gaps in their symbols may define anything.
    fn blocks_within(
        &self,
        query: &TrigramQuery,
        ranges: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u32>>> {
        let mut found = Evaluator::new(self, ranges, stop).blocks(query)?;
        let Some(blocks) = found.as_mut().filter(|_| query.has_definitions()) else {
            return Ok(found);
        };
        let is_within = |text: &&Range<u32>| {
            let at = ranges.partition_point(|range| range.end <= text.start);
            ranges
                .get(at)
                .is_some_and(|range| range.contains(&text.start))
        };
        let gaps = self.incomplete_blocks()?.iter().filter(is_within);
        let gaps: Vec<_> = gaps.cloned().collect();
        if !gaps.is_empty() {
            let text = query.without_definitions();
            let others = Evaluator::new(self, &gaps, stop).blocks(&text)?;
            blocks.extend(others.unwrap_or_else(|| gaps.into_iter().flatten().collect()));
            blocks.sort_unstable();
            blocks.dedup();
        }
        Ok(found)
    }

    /// Live, ascending.
    pub fn blocks_with(&self, trigram: Trigram) -> Result<Vec<BlockId>> {
        let list = self.postings(trigram)?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(blocks.into_iter().map(BlockId).collect())
    }

    /// Estimates the ids read for a query: length of a trigram's list, cheapest operand of an AND,
    /// sum of an OR.
    pub fn cost(&self, query: &TrigramQuery) -> Result<u64> {
        Ok(Lookup::of(query, self)?.cost())
    }

    pub(super) fn texts_of_accepted(
        &self,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Cow<'_, [Range<u32>]>> {
        if !filters.has_package_filters() {
            return Ok(Cow::Borrowed(&self.live.texts));
        }
        let mut accepted = Vec::new();
        for package in self.live_packages() {
            if stop() {
                break;
            }
            let package = self.package(package)?;
            if filters.accepts_package(package.directory, package.name) {
                accepted.push(package);
            }
        }
        Ok(Cow::Owned(self.texts_of_packages(&accepted)?))
    }

    /// Parts of `within` (whole texts) with an accepted document.
    fn accepted_ranges(
        &self,
        filters: &Filters,
        within: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>> {
        self.read_tables_ahead(None);
        let mut accepted = Vec::new();
        for range in within {
            let mut id = self.text_of(BlockId(range.start))?;
            let mut at = range.start;
            while at < range.end {
                if stop() {
                    return Ok(None);
                }
                if id.0 >= self.text_count() {
                    return Err(self.inconsistent("a block of no text"));
                }
                let text = self.text_entry(id)?;
                at = text.blocks.end;
                id.0 += 1;
                if self.has_accepted(filters, text.documents)? {
                    push_range(&mut accepted, text.blocks)
                        .ok_or_else(|| self.inconsistent("order of texts"))?;
                }
            }
        }
        Ok(Some(accepted))
    }

    /// `blocks` ascend.
    fn accepted_blocks(
        &self,
        filters: &Filters,
        blocks: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u32>>> {
        self.read_tables_ahead(Some(blocks));
        let (mut accepted, mut rest) = (Vec::new(), blocks);
        while let Some(&block) = rest.first() {
            if stop() {
                return Ok(None);
            }
            let text = self.text_with(BlockId(block))?;
            let own = rest.partition_point(|&block| block < text.blocks.end);
            if self.has_accepted(filters, text.documents)? {
                accepted.extend_from_slice(&rest[..own]);
            }
            rest = &rest[own..];
        }
        Ok(Some(accepted))
    }
}

/// Evaluates queries inside block ranges. `None` means all blocks of the ranges.
pub(super) struct Evaluator<'s> {
    shard: &'s Shard,
    ranges: &'s [Range<u32>],
    stop: &'s dyn Fn() -> bool,
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

    /// Ascending.
    pub(super) fn blocks(&self, query: &TrigramQuery) -> Result<Option<Vec<u32>>> {
        if *query != TrigramQuery::All && (self.block_count == 0 || (self.stop)()) {
            return Ok(Some(Vec::new()));
        }
        self.evaluate(&Lookup::of(query, self.shard)?)
    }

    fn evaluate(&self, query: &Lookup) -> Result<Option<Vec<u32>>> {
        Ok(match query {
            Lookup::All => None,
            Lookup::None => Some(Vec::new()),
            Lookup::List(list) => Some(self.shard.read_postings(list)?.within(self.ranges)),
            Lookup::And(parts) => self.and(parts)?,
            Lookup::Or(parts, _) => self.or(parts)?,
        })
    }

    /// Intersects operands, cheapest first, until one costs more than it saves.
    fn and(&self, operands: &[Lookup]) -> Result<Option<Vec<u32>>> {
        let mut blocks: Option<Vec<u32>> = None;
        for operand in operands {
            if (self.stop)() {
                break;
            }
            match &mut blocks {
                None => blocks = self.evaluate(operand)?,
                Some(blocks) if blocks.is_empty() => break,
                Some(blocks) => {
                    if !self.shard.live.is_view && !self.is_worth_reading(operand, blocks) {
                        break;
                    }
                    self.keep(operand, blocks)?;
                }
            }
        }
        Ok(blocks)
    }

    /// Assumes the operand's bytes are spread evenly over all blocks.
    fn is_worth_reading(&self, operand: &Lookup, blocks: &[u32]) -> bool {
        let all = u128::from(self.shard.block_count());
        let inside = u128::from(operand.bytes_to_seek_in()) * u128::from(self.block_count) / all;
        inside / u128::from(BYTES_PER_CANDIDATE) <= blocks.len() as u128
    }

    /// Probes the lists.
    fn keep(&self, query: &Lookup, blocks: &mut Vec<u32>) -> Result<()> {
        match query {
            Lookup::All => {}
            Lookup::None => blocks.clear(),
            Lookup::List(list) => posting::intersect(blocks, &self.shard.read_postings(list)?),
            Lookup::And(parts) => {
                for part in parts {
                    self.keep(part, blocks)?;
                }
            }
            Lookup::Or(parts, _) if is_united(parts) && !self.shard.live.is_view => {
                if let Some(other) = self.or(parts)? {
                    posting::retain_common(blocks, &other);
                }
            }
            Lookup::Or(parts, _) => {
                let mut kept = Vec::new();
                for part in parts {
                    let mut some = blocks.clone();
                    self.keep(part, &mut some)?;
                    kept.append(&mut some);
                }
                kept.sort_unstable();
                kept.dedup();
                *blocks = kept;
            }
        }
        Ok(())
    }

    fn or(&self, parts: &[Lookup]) -> Result<Option<Vec<u32>>> {
        let (mut lists, mut blocks) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Lookup::List(list) => lists.push(self.shard.read_postings(list)?),
                part => match self.evaluate(part)? {
                    Some(some) => blocks.extend(some),
                    None => return Ok(None),
                },
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

fn is_united(parts: &[Lookup]) -> bool {
    parts.len() > SOUGHT_PARTS_MAX
}

enum Lookup {
    All,
    None,
    List(UnreadList),
    /// At least two, by ascending cost.
    And(Vec<Lookup>),
    /// At least two, and their cost.
    Or(Vec<Lookup>, u64),
}

impl Lookup {
    fn of(query: &TrigramQuery, shard: &Shard) -> Result<Lookup> {
        Ok(match query {
            TrigramQuery::All => Lookup::All,
            TrigramQuery::None => Lookup::None,
            TrigramQuery::Trigram(trigram) if trigram.is_definition() && !shard.has_symbols() => {
                Lookup::All
            }
            TrigramQuery::Trigram(trigram) => {
                let list = shard.unread_postings(*trigram)?;
                list.map_or(Lookup::None, Lookup::List)
            }
            TrigramQuery::And(queries) => {
                let mut parts = Vec::with_capacity(queries.len());
                for query in queries {
                    match Lookup::of(query, shard)? {
                        Lookup::All => {}
                        Lookup::None => return Ok(Lookup::None),
                        part => parts.push(part),
                    }
                }
                parts.sort_by_key(Lookup::cost);
                Lookup::joined(parts, Lookup::All, Lookup::And)
            }
            TrigramQuery::Or(queries) => {
                let mut parts = Vec::with_capacity(queries.len());
                for query in queries {
                    match Lookup::of(query, shard)? {
                        Lookup::All => return Ok(Lookup::All),
                        Lookup::None => {}
                        part => parts.push(part),
                    }
                }
                let costs = parts.iter().map(Lookup::cost);
                let cost = costs.fold(0, u64::saturating_add);
                Lookup::joined(parts, Lookup::None, |parts| Lookup::Or(parts, cost))
            }
        })
    }

    fn joined(
        mut parts: Vec<Lookup>,
        neutral: Lookup,
        join: impl FnOnce(Vec<Lookup>) -> Lookup,
    ) -> Lookup {
        match parts.len() {
            0 => neutral,
            1 => parts.remove(0),
            _ => join(parts),
        }
    }

    fn bytes_to_seek_in(&self) -> u64 {
        let sum = |parts: &[Lookup]| {
            let bytes = parts.iter().map(Lookup::bytes_to_seek_in);
            bytes.fold(0, u64::saturating_add)
        };
        match self {
            Lookup::All => u64::MAX,
            Lookup::None | Lookup::List(UnreadList::One(_)) => 0,
            Lookup::List(UnreadList::Many { bytes, .. }) => bytes.end - bytes.start,
            Lookup::Or(parts, ids) if is_united(parts) => ids.saturating_mul(BYTES_PER_DECODED_ID),
            Lookup::And(parts) | Lookup::Or(parts, _) => sum(parts),
        }
    }

    fn cost(&self) -> u64 {
        match self {
            Lookup::All => u64::MAX,
            Lookup::None => 0,
            Lookup::List(list) => u64::from(list.len()),
            Lookup::And(parts) => parts[0].cost(),
            Lookup::Or(_, cost) => *cost,
        }
    }
}
