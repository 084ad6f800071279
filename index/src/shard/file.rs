//! File of a shard: header, sections, and bytes verified before use.
//!
//! Opening checks the header. Every other page is verified when first read, at a cost of one bit of
//! memory. The checksum of the checksum table is compared only by [`ShardFile::verify`] and on a
//! mismatch: damage there makes intact pages look damaged, never the reverse.
//! [`Shard`](super::Shard) interprets the entries.
//! **Invariant:** foreign bytes give an error with file and offset, never a panic; an intact page
//! is checksummed once.

use super::error::{Result, ShardError};
use super::pages::{CHECKSUM_BYTES, PageChecks};
use super::run_starts::RunStarts;
use crate::codec::DecoderDictionary;
use crate::file::Bytes;
use crate::format::{Header, PAGE_BYTES, Section, TextRecord};
use crate::mapping::Damage;
use crate::trigram::Trigram;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// Bytes read at once, and ahead of verification. Larger ranges use the mapping: a block may be one
/// long line.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Dictionary entries (4 KiB) per trigram kept in memory.
const DICTIONARY_RUN: u64 = 512;

/// Texts (2.8 KiB of their table) per block kept in memory.
const TEXTS_RUN: u64 = 64;

/// Bits of a dictionary entry below its trigram.
const TRIGRAM_SHIFT: u32 = 40;

/// Interval of read-ahead for tables read in order.
const READ_IN_ORDER_BYTES: u64 = 64 << 10;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Bytes of the file as they are.
pub(super) trait Record: FromBytes + KnownLayout + Immutable + Unaligned {}

impl<T: FromBytes + KnownLayout + Immutable + Unaligned> Record for T {}

pub(super) struct ShardFile {
    pub(super) path: PathBuf,
    bytes: Bytes,
    pub(super) header: Header,
    pages: PageChecks,
    dictionary: RunStarts,
    texts: RunStarts,
    /// Unique among the files opened by this process.
    pub(super) number: u64,
    /// Of compressed content; read on first use.
    pub(super) content_dictionary: OnceLock<DecoderDictionary>,
    pub(super) incomplete: OnceLock<Box<[Range<u32>]>>,
}

impl ShardFile {
    /// `path` is for messages.
    pub(super) fn new(path: &Path, bytes: Bytes) -> Result<ShardFile> {
        let header = Header::read(path, &bytes)?;
        let checksums = header.extent(Section::Checksums);
        let pages = (checksums.end - checksums.start) as usize / CHECKSUM_BYTES;
        let entries = |section, bytes: usize| {
            let extent = header.extent(section);
            (extent.end - extent.start) / bytes as u64
        };
        let file = ShardFile {
            path: path.to_owned(),
            pages: PageChecks::new(pages),
            dictionary: RunStarts::new(
                entries(Section::Dictionary, size_of::<U64>()),
                DICTIONARY_RUN,
            ),
            texts: RunStarts::new(entries(Section::Texts, size_of::<TextRecord>()), TEXTS_RUN),
            bytes,
            header,
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            content_dictionary: OnceLock::new(),
            incomplete: OnceLock::new(),
        };
        file.intact()?;
        Ok(file)
    }

    pub(super) fn section_bytes(&self, section: Section) -> u64 {
        let extent = self.header.extent(section);
        extent.end - extent.start
    }

    /// Starts reading a range of a section; ignores ranges outside of the file.
    pub(super) fn will_need(&self, section: Section, range: Range<u64>) {
        if let Ok(range) = self.range_in_file(section, range) {
            self.bytes.will_need(range);
        }
    }

    /// `None` if unknown. A byte past the end counts as cached.
    pub(super) fn is_cached(&self, section: Section, offset: u64) -> Option<bool> {
        self.bytes
            .is_cached(self.header.extent(section).start + offset)
    }

    pub(super) fn is_checked(&self, section: Section, offset: u64) -> bool {
        let at = self.header.extent(section).start + offset;
        at < self.header.extent(Section::Checksums).start && self.pages.are_checked(at..at + 1)
    }

