//! Which pages of a shard are known to be whole.

use crate::format::PAGE_BYTES;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of a page's checksum.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// A bit for every page from page 1 on: whether its checksum has been compared.
pub(super) struct Pages {
    checked: Vec<AtomicU64>,
    /// Whether a page was not as it should be.
    failed: AtomicBool,
}

impl Pages {
    /// None of `count` pages has been compared.
    pub(super) fn new(count: usize) -> Self {
        let words = count.div_ceil(64);
        Pages {
            checked: (0..words).map(|_| AtomicU64::new(0)).collect(),
            failed: AtomicBool::new(false),
        }
    }

    /// Checks the pages of `file` that hold the bytes `range`; `file` ends where `checksums` begin.
    /// The error is the offset of a damaged page.
    #[inline]
    pub(super) fn check(
        &self,
        file: &[u8],
        checksums: &[u8],
        range: Range<u64>,
    ) -> Result<(), u64> {
        if range.is_empty() {
            return Ok(());
        }
        let first = range.start as usize / PAGE_BYTES;
        let last = (range.end as usize - 1) / PAGE_BYTES;
        for page in first..=last {
            // Page 0 is the header, which has a checksum of its own.
            let index = page.checked_sub(1).ok_or(0_u64)?;
            let bit = 1 << (index % 64);
            // Relaxed: the bit orders nothing; a page that two threads check at once is checked
            // twice.
            if self.checked[index / 64].load(Ordering::Relaxed) & bit == 0 {
                self.check_page(file, checksums, page)?;
                self.checked[index / 64].fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Whether a page that was checked was not as it should be.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    #[cold]
    fn check_page(&self, file: &[u8], checksums: &[u8], page: usize) -> Result<(), u64> {
        let start = page * PAGE_BYTES;
        let bytes = &file[start..file.len().min(start + PAGE_BYTES)];
        let expected = checksums.chunks_exact(CHECKSUM_BYTES).nth(page - 1);
        if expected == Some(&crc32c::crc32c(bytes).to_le_bytes()[..]) {
            Ok(())
        } else {
            self.failed.store(true, Ordering::Relaxed);
            Err(start as u64)
        }
    }
}
