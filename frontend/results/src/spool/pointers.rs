//! Files of pointers: sorted runs, and parts of the total order.
//!
//! ```text
//! block of 4 KiB = 127 pointers of 32 bytes, CRC-32C of them (4 bytes), 28 zero bytes
//! ```
//!
//! The last block ends after its pointers and 32 bytes of checksum. Pointer n is in block n / 127,
//! so any page costs one or two blocks.

use super::blob::{Blob, OpenFile};
use super::error::SpoolError;
use crate::order::Pointer;
use std::ops::Range;
use std::path::Path;
use zerocopy::{FromZeros, IntoBytes};

pub const BLOCK_LEN: usize = 127;

/// Cells of 32 bytes in a full block: pointers and checksum.
pub(super) const CELLS: usize = BLOCK_LEN + 1;

const POINTER_BYTES: usize = size_of::<Pointer>();

const BLOCK_BYTES: usize = CELLS * POINTER_BYTES;

/// Blocks per sequential read or write.
pub const BLOCKS_AT_ONCE: usize = 16;

/// Number of pointers in a file of `bytes` bytes; `None` for impossible lengths.
pub(super) fn len_of(bytes: u64) -> Option<u64> {
    let cells = bytes / POINTER_BYTES as u64;
    let (whole, rest) = (cells / CELLS as u64, cells % CELLS as u64);
    let is_whole = bytes.is_multiple_of(POINTER_BYTES as u64) && rest != 1;
    is_whole.then(|| whole * BLOCK_LEN as u64 + rest.saturating_sub(1))
}

/// Number of pointers in a file; 0 for an impossible length.
pub fn len_of_pointers(blob: &Blob) -> u64 {
    len_of(blob.len()).unwrap_or(0)
}

pub struct PointerReader<'a> {
    blob: &'a Blob,
    left: Range<u64>,
    cells: Vec<Pointer>,
    /// In `cells`, not returned yet.
    checked: Range<usize>,
    next: usize,
    blocks_at_once: usize,
    file: OpenFile,
}

impl<'a> PointerReader<'a> {
    pub fn new(blob: &'a Blob, range: Range<u64>) -> Self {
        PointerReader {
            blob,
            left: range,
            cells: Vec::new(),
            checked: 0..0,
            next: 0,
            blocks_at_once: BLOCKS_AT_ONCE,
            file: OpenFile::default(),
        }
    }

    /// Sets the blocks per read, at least one.
    pub fn by(self, blocks_at_once: usize) -> Self {
        PointerReader {
            blocks_at_once: blocks_at_once.clamp(1, BLOCKS_AT_ONCE),
            ..self
        }
    }

    pub(crate) fn seek(&mut self, range: Range<u64>) {
        self.left = range;
        self.cells.clear();
        self.checked = 0..0;
        self.next = 0;
    }

    /// Next pointer; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<Pointer>, SpoolError> {
        if self.checked.is_empty() && !self.check()? {
            return Ok(None);
        }
        self.checked.start += 1;
        Ok(Some(self.cells[self.checked.start - 1]))
    }

    /// Rest of the next block; empty at the end.
    pub fn next_block(&mut self) -> Result<&[Pointer], SpoolError> {
        if self.checked.is_empty() {
            self.check()?;
        }
        let given = std::mem::take(&mut self.checked);
        Ok(&self.cells[given])
    }

    fn check(&mut self) -> Result<bool, SpoolError> {
        if self.left.is_empty() {
            return Ok(false);
        }
        let number = self.left.start / BLOCK_LEN as u64;
        if self.next == self.cells.len() {
            self.fill(number)?;
        }
        let corrupt = || self.blob.corrupt(number * BLOCK_BYTES as u64);
        let block = &self.cells[self.next..self.cells.len().min(self.next + CELLS)];
        let (end, pointers) = block.split_last().ok_or_else(corrupt)?;
        if end.as_bytes()[..4] != crc32c::crc32c(pointers.as_bytes()).to_le_bytes() {
            return Err(corrupt());
        }
        let skip = (self.left.start % BLOCK_LEN as u64) as usize;
        let most = (self.left.end - self.left.start) as usize;
        let len = pointers.len().saturating_sub(skip).min(most);
        if len == 0 {
            return Err(corrupt());
        }
        let start = self.next + skip;
        self.checked = start..start + len;
        self.next += block.len();
        self.left.start += len as u64;
        Ok(true)
    }

    fn fill(&mut self, number: u64) -> Result<(), SpoolError> {
        let last = (self.left.end - 1) / BLOCK_LEN as u64;
        let blocks = (last - number + 1).min(self.blocks_at_once as u64);
        let offset = number * BLOCK_BYTES as u64;
        let bytes = (blocks * BLOCK_BYTES as u64).min(self.blob.len().saturating_sub(offset));
        let cells = bytes as usize / POINTER_BYTES;
        self.cells.resize(cells, Pointer::new_zeroed());
        let space = self.cells.as_mut_bytes();
        let read = self.blob.read_at(space, offset, &mut self.file)?;
        self.cells.truncate(read / POINTER_BYTES);
        self.next = 0;
        Ok(())
    }
}

