//! One search on its threads: its shards one after the other, frames collected to chunks.

use super::PROGRESS_EVERY;
use crate::pattern::Compiled;
use crate::search::{self, Cancel, Counters, Sink, Stopped, Task};
use index::filter::Filters;
use index::shard::{PackageId, Shard};
use schema::message::{End, Progress};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Bytes of frames that are sent at once: fewer, larger writes.
const CHUNK_BYTES: usize = 64 << 10;

/// Frames wait this long, at most, for a chunk to fill.
const CHUNK_WAIT: Duration = Duration::from_millis(5);

/// Bytes of a plan in END; `.*` spelled out as trigrams helps nobody.
const PLAN_BYTES_MAX: usize = 16 << 10;

/// One search.
pub(super) struct Job {
    pub(super) shards: Vec<Arc<Shard>>,
    pub(super) compiled: Compiled,
    pub(super) filters: Filters,
    pub(super) context_lines: u32,
    pub(super) workers: usize,
    pub(super) cancel: Cancel,
    pub(super) counters: Counters,
}

impl Job {
    /// Searches all shards, sending frames of batches and progress, and returns what END says.
    pub(super) fn run(&self, chunks: mpsc::Sender<Vec<u8>>) -> Result<End, Stopped> {
        let started = Instant::now();
        let mut sink = Chunks {
            job: self,
            chunks,
            pending: Vec::new(),
            sent: None,
            told: started,
        };
        let mut end = End {
            shards: Vec::new(),
            plan: plan_text(&self.compiled),
            ..End::default()
        };
        for (index, shard) in (0..).zip(&self.shards) {
            let later = &self.shards[index as usize + 1..];
            let task = Task {
                shard,
                index,
                compiled: &self.compiled,
                filters: &self.filters,
                context_lines: self.context_lines,
                workers: self.workers,
                cancel: &self.cancel,
                counters: &self.counters,
                later_static_rank: static_rank_of(later),
            };
            let shard_end = search::search(task, &mut sink)?;
            metrics::counter!("trawl_backend_verified_bytes_total")
                .increment(shard_end.verified_bytes);
            metrics::counter!("trawl_backend_matches_total").increment(shard_end.matches);
            end.shards.push(shard_end);
        }
        sink.flush()?;
        metrics::histogram!("trawl_backend_search_seconds").record(started.elapsed());
        Ok(end)
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Progress {
        let counters = &self.counters;
        Progress {
            blocks_done: counters.blocks_done.load(Ordering::Relaxed),
            blocks_total: counters.blocks_total.load(Ordering::Relaxed),
            documents: counters.documents.load(Ordering::Relaxed),
            matches: counters.matches.load(Ordering::Relaxed),
            bound: counters.bound(),
        }
    }
}

/// The highest static rank in `shards`; when one does not tell, nothing is known.
fn static_rank_of(shards: &[Arc<Shard>]) -> f32 {
    shards
        .iter()
        .map(|shard| {
            let rank = shard.static_rank_from(PackageId(0));
            let true_rank = rank.and_then(|rank| shard.intact().map(|()| rank));
            true_rank.unwrap_or(f32::INFINITY)
        })
        .fold(0.0, f32::max)
}

fn plan_text(compiled: &Compiled) -> String {
    let mut text = compiled.query.to_string();
    if text.len() > PLAN_BYTES_MAX {
        let end = text.floor_char_boundary(PLAN_BYTES_MAX);
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

/// Stops a search when nobody waits for it any more.
pub(super) struct CancelOnDrop(pub(super) Arc<Job>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

/// Collects frames to chunks and queues those; among them, in its place, how far the search is.
struct Chunks<'a> {
    job: &'a Job,
    chunks: mpsc::Sender<Vec<u8>>,
    pending: Vec<u8>,
    sent: Option<Instant>,
    /// When PROGRESS was last among them.
    told: Instant,
}

impl Chunks<'_> {
    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.sent = Some(Instant::now());
        let chunk = std::mem::take(&mut self.pending);
        self.chunks.blocking_send(chunk).map_err(|_| Stopped)
    }
}

impl Sink for Chunks<'_> {
    fn frames(&mut self, frames: Vec<u8>) -> Result<(), Stopped> {
        match self.pending.is_empty() {
            true => self.pending = frames,
            false => self.pending.extend_from_slice(&frames),
        }
        if self.told.elapsed() >= PROGRESS_EVERY {
            self.told = Instant::now();
            let encoded = self.job.progress().encode(&mut self.pending);
            encoded.expect("a PROGRESS is far below a frame's bound");
        }
        // The first frames go at once: somebody waits for them.
        let due = self.sent.is_none_or(|sent| sent.elapsed() > CHUNK_WAIT);
        if due || self.pending.len() >= CHUNK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }
}