    pub(super) fn intact(&self) -> Result<()> {
        match self.bytes.damage() {
            None => Ok(()),
            Some(Damage::Lost { offset }) => Err(ShardError::corrupt(
                &self.path,
                offset,
                "the file was cut or its disk failed while it was in use",
            )),
            Some(Damage::Written) => Err(ShardError::Changed(self.path.clone())),
        }
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.pages.has_failed() || self.intact().is_err()
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.check_table()?;
        let end = self.header.extent(Section::Checksums).start;
        let mut buffer = Vec::new();
        for start in (PAGE_BYTES as u64..end).step_by(READ_BYTES_MAX as usize) {
            self.read_pages(start..end.min(start + READ_BYTES_MAX), &mut buffer)?;
        }
        self.intact()
    }

    pub(super) fn slice(&self, section: Section, range: Range<u64>) -> Result<&[u8]> {
        let range = self.range_in_file(section, range)?;
        self.checked(range)
    }

    /// Reads and verifies bytes of a section into `buffer` (maybe longer); returns their range in
    /// it. `None` if they are many or already verified: then [`slice`](Self::slice) is fast. For
    /// scattered single reads, faster than faulting the mapping.
    pub(super) fn read_new(
        &self,
        section: Section,
        range: Range<u64>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Range<usize>>> {
        let checksums = self.header.extent(Section::Checksums);
        let file = self.range_in_file(section, range)?;
        let pages = file.start / PAGE_BYTES as u64 * PAGE_BYTES as u64
            ..file
                .end
                .next_multiple_of(PAGE_BYTES as u64)
                .min(checksums.start);
        let bytes = pages.end - pages.start;
        if bytes > READ_BYTES_MAX || self.pages.are_checked(file.clone()) {
            return Ok(None);
        }
        self.read_pages(pages.clone(), buffer)?;
        let at = |offset: u64| (offset - pages.start) as usize;
        Ok(Some(at(file.start)..at(file.end)))
    }

    fn read_pages<'a>(&self, pages: Range<u64>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let bytes = (pages.end - pages.start) as usize;
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        let buffer = &mut buffer[..bytes];
        self.bytes
            .read_at(buffer, pages.start)
            .map_err(|_| self.corrupt_at(pages.start, "the file cannot be read from here on"))?;
        let checksums = self.header.extent(Section::Checksums).start as usize;
        self.pages
            .check_read(buffer, pages.start, &self.bytes[checksums..])
            .map_err(|offset| self.wrong_checksum(offset))?;
        Ok(buffer)
    }

    pub(super) fn entry<T: Record>(&self, section: Section, index: u32) -> Result<&T> {
        let start = u64::from(index) * size_of::<T>() as u64;
        let bytes = self.slice(section, start..start + size_of::<T>() as u64)?;
        Ok(T::ref_from_bytes(bytes).expect("as many bytes as the type has"))
    }

    pub(super) fn find_trigram(&self, trigram: Trigram) -> Result<Option<u64>> {
        let trigram_of = |entry: &U64| (entry.get() >> TRIGRAM_SHIFT) as u32;
        let first = |entry| {
            let entry = self.entry(Section::Dictionary, entry as u32)?;
            Ok(trigram_of(entry))
        };
        let Some(run) = self.dictionary.run_of(trigram.value(), first)? else {
            return Ok(None);
        };
        let run: &[U64] = self.entries(Section::Dictionary, run)?;
        let found = run.binary_search_by_key(&trigram.value(), trigram_of);
        Ok(found.ok().map(|at| run[at].get()))
    }

    /// Number of texts that begin at or before a block. Not for version 1, which has no
    /// texts.
    pub(super) fn texts_until(&self, block: u32) -> Result<u32> {
        let block_of = |text: &TextRecord| text.first_block.get();
        let first = |entry| {
            let entry = self.entry(Section::Texts, entry as u32)?;
            Ok(block_of(entry))
        };
        let Some(run) = self.texts.run_of(block, first)? else {
            return Ok(0);
        };
        let texts: &[TextRecord] = self.entries(Section::Texts, run.clone())?;
        let behind = texts.partition_point(|text| block_of(text) <= block);
        Ok(run.start as u32 + behind as u32)
    }

