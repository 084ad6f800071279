//! Pieces of a shard's candidates that a worker takes at a time: ranges of blocks, and slices of
//! documents. The documents of one text have the same blocks.
//!
//! A document with many blocks is cut into slices that go to several units, so that all units cost
//! about the same and their results stay small. A document that must be read as a whole, because a
//! match in it may span lines, is searched with its first slice; `MULTILINE_BYTES_MAX` bounds its
//! size.

use index::shard::{DocId, DocumentCandidates, Shard, ShardError, TextId};
use std::ops::Range;

/// Candidate blocks of a work unit: a quarter of a megabyte of text, a few tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// Documents of a unit, at most. Evaluating one by its name takes well below a microsecond.
pub(super) const UNIT_DOCUMENTS: usize = 256;

/// Blocks of a dense unit, at least: to touch the first page of a mapping takes several times as long as to read it.
const DENSE_BLOCKS_MIN: u64 = 32;

/// The blocks of a dense unit lie within this many times as many blocks, at most. Measured, if all text is touched: with 12
/// to 16 % of all blocks as candidates a search takes as long as with reading; with 30 % or more, a sixth less.
const DENSE_SPREAD_MAX: u64 = 4;

/// Whether blocks are many and close together, so that it is faster to touch their pages in the mapping of the file than to
/// read them: the system maps several neighbours of a page that is touched. Blocks of copies count each time.
pub(super) fn is_dense(mut blocks: impl Iterator<Item = Range<u32>>) -> bool {
    let Some(first) = blocks.next() else {
        return false;
    };
    let (mut count, mut end) = (first.len() as u64, first.end);
    for range in blocks {
        count += range.len() as u64;
        end = end.max(range.end);
    }
    let all = u64::from(end.saturating_sub(first.start));
    count >= DENSE_BLOCKS_MIN && count * DENSE_SPREAD_MAX >= all
}

/// Ascending blocks, taken from the front as ranges of consecutive ones.
#[derive(Clone)]
pub(super) struct BlockRanges<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl<'a> BlockRanges<'a> {
    /// Returns all blocks of a range.
    pub(super) fn all(range: Range<u32>) -> Self {
        BlockRanges { range, list: &[] }
    }

    /// Returns the blocks of a list.
    pub(super) fn listed(list: &'a [u32]) -> Self {
        BlockRanges { range: 0..0, list }
    }

    /// Returns the blocks of a list that have these indexes, or, without a list, the blocks of a range.
    pub(super) fn of(list: Option<&'a [u32]>, range: Range<u32>) -> Self {
        match list {
            None => BlockRanges::all(range),
            Some(list) => BlockRanges::listed(&list[range.start as usize..range.end as usize]),
        }
    }

    fn peek(&self) -> Option<u32> {
        self.list
            .first()
            .copied()
            .or((!self.range.is_empty()).then_some(self.range.start))
    }

    /// Takes the next consecutive blocks that are below `end`.
    pub(super) fn next_range(&mut self, end: u32) -> Option<Range<u32>> {
        let start = self.peek().filter(|&start| start < end)?;
        if !self.range.is_empty() {
            let blocks = start..end.min(self.range.end);
            self.range.start = blocks.end;
            return Some(blocks);
        }
        let consecutive = (start..end)
            .zip(self.list)
            .take_while(|(a, b)| a == *b)
            .count();
        self.list = &self.list[consecutive..];
        Some(start..start + consecutive as u32)
    }
}

impl Iterator for BlockRanges<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        self.next_range(u32::MAX)
    }
}

/// The candidate documents of a shard, cut into units.
pub(super) struct DocumentSlices<'a> {
    /// The candidate blocks; `None` means all blocks.
    blocks: Option<&'a [u32]>,
    slices: Vec<DocumentSlice>,
    /// The end of each unit in `slices`.
    ends: Vec<usize>,
}

/// Consecutive candidate blocks of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentSlice {
    pub(super) document: u32,
    /// Block ids, or indexes in the list of candidate blocks.
    start: u32,
    end: u32,
    /// Whether it begins with the document's first candidate block.
    pub(super) is_first: bool,
    /// Whether it has all candidate blocks of the document.
    pub(super) is_whole: bool,
    /// Whether the document before has the same text, so that its blocks were counted there.
    is_copy: bool,
}

