//! Pieces of a shard's candidates for one worker: ranges of blocks, and slices of texts or
//! documents. Documents of one text share blocks.
//!
//! Slices of a large text go to several units, so all units cost about the same. By line, a text is
//! verified once, and its matches are emitted for each document: units bound the pending output. By
//! document, a search over lines searches the document whole with its first slice;
//! `MULTILINE_BYTES_MAX` bounds it. Dead packages do not count.
//!
//! **Invariant:** slices ascend by document, then by block, like their matches.

use index::shard::{
    BlockId, Candidates, DocId, DocumentCandidates, Shard, ShardError, Text, TextId,
};
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Blocks of a unit: a quarter of a megabyte, some tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// Evaluating a name takes below a microsecond.
pub(super) const UNIT_DOCUMENTS: usize = 256;

/// Blocks times documents of a slice: 4 MiB of text if all lines match.
const COPIED_BLOCKS_MAX: usize = 1024;

/// 2,048 blocks, 8 MiB in up to as many places. Few disks need more reads in flight.
const UNITS_AHEAD: usize = 32;

/// Minimum: the first page touched in a mapping costs several reads.
const DENSE_BLOCKS_MIN: u64 = 32;

/// Spread in multiples of its blocks. From 30 % of all blocks, touching takes a sixth less than
/// reading.
const DENSE_SPREAD_MAX: u64 = 4;

/// True if touching mapped pages beats reading: the system maps neighbours, too. Copies count each
/// time.
pub(super) fn is_dense(blocks: &[Range<u32>]) -> bool {
    let count: u64 = blocks.iter().map(|range| range.len() as u64).sum();
    let start = blocks.first().map_or(0, |first| first.start);
    let end = blocks.iter().map(|range| range.end).max().unwrap_or(0);
    let all = u64::from(end.saturating_sub(start));
    count >= DENSE_BLOCKS_MIN && count * DENSE_SPREAD_MAX >= all
}

#[derive(Clone)]
pub(super) struct BlockRanges<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> BlockRanges<'a> {
    pub(super) fn all(range: Range<u32>) -> Self {
        BlockRanges { range, list: &[] }
    }

    pub(super) fn listed(list: &'a [u32]) -> Self {
        BlockRanges { range: 0..0, list }
    }
}

impl Iterator for BlockRanges<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        if !self.range.is_empty() {
            return Some(mem::replace(&mut self.range, 0..0));
        }
        let start = *self.list.first()?;
        let numbers = (start..u32::MAX).zip(self.list);
        let consecutive = numbers.take_while(|(a, b)| a == *b).count();
        self.list = &self.list[consecutive..];
        Some(start..start + consecutive as u32)
    }
}

/// Slices of a shard's candidates, cut into units.
pub(super) struct Slices<'a> {
    listed: Option<&'a [u32]>,
    by_document: bool,
    slices: Vec<Slice>,
    ends: Vec<usize>,
}

/// Consecutive candidate blocks of a text, for some of its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Block ids, or indexes in the list of candidates.
    pub(super) blocks: Range<u32>,
    /// Documents with the text. If it has others, filters may reject these.
    pub(super) documents: Range<u32>,
    /// Documents with the same blocks in earlier slices, which count them.
    pub(super) earlier: Range<u32>,
    /// By line: the text has several documents.
    pub(super) is_shared: bool,
    live: u32,
    pub(super) is_first: bool,
    /// Has all candidate blocks of the text.
    pub(super) is_whole: bool,
}

