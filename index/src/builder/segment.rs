//! Segment: blocks of some documents, their text and their pairs. The beginning of the text may be
//! spilled to a file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct SegmentDocument {
    pub(crate) blocks: Range<u32>,
    pub(crate) lines: u32,
    pub(crate) hash: [u8; 32],
}

/// Start of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentBlock {
    /// Byte offset in the segment's text.
    pub(crate) offset: u64,
    /// Number of its first line, from 1.
    pub(crate) first_line: u32,
}

#[derive(Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<SegmentDocument>,
    /// Ascending; those of discarded documents belong to none.
    pub(crate) blocks: Vec<SegmentBlock>,
    /// Spilled beginning of the text.
    pub(crate) spilled: Option<File>,
    pub(crate) spilled_bytes: u64,
    /// Text after the spilled part.
    pub(crate) text: Vec<u8>,
    /// Ascending by block.
    pub(crate) runs: Vec<Vec<u8>>,
}

impl Segment {
    pub(crate) fn text_bytes(&self) -> u64 {
        self.spilled_bytes + self.text.len() as u64
    }

    /// Byte range of blocks.
    pub(crate) fn bytes(&self, blocks: &Range<u32>) -> Range<u64> {
        let offset = |block: u32| {
            let block = self.blocks.get(block as usize);
            block.map_or(self.text_bytes(), |block| block.offset)
        };
        offset(blocks.start)..offset(blocks.end)
    }

    /// Copies ranges of the text.
    pub(crate) fn copy(&self, ranges: &[Range<u64>], out: &mut impl Write) -> io::Result<()> {
        for &Range { start, end } in ranges {
            let middle = self.spilled_bytes.clamp(start, end);
            if let Some(mut file) = self.spilled.as_ref()
                && start < middle
            {
                file.seek(SeekFrom::Start(start))?;
                let copied = io::copy(&mut file.take(middle - start), out)?;
                if copied < middle - start {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let at = |offset: u64| (offset - self.spilled_bytes.min(offset)) as usize;
            out.write_all(&self.text[at(middle)..at(end)])?;
        }
        Ok(())
    }
}
