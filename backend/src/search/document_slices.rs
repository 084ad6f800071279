//! Documents to be judged, cut into units of some of them.
//!
//! A document with many blocks is in several units, a part in each, so that a unit is about as much
//! work as any other and what it finds stays small. One that must be read as a whole, since a match
//! in it may go over lines, is searched with its first part: its size is bounded for that
//! (`ACROSS_BYTES_MAX`).

use super::work::{BlockRanges, UNIT_BLOCKS};
use index::shard::{DocId, DocumentCandidates, Shard, ShardError};
use std::ops::Range;

/// Documents of a unit, at most: judging one by its name takes well below a microsecond.
const UNIT_DOCUMENTS: usize = 256;

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentSlice {
    pub(super) document: u32,
    /// Which blocks: their numbers, or where they are in the list of those to look at.
    start: u32,
    end: u32,
    /// It begins with the document's first block to look at, and ends with the last.
    pub(super) is_first: bool,
    pub(super) is_whole: bool,
}

/// The documents of a shard, cut.
pub(super) struct DocumentSlices<'a> {
    /// The blocks to look at; `None`: all.
    blocks: Option<&'a [u32]>,
    items: Vec<DocumentSlice>,
    /// Where each unit ends in `items`.
    ends: Vec<usize>,
}

impl<'a> DocumentSlices<'a> {
    pub(super) fn new(found: &'a DocumentCandidates, shard: &Shard) -> Result<Self, ShardError> {
        let mut items = DocumentSlices {
            blocks: found.blocks.as_deref(),
            items: Vec::new(),
            ends: Vec::new(),
        };
        let mut at = 0;
        for id in found.documents.iter().cloned().flatten() {
            let blocks = shard.document(DocId(id))?.blocks;
            let range = match items.blocks {
                None => blocks,
                Some(list) => {
                    let rest = &list[at as usize..];
                    let own = rest.partition_point(|&block| block < blocks.end) as u32;
                    at..at + own
                }
            };
            at = range.end;
            items.push(id, range);
        }
        items.cut();
        Ok(items)
    }

    fn push(&mut self, document: u32, range: Range<u32>) {
        let mut start = range.start;
        loop {
            let end = range.end.min(start.saturating_add(UNIT_BLOCKS as u32));
            self.items.push(DocumentSlice {
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
        for (index, item) in self.items.iter().enumerate() {
            let own = item.blocks().len();
            if index > 0 && (blocks + own > UNIT_BLOCKS || documents == UNIT_DOCUMENTS) {
                self.ends.push(index);
                (blocks, documents) = (0, 0);
            }
            (blocks, documents) = (blocks + own, documents + 1);
        }
        if !self.items.is_empty() {
            self.ends.push(self.items.len());
        }
    }

    pub(super) fn units(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn unit(&self, index: usize) -> &[DocumentSlice] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[index]]
    }

    /// The blocks of an item.
    pub(super) fn runs(&self, item: &DocumentSlice) -> BlockRanges<'_> {
        self.of(item.blocks())
    }

    /// The blocks to look at of an item's document.
    pub(super) fn document_runs(&self, item: &DocumentSlice) -> BlockRanges<'_> {
        let same = |other: &DocumentSlice| other.document < item.document;
        let first = self.items.partition_point(same);
        let own = self.items[first..].partition_point(|other| other.document == item.document);
        let last = &self.items[first + own.max(1) - 1];
        self.of(self.items[first].start..last.end)
    }

    fn of(&self, range: Range<u32>) -> BlockRanges<'_> {
        match self.blocks {
            None => BlockRanges::from_range(range),
            Some(list) => BlockRanges::from_list(&list[range.start as usize..range.end as usize]),
        }
    }
}

impl DocumentSlice {
    fn blocks(&self) -> Range<u32> {
        self.start..self.end
    }

    /// How much of the search it is: its blocks, and the document once.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.end - self.start) + u64::from(self.is_first)
    }
}
