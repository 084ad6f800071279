//! The dictionary: trigrams, and where their posting lists are.

use super::Shard;
use super::error::ShardError;
use crate::format::{PAYLOAD, SINGLE, Section};
use crate::posting::{self, PADDING_BYTES, PostingList};
use crate::trigram::Trigram;
use zerocopy::little_endian::U64;

/// Bytes that are enough to read the length of a posting list.
const LENGTH_BYTES_MAX: u64 = 5;

impl Shard {
    /// Number of distinct trigrams.
    pub fn trigram_count(&self) -> u64 {
        self.section_bytes(Section::Dictionary) / 8
    }

    /// Returns trigram number `index`, in ascending order; `index` must be below
    /// [`trigram_count`](Self::trigram_count).
    pub fn trigram(&self, index: u32) -> Result<Trigram, ShardError> {
        let value = self.dictionary_entry(index)? >> 40;
        Ok(Trigram::from_value(value as u32))
    }

    /// Returns a trigram's posting list, dead blocks included; `None` when no block holds it.
    pub fn postings(&self, trigram: Trigram) -> Result<Option<PostingList<'_>>, ShardError> {
        let key = u64::from(trigram.value()) << 40;
        let is_before = |entry: &U64| entry.get() < key;
        let index = self.file.partition_point(Section::Dictionary, is_before)?;
        if u64::from(index) == self.trigram_count() {
            return Ok(None);
        }
        let entry = self.dictionary_entry(index)?;
        if entry & !PAYLOAD != key {
            return Ok(None);
        }
        self.list(entry & PAYLOAD).map(Some)
    }

    fn dictionary_entry(&self, index: u32) -> Result<u64, ShardError> {
        Ok(self.file.entry::<U64>(Section::Dictionary, index)?.get())
    }

    fn list(&self, payload: u64) -> Result<PostingList<'_>, ShardError> {
        let corrupt = || self.corrupt(Section::Dictionary, "a posting list");
        if payload & SINGLE != 0 {
            let block = (payload & !SINGLE) as u32;
            return if block < self.block_count() {
                Ok(PostingList::One(block))
            } else {
                Err(corrupt())
            };
        }
        let end = (payload + LENGTH_BYTES_MAX).min(self.section_bytes(Section::Postings));
        let head = self.file.slice(Section::Postings, payload..end)?;
        let bytes = posting::list_bytes(head, self.block_count()).ok_or_else(corrupt)?;
        let end = payload + (bytes + PADDING_BYTES) as u64;
        let list = self.file.slice(Section::Postings, payload..end)?;
        PostingList::decode(list, self.block_count()).ok_or_else(corrupt)
    }
}
