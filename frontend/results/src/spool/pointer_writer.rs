//! Writes a file of pointers in the blocks of [`pointers`](super::pointers).

use super::blob::Blob;
use super::error::SpoolError;
use super::pointers::{BLOCK_LEN, BLOCKS_AT_ONCE, CELLS};
use super::result_files::ResultFiles;
use crate::order::Pointer;
use zerocopy::{FromZeros, IntoBytes};

/// Appends pointers to a file of a result.
pub struct PointerWriter<'a> {
    files: &'a ResultFiles,
    blob: &'a Blob,
    cells: Vec<Pointer>,
    block: usize,
    /// Pointers so far.
    pub len: u64,
}

impl<'a> PointerWriter<'a> {
    pub fn new(files: &'a ResultFiles, blob: &'a Blob) -> Self {
        PointerWriter {
            files,
            blob,
            cells: Vec::new(),
            block: 0,
            len: 0,
        }
    }

    pub fn push(&mut self, pointer: &Pointer) -> Result<(), SpoolError> {
        self.cells.push(*pointer);
        self.len += 1;
        if self.cells.len() - self.block == BLOCK_LEN {
            self.end_block();
            if self.cells.len() >= BLOCKS_AT_ONCE * CELLS {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the rest. Returns the number of pointers.
    pub fn finish(mut self) -> Result<u64, SpoolError> {
        if self.cells.len() > self.block {
            self.end_block();
        }
        self.flush()?;
        Ok(self.len)
    }

    fn end_block(&mut self) {
        let sum = crc32c::crc32c(self.cells[self.block..].as_bytes());
        let mut end = Pointer::new_zeroed();
        end.as_mut_bytes()[..4].copy_from_slice(&sum.to_le_bytes());
        self.cells.push(end);
        self.block = self.cells.len();
    }

    fn flush(&mut self) -> Result<(), SpoolError> {
        if !self.cells.is_empty() {
            self.files.append(self.blob, self.cells.as_bytes())?;
        }
        self.cells.clear();
        self.block = 0;
        Ok(())
    }
}
