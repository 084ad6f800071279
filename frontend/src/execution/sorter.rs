//! Sorts pointers in bounded memory, or only keeps them.
//!
//! Pointers fill chunks, each sorted when full. When the budget has no chunk left, all chunks are
//! merged into a sorted run on disk.

use super::memory::{CHUNK_LEN, Chunk, Share};
use results::order::{self, Pointer, TieKey};
use results::spool::{
    BLOCKS_AT_ONCE, Blob, PointerReader, PointerWriter, ResultFiles, SpoolError, partition_pointers,
};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// Runs on disk; at this number they are merged into one.
pub(super) const RUNS_MAX: usize = 32;

#[derive(Debug)]
pub(crate) struct PointerSorter {
    name: String,
    /// False: in no order, to be [scanned](Self::scan).
    pub(super) sorts: bool,
    last: Chunk,
    chunks: Vec<Chunk>,
    /// A chunk is uncounted: [`spill`](Self::spill).
    pub(super) is_full: bool,
    pub(super) in_memory: usize,
    pub(super) share: Arc<Share>,
    runs: Vec<SortedRun>,
    in_runs: u64,
    pub(crate) written_runs: usize,
}

impl PointerSorter {
    pub(crate) fn new(name: String, share: Arc<Share>) -> PointerSorter {
        PointerSorter {
            name,
            sorts: true,
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
        self.seal();
        let next = self.share.take();
        self.is_full |= next.is_none();
        let full = mem::replace(&mut self.last, next.unwrap_or_default());
        self.chunks.push(full);
    }

    pub(crate) fn len(&self) -> u64 {
        self.in_runs + self.in_memory as u64
    }

    /// No more may be added.
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
        self.seal();
        let name = self.next_name();
        let chunks = self.filled_chunks().map(|chunk| chunk.read_all(1));
        let run = SortedRun::merge(&name, chunks.collect(), spool)?;
        if self.sorts {
            metrics::counter!("trawl_frontend_spilled_pointers_total").increment(run.len);
        }
        self.in_runs += run.len;
        self.runs.push(run);
        self.chunks.clear();
        self.last.pointers.clear();
        self.in_memory = 0;
        self.is_full = false;
        Ok(())
    }

    fn merge_runs(&mut self, spool: &ResultFiles) -> Result<(), SpoolError> {
        let name = self.next_name();
        let all = |run| Source::Disk(run).read_all(BLOCKS_AT_ONCE);
        let merged = SortedRun::merge(&name, self.runs.iter().map(all).collect(), spool)?;
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
        self.runs.push(merged);
        Ok(())
    }

    fn next_name(&mut self) -> String {
        self.written_runs += 1;
        format!("{}-{}", self.name, self.written_runs)
    }

    /// No more pointers may be added.
    pub(crate) fn seal(&mut self) {
        if self.sorts {
            order::sort(&mut self.last.pointers);
        }
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let runs = self.runs.iter().map(Source::Disk);
        runs.chain(self.filled_chunks())
    }

    pub(crate) fn read(
        &self,
        each: impl FnMut(Pointer) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let sources = self.sources().map(|source| source.read_all(1)).collect();
        order::merge_sorted(sources, each)
    }

    pub(crate) fn scan(
        &self,
        mut each: impl FnMut(Pointer) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        for source in self.sources() {
            let mut reader = source.read_all(BLOCKS_AT_ONCE);
            while let Some(pointer) = order::Sorted::next(&mut reader)? {
                each(pointer)?;
            }
        }
        Ok(())
    }

    fn filled_chunks(&self) -> impl Iterator<Item = Source<'_>> {
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

#[derive(Debug)]
pub(crate) struct SortedRun {
    pub(crate) blob: Blob,
    pub(crate) len: u64,
}

impl SortedRun {
    fn merge(
        name: &str,
        sources: Vec<SourceReader<'_>>,
        spool: &ResultFiles,
    ) -> Result<SortedRun, SpoolError> {
        let blob = spool.scratch(name)?;
        let mut writer = PointerWriter::new(spool, &blob);
        order::merge_sorted(sources, |pointer| writer.push(&pointer))?;
        let len = writer.finish()?;
        Ok(SortedRun { blob, len })
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Memory(&'a [Pointer]),
    Disk(&'a SortedRun),
}

impl<'a> Source<'a> {
    pub(crate) fn len(self) -> u64 {
        match self {
            Source::Memory(pointers) => pointers.len() as u64,
            Source::Disk(run) => run.len,
        }
    }

    pub(crate) fn key(self, at: u64) -> Result<TieKey, SpoolError> {
        let mut reader = self.read(at..at + 1, 1);
        let pointer = order::Sorted::next(&mut reader)?;
        Ok(pointer.expect("the number is below the length").tie_key())
    }

    /// Number of pointers with a smaller key.
    pub(crate) fn before(self, key: TieKey) -> Result<u64, SpoolError> {
        let is_before = |pointer: &Pointer| pointer.tie_key() < key;
        match self {
            Source::Memory(pointers) => Ok(pointers.partition_point(is_before) as u64),
            Source::Disk(run) => partition_pointers(&run.blob, run.len, is_before),
        }
    }

    /// From disk, `blocks_at_once` at a time.
    pub(crate) fn read(self, range: Range<u64>, blocks_at_once: usize) -> SourceReader<'a> {
        match self {
            Source::Memory(pointers) => {
                let range = range.start as usize..range.end as usize;
                SourceReader::Memory(pointers[range].iter())
            }
            Source::Disk(run) => {
                SourceReader::Disk(PointerReader::new(&run.blob, range).by(blocks_at_once))
            }
        }
    }

    pub(crate) fn read_all(self, blocks_at_once: usize) -> SourceReader<'a> {
        self.read(0..self.len(), blocks_at_once)
    }
}

pub(crate) enum SourceReader<'a> {
    Memory(std::slice::Iter<'a, Pointer>),
    Disk(PointerReader<'a>),
}

impl order::Sorted<SpoolError> for SourceReader<'_> {
    fn next(&mut self) -> Result<Option<Pointer>, SpoolError> {
        match self {
            SourceReader::Memory(pointers) => Ok(pointers.next().copied()),
            SourceReader::Disk(reader) => reader.advance(),
        }
    }
}
