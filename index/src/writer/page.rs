//! Writer that checksums every page.

use crate::format::PAGE_BYTES;
use std::io::{self, Write};

/// Writes a shard from page 1 on.
pub(super) struct PageWriter<W> {
    out: W,
    /// File offset of the next byte.
    offset: u64,
    complete: Vec<u32>,
    /// Checksum of the current page and its bytes.
    crc: u32,
    filled: usize,
}

impl<W: Write> PageWriter<W> {
    /// `out` is positioned at page 1.
    pub(super) fn new(out: W) -> Self {
        PageWriter {
            out,
            offset: PAGE_BYTES as u64,
            complete: Vec::new(),
            crc: 0,
            filled: 0,
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Checksums of all pages, the last maybe partial.
    pub(super) fn checksums(&self) -> impl Iterator<Item = u32> {
        self.complete
            .iter()
            .copied()
            .chain((self.filled > 0).then_some(self.crc))
    }
}

impl<W: Write> Write for PageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let mut rest = &bytes[..written];
        while !rest.is_empty() {
            let (page, behind) = rest.split_at(rest.len().min(PAGE_BYTES - self.filled));
            self.crc = crc32c::crc32c_append(self.crc, page);
            self.filled += page.len();
            if self.filled == PAGE_BYTES {
                self.complete.push(std::mem::take(&mut self.crc));
                self.filled = 0;
            }
            rest = behind;
        }
        self.offset += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