    fn entries<T: Record>(&self, section: Section, range: Range<u64>) -> Result<&[T]> {
        let bytes = size_of::<T>() as u64;
        let bytes = self.slice(section, range.start * bytes..range.end * bytes)?;
        Ok(<[T]>::ref_from_bytes(bytes).expect("whole entries"))
    }

    /// Number of leading entries with `below`, by binary search.
    pub(super) fn partition_point<T: Record>(
        &self,
        section: Section,
        below: impl Fn(&T) -> bool,
    ) -> Result<u32> {
        let entries = self.section_bytes(section) / size_of::<T>() as u64;
        let (mut low, mut high) = (0, entries);
        while low < high {
            let middle = low + (high - low) / 2;
            if below(self.entry(section, middle as u32)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low as u32)
    }

    pub(super) fn corrupt(&self, section: Section, what: &'static str) -> ShardError {
        self.corrupt_at(self.header.extent(section).start, what)
    }

    pub(super) fn corrupt_in(
        &self,
        section: Section,
        offset: u64,
        what: &'static str,
    ) -> ShardError {
        self.corrupt_at(self.header.extent(section).start + offset, what)
    }

    #[cold]
    fn corrupt_at(&self, offset: u64, what: &'static str) -> ShardError {
        let changed = self.intact().err();
        changed.unwrap_or_else(|| ShardError::corrupt(&self.path, offset, what))
    }

    fn range_in_file(&self, section: Section, range: Range<u64>) -> Result<Range<u64>> {
        let extent = self.header.extent(section);
        if range.start > range.end || range.end > extent.end - extent.start {
            return Err(self.corrupt(section, "a reference beyond the section's end"));
        }
        Ok(extent.start + range.start..extent.start + range.end)
    }

    #[inline]
    fn checked(&self, range: Range<u64>) -> Result<&[u8]> {
        if !self.pages.are_checked(range.clone()) {
            self.check_pages(range.clone())?;
        }
        Ok(&self.bytes[range.start as usize..range.end as usize])
    }

    #[cold]
    fn check_pages(&self, range: Range<u64>) -> Result<()> {
        let checksums = self.header.extent(Section::Checksums);
        let (file, checksums) = self.bytes.split_at(checksums.start as usize);
        let check = |range| {
            let checked = self.pages.check(file, checksums, range);
            checked.map_err(|offset| self.wrong_checksum(offset))
        };
        if range.end - range.start <= PAGE_BYTES as u64 {
            self.read_in_order_ahead(range.start);
            return check(range);
        }
        let mut start = range.start;
        self.bytes
            .read_ahead(start..range.end.min(start + READ_BYTES_MAX));
        while start < range.end {
            let end = range.end.min(start + READ_BYTES_MAX);
            self.bytes
                .read_ahead(end..range.end.min(end + READ_BYTES_MAX));
            check(start..end)?;
            start = end;
        }
        Ok(())
    }

    /// Reads on if the previous page was verified: probably a table is read in order.
    fn read_in_order_ahead(&self, offset: u64) {
        let page = offset / PAGE_BYTES as u64 * PAGE_BYTES as u64;
        let before = page.saturating_sub(1)..page;
        if page.is_multiple_of(READ_IN_ORDER_BYTES) && self.pages.are_checked(before) {
            let end = self.header.extent(Section::Checksums).end;
            self.bytes
                .read_ahead(page..end.min(page + 2 * READ_IN_ORDER_BYTES));
        }
    }

    #[cold]
    fn wrong_checksum(&self, offset: u64) -> ShardError {
        let table = self.check_table().err();
        table.unwrap_or_else(|| self.corrupt_at(offset, "checksum"))
    }

    fn check_table(&self) -> Result<()> {
        let Range { start, end } = self.header.extent(Section::Checksums);
        if crc32c::crc32c(&self.bytes[start as usize..end as usize])
            != self.header.checksums_crc.get()
        {
            return Err(self.corrupt_at(start, "checksum of the checksums"));
        }
        Ok(())
    }
}