impl<'a> DocumentSlices<'a> {
    pub(super) fn new(
        candidates: &'a DocumentCandidates,
        shard: &Shard,
    ) -> Result<Self, ShardError> {
        let mut slices = DocumentSlices {
            blocks: candidates.blocks.as_deref(),
            slices: Vec::new(),
            ends: Vec::new(),
        };
        let mut last: Option<(TextId, Range<u32>)> = None;
        for id in candidates.documents.iter().cloned().flatten() {
            let document = shard.document(DocId(id))?;
            let of_last = last.take_if(|(text, _)| *text == document.text);
            let is_copy = of_last.is_some();
            let range = match (of_last, slices.blocks) {
                (Some((_, range)), _) => range,
                (None, None) => document.blocks,
                (None, Some(list)) => {
                    let start = last.map_or(0, |(_, range)| range.end);
                    let rest = &list[start as usize..];
                    let own = rest.partition_point(|&block| block < document.blocks.end) as u32;
                    start..start + own
                }
            };
            last = Some((document.text, range.clone()));
            slices.push(id, range, is_copy);
        }
        slices.cut();
        Ok(slices)
    }

    fn push(&mut self, document: u32, range: Range<u32>, is_copy: bool) {
        let mut start = range.start;
        loop {
            let end = range.end.min(start.saturating_add(UNIT_BLOCKS as u32));
            self.slices.push(DocumentSlice {
                document,
                start,
                end,
                is_first: start == range.start,
                is_whole: start == range.start && end == range.end,
                is_copy,
            });
            start = end;
            if start >= range.end {
                return;
            }
        }
    }

    /// Cuts the slices into units. Documents with the same text are in one unit if there is room in one, so that
    /// how often the text is read depends on them alone, and not on the documents before.
    fn cut(&mut self) {
        let continues = |slice: &DocumentSlice| slice.is_copy || !slice.is_first;
        let (mut start, mut blocks, mut documents) = (0, 0, 0);
        while start < self.slices.len() {
            let others = self.slices[start + 1..].iter();
            let end = start + 1 + others.take_while(|slice| continues(slice)).count();
            let same_text = &self.slices[start..end];
            let all: usize = same_text.iter().map(|slice| slice.range().len()).sum();
            let fits = blocks + all <= UNIT_BLOCKS && documents + same_text.len() <= UNIT_DOCUMENTS;
            for (index, slice) in (start..).zip(same_text) {
                let own = slice.range().len();
                let is_full = blocks + own > UNIT_BLOCKS || documents == UNIT_DOCUMENTS;
                if index > 0 && !fits && (index == start || is_full) {
                    self.ends.push(index);
                    (blocks, documents) = (0, 0);
                }
                (blocks, documents) = (blocks + own, documents + 1);
            }
            start = end;
        }
        if !self.slices.is_empty() {
            self.ends.push(self.slices.len());
        }
    }

    /// Returns the number of units.
    pub(super) fn unit_count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn unit(&self, index: usize) -> &[DocumentSlice] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slices[start..self.ends[index]]
    }

    /// Returns the blocks of a slice.
    pub(super) fn blocks(&self, slice: &DocumentSlice) -> BlockRanges<'_> {
        self.block_ranges(slice.range())
    }

    /// Returns the candidate blocks of a slice's whole document.
    pub(super) fn document_blocks(&self, slice: &DocumentSlice) -> BlockRanges<'_> {
        let is_before = |other: &DocumentSlice| other.document < slice.document;
        let first = self.slices.partition_point(is_before);
        let own = self.slices[first..].partition_point(|other| other.document == slice.document);
        let last = &self.slices[first + own.max(1) - 1];
        self.block_ranges(self.slices[first].start..last.end)
    }

    fn block_ranges(&self, range: Range<u32>) -> BlockRanges<'_> {
        BlockRanges::of(self.blocks, range)
    }
}

impl DocumentSlice {
    fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    /// Returns its share of the search's progress: its blocks, and one for the document.
    pub(super) fn weight(&self) -> u64 {
        let blocks = if self.is_copy {
            0
        } else {
            self.end - self.start
        };
        u64::from(blocks) + u64::from(self.is_first)
    }
}
