//! From a trigram query and filters to the blocks that they do not rule out.
//!
//! Filters are applied in two steps, ordered by cost. Package filters come first, for every live
//! package: a package is one range of texts, and some that it shares with packages before it; posting
//! lists are intersected only inside the ranges that remain. Path and language filters come last: a regular expression on every path
//! would cost more than most posting lists, so it is matched only against documents that still have
//! a candidate (or against all remaining ones when the query rules nothing out).
//!
//! The query is evaluated with posting lists ([`Evaluator`]). Blocks outside the ranges are skipped
//! over, not read, so a query inside one package costs what that package costs.
//! In a view ([`Shard::view`]) every posting list is used. Without a view a long list is skipped. In a view that
//! would leak: the length of a list includes blocks of invisible packages, so these would change how many candidates
//! remain.
//!
//! **Invariant:** a block is a candidate only if its text has a live document that the filters
//! accept, and the filters rule out no block of such a text. Which of a text's documents they are is
//! asked again where matches are emitted ([`Shard::is_accepted`]).

use super::error::ShardError;
use super::live_set::push_range;
use super::{BlockId, Shard, UnreadList};
use crate::filter::Filters;
use crate::plan::TrigramQuery;
use crate::posting;
use crate::trigram::Trigram;
use std::borrow::Cow;
use std::ops::Range;

/// A posting list of more than this many bytes for each remaining candidate is not read. Then the candidates are so few
/// that they are sought in it: to pass this many bytes takes about 1 us, and to verify a block 1.2 to 2 us (measured).
const BYTES_PER_CANDIDATE: u64 = 8 << 10;

/// Bytes that are passed in the time in which one id is decoded: a thousand of them take as long as a block takes to
/// verify.
const BYTES_PER_DECODED_ID: u64 = 8;

/// An OR of more parts is evaluated once; in the lists of fewer parts the remaining candidates are sought.
const SOUGHT_PARTS_MAX: usize = 8;

/// The live blocks that a query and filters do not rule out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All blocks in these ranges: ascending, none empty, never two that touch.
    Ranges(Vec<Range<u32>>),
    /// These blocks, ascending.
    Blocks(Vec<u32>),
}

impl Shard {
    /// Returns the live blocks that `query` does not rule out.
    pub fn candidates(&self, query: &TrigramQuery) -> Result<Candidates, ShardError> {
        let candidates = self.filtered_candidates(query, &Filters::default(), &|| false)?;
        Ok(candidates.expect("stop never returns true"))
    }

