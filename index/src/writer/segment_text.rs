//! Text of a segment; its beginning may be spilled to a file.

use crate::builder::{Segment, SegmentBlock};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Texts of the documents, in order.
pub(super) struct SegmentText<'s> {
    segment: &'s Segment,
    spilled_bytes: u64,
}

impl<'s> SegmentText<'s> {
    pub(super) fn new(segment: &'s Segment) -> io::Result<Self> {
        let spilled_bytes = match &segment.spilled {
            Some(file) => file.metadata()?.len(),
            None => 0,
        };
        Ok(SegmentText {
            segment,
            spilled_bytes,
        })
    }

    pub(super) fn blocks(&self, number: usize) -> Range<u32> {
        let documents = &self.segment.documents;
        let next = documents.get(number + 1).map(|next| next.first_block);
        // Counted in this width by the builder.
        let end = next.unwrap_or(self.segment.blocks.len() as u32);
        documents[number].first_block..end
    }

    /// Byte range of blocks in the segment.
    pub(super) fn bytes(&self, blocks: &Range<u32>) -> Range<u64> {
        self.offset(blocks.start)..self.offset(blocks.end)
    }

    pub(super) fn entries(&self, blocks: Range<u32>) -> &'s [SegmentBlock] {
        &self.segment.blocks[blocks.start as usize..blocks.end as usize]
    }

    pub(super) fn copy(&self, ranges: &[Range<u64>], out: &mut impl Write) -> io::Result<()> {
        for &Range { start, end } in ranges {
            let middle = self.spilled_bytes.clamp(start, end);
            if let Some(mut file) = self.segment.spilled.as_ref()
                && start < middle
            {
                file.seek(SeekFrom::Start(start))?;
                let copied = io::copy(&mut file.take(middle - start), out)?;
                if copied < middle - start {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let at = |offset: u64| (offset - self.spilled_bytes.min(offset)) as usize;
            out.write_all(&self.segment.text[at(middle)..at(end)])?;
        }
        Ok(())
    }

    fn offset(&self, block: u32) -> u64 {
        let end = self.spilled_bytes + self.segment.text.len() as u64;
        let block = self.segment.blocks.get(block as usize);
        block.map_or(end, |block| block.offset)
    }
}
