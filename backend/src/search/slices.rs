//! Pieces of a shard's candidates for one worker: ranges of blocks, and slices of documents.
//! Documents of one text share blocks.
//!
//! Slices of a large document go to several units, so all units cost about the same. A document
//! with matches over lines is searched whole with its first slice; `MULTILINE_BYTES_MAX` bounds it.

use index::shard::{DocId, DocumentCandidates, Shard, ShardError, TextId};
use std::mem;
use std::ops::Range;

/// Blocks of a unit: a quarter of a megabyte, some tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// Evaluating a name takes below a microsecond.
pub(super) const UNIT_DOCUMENTS: usize = 256;

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
pub(super) struct Slices<'a, S> {
    /// `None` means all of a slice's range.
    pub(super) blocks: Option<&'a [u32]>,
    pub(super) slices: Vec<S>,
    pub(super) ends: Vec<usize>,
}

impl<'a, S> Slices<'a, S> {
    pub(super) fn listed_in(blocks: Option<&'a [u32]>) -> Self {
        Slices {
            blocks,
            slices: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub(super) fn unit_count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn unit(&self, index: usize) -> &[S] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slices[start..self.ends[index]]
    }

    /// Ends the last unit.
    pub(super) fn end(&mut self) {
        if !self.slices.is_empty() {
            self.ends.push(self.slices.len());
        }
    }

    pub(super) fn block_ranges(&self, range: Range<u32>) -> BlockRanges<'_> {
        match self.blocks {
            None => BlockRanges::all(range),
            Some(list) => BlockRanges::listed(&list[range.start as usize..range.end as usize]),
        }
    }
}

pub(super) type DocumentSlices<'a> = Slices<'a, DocumentSlice>;

/// Consecutive candidate blocks of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentSlice {
    pub(super) document: u32,
    /// Block ids, or indexes in the list of candidates.
    start: u32,
    end: u32,
    pub(super) is_first: bool,
    /// Has all its candidate blocks.
    pub(super) is_whole: bool,
    /// Same text as the document before, so blocks count there.
    is_copy: bool,
}

impl<'a> DocumentSlices<'a> {
    pub(super) fn new(
        candidates: &'a DocumentCandidates,
        shard: &Shard,
    ) -> Result<Self, ShardError> {
        let mut slices = DocumentSlices::listed_in(candidates.blocks.as_deref());
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

    /// Cuts slices into units. Documents of one text share a unit if possible, so reads do not
    /// depend on documents before.
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
        self.end();
    }

    pub(super) fn document_blocks(&self, slice: &DocumentSlice) -> BlockRanges<'_> {
        let is_before = |other: &DocumentSlice| other.document < slice.document;
        let first = self.slices.partition_point(is_before);
        let own = self.slices[first..].partition_point(|other| other.document == slice.document);
        let last = &self.slices[first + own.max(1) - 1];
        self.block_ranges(self.slices[first].start..last.end)
    }
}

impl DocumentSlice {
    pub(super) fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    /// Blocks, and one for the document.
    pub(super) fn weight(&self) -> u64 {
        let blocks = if self.is_copy {
            0
        } else {
            self.end - self.start
        };
        u64::from(blocks) + u64::from(self.is_first)
    }
}
