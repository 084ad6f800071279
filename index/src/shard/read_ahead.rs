//! Read-ahead: a disk reads many places at once while a search waits for the first.
//!
//! A search knows its reads: posting lists from the plan; table entries and text from the
//! candidates. They are advised to the system
//! ([`Mapping::will_need`](crate::mapping::Mapping::will_need)), unless a few probed pages are in
//! memory. Advice is as fast as threads or io_uring (docs/benchmarks.md), without buffer or thread.
//!
//! **Invariant:** affects time only. Errors are left to the search.

use super::error::Result;
use super::{BlockId, DocId, Shard};
use crate::format::{BlockRecord, PAYLOAD, SINGLE, Section};
use crate::plan::TrigramQuery;
use crate::trigram::Trigram;
use std::ops::Range;
use std::thread;
use zerocopy::little_endian::U64;

/// Gap between places that are read as one: 16 and 32 KiB were fastest (69 us a read of 4 KiB,
/// 37,000 a second with 32 in flight).
const GAP_BYTES: u64 = 16 << 10;

/// Threads for table entries. The measured disk gains nothing from more than 8 reads in flight.
const THREADS: usize = 16;

/// Probed blocks.
const SAMPLES: usize = 4;

/// Sections read per candidate beside its text.
const TABLES: [Section; 6] = [
    Section::Blocks,
    Section::Frames,
    Section::Texts,
    Section::Documents,
    Section::Names,
    Section::Checksums,
];

/// Candidates looked up ahead; beyond, whole tables are read.
const LOOKED_UP_MAX: usize = 4096;

/// Entries searched for the end of a list.
const NEXT_LISTS_MAX: u32 = 64;

impl Shard {
    pub(super) fn read_lists_ahead(&self, query: &TrigramQuery) {
        let mut trigrams = Vec::new();
        collect(query, &mut trigrams);
        let is_cold = |trigram: &Trigram| {
            let list = self.list_start(*trigram).ok().flatten();
            list.is_some_and(|start| self.file.is_cached(Section::Postings, start) == Some(false))
        };
        if trigrams.first().is_some_and(is_cold) || trigrams.last().is_some_and(is_cold) {
            in_parallel(&trigrams, |trigram| {
                if let Ok(Some(list)) = self.list_extent(*trigram) {
                    self.file.will_need(Section::Postings, list);
                }
            });
        }
    }

    /// Offset of a posting list, unless empty or single.
    fn list_start(&self, trigram: Trigram) -> Result<Option<u64>> {
        let payload = (self.file.find_trigram(trigram)?).map(|entry| entry & PAYLOAD);
        Ok(payload.filter(|payload| payload & SINGLE == 0))
    }

    fn list_extent(&self, trigram: Trigram) -> Result<Option<Range<u64>>> {
        let Some(start) = self.list_start(trigram)? else {
            return Ok(None);
        };
        let key = u64::from(trigram.value() + 1) << 40;
        let is_before = |entry: &U64| entry.get() < key;
        let next = self.file.partition_point(Section::Dictionary, is_before)?;
        let end = u64::from(next.saturating_add(NEXT_LISTS_MAX)).min(self.trigram_count());
        for next in next..end as u32 {
            let payload = self.dictionary_entry(next)? & PAYLOAD;
            if payload & SINGLE == 0 {
                return Ok(Some(start..payload));
            }
        }
        Ok(Some(start..start + 1))
    }

    /// Advises the table entries of blocks (`None`: all), unless in memory. Waits for few.
    pub fn read_tables_ahead(&self, blocks: Option<&[u32]>) {
        let count = blocks.map_or(self.block_count() as usize, <[u32]>::len);
        let is_warm = |index| {
            let block = blocks.map_or(index as u32, |blocks| blocks[index]);
            let entry = u64::from(block) * size_of::<BlockRecord>() as u64;
            self.file.is_cached(Section::Blocks, entry) != Some(false)
        };
        let step = count.div_ceil(SAMPLES).max(1);
        if (0..count).step_by(step).all(is_warm) {
            return;
        }
        let is_dense = |section: &Section| {
            blocks.is_none() || self.section_bytes(*section) <= count as u64 * GAP_BYTES
        };
        for section in TABLES.into_iter().filter(is_dense) {
            self.file.will_need(section, 0..self.section_bytes(section));
        }
        let sparse = blocks.filter(|_| count <= LOOKED_UP_MAX && !TABLES.iter().all(is_dense));
        in_parallel(sparse.unwrap_or_default(), |block| {
            // The search meets the error again.
            let _ = self.look_up(BlockId(*block));
        });
    }

    fn look_up(&self, block: BlockId) -> Result<()> {
        self.stored_text(block.0..block.0 + 1)?;
        let text = self.text_with(block)?;
        let first = self.document(DocId(text.documents.start))?;
        self.package(first.package)?;
        Ok(())
    }

    /// Advises the text of ascending block ranges, unless in memory or dense enough for the
    /// system's own read-ahead. Returns whether both ends are in memory.
    pub fn read_text_ahead(
        &self,
        blocks: impl Iterator<Item = Range<u32>> + Clone,
    ) -> Result<bool> {
        let (Some(first), Some(last)) = (blocks.clone().next(), blocks.clone().last()) else {
            return Ok(true);
        };
        let (first, last) = (self.stored_text(first)?, self.stored_text(last)?);
        let ends = [first.start, last.end.saturating_sub(1)];
        let are_cached = ends.map(|at| self.file.is_cached(Section::Content, at));
        if !are_cached.contains(&Some(false)) {
            return Ok(are_cached == [Some(true); 2]);
        }
        let mut pieces = vec![first.clone()];
        for blocks in blocks {
            let text = self.stored_text(blocks)?;
            match pieces.last_mut() {
                Some(piece) if text.start <= piece.end + GAP_BYTES => {
                    piece.end = piece.end.max(text.end);
                }
                _ => pieces.push(text),
            }
        }
        let bytes: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
        let is_dense = bytes >= last.end.saturating_sub(first.start) / 4 * 3;
        // Verified text is faulted in page by page.
        if is_dense && !self.file.is_checked(Section::Content, first.start) {
            return Ok(false);
        }
        for piece in pieces {
            self.file.will_need(Section::Content, piece);
        }
        Ok(false)
    }
}

fn collect(query: &TrigramQuery, trigrams: &mut Vec<Trigram>) {
    match query {
        TrigramQuery::All | TrigramQuery::None => {}
        TrigramQuery::Trigram(trigram) => trigrams.push(*trigram),
        TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
            parts.iter().for_each(|part| collect(part, trigrams));
        }
    }
}

fn in_parallel<T: Sync>(items: &[T], each: impl Fn(&T) + Sync) {
    let each = &each;
    thread::scope(|scope| {
        for some in items.chunks(items.len().div_ceil(THREADS).max(1)) {
            // Otherwise the search reads this part.
            let _ = thread::Builder::new().spawn_scoped(scope, move || some.iter().for_each(each));
        }
    });
}
