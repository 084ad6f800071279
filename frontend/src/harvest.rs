//! What one stream has brought in: its pointers, sorted run by sorted run, and its counts.
//!
//! Pointers are collected in memory as long as there is some; then they are sorted and written beside
//! the frames, and memory begins anew. At the end of the run all of it is merged (see `assemble`).
//! **Invariant:** nothing is counted and no pointer is written before its frame is: what a failed
//! write leaves over is dropped.

use crate::facets::Facets;
use crate::memory::Share;
use crate::rank::{self, Continued, Pointer, StringPool};
use crate::run::StreamEnd;
use crate::spool::{BLOCKS_AT_ONCE, Blob, PointerWriter, RunSpool, SpoolError};

mod source;

pub(crate) use source::{Source, SourceReader};

/// Pointers that a stream may have without asking: half a megabyte.
const FREE_LEN: usize = 16 << 10;

/// Pointers that one receive buffer can bring, at 32 bytes a line on the wire.
const BUFFER_LEN: usize = 40 << 10;

/// Sorted runs of a stream. One more, and they are merged to one.
const RUNS_MAX: usize = 64;

/// What a stream has brought in.
#[derive(Debug)]
pub(crate) struct Harvest {
    /// Those that are not in runs; sorted once the stream has ended.
    pointers: Vec<Pointer>,
    /// How many there may be.
    room: usize,
    share: Share,
    runs: Vec<Run>,
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
pub(crate) struct Run {
    pub(crate) blob: Blob,
    pub(crate) len: u64,
}

impl Harvest {
    /// Nothing yet, and a share of memory for pointers.
    pub(crate) fn new(share: Share) -> Harvest {
        Harvest {
            pointers: Vec::new(),
            room: FREE_LEN,
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
        self.pointers.push(pointer);
    }

    /// How many pointers are in memory.
    pub(crate) fn len(&self) -> usize {
        self.pointers.len()
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
        let all = self.in_runs + self.pointers.len() as u64;
        let before = std::mem::replace(&mut self.matches, all);
        all - before
    }

    /// Drops the last pointers.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.pointers.truncate(len);
    }

    /// Drops the pointers to frames at `offset` and behind.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        let written = |pointer: &Pointer| pointer.offset() < offset;
        self.pointers
            .truncate(self.pointers.partition_point(written));
    }

    /// Makes room for the pointers of the next buffer; all frames so far are written.
    pub(crate) fn settle(&mut self, backend: u16, spool: &RunSpool) -> Result<(), SpoolError> {
        if self.pointers.len() + BUFFER_LEN <= self.room || self.pointers.len() < FREE_LEN / 2 {
            return Ok(());
        }
        let more = self.room.max(BUFFER_LEN);
        if self.share.grow((more * size_of::<Pointer>()) as u64) {
            self.room += more;
            self.pointers.reserve_exact(self.room - self.pointers.len());
            return Ok(());
        }
        if self.runs.len() == RUNS_MAX {
            self.merge_runs(backend, spool)?;
        }
        rank::sort(&mut self.pointers);
        let run = self.scratch(backend, spool)?;
        let mut writer = PointerWriter::new(spool, &run);
        for pointer in &self.pointers {
            writer.push(pointer)?;
        }
        let len = writer.finish()?;
        self.runs.push(Run { blob: run, len });
        self.in_runs += len;
        self.pointers.clear();
        metrics::counter!("trawl_frontend_spilled_pointers_total").increment(len);
        Ok(())
    }

    fn merge_runs(&mut self, backend: u16, spool: &RunSpool) -> Result<(), SpoolError> {
        let run = self.scratch(backend, spool)?;
        let mut writer = PointerWriter::new(spool, &run);
        let all = |run| Source::Disk(run).read_all(BLOCKS_AT_ONCE);
        let sources = self.runs.iter().map(all).collect();
        rank::merge_sorted(sources, |pointer| writer.push(&pointer))?;
        let len = writer.finish()?;
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
        self.runs.push(Run { blob: run, len });
        Ok(())
    }

    fn scratch(&mut self, backend: u16, spool: &RunSpool) -> Result<Blob, SpoolError> {
        self.written_runs += 1;
        spool.scratch(&format!("run-{backend}-{}", self.written_runs))
    }

    /// Sorts what is in memory: nothing more will come.
    pub(crate) fn seal(&mut self) {
        rank::sort(&mut self.pointers);
    }

    /// Everything, as sorted sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let runs = self.runs.iter().map(Source::Disk);
        let memory = Some(&self.pointers[..]).filter(|pointers| !pointers.is_empty());
        runs.chain(memory.map(Source::Memory))
    }

    /// Removes the runs, which have been merged.
    pub(crate) fn remove_runs(&mut self, spool: &RunSpool) {
        self.runs.drain(..).for_each(|run| spool.remove(&run.blob));
    }
}

#[cfg(test)]
pub(crate) mod tests;
