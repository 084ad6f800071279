//! The pointers of one stream, and its counts.
//!
//! Pointers are collected in chunks; a chunk is sorted when it is full. When the memory budget has no
//! chunk left, all chunks are merged into a sorted run on the disk. At the end of the execution, the
//! runs and chunks of all streams are merged (see `finalize`).
//!
//! **Invariant:** no pointer is counted or written before its frame is written. Pointers to frames that
//! could not be written are dropped.

use crate::execution::memory::{CHUNK_LEN, Chunk, Share};
use crate::order::{self, Continued, Pointer, StringPool};
use crate::results::facets::Facets;
use crate::spool::{BLOCKS_AT_ONCE, Blob, PointerWriter, ResultFiles, SpoolError};
use schema::message::End;
use std::mem;

mod source;

pub(crate) use source::{Source, SourceReader};

/// Sorted runs of a stream on the disk; at this number they are merged into one.
const RUNS_MAX: usize = 32;

/// The pointers and counts of one stream.
#[derive(Debug)]
pub(crate) struct Collector {
    /// The chunk that is being filled; sorted when the stream has ended.
    last: Chunk,
    /// Full chunks, sorted.
    chunks: Vec<Chunk>,
    /// The budget had no chunk left: the chunks are to be spilled as soon as their frames are written.
    is_full: bool,
    /// Number of pointers in chunks.
    in_memory: usize,
    share: Share,
    runs: Vec<SortedRun>,
    /// Number of pointers in runs.
    in_runs: u64,
    /// Runs written so far; numbers the next one.
    written_runs: usize,
    /// The names of the packages, by their id in the pointers.
    pub(crate) packages: StringPool,
    /// Frames that continue the document of an earlier frame.
    pub(crate) continued: Continued,
    pub(crate) facets: Facets,
    /// Matches whose frames are written.
    pub(crate) matches: u64,
    /// Documents with a match.
    pub(crate) documents: u64,
    /// Matches, or documents if the query asks for those, sent or not.
    pub(crate) found: u64,
}

/// Sorted pointers in a file.
#[derive(Debug)]
pub(crate) struct SortedRun {
    pub(crate) blob: Blob,
    pub(crate) len: u64,
}

impl Collector {
    /// An empty collector with a share of the memory budget.
    pub(crate) fn new(share: Share) -> Collector {
        Collector {
            last: Chunk::default(),
            chunks: Vec::new(),
            is_full: false,
            in_memory: 0,
            share,
            runs: Vec::new(),
            in_runs: 0,
            written_runs: 0,
            packages: StringPool::default(),
            continued: Continued::default(),
            facets: Facets::default(),
            matches: 0,
            documents: 0,
            found: 0,
        }
    }

    /// Adds the pointer of a match whose frame is about to be written.
    pub(crate) fn push(&mut self, pointer: Pointer) {
        if self.last.pointers.len() == CHUNK_LEN {
            self.begin_chunk();
        }
        self.last.pointers.push(pointer);
        self.in_memory += 1;
    }

    /// Starts a new chunk. If the budget has none left, the chunk is outside of the budget until the
    /// frames of this receive buffer are written; a buffer fills at most three chunks.
    fn begin_chunk(&mut self) {
        let next = self.share.take();
        self.is_full |= next.is_none();
        let mut full = mem::replace(&mut self.last, next.unwrap_or_default());
        order::sort(&mut full.pointers);
        self.chunks.push(full);
    }

    /// Number of pointers in memory.
    pub(crate) fn len(&self) -> usize {
        self.in_memory
    }

    /// Takes the counts of a stream that ended well.
    pub(crate) fn end(&mut self, end: &End) {
        self.documents = end.shards.iter().map(|shard| shard.matched_documents).sum();
        self.found = end.shards.iter().map(|shard| shard.found).sum();
    }

    /// Takes the counts of a stream that was lost after matches of `documents` documents.
    pub(crate) fn end_early(&mut self, documents: u64) {
        self.documents = documents;
        self.found = self.matches;
    }

    /// Marks the frames of all pointers so far as written. Returns the number of pointers since the last
    /// call.
    pub(crate) fn mark_written(&mut self) -> u64 {
        let all = self.in_runs + self.len() as u64;
        let before = std::mem::replace(&mut self.matches, all);
        all - before
    }

    /// Drops the pointers to frames at `offset` and after it. No more may be added.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        for chunk in self.chunks.iter_mut().chain([&mut self.last]) {
            chunk.pointers.retain(|pointer| pointer.offset() < offset);
        }
        let chunks = self.chunks.iter().chain([&self.last]);
        self.in_memory = chunks.map(|chunk| chunk.pointers.len()).sum();
    }

    /// Spills the chunks to the disk if the budget is used up. All frames so far must be written.
    pub(crate) fn spill_if_full(
        &mut self,
        backend: u16,
        spool: &ResultFiles,
    ) -> Result<(), SpoolError> {
        if !self.is_full {
            return Ok(());
        }
        if self.runs.len() == RUNS_MAX {
            self.merge_runs(backend, spool)?;
        }
        order::sort(&mut self.last.pointers);
        let run = self.scratch(backend, spool)?;
        let mut writer = PointerWriter::new(spool, &run);
        let sources = self
            .sorted_chunks()
            .map(|chunk| chunk.read_all(1))
            .collect();
        order::merge_sorted(sources, |pointer| writer.push(&pointer))?;
        let len = writer.finish()?;
        self.runs.push(SortedRun { blob: run, len });
        self.in_runs += len;
        self.chunks.clear();
        self.last.pointers.clear();
        self.in_memory = 0;
        self.is_full = false;
        metrics::counter!("trawl_frontend_spilled_pointers_total").increment(len);
        Ok(())
    }

    fn merge_runs(&mut self, backend: u16, spool: &ResultFiles) -> Result<(), SpoolError> {
        let run = self.scratch(backend, spool)?;
        let mut writer = PointerWriter::new(spool, &run);
        let all = |run| Source::Disk(run).read_all(BLOCKS_AT_ONCE);
        let sources = self.runs.iter().map(all).collect();
        order::merge_sorted(sources, |pointer| writer.push(&pointer))?;
        let len = writer.finish()?;
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
        self.runs.push(SortedRun { blob: run, len });
        Ok(())
    }

    fn scratch(&mut self, backend: u16, spool: &ResultFiles) -> Result<Blob, SpoolError> {
        self.written_runs += 1;
        spool.scratch(&format!("run-{backend}-{}", self.written_runs))
    }

    /// Sorts the last chunk. No more pointers may be added.
    pub(crate) fn seal(&mut self) {
        order::sort(&mut self.last.pointers);
    }

    /// All pointers, as sorted sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let runs = self.runs.iter().map(Source::Disk);
        runs.chain(self.sorted_chunks())
    }

    fn sorted_chunks(&self) -> impl Iterator<Item = Source<'_>> {
        let chunks = self.chunks.iter().chain([&self.last]);
        let filled = chunks.filter(|chunk| !chunk.pointers.is_empty());
        filled.map(|chunk| Source::Memory(&chunk.pointers))
    }

    /// Removes the files of the runs, which have been merged.
    pub(crate) fn remove_runs(&mut self, spool: &ResultFiles) {
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
    }
}

#[cfg(test)]
pub(crate) mod tests;
