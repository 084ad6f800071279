//! Candidate texts of a shard for line queries, cut into slices and units.
//!
//! A text is verified once, and its matches are emitted for each document. Units bound the pending
//! output: a large text has slices of blocks, document by document, and a text of many documents
//! has slices of documents, each verified once. Dead packages do not count.
//!
//! **Invariant:** slices ascend by document, then by block, like their matches.

use super::slices::{Slices, UNIT_BLOCKS, UNIT_DOCUMENTS};
use index::shard::{BlockId, Candidates, DocId, Shard, ShardError, Text, TextId};
use std::ops::Range;

/// Blocks times documents of a slice: 4 MiB of text if all lines match.
const COPIED_BLOCKS_MAX: usize = 1024;

pub(super) type TextSlices<'a> = Slices<'a, TextSlice>;

/// Consecutive candidate blocks of a text, for some of its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextSlice {
    /// Block ids, or indexes in the list of candidates.
    pub(super) blocks: Range<u32>,
    /// Documents with the text. If it has others, filters may reject these.
    pub(super) documents: Range<u32>,
    /// The text has several documents.
    pub(super) is_shared: bool,
    live: usize,
    /// Documents with the same blocks in earlier slices.
    pub(super) earlier: Range<u32>,
    pub(super) is_whole: bool,
}

impl<'a> TextSlices<'a> {
    pub(super) fn new(candidates: &'a Candidates, shard: &Shard) -> Result<Self, ShardError> {
        let mut slices;
        match candidates {
            Candidates::Ranges(ranges) => {
                slices = TextSlices::listed_in(None);
                for range in ranges {
                    slices.add_range(range, shard)?;
                }
            }
            Candidates::Blocks(blocks) => {
                slices = TextSlices::listed_in(Some(blocks));
                slices.add_blocks(blocks, shard)?;
            }
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
                self.push(&text.documents, at..end, |id| is_live(shard, id))?;
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
            self.push(&text.documents, blocks, |id| is_live(shard, id))?;
            at += own;
            next = TextId(text.id.0 + 1);
        }
        Ok(())
    }

    /// At least one document is live.
    fn push(
        &mut self,
        documents: &Range<u32>,
        blocks: Range<u32>,
        is_live: impl Fn(u32) -> Result<bool, ShardError>,
    ) -> Result<(), ShardError> {
        let copies = if blocks.len() > UNIT_BLOCKS {
            1
        } else {
            (COPIED_BLOCKS_MAX / blocks.len().max(1)).min(UNIT_DOCUMENTS)
        };
        let mut first = documents.start;
        while first < documents.end {
            let (mut some, mut live) = (first..first, 0);
            while some.end < documents.end && live < copies {
                live += usize::from(documents.len() == 1 || is_live(some.end)?);
                some.end += 1;
            }
            if live == 0 {
                break;
            }
            let mut start = blocks.start;
            while start < blocks.end {
                let end = blocks.end.min(start.saturating_add(UNIT_BLOCKS as u32));
                self.slices.push(TextSlice {
                    blocks: start..end,
                    documents: some.clone(),
                    is_shared: documents.len() > 1,
                    live,
                    earlier: documents.start..first,
                    is_whole: start == blocks.start && end == blocks.end,
                });
                start = end;
            }
            first = some.end;
        }
        Ok(())
    }

    fn cut(&mut self) {
        let mut blocks = 0;
        for (index, slice) in self.slices.iter().enumerate() {
            let own = slice.blocks.len() * slice.live;
            if index > 0 && blocks + own > UNIT_BLOCKS {
                self.ends.push(index);
                blocks = 0;
            }
            blocks += own;
        }
        self.end();
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

impl TextSlice {
    /// Blocks not counted before.
    pub(super) fn weight(&self) -> u64 {
        if self.earlier.is_empty() {
            self.blocks.len() as u64
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts texts, given as numbers of documents and blocks.
    fn slices(texts: &[(u32, u32)]) -> TextSlices<'static> {
        let mut slices = TextSlices {
            blocks: None,
            slices: Vec::new(),
            ends: Vec::new(),
        };
        let (mut document, mut block) = (0, 0);
        for (documents, blocks) in texts {
            let of = document..document + documents;
            slices
                .push(&of, block..block + blocks, |_| Ok(true))
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
                let size = |slice: &TextSlice| slice.blocks.len() * slice.documents.len();
                let sum: usize = unit.iter().map(size).sum();
                assert!(sum <= UNIT_BLOCKS || unit.len() == 1);
                assert!(sum <= COPIED_BLOCKS_MAX);
                for slice in unit {
                    weight += slice.weight();
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
