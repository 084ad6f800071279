//! Remembers the verified pages of a shard.

use crate::format::PAGE_BYTES;
use std::ops::Range;
use std::sync::OnceLock;
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
        let pages = pages_of(&range);
        let (start, end) = (pages.start * PAGE_BYTES, pages.end * PAGE_BYTES);
        self.check_read(&file[start..file.len().min(end)], start as u64, checksums)
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

/// Entries of a part: at most a page of memory.
const PART_ENTRIES: usize = 512;

/// A zeroed table allocated in parts. Per-page state grows with the shard; zeroing it all at open
/// cost more page faults than a search of a rare text.
struct LazyTable<T> {
    parts: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> LazyTable<T> {
    fn new(entries: usize) -> Self {
        let parts = entries.div_ceil(PART_ENTRIES);
        LazyTable {
            parts: (0..parts).map(|_| OnceLock::new()).collect(),
        }
    }

    fn get(&self, index: usize) -> &T {
        let part = self.parts[index / PART_ENTRIES]
            .get_or_init(|| (0..PART_ENTRIES).map(|_| T::default()).collect());
        &part[index % PART_ENTRIES]
    }

    /// Entry, or `None` if its part is unused and it has its default value.
    #[inline]
    fn get_used(&self, index: usize) -> Option<&T> {
        let part = self.parts[index / PART_ENTRIES].get()?;
        Some(&part[index % PART_ENTRIES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn entries_are_zero_until_they_are_set() {
        let table = LazyTable::<AtomicU32>::new(PART_ENTRIES + 1);
        assert!(table.get_used(PART_ENTRIES).is_none());
        table.get(PART_ENTRIES).store(7, Relaxed);
        assert_eq!(table.get_used(PART_ENTRIES).unwrap().load(Relaxed), 7);
        assert_eq!(table.get(PART_ENTRIES).load(Relaxed), 7);
        assert!(table.get_used(0).is_none());
        assert_eq!(table.get(PART_ENTRIES - 1).load(Relaxed), 0);
    }
}