impl<'a> Slices<'a> {
    fn empty(listed: Option<&'a [u32]>, by_document: bool) -> Self {
        Slices {
            listed,
            by_document,
            slices: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub(super) fn of_texts(candidates: &'a Candidates, shard: &Shard) -> Result<Self, ShardError> {
        let mut slices;
        match candidates {
            Candidates::Ranges(ranges) => {
                slices = Slices::empty(None, false);
                for range in ranges {
                    slices.add_range(range, shard)?;
                }
            }
            Candidates::Blocks(blocks) => {
                slices = Slices::empty(Some(blocks), false);
                slices.add_blocks(blocks, shard)?;
            }
        }
        slices.cut();
        Ok(slices)
    }

    pub(super) fn of_documents(
        candidates: &'a DocumentCandidates,
        shard: &Shard,
    ) -> Result<Self, ShardError> {
        let mut slices = Slices::empty(candidates.blocks.as_deref(), true);
        let mut last: Option<(TextId, Slice)> = None;
        for id in candidates.documents.iter().cloned().flatten() {
            let document = shard.document(DocId(id))?;
            let of_last = last.take_if(|(text, _)| *text == document.text);
            let (first, blocks) = match (of_last, slices.listed) {
                (Some((_, slice)), _) => (slice.earlier.start, slice.blocks),
                (None, None) => (id, document.blocks),
                (None, Some(list)) => {
                    let start = last.map_or(0, |(_, slice)| slice.blocks.end);
                    let rest = &list[start as usize..];
                    let own = rest.partition_point(|&block| block < document.blocks.end) as u32;
                    (id, start..start + own)
                }
            };
            let slice = Slice::new(blocks, id..id + 1, first..id);
            slices.push(&slice);
            last = Some((document.text, slice));
        }
        slices.cut();
        Ok(slices)
    }

    fn add_range(&mut self, range: &Range<u32>, shard: &Shard) -> Result<(), ShardError> {
        let mut id = shard.text_of(BlockId(range.start))?;
        let mut at = range.start;
        while at < range.end {
            if id.0 >= shard.text_count() {
                return Err(shard.inconsistent("a block of no text"));
            }
            let text = shard.text_entry(id)?;
            let end = text.blocks.end.min(range.end);
            if at < end {
                self.push_text(&text.documents, at..end, |id| is_live(shard, id))?;
                at = end;
            }
            id.0 += 1;
        }
        Ok(())
    }

    fn add_blocks(&mut self, blocks: &[u32], shard: &Shard) -> Result<(), ShardError> {
        let mut at = 0;
        let mut next = TextId(0);
        while let Some(&block) = blocks.get(at) {
            let text = text_with(block, next, shard)?;
            let rest = blocks[at..].iter();
            let own = rest.take_while(|&&block| block < text.blocks.end).count();
            let blocks = at as u32..(at + own) as u32;
            self.push_text(&text.documents, blocks, |id| is_live(shard, id))?;
            at += own;
            next = TextId(text.id.0 + 1);
        }
        Ok(())
    }

    fn push_text(
        &mut self,
        documents: &Range<u32>,
        blocks: Range<u32>,
        is_live: impl Fn(u32) -> Result<bool, ShardError>,
    ) -> Result<(), ShardError> {
        let copies = if blocks.len() > UNIT_BLOCKS {
            1
        } else {
            (COPIED_BLOCKS_MAX / blocks.len().max(1)).min(UNIT_DOCUMENTS) as u32
        };
        let mut first = documents.start;
        while first < documents.end {
            let (mut end, mut live) = (first, 0);
            while end < documents.end && live < copies {
                live += u32::from(documents.len() == 1 || is_live(end)?);
                end += 1;
            }
            if live == 0 {
                break;
            }
            self.push(&Slice {
                is_shared: documents.len() > 1,
                live,
                ..Slice::new(blocks.clone(), first..end, documents.start..first)
            });
            first = end;
        }
        Ok(())
    }

    /// Adds a whole slice, in parts of [`UNIT_BLOCKS`].
    fn push(&mut self, whole: &Slice) {
        let Range { start, end } = whole.blocks;
        let mut at = start;
        loop {
            let part = at..end.min(at.saturating_add(UNIT_BLOCKS as u32));
            at = part.end;
            self.slices.push(Slice {
                is_first: part.start == start,
                is_whole: part == whole.blocks,
                blocks: part,
                ..whole.clone()
            });
            if at >= end {
                return;
            }
        }
    }

    /// Cuts slices into units. Documents of one text share a unit if possible, so reads do not
    /// depend on documents before.
    fn cut(&mut self) {
        let by_document = self.by_document;
        let continues = |it: &Slice| by_document && (!it.earlier.is_empty() || !it.is_first);
        let (mut start, mut blocks, mut documents) = (0, 0, 0);
        while start < self.slices.len() {
            let others = self.slices[start + 1..].iter();
            let end = start + 1 + others.take_while(|slice| continues(slice)).count();
            let same_text = &self.slices[start..end];
            let all: usize = same_text.iter().map(Slice::size).sum();
            let fits = blocks + all <= UNIT_BLOCKS && documents + same_text.len() <= UNIT_DOCUMENTS;
            for (index, slice) in (start..).zip(same_text) {
                let is_full = blocks + slice.size() > UNIT_BLOCKS || documents == UNIT_DOCUMENTS;
                if index > 0 && !fits && (index == start || is_full) {
                    self.ends.push(index);
                    (blocks, documents) = (0, 0);
                }
                (blocks, documents) = (blocks + slice.size(), documents + 1);
            }
            start = end;
        }
        if start > 0 {
            self.ends.push(start);
        }
    }

    pub(super) fn unit_count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn unit(&self, index: usize) -> &[Slice] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slices[start..self.ends[index]]
    }

    pub(super) fn units_before(&self, document: DocId) -> usize {
        let ends_before = |&end: &usize| self.slices[end - 1].last_document() < document;
        self.ends.iter().copied().take_while(ends_before).count()
    }

    pub(super) fn unit_blocks(&self, index: usize) -> Vec<Range<u32>> {
        let ranges = self.unit(index).iter().map(|slice| slice.blocks.clone());
        ranges.flat_map(|range| self.block_ranges(range)).collect()
    }

    /// Blocks not counted before and, by document, one for the document.
    pub(super) fn weight(&self, slice: &Slice) -> u64 {
        let new_blocks = if slice.earlier.is_empty() {
            slice.blocks.len()
        } else {
            0
        };
        new_blocks as u64 + u64::from(self.by_document && slice.is_first)
    }

    pub(super) fn block_ranges(&self, range: Range<u32>) -> BlockRanges<'_> {
        match self.listed {
            None => BlockRanges::all(range),
            Some(list) => BlockRanges::listed(&list[range.start as usize..range.end as usize]),
        }
    }

