//! What one stream has brought in: its pointers, sorted run by sorted run, and its counts.
//!
//! Pointers are collected in chunks, each of which is sorted when it is full. When memory gives no
//! more of them, they are merged and written beside the frames, and memory begins anew. At the end of
//! the run all of it is merged (see `assemble`).
//! **Invariant:** nothing is counted and no pointer is written before its frame is: what a failed
//! write leaves over is dropped.

use crate::execution::memory::{CHUNK_LEN, Chunk, Share};
use crate::order::{self, Continued, Pointer, StringPool};
use crate::peers::account::StreamEnd;
use crate::results::facets::Facets;
use crate::spool::{BLOCKS_AT_ONCE, Blob, PointerWriter, ResultFiles, SpoolError};
use std::mem;

mod source;

pub(crate) use source::{Source, SourceReader};

/// Sorted runs of a stream. One more, and they are merged to one.
const RUNS_MAX: usize = 32;

/// What a stream has brought in.
#[derive(Debug)]
pub(crate) struct Collector {
    /// The pointers that came last; sorted once the stream has ended.
    last: Chunk,
    /// Full ones, sorted.
    chunks: Vec<Chunk>,
    /// Memory had no chunk, so that those in hand are to be written as soon as their frames are.
    is_full: bool,
    /// Pointers in chunks.
    in_memory: usize,
    share: Share,
    runs: Vec<SortedRun>,
    /// Pointers in them.
    in_runs: u64,
    /// Runs written so far, which numbers them.
    written_runs: usize,
    /// The names that the pointers' package ids stand for.
    pub(crate) packages: StringPool,
    /// Frames that go on with an earlier one's document.
    pub(crate) continued: Continued,
    pub(crate) facets: Facets,
    /// Matches whose frames are written.
    pub(crate) matches: u64,
    /// Documents with a match.
    pub(crate) documents: u64,
    /// Matches, or documents when those are wanted, sent or not.
    pub(crate) found: u64,
}

/// Sorted pointers on the disk.
#[derive(Debug)]
pub(crate) struct SortedRun {
    pub(crate) blob: Blob,
    pub(crate) len: u64,
}

impl Collector {
    /// Nothing yet, and a share of memory for pointers.
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

    /// Takes the pointer of a match whose frame is about to be written.
    pub(crate) fn push(&mut self, pointer: Pointer) {
        if self.last.pointers.len() == CHUNK_LEN {
            self.begin_chunk();
        }
        self.last.pointers.push(pointer);
        self.in_memory += 1;
    }

    /// Puts the full chunk aside. A receive buffer brings at most three of them, so that a stream which
    /// is refused one has as many of its own for that long.
    fn begin_chunk(&mut self) {
        let next = self.share.take();
        self.is_full |= next.is_none();
        let mut full = mem::replace(&mut self.last, next.unwrap_or_default());
        order::sort(&mut full.pointers);
        self.chunks.push(full);
    }

    /// How many pointers are in memory.
    pub(crate) fn len(&self) -> usize {
        self.in_memory
    }

    /// The stream has ended well.
    pub(crate) fn end(&mut self, end: &StreamEnd) {
        self.documents = end.shards.iter().map(|shard| shard.matched_documents).sum();
        self.found = end.shards.iter().map(|shard| shard.found).sum();
    }

    /// The stream was lost; matches of `documents` have arrived.
    pub(crate) fn cut(&mut self, documents: u64) {
        self.documents = documents;
        self.found = self.matches;
    }

    /// The frames of all pointers so far are written: says how many that are since the last time.
    pub(crate) fn written(&mut self) -> u64 {
        let all = self.in_runs + self.len() as u64;
        let before = std::mem::replace(&mut self.matches, all);
        all - before
    }

    /// Drops the pointers to frames at `offset` and behind, which ends the stream.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        for chunk in self.chunks.iter_mut().chain([&mut self.last]) {
            chunk.pointers.retain(|pointer| pointer.offset() < offset);
        }
        let chunks = self.chunks.iter().chain([&self.last]);
        self.in_memory = chunks.map(|chunk| chunk.pointers.len()).sum();
    }

    /// Writes the chunks when memory has no more of them; all frames so far are written.
    pub(crate) fn settle(&mut self, backend: u16, spool: &ResultFiles) -> Result<(), SpoolError> {
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

    /// Sorts what is in memory: nothing more will come.
    pub(crate) fn seal(&mut self) {
        order::sort(&mut self.last.pointers);
    }

    /// Everything, as sorted sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let runs = self.runs.iter().map(Source::Disk);
        runs.chain(self.sorted_chunks())
    }

    fn sorted_chunks(&self) -> impl Iterator<Item = Source<'_>> {
        let chunks = self.chunks.iter().chain([&self.last]);
        let filled = chunks.filter(|chunk| !chunk.pointers.is_empty());
        filled.map(|chunk| Source::Memory(&chunk.pointers))
    }

    /// Removes the runs, which have been merged.
    pub(crate) fn remove_runs(&mut self, spool: &ResultFiles) {
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
    }
}

#[cfg(test)]
pub(crate) mod tests;
