//! Reading ahead, so that a disk reads many places at once while a search waits for the first.
//!
//! A search knows what it will read: posting lists once it has a plan, entries of tables and text once it
//! has candidates. Here the system is told so ([`Mapping::will_need`](crate::mapping::Mapping::will_need));
//! the search itself reads as if there were no disk. A few pages are asked first
//! whether they are in memory. If they are, nothing is read ahead, and the search has lost some microseconds.
//!
//! Measured on a disk with 69 us a read of 4 KiB, 15,000 reads a second one after the other, 37,000 with
//! 32 in flight, and 0.8 to 1.0 GB a second in order: threads that read, io_uring and advice to the
//! system take the same time (see docs/benchmarks.md), and advice needs neither a buffer nor a thread.
//!
//! **Invariant:** nothing depends on it but time. Errors are left to the search, which finds them again.

use super::error::ShardError;
use super::{BlockId, DocId, Shard};
use crate::format::{BlockRecord, PAYLOAD, SINGLE, Section};
use crate::plan::TrigramQuery;
use crate::trigram::Trigram;
use std::ops::Range;
use std::thread;
use zerocopy::little_endian::U64;

/// Bytes that a disk reads in order in the time of a read somewhere else: places that are not farther
/// apart are read as one. On the disk above, 16 and 32 KiB read the candidates of `arse` in the least time.
const GAP_BYTES: u64 = 16 << 10;

/// Threads that look up entries of tables, each of which waits for one read at a time. With more than 8
/// reads in flight, the disk above does not read more a second.
const THREADS: usize = 16;

/// Blocks whose entries are looked at to find out whether tables are in memory.
const SAMPLES: usize = 4;

/// What a search reads of a candidate beside its text.
const TABLES: [Section; 6] = [
    Section::Blocks,
    Section::Frames,
    Section::Texts,
    Section::Documents,
    Section::Names,
    Section::Checksums,
];

/// Candidates whose entries are looked up ahead, at most. Of more, whole tables are read.
const LOOKED_UP_MAX: usize = 4096;

/// Dictionary entries that are looked at to find where a posting list ends.
const NEXT_LISTS_MAX: u32 = 64;

impl Shard {
    /// Has the system read the posting lists of a query, unless they are in memory.
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

    /// Returns where a trigram's posting list begins in its section; `None` if it has none, or one block.
    fn list_start(&self, trigram: Trigram) -> Result<Option<u64>, ShardError> {
        let payload = self
            .file
            .find_trigram(trigram)?
            .map(|entry| entry & PAYLOAD);
        Ok(payload.filter(|payload| payload & SINGLE == 0))
    }

    /// Returns where a trigram's posting list is in its section: up to the next list.
    fn list_extent(&self, trigram: Trigram) -> Result<Option<Range<u64>>, ShardError> {
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

    /// Has the system read the entries of tables that a search of these candidate blocks needs, unless
    /// they are in memory. Waits for them if there are few. `None` means all blocks.
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
            // An error is found again by the search.
            let _ = self.look_up(BlockId(*block));
        });
    }

    /// Reads what a search needs of a block beside its text.
    fn look_up(&self, block: BlockId) -> Result<(), ShardError> {
        self.stored_text(block.0..block.0 + 1)?;
        let text = self.text_with(block)?;
        let first = self.document(DocId(text.documents.start))?;
        self.package(first.package)?;
        Ok(())
    }

    /// Has the system read the text of blocks, ascending ranges, unless it is in memory or lies so close
    /// together that the system, which sees that a file is read in order, reads it ahead by itself.
    /// Returns whether its first and last byte are known to be in memory.
    pub fn read_text_ahead(
        &self,
        blocks: impl Iterator<Item = Range<u32>> + Clone,
    ) -> Result<bool, ShardError> {
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
        // What was checked is not read but touched in the mapping, one page at a time. Else it is read, since it is not
        // in memory.
        if is_dense && !self.file.is_checked(Section::Content, first.start) {
            return Ok(false);
        }
        for piece in pieces {
            self.file.will_need(Section::Content, piece);
        }
        Ok(false)
    }
}

/// Appends the trigrams of a query.
fn collect(query: &TrigramQuery, trigrams: &mut Vec<Trigram>) {
    match query {
        TrigramQuery::All | TrigramQuery::None => {}
        TrigramQuery::Trigram(trigram) => trigrams.push(*trigram),
        TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
            parts.iter().for_each(|part| collect(part, trigrams));
        }
    }
}

/// Calls `each` with all items, in at most [`THREADS`] threads.
fn in_parallel<T: Sync>(items: &[T], each: impl Fn(&T) + Sync) {
    let each = &each;
    thread::scope(|scope| {
        for some in items.chunks(items.len().div_ceil(THREADS).max(1)) {
            // Without a thread, the search reads this part by itself.
            let _ = thread::Builder::new().spawn_scoped(scope, move || some.iter().for_each(each));
        }
    });
}
