//! The candidates of a shard, cut into work units of some blocks or documents.
//!
//! A document with many blocks is cut into slices that go to several units, so that all units cost
//! about the same and their results stay small. A document that must be read as a whole, because a
//! match in it may span lines, is searched with its first slice; `MULTILINE_BYTES_MAX` bounds its
//! size.

use index::shard::{Candidates, DocId, DocumentCandidates, Shard, ShardError};
use std::ops::Range;

/// Candidate blocks of a work unit: a quarter of a megabyte of text, a few tenths of a millisecond.
pub(super) const UNIT_BLOCKS: usize = 64;

/// Documents of a unit, at most. Evaluating one by its name takes well below a microsecond.
const UNIT_DOCUMENTS: usize = 256;

/// What has to be verified in a shard.
pub(super) enum ShardCandidates {
    /// Blocks, when lines are matched one by one.
    Blocks(Candidates),
    /// Documents, when each is evaluated as a whole.
    Documents(DocumentCandidates),
}

impl ShardCandidates {
    /// Returns the number of candidate blocks.
    pub(super) fn blocks(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(_) => self.weight(),
            ShardCandidates::Documents(documents) => documents.block_count,
        }
    }

    /// Returns the amount of work: blocks to verify and documents to evaluate.
    pub(super) fn weight(&self) -> u64 {
        match self {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => blocks.len() as u64,
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => total_len(ranges),
            ShardCandidates::Documents(it) => total_len(&it.documents) + it.block_count,
        }
    }
}

fn total_len(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}

/// Candidates, cut into work units.
pub(super) enum WorkList<'a> {
    Ranges {
        ranges: &'a [Range<u32>],
        /// The number of units up to the end of each range.
        ends: Vec<usize>,
    },
    Blocks(&'a [u32]),
    Documents(DocumentSlices<'a>),
}

/// The work that a worker does at a time.
pub(super) enum WorkUnit<'a> {
    Blocks(BlockRanges<'a>),
    /// Some slices, and all slices of the shard.
    Documents(&'a [DocumentSlice], &'a DocumentSlices<'a>),
}

impl<'a> WorkList<'a> {
    pub(super) fn new(candidates: &'a ShardCandidates, shard: &Shard) -> Result<Self, ShardError> {
        Ok(match candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::Blocks(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::from_ranges(ranges),
            ShardCandidates::Documents(documents) => {
                WorkList::Documents(DocumentSlices::new(documents, shard)?)
            }
        })
    }

    fn from_ranges(ranges: &'a [Range<u32>]) -> Self {
        let ends = ranges.iter().scan(0, |end, range| {
            *end += range.len().div_ceil(UNIT_BLOCKS);
            Some(*end)
        });
        WorkList::Ranges {
            ranges,
            ends: ends.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            WorkList::Ranges { ends, .. } => ends.last().copied().unwrap_or(0),
            WorkList::Blocks(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
            WorkList::Documents(slices) => slices.ends.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> WorkUnit<'_> {
        match self {
            WorkList::Ranges { ranges, ends } => {
                let range = range_unit(ranges, ends, index);
                WorkUnit::Blocks(BlockRanges { range, list: &[] })
            }
            WorkList::Blocks(blocks) => {
                let start = index * UNIT_BLOCKS;
                let end = blocks.len().min(start + UNIT_BLOCKS);
                WorkUnit::Blocks(BlockRanges {
                    range: 0..0,
                    list: &blocks[start..end],
                })
            }
            WorkList::Documents(slices) => WorkUnit::Documents(slices.unit(index), slices),
        }
    }
}

/// Returns the blocks of unit `index`, which all lie in one of the `ranges`.
fn range_unit(ranges: &[Range<u32>], ends: &[usize], index: usize) -> Range<u32> {
    let number = ends.partition_point(|&end| end <= index);
    let before = number.checked_sub(1).map_or(0, |before| ends[before]);
    let range = &ranges[number];
    let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
    start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
}

/// Ascending blocks, taken from the front as ranges of consecutive ones.
pub(super) struct BlockRanges<'a> {
    range: Range<u32>,
    list: &'a [u32],
}

impl BlockRanges<'_> {
    pub(super) fn peek(&self) -> Option<u32> {
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
        let mut at = 0;
        for id in candidates.documents.iter().cloned().flatten() {
            let blocks = shard.document(DocId(id))?.blocks;
            let range = match slices.blocks {
                None => blocks,
                Some(list) => {
                    let rest = &list[at as usize..];
                    let own = rest.partition_point(|&block| block < blocks.end) as u32;
                    at..at + own
                }
            };
            at = range.end;
            slices.push(id, range);
        }
        slices.cut();
        Ok(slices)
    }

    fn push(&mut self, document: u32, range: Range<u32>) {
        let mut start = range.start;
        loop {
            let end = range.end.min(start.saturating_add(UNIT_BLOCKS as u32));
            self.slices.push(DocumentSlice {
                document,
                start,
                end,
                is_first: start == range.start,
                is_whole: start == range.start && end == range.end,
            });
            start = end;
            if start >= range.end {
                return;
            }
        }
    }

    fn cut(&mut self) {
        let (mut blocks, mut documents) = (0, 0);
        for (index, slice) in self.slices.iter().enumerate() {
            let own = slice.range().len();
            if index > 0 && (blocks + own > UNIT_BLOCKS || documents == UNIT_DOCUMENTS) {
                self.ends.push(index);
                (blocks, documents) = (0, 0);
            }
            (blocks, documents) = (blocks + own, documents + 1);
        }
        if !self.slices.is_empty() {
            self.ends.push(self.slices.len());
        }
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
        match self.blocks {
            None => BlockRanges { range, list: &[] },
            Some(list) => BlockRanges {
                range: 0..0,
                list: &list[range.start as usize..range.end as usize],
            },
        }
    }
}

impl DocumentSlice {
    fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    /// Returns its share of the search's progress: its blocks, and one for the document.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.end - self.start) + u64::from(self.is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of_all_units(candidates: Candidates) -> Vec<u32> {
        let candidates = ShardCandidates::Blocks(candidates);
        let units = match &candidates {
            ShardCandidates::Blocks(Candidates::Blocks(blocks)) => WorkList::Blocks(blocks),
            ShardCandidates::Blocks(Candidates::Ranges(ranges)) => WorkList::from_ranges(ranges),
            ShardCandidates::Documents(_) => unreachable!(),
        };
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            let WorkUnit::Blocks(mut unit) = units.get(index) else {
                unreachable!();
            };
            while let Some(range) = unit.next_range(u32::MAX) {
                blocks.extend(range);
            }
            assert!((1..=UNIT_BLOCKS).contains(&(blocks.len() - before)));
        }
        assert_eq!(blocks.len() as u64, candidates.weight());
        blocks
    }

    #[test]
    fn units_have_all_candidates_in_order() {
        let list: Vec<u32> = (0..200).map(|block| block * 3).collect();
        assert_eq!(blocks_of_all_units(Candidates::Blocks(list.clone())), list);
        let table: [&[(u32, u32)]; 4] =
            [&[], &[(0, 1)], &[(0, 64)], &[(3, 67), (70, 71), (100, 400)]];
        for ranges in table {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let expected: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert_eq!(blocks_of_all_units(Candidates::Ranges(ranges)), expected);
        }
    }
}
