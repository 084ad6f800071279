//! Files of pointers: sorted runs that wait to be merged, and the total order.
//!
//! ```text
//! block of 4 KiB = 127 pointers of 32 bytes, CRC-32C of them (4 bytes), 28 zero bytes
//! ```
//!
//! The last block is as short as its pointers and the 32 bytes behind them. So pointer n is in block
//! n / 127, and reading a page of them takes one or two blocks, whatever its number.

use super::{Blob, Held, RunSpool, SpoolError};
use crate::rank::Pointer;
use std::ops::Range;
use zerocopy::{FromBytes, IntoBytes};

/// Pointers in a whole block.
const BLOCK_LEN: usize = 127;

const POINTER_BYTES: usize = size_of::<Pointer>();

/// Bytes of a whole block.
const BLOCK_BYTES: usize = (BLOCK_LEN + 1) * POINTER_BYTES;

/// Blocks that are written, or read by who reads them one after the other, at a time.
const BLOCKS_AT_ONCE: usize = 16;

/// Appends pointers to a file.
pub(crate) struct PointerWriter<'a> {
    spool: &'a RunSpool,
    blob: &'a Blob,
    /// Whole blocks, and the last one without its end.
    buffer: Vec<u8>,
    /// Where the last block begins in the buffer.
    block: usize,
    pub(crate) len: u64,
}

impl<'a> PointerWriter<'a> {
    pub(crate) fn new(spool: &'a RunSpool, blob: &'a Blob) -> Self {
        PointerWriter {
            spool,
            blob,
            buffer: Vec::new(),
            block: 0,
            len: 0,
        }
    }

    pub(crate) fn push(&mut self, pointer: &Pointer) -> Result<(), SpoolError> {
        self.buffer.extend_from_slice(pointer.as_bytes());
        self.len += 1;
        if self.buffer.len() - self.block == BLOCK_LEN * POINTER_BYTES {
            self.end_block();
            if self.buffer.len() >= BLOCKS_AT_ONCE * BLOCK_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left, and says how many pointers there are.
    pub(crate) fn finish(mut self) -> Result<u64, SpoolError> {
        if self.buffer.len() > self.block {
            self.end_block();
        }
        self.flush()?;
        Ok(self.len)
    }

    fn end_block(&mut self) {
        let sum = crc32c::crc32c(&self.buffer[self.block..]);
        let mut end = [0; POINTER_BYTES];
        end[..4].copy_from_slice(&sum.to_le_bytes());
        self.buffer.extend_from_slice(&end);
        self.block = self.buffer.len();
    }

    fn flush(&mut self) -> Result<(), SpoolError> {
        if !self.buffer.is_empty() {
            self.spool.append(self.blob, &self.buffer)?;
        }
        self.buffer.clear();
        self.block = 0;
        Ok(())
    }
}

/// The pointers with these numbers, of a file of `len`.
pub(crate) fn read_pointers(
    blob: &Blob,
    len: u64,
    range: Range<u64>,
) -> Result<Vec<Pointer>, SpoolError> {
    let mut pointers = Vec::with_capacity((range.end - range.start) as usize);
    if range.is_empty() {
        return Ok(pointers);
    }
    let first = range.start / BLOCK_LEN as u64;
    let mut reader = PointerReader::at_block(blob, len, first);
    reader.blocks_at_once =
        (range.end.div_ceil(BLOCK_LEN as u64) - first).min(BLOCKS_AT_ONCE as u64) as usize;
    let mut skip = (range.start % BLOCK_LEN as u64) as usize;
    while pointers.len() < (range.end - range.start) as usize {
        let block = reader
            .next_block()?
            .ok_or_else(|| blob.corrupt(blob.len()))?;
        let left = (range.end - range.start) as usize - pointers.len();
        pointers.extend(block.iter().skip(skip).take(left));
        skip = 0;
    }
    Ok(pointers)
}

/// Reads a file of pointers from a block on.
pub(crate) struct PointerReader<'a> {
    blob: &'a Blob,
    /// Pointers behind those that have been read.
    left: u64,
    /// Where in the file the next piece begins.
    offset: u64,
    words: Vec<u64>,
    /// The part of the piece that has not been given out.
    piece: Range<usize>,
    blocks_at_once: usize,
    file: Held,
}

impl<'a> PointerReader<'a> {
    /// All of a file of `len` pointers.
    pub(crate) fn new(blob: &'a Blob, len: u64) -> Self {
        PointerReader::at_block(blob, len, 0)
    }

    fn at_block(blob: &'a Blob, len: u64, block: u64) -> Self {
        PointerReader {
            blob,
            left: len.saturating_sub(block * BLOCK_LEN as u64),
            offset: block * BLOCK_BYTES as u64,
            words: Vec::new(),
            piece: 0..0,
            blocks_at_once: BLOCKS_AT_ONCE,
            file: Held::default(),
        }
    }

    /// The pointers of the next block; `None` behind the last.
    pub(crate) fn next_block(&mut self) -> Result<Option<&[Pointer]>, SpoolError> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.piece.is_empty() {
            self.fill()?;
        }
        let len = self.left.min(BLOCK_LEN as u64) as usize;
        let at = self.offset - self.piece.len() as u64;
        let block = &self.words.as_bytes()[self.piece.clone()];
        let block = block
            .get(..(len + 1) * POINTER_BYTES)
            .ok_or_else(|| self.blob.corrupt(at))?;
        let (pointers, end) = block.split_at(len * POINTER_BYTES);
        if end[..4] != crc32c::crc32c(pointers).to_le_bytes() {
            return Err(self.blob.corrupt(at));
        }
        self.left -= len as u64;
        self.piece.start += block.len();
        let pointers = <[Pointer]>::ref_from_bytes(pointers);
        Ok(Some(
            pointers.expect("aligned, and a multiple of a pointer"),
        ))
    }

    fn fill(&mut self) -> Result<(), SpoolError> {
        let left = self.blob.len().saturating_sub(self.offset);
        let bytes = (self.blocks_at_once * BLOCK_BYTES).min(left as usize);
        self.words.resize(bytes.div_ceil(8), 0);
        let space = &mut self.words.as_mut_bytes()[..bytes];
        let read = self.blob.read_at(space, self.offset, &mut self.file)?;
        self.offset += read as u64;
        self.piece = 0..read;
        Ok(())
    }
}