    /// Returns the live blocks that neither `query` nor `filters` rule out, or `None` when `stop`
    /// returned true. `stop` is asked for every package, posting list and document that is read;
    /// once it returns true it must always do so.
    pub fn filtered_candidates(
        &self,
        query: &TrigramQuery,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Candidates>, ShardError> {
        self.read_lists_ahead(query);
        let ranges = match self.texts_of_accepted(filters, stop)? {
            Cow::Borrowed(_) => Cow::Borrowed(self.live_blocks()),
            Cow::Owned(texts) => Cow::Owned(self.blocks_of_all(&texts)?),
        };
        let blocks = Evaluator::new(self, &ranges, stop).blocks(query)?;
        let asks = filters.has_document_filters() || self.has_out_of_reach(filters);
        let candidates = match (blocks, asks) {
            (Some(blocks), false) => Some(Candidates::Blocks(blocks)),
            (None, false) => Some(Candidates::Ranges(ranges.into_owned())),
            (Some(blocks), true) => self
                .accepted_blocks(filters, &blocks, stop)?
                .map(Candidates::Blocks),
            (None, true) => self
                .accepted_ranges(filters, &ranges, stop)?
                .map(Candidates::Ranges),
        };
        self.intact()?;
        Ok(candidates.filter(|_| !stop()))
    }

    /// Returns those of `blocks` that `query` does not rule out.
    pub fn candidates_within(
        &self,
        query: &TrigramQuery,
        blocks: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Candidates, ShardError> {
        let found = Evaluator::new(self, blocks, stop).blocks(query)?;
        Ok(match found {
            Some(blocks) => Candidates::Blocks(blocks),
            None => Candidates::Ranges(blocks.to_vec()),
        })
    }

    /// Returns the live blocks that hold a trigram, ascending.
    pub fn blocks_with(&self, trigram: Trigram) -> Result<Vec<BlockId>, ShardError> {
        let list = self.postings(trigram)?;
        let blocks = list.map_or(Vec::new(), |list| list.within(self.live_blocks()));
        self.intact()?;
        Ok(blocks.into_iter().map(BlockId).collect())
    }

    /// Estimates how many ids are read to evaluate a query: for a trigram the length of its list,
    /// for an AND the cost of its cheapest operand, for an OR the sum. The operands of an AND are
    /// evaluated in ascending order of this cost.
    pub fn cost(&self, query: &TrigramQuery) -> Result<u64, ShardError> {
        Ok(match query {
            TrigramQuery::All => u64::MAX,
            TrigramQuery::None => 0,
            TrigramQuery::Trigram(trigram) => {
                let list = self.unread_postings(*trigram)?;
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

    /// Returns the texts of the live packages that the package filters accept.
    pub(super) fn texts_of_accepted(
        &self,
        filters: &Filters,
        stop: &dyn Fn() -> bool,
    ) -> Result<Cow<'_, [Range<u32>]>, ShardError> {
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

    /// Returns the parts of `within`, ranges of whole texts, whose texts have a document that the
    /// filters accept.
    fn accepted_ranges(
        &self,
        filters: &Filters,
        within: &[Range<u32>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Range<u32>>>, ShardError> {
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

    /// Returns those of the ascending `blocks` whose texts have a document that the filters accept.
    fn accepted_blocks(
        &self,
        filters: &Filters,
        blocks: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u32>>, ShardError> {
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
        if *query != TrigramQuery::All && (self.block_count == 0 || (self.stop)()) {
            return Ok(Some(Vec::new()));
        }
        self.evaluate(&Lookup::of(query, self.shard)?)
    }

    fn evaluate(&self, query: &Lookup) -> Result<Option<Vec<u32>>, ShardError> {
        Ok(match query {
            Lookup::All => None,
            Lookup::None => Some(Vec::new()),
            Lookup::List(list) => Some(self.shard.read_postings(list)?.within(self.ranges)),
            Lookup::And(parts) => self.and(parts)?,
            Lookup::Or(parts, _) => self.or(parts)?,
        })
    }

    /// Intersects the operands, cheapest first, until the next one costs more than it saves.
    fn and(&self, operands: &[Lookup]) -> Result<Option<Vec<u32>>, ShardError> {
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

    /// Assumes that the share of the operand's bytes inside the ranges is that of all blocks: ids
    /// outside are skipped over.
    fn is_worth_reading(&self, operand: &Lookup, blocks: &[u32]) -> bool {
        let all = u128::from(self.shard.block_count());
        let inside = u128::from(operand.bytes_to_seek_in()) * u128::from(self.block_count) / all;
        inside / u128::from(BYTES_PER_CANDIDATE) <= blocks.len() as u128
    }

    /// Keeps those of the ascending `blocks` that satisfy a query. They are sought in the lists, which costs little
    /// if there are few of them.
    fn keep(&self, query: &Lookup, blocks: &mut Vec<u32>) -> Result<(), ShardError> {
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

    /// Unites the operands.
    fn or(&self, parts: &[Lookup]) -> Result<Option<Vec<u32>>, ShardError> {
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

/// Whether an OR is evaluated once, instead of seeking the candidates in each part.
fn is_united(parts: &[Lookup]) -> bool {
    parts.len() > SOUGHT_PARTS_MAX
}

/// A query whose trigrams were looked up in the dictionary, each once, without what cannot hold: a trigram that no
/// block has ends an AND, and is left out of an OR.
enum Lookup {
    All,
    None,
    List(UnreadList),
    /// At least two, in ascending order of cost.
    And(Vec<Lookup>),
    /// At least two, and their cost.
    Or(Vec<Lookup>, u64),
}

impl Lookup {
    fn of(query: &TrigramQuery, shard: &Shard) -> Result<Lookup, ShardError> {
        Ok(match query {
            TrigramQuery::All => Lookup::All,
            TrigramQuery::None => Lookup::None,
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
                match parts.len() {
                    0 => Lookup::All,
                    1 => parts.remove(0),
                    _ => Lookup::And(parts),
                }
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
                match parts.len() {
                    0 => Lookup::None,
                    1 => parts.remove(0),
                    _ => {
                        let costs = parts.iter().map(Lookup::cost);
                        let cost = costs.fold(0, u64::saturating_add);
                        Lookup::Or(parts, cost)
                    }
                }
            }
        })
    }

    /// Estimates the bytes that are passed to seek a few candidates in a query.
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

    /// Estimates how many ids are read, as [`Shard::cost`] does.
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
