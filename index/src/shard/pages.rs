//! Remembers which pages of a shard have a correct checksum.

use super::lazy_table::LazyTable;
use crate::format::PAGE_BYTES;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of a page's checksum.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// One bit for every page from page 1 on: whether its checksum was compared and correct.
pub(super) struct PageChecks {
    checked: LazyTable<AtomicU64>,
    /// Whether some page had a wrong checksum.
    failed: AtomicBool,
}

impl PageChecks {
    /// `count` pages, none of them checked.
    pub(super) fn new(count: usize) -> Self {
        PageChecks {
            checked: LazyTable::new(count.div_ceil(64)),
            failed: AtomicBool::new(false),
        }
    }

    /// Checks the pages of `file` that hold the bytes `range`; `file` ends where `checksums` begin.
    /// The error is the offset of a page with a wrong checksum.
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

    /// Checks pages that were read to memory: `bytes` are those from `offset` on, whole pages except
    /// for the file's last one. The error is the offset of a page with a wrong checksum.
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

    /// Whether all pages that hold the bytes `range` have been checked.
    #[inline]
    pub(super) fn are_checked(&self, range: Range<u64>) -> bool {
        pages_of(&range).all(|page| self.is_checked(page))
    }

    /// Whether some page that was checked had a wrong checksum.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Page 0 is the header, which has a checksum of its own and is never checked here.
    #[inline]
    fn is_checked(&self, page: usize) -> bool {
        let Some(index) = page.checked_sub(1) else {
            return false;
        };
        // Relaxed: the bit orders no other memory. Two threads may check the same page twice.
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

/// Returns the numbers of the pages that hold the bytes `range`.
#[inline]
fn pages_of(range: &Range<u64>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    range.start as usize / PAGE_BYTES..(range.end as usize - 1) / PAGE_BYTES + 1
}