/// Number of the `len` sorted pointers that satisfy `is_before`, by binary
/// search over a few blocks.
pub fn partition_pointers(
    blob: &Blob,
    len: u64,
    is_before: impl Fn(&Pointer) -> bool,
) -> Result<u64, SpoolError> {
    let mut reader = PointerReader::new(blob, 0..0);
    let mut blocks = 0..len.div_ceil(BLOCK_LEN as u64);
    while !blocks.is_empty() {
        let block = blocks.start + (blocks.end - blocks.start) / 2;
        let start = block * BLOCK_LEN as u64;
        reader.seek(start..len.min(start + BLOCK_LEN as u64));
        let pointers = reader.next_block()?;
        match pointers.partition_point(&is_before) {
            0 => blocks.end = block,
            all if all == pointers.len() => blocks.start = block + 1,
            some => return Ok(start + some as u64),
        }
    }
    Ok(len.min(blocks.start * BLOCK_LEN as u64))
}

/// Parts of an order. Memory latency and disk bound merging: more threads gain little, and other
/// queries need processors.
pub const ORDER_PARTS_MAX: usize = 4;

/// Parts of a result's total order. A thread writes each; unused ones have no file.
#[derive(Debug)]
pub struct OrderFiles {
    pub(super) parts: Vec<Blob>,
}

impl OrderFiles {
    /// Opens files of these lengths; `None` if one is missing or a length is impossible.
    pub(super) fn open(directory: &Path, bytes: &[u64]) -> Option<OrderFiles> {
        let part = |number: usize| {
            let bytes = bytes.get(number).copied().unwrap_or(0);
            len_of(bytes)?;
            Blob::open(directory.join(format!("order-{number}")), bytes)
        };
        let parts: Option<_> = (0..ORDER_PARTS_MAX).map(part).collect();
        parts
            .filter(|_| bytes.len() <= ORDER_PARTS_MAX)
            .map(|parts| OrderFiles { parts })
    }

    pub fn part(&self, number: usize) -> &Blob {
        &self.parts[number]
    }

    pub fn bytes(&self) -> Vec<u64> {
        self.parts.iter().map(Blob::len).collect()
    }

    pub(crate) fn len(&self) -> u64 {
        self.parts.iter().map(len_of_pointers).sum()
    }

    pub fn read(&self, range: Range<u64>) -> Result<Vec<Pointer>, SpoolError> {
        let count = range.end.saturating_sub(range.start) as usize;
        let mut pointers = Vec::with_capacity(count);
        let mut start = 0;
        for part in &self.parts {
            let len = len_of_pointers(part);
            let of = |at: u64| at.clamp(start, start + len) - start;
            let mut reader = PointerReader::new(part, of(range.start)..of(range.end));
            while let block @ [_, ..] = reader.next_block()? {
                pointers.extend_from_slice(block);
            }
            start += len;
        }
        if pointers.len() < count {
            return Err(self.corrupt());
        }
        Ok(pointers)
    }

    pub(super) fn corrupt(&self) -> SpoolError {
        self.parts[0].corrupt(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Origin;
    use crate::spool::{PointerWriter, Spool, SpoolConfig};

    #[test]
    fn file_lengths_follow_from_block_lengths() {
        let block = BLOCK_BYTES as u64;
        let known = [
            (0, 0),
            (64, 1),
            (block, 127),
            (block + 64, 128),
            (block + 96, 129),
        ];
        for (bytes, len) in known {
            assert_eq!(len_of(bytes), Some(len), "{bytes}");
        }
        for bytes in [10, 32, 65, block + 32] {
            assert_eq!(len_of(bytes), None, "{bytes}");
        }
    }

    #[test]
    fn any_range_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let config = SpoolConfig {
            disk_bytes_max: 1 << 20,
            result_memory_max: 0,
            durable: false,
            before_write: None,
        };
        let (spool, _) = Spool::open(directory.path(), config).unwrap();
        for len in [0_u32, 1, 126, 127, 128, 254, 300, 2500] {
            let files = spool.create("0123456789abcdef", 1);
            let mut writer = PointerWriter::new(&files, files.order.part(1));
            let origin = Origin {
                hash: 0,
                package: 0,
                stream: 0,
                offset: 0,
            };
            let pointers: Vec<_> = (0..len).map(|n| origin.pointer(0.0, n, n)).collect();
            pointers.iter().for_each(|each| writer.push(each).unwrap());
            assert_eq!(writer.finish().unwrap(), u64::from(len));
            assert_eq!(files.order.len(), u64::from(len));
            let blob = files.order.part(1);
            for at in (0..=len).filter(|at| at % 127 < 2 || at % 127 == 126 || len - at < 2) {
                let is_before = |pointer: &Pointer| pointer.spool_order() < u128::from(at);
                let before = partition_pointers(blob, len.into(), is_before).unwrap();
                assert_eq!(before, u64::from(at), "of {len}");
                let read = files.order.read(at.into()..len.into()).unwrap();
                assert_eq!(read, pointers[at as usize..]);
                let mut reader = PointerReader::new(blob, at.into()..len.into()).by(2);
                let each = std::iter::from_fn(|| reader.advance().unwrap());
                assert!(each.eq(pointers[at as usize..].iter().copied()));
            }
        }
    }
}
