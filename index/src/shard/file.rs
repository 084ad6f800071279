//! The file of a shard: its header, its sections, and bytes that are checked before they are used.
//!
//! Opening checks the header and the table of checksums. Every other page is checked when it is
//! first read, so a search pays only for what it reads. What the entries of a table mean is not
//! decided here but by [`Shard`](super::Shard).
//! **Invariant:** foreign bytes give an error that names file and offset, never a panic; the
//! checksum of an intact page is computed once.

use super::dictionary::RunStarts;
use super::error::ShardError;
use super::layout::Layout;
use super::pages::{CHECKSUM_BYTES, PageChecks};
use crate::file::Bytes;
use crate::format::{PAGE_BYTES, Section};
use crate::mapping::Damage;
use crate::trigram::Trigram;
use std::ops::Range;
use std::path::{Path, PathBuf};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// Bytes that [`ShardFile::read_slice`] reads at once, at most. A larger range is taken from the
/// mapping: a line of any length is in one block.
const READ_BYTES_MAX: usize = 1 << 20;

/// An open file, of which pages are checked one by one.
pub(super) struct ShardFile {
    path: PathBuf,
    bytes: Bytes,
    layout: Layout,
    pages: PageChecks,
    dictionary: RunStarts,
}

impl ShardFile {
    /// Checks header and checksums of `bytes`; `path` is for messages.
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<ShardFile, ShardError> {
        let layout = Layout::read(path, &bytes)?;
        let checksums = layout.extent(Section::Checksums);
        let table = &bytes[checksums.start as usize..checksums.end as usize];
        if crc32c::crc32c(table) != layout.checksums_crc {
            let what = "checksum of the checksums";
            return Err(ShardError::corrupt(path, checksums.start, what));
        }
        let dictionary = layout.extent(Section::Dictionary);
        let file = ShardFile {
            path: path.to_owned(),
            pages: PageChecks::new(table.len() / CHECKSUM_BYTES),
            dictionary: RunStarts::new(dictionary.end - dictionary.start),
            bytes,
            layout,
        };
        file.intact()?;
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Length of a section in bytes.
    pub(super) fn section_bytes(&self, section: Section) -> u64 {
        let extent = self.layout.extent(section);
        extent.end - extent.start
    }

    /// Fails when the file is no longer what was opened.
    pub(super) fn intact(&self) -> Result<(), ShardError> {
        match self.bytes.damage() {
            None => Ok(()),
            Some(Damage::Lost { offset }) => Err(ShardError::corrupt(
                &self.path,
                offset,
                "the file was cut or its disk failed while it was in use",
            )),
            Some(Damage::Written) => Err(ShardError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// Whether the file is not [`intact`](Self::intact), or a page had a wrong checksum.
    pub(super) fn is_damaged(&self) -> bool {
        self.pages.has_failed() || self.intact().is_err()
    }

    /// Checks every page that has not been checked yet.
    pub(super) fn verify(&self) -> Result<(), ShardError> {
        let end = self.layout.extent(Section::Checksums).start;
        self.check_pages(PAGE_BYTES as u64..end)?;
        self.intact()
    }

    /// Returns bytes of a section, checked.
    pub(super) fn slice(&self, section: Section, range: Range<u64>) -> Result<&[u8], ShardError> {
        let range = self.range_in_file(section, range)?;
        self.checked(range)
    }

    /// Returns bytes of a section, checked; pages that were not checked before are read into
    /// `buffer` instead of being touched in the mapping. For callers that read many places once:
    /// for 250 blocks spread over a file, touching (and unmapping) takes 2.2 ms and reading 0.3 ms.
    pub(super) fn read_slice<'a>(
        &'a self,
        section: Section,
        range: Range<u64>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], ShardError> {
        let checksums = self.layout.extent(Section::Checksums);
        let file = self.range_in_file(section, range)?;
        let pages = file.start / PAGE_BYTES as u64 * PAGE_BYTES as u64
            ..file
                .end
                .next_multiple_of(PAGE_BYTES as u64)
                .min(checksums.start);
        let bytes = (pages.end - pages.start) as usize;
        if bytes > READ_BYTES_MAX || self.pages.are_checked(file.clone()) {
            return self.checked(file);
        }
        buffer.resize(bytes, 0);
        self.bytes
            .read_at(buffer, pages.start)
            .map_err(|_| self.corrupt_at(pages.start, "the file cannot be read from here on"))?;
        self.pages
            .check_read(buffer, pages.start, &self.bytes[checksums.start as usize..])
            .map_err(|offset| self.corrupt_at(offset, "checksum"))?;
        Ok(&buffer[(file.start - pages.start) as usize..(file.end - pages.start) as usize])
    }

    /// Returns entry number `index` of a table.
    pub(super) fn entry<T>(&self, section: Section, index: u32) -> Result<&T, ShardError>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let start = u64::from(index) * size_of::<T>() as u64;
        let bytes = self.slice(section, start..start + size_of::<T>() as u64)?;
        Ok(T::ref_from_bytes(bytes).expect("as many bytes as the type has"))
    }

    /// Returns the entry of a trigram in the dictionary.
    pub(super) fn find_trigram(&self, trigram: Trigram) -> Result<Option<u64>, ShardError> {
        let read = |range| self.slice(Section::Dictionary, range);
        self.dictionary.find(trigram, read)
    }

    /// Returns the number of leading entries of a table for which `below` holds, by binary search.
    pub(super) fn partition_point<T>(
        &self,
        section: Section,
        below: impl Fn(&T) -> bool,
    ) -> Result<u32, ShardError>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let (table, bytes) = (self.layout.extent(section), size_of::<T>() as u64);
        let (mut low, mut high) = (0, (table.end - table.start) / bytes);
        while low < high {
            let middle = low + (high - low) / 2;
            let start = table.start + middle * bytes;
            let entry = self.checked(start..start + bytes)?;
            if below(T::ref_from_bytes(entry).expect("as many bytes as the type has")) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low as u32)
    }

    /// The error for tables that contradict each other although their checksums are right.
    pub(super) fn corrupt(&self, section: Section, what: &'static str) -> ShardError {
        self.corrupt_at(self.layout.extent(section).start, what)
    }

    /// The error for wrong bytes at `offset`, or, when the file has changed meanwhile, for that.
    #[cold]
    fn corrupt_at(&self, offset: u64, what: &'static str) -> ShardError {
        let changed = self.intact().err();
        changed.unwrap_or_else(|| ShardError::corrupt(&self.path, offset, what))
    }

    /// Converts a range of a section to a range of the file.
    fn range_in_file(&self, section: Section, range: Range<u64>) -> Result<Range<u64>, ShardError> {
        let extent = self.layout.extent(section);
        if range.start > range.end || range.end > extent.end - extent.start {
            return Err(self.corrupt(section, "a reference beyond the section's end"));
        }
        Ok(extent.start + range.start..extent.start + range.end)
    }

    /// Returns bytes of the file, checked.
    #[inline]
    fn checked(&self, range: Range<u64>) -> Result<&[u8], ShardError> {
        if !self.pages.are_checked(range.clone()) {
            self.check_pages(range.clone())?;
        }
        Ok(&self.bytes[range.start as usize..range.end as usize])
    }

    #[cold]
    fn check_pages(&self, range: Range<u64>) -> Result<(), ShardError> {
        let checksums = self.layout.extent(Section::Checksums);
        let (file, checksums) = self.bytes.split_at(checksums.start as usize);
        self.pages
            .check(file, checksums, range)
            .map_err(|offset| self.corrupt_at(offset, "checksum"))
    }
}
