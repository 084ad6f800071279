//! Sorts pointers in bounded memory.
//!
//! Pointers fill chunks, each sorted when full. When the budget has no chunk left, all chunks are
//! merged into a sorted run on disk.

use super::memory::{CHUNK_LEN, Chunk, Share};
use results::order::{self, Pointer};
use results::spool::{BLOCKS_AT_ONCE, Blob, PointerWriter, ResultFiles, SpoolError};
use std::mem;
use std::sync::Arc;

mod source;

pub(crate) use source::{SortedRun, Source, SourceReader};

/// Runs on disk; at this number they are merged into one.
pub(super) const RUNS_MAX: usize = 32;

#[derive(Debug)]
pub(crate) struct PointerSorter {
    name: String,
    last: Chunk,
    chunks: Vec<Chunk>,
    is_full: bool,
    in_memory: usize,
    share: Arc<Share>,
    runs: Vec<SortedRun>,
    in_runs: u64,
    written_runs: usize,
}

impl PointerSorter {
    pub(crate) fn new(name: String, share: Arc<Share>) -> PointerSorter {
        PointerSorter {
            name,
            last: Chunk::default(),
            chunks: Vec::new(),
            is_full: false,
            in_memory: 0,
            share,
            runs: Vec::new(),
            in_runs: 0,
            written_runs: 0,
        }
    }

    pub(crate) fn push(&mut self, pointer: Pointer) {
        if self.last.pointers.len() == CHUNK_LEN {
            self.begin_chunk();
        }
        self.last.pointers.push(pointer);
        self.in_memory += 1;
    }

    /// Starts a chunk. Without budget it is uncounted until the next [`spill`](Self::spill).
    fn begin_chunk(&mut self) {
        let next = self.share.take();
        self.is_full |= next.is_none();
        let mut full = mem::replace(&mut self.last, next.unwrap_or_default());
        order::sort(&mut full.pointers);
        self.chunks.push(full);
    }

    #[cfg(test)]
    pub(crate) fn written_runs(&self) -> usize {
        self.written_runs
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(crate) fn in_memory(&self) -> usize {
        self.in_memory
    }

    pub(crate) fn len(&self) -> u64 {
        self.in_runs + self.in_memory as u64
    }

    /// Drops pointers in memory that fail `keep`. No more may be added.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Pointer) -> bool) {
        for chunk in self.chunks.iter_mut().chain([&mut self.last]) {
            chunk.pointers.retain(&keep);
        }
        let chunks = self.chunks.iter().chain([&self.last]);
        self.in_memory = chunks.map(|chunk| chunk.pointers.len()).sum();
    }

    pub(crate) fn spill(&mut self, spool: &ResultFiles) -> Result<(), SpoolError> {
        if self.in_memory == 0 {
            return Ok(());
        }
        if self.runs.len() == RUNS_MAX {
            self.merge_runs(spool)?;
        }
        order::sort(&mut self.last.pointers);
        let run = self.scratch(spool)?;
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

    fn merge_runs(&mut self, spool: &ResultFiles) -> Result<(), SpoolError> {
        let run = self.scratch(spool)?;
        let mut writer = PointerWriter::new(spool, &run);
        let all = |run| Source::Disk(run).read_all(BLOCKS_AT_ONCE);
        let sources = self.runs.iter().map(all).collect();
        order::merge_sorted(sources, |pointer| writer.push(&pointer))?;
        let len = writer.finish()?;
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
        self.runs.push(SortedRun { blob: run, len });
        Ok(())
    }

    fn scratch(&mut self, spool: &ResultFiles) -> Result<Blob, SpoolError> {
        self.written_runs += 1;
        spool.scratch(&format!("{}-{}", self.name, self.written_runs))
    }

    /// Sorts the last chunk. No more pointers may be added.
    pub(crate) fn seal(&mut self) {
        order::sort(&mut self.last.pointers);
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let runs = self.runs.iter().map(Source::Disk);
        runs.chain(self.sorted_chunks())
    }

    pub(crate) fn read(
        &self,
        each: impl FnMut(Pointer) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let sources = self.sources().map(|source| source.read_all(1)).collect();
        order::merge_sorted(sources, each)
    }

    fn sorted_chunks(&self) -> impl Iterator<Item = Source<'_>> {
        let chunks = self.chunks.iter().chain([&self.last]);
        let filled = chunks.filter(|chunk| !chunk.pointers.is_empty());
        filled.map(|chunk| Source::Memory(&chunk.pointers))
    }

    pub(crate) fn clear(&mut self, spool: &ResultFiles) {
        self.chunks.clear();
        self.last = Chunk::default();
        self.in_memory = 0;
        self.in_runs = 0;
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
    }
}
