//! Remembers the verified pages of a shard.

use super::lazy_table::LazyTable;
use crate::format::PAGE_BYTES;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(super) const CHECKSUM_BYTES: usize = 4;

/// One bit per page from page 1 on: its checksum is correct.
pub(super) struct PageChecks {
    checked: LazyTable<AtomicU64>,
    failed: AtomicBool,
}

impl PageChecks {
    pub(super) fn new(count: usize) -> Self {
        PageChecks {
            checked: LazyTable::new(count.div_ceil(64)),
            failed: AtomicBool::new(false),
        }
    }

    /// Verifies the pages with the bytes `range`; `file` ends where `checksums` begin. The error is
    /// the offset of a bad page.
    #[inline]
    pub(super) fn check(
        &self,
        file: &[u8],
        checksums: &[u8],
        range: Range<u64>,
    ) -> Result<(), u64> {
        for page in pages_of(&range) {
            if !self.is_checked(page) {
                let start = page * PAGE_BYTES;
                let bytes = &file[start..file.len().min(start + PAGE_BYTES)];
                self.check_page(bytes, checksums, page)?;
            }
        }
        Ok(())
    }

    /// Verifies whole pages in memory, from `offset` on. The error is the offset of a bad page.
    pub(super) fn check_read(
        &self,
        bytes: &[u8],
        offset: u64,
        checksums: &[u8],
    ) -> Result<(), u64> {
        let first = offset as usize / PAGE_BYTES;
        (first..)
            .zip(bytes.chunks(PAGE_BYTES))
            .filter(|&(page, _)| !self.is_checked(page))
            .try_for_each(|(page, bytes)| self.check_page(bytes, checksums, page))
    }

    #[inline]
    pub(super) fn are_checked(&self, range: Range<u64>) -> bool {
        pages_of(&range).all(|page| self.is_checked(page))
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Page 0 is the header, with its own checksum.
    #[inline]
    fn is_checked(&self, page: usize) -> bool {
        let Some(index) = page.checked_sub(1) else {
            return false;
        };
        // Relaxed: orders no other memory. Two threads may verify the same page.
        self.checked
            .get_used(index / 64)
            .is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (index % 64) != 0)
    }

    #[cold]
    fn check_page(&self, bytes: &[u8], checksums: &[u8], page: usize) -> Result<(), u64> {
        let index = page.checked_sub(1).ok_or(0_u64)?;
        let expected = checksums.chunks_exact(CHECKSUM_BYTES).nth(index);
        if expected == Some(&crc32c::crc32c(bytes).to_le_bytes()[..]) {
            let word = self.checked.get(index / 64);
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
            Ok(())
        } else {
            self.failed.store(true, Ordering::Relaxed);
            Err((page * PAGE_BYTES) as u64)
        }
    }
}

#[inline]
fn pages_of(range: &Range<u64>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    range.start as usize / PAGE_BYTES..(range.end as usize - 1) / PAGE_BYTES + 1
}