    pub(super) fn document_blocks(&self, slice: &Slice) -> BlockRanges<'_> {
        let document = |other: &Slice| other.documents.start;
        let first = (self.slices).partition_point(|it| document(it) < document(slice));
        let own = self.slices[first..].partition_point(|it| document(it) == document(slice));
        let last = &self.slices[first + own.max(1) - 1];
        self.block_ranges(self.slices[first].blocks.start..last.blocks.end)
    }
}

impl Slice {
    /// Whole slice of one document.
    fn new(blocks: Range<u32>, documents: Range<u32>, earlier: Range<u32>) -> Slice {
        Slice {
            blocks,
            documents,
            earlier,
            is_shared: false,
            live: 1,
            is_first: true,
            is_whole: true,
        }
    }

    pub(super) fn last_document(&self) -> DocId {
        DocId(self.documents.end - 1)
    }

    fn size(&self) -> usize {
        self.blocks.len() * self.live as usize
    }
}

fn is_live(shard: &Shard, document: u32) -> Result<bool, ShardError> {
    if shard.dead().is_empty() {
        return Ok(true);
    }
    Ok(shard.is_live(shard.package_of(DocId(document))?))
}

/// Text of a block; often the next one.
fn text_with(block: u32, next: TextId, shard: &Shard) -> Result<Text<'_>, ShardError> {
    if next.0 < shard.text_count() {
        let text = shard.text_entry(next)?;
        if text.blocks.contains(&block) {
            return Ok(text);
        }
    }
    shard.text_with(BlockId(block))
}

/// Keeps many disk reads in flight: up to [`UNITS_AHEAD`] units ahead of the last one taken.
pub(super) struct ReadAhead {
    next: AtomicUsize,
    is_cold: AtomicBool,
}

impl ReadAhead {
    pub(super) fn starting_at(first: usize) -> ReadAhead {
        ReadAhead {
            next: AtomicUsize::new(first),
            is_cold: AtomicBool::new(false),
        }
    }

    /// True if all text so far seems in memory.
    pub(super) fn is_warm(&self) -> bool {
        !self.is_cold.load(Relaxed)
    }

    /// Called before a worker searches unit `index`.
    pub(super) fn before(
        &self,
        index: usize,
        units: &Slices<'_>,
        shard: &Shard,
    ) -> Result<(), ShardError> {
        let end = units.unit_count().min(index + UNITS_AHEAD);
        let advance = |next| (next < end).then_some(next + 1);
        while let Ok(unit) = self.next.fetch_update(Relaxed, Relaxed, advance) {
            // False if it seems not to be in memory.
            if !shard.read_text_ahead(units.unit_blocks(unit).into_iter())? {
                self.is_cold.store(true, Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts texts, given as numbers of documents and blocks.
    fn slices(texts: &[(u32, u32)]) -> Slices<'static> {
        let mut slices = Slices::empty(None, false);
        let (mut document, mut block) = (0, 0);
        for (documents, blocks) in texts {
            let of = document..document + documents;
            slices
                .push_text(&of, block..block + blocks, |_| Ok(true))
                .unwrap();
            (document, block) = (document + documents, block + blocks);
        }
        slices.cut();
        slices
    }

    #[test]
    fn units_have_every_document_of_every_block_once_in_the_order_of_keys() {
        let tables: [&[(u32, u32)]; 5] = [
            &[],
            &[(1, 1); 200],
            &[(1, 64), (1, 65), (1, 200), (2, 3)],
            &[(3, 65), (2, 200), (1, 1)],
            &[(1000, 1), (1000, 5), (20, 64), (1, 7)],
        ];
        for texts in tables {
            let slices = slices(texts);
            let mut keys = Vec::new();
            let mut weight = 0;
            for unit in 0..slices.unit_count() {
                let unit = slices.unit(unit);
                let size = |slice: &Slice| slice.blocks.len() * slice.documents.len();
                let sum: usize = unit.iter().map(size).sum();
                assert!(sum <= UNIT_BLOCKS || unit.len() == 1);
                assert!(sum <= COPIED_BLOCKS_MAX);
                for slice in unit {
                    weight += slices.weight(slice);
                    assert!(slice.documents.len() <= UNIT_DOCUMENTS);
                    for document in slice.documents.clone() {
                        keys.extend(slice.blocks.clone().map(|block| (document, block)));
                    }
                }
            }
            assert!(keys.is_sorted_by(|a, b| a < b), "{texts:?}");
            let all = texts.iter().map(|(documents, blocks)| documents * blocks);
            assert_eq!(keys.len() as u32, all.sum::<u32>());
            let once = texts.iter().map(|(_, blocks)| u64::from(*blocks));
            assert_eq!(weight, once.sum::<u64>(), "{texts:?}");
        }
    }
}
