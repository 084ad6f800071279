//! Collects frames of a search into chunks, each with the progress after it.
//!
//! Chunks go through a short queue to a connection, or to a client in the process.

use crate::search::{HEAVY_BLOCKS, Sink, Stopped};
use schema::message::Progress;
use std::mem;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The other side gives up after 3 s of silence.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_millis(200);

pub(super) const CHUNKS_MAX: usize = 4;

/// Bytes of a chunk, for fewer and larger writes.
const CHUNK_BYTES: usize = 64 << 10;

const CHUNK_WAIT: Duration = Duration::from_millis(5);

/// Smaller searches take some tenths of a millisecond, and send all frames in one write.
const SMALL_BLOCKS: u64 = 256;

pub(super) struct Chunk {
    pub(super) frames: Vec<u8>,
    pub(super) after: Progress,
}

impl Chunk {
    pub(super) fn count_sent(&self) {
        metrics::counter!("trawl_backend_sent_bytes_total").increment(self.frames.len() as u64);
    }
}

/// Takes chunks. An error stops the search.
pub(super) type Queue<'a> = dyn FnMut(Chunk) -> Result<(), Stopped> + 'a;

pub(super) fn queue(chunks: mpsc::Sender<Chunk>) -> impl FnMut(Chunk) -> Result<(), Stopped> {
    move |chunk| chunks.blocking_send(chunk).map_err(|_| Stopped)
}

pub(super) struct ChunkWriter<'a> {
    queue: &'a mut Queue<'a>,
    pending: Vec<u8>,
    after: Progress,
    sent: Instant,
    is_first_urgent: bool,
    progress_written: Instant,
    waited: Duration,
}

impl<'a> ChunkWriter<'a> {
    /// Writes progress, sent with the first frames; at once for a heavy search.
    pub(super) fn new(queue: &'a mut Queue<'a>, progress: Progress) -> Result<Self, Stopped> {
        let mut chunks = ChunkWriter {
            queue,
            pending: Vec::new(),
            after: progress,
            sent: Instant::now(),
            is_first_urgent: progress.blocks_total > SMALL_BLOCKS,
            progress_written: Instant::now(),
            waited: Duration::ZERO,
        };
        chunks.write_progress();
        if progress.blocks_total > HEAVY_BLOCKS {
            chunks.flush()?;
        }
        Ok(chunks)
    }

    pub(super) fn finish(self) -> (Chunk, Duration) {
        let rest = Chunk {
            frames: self.pending,
            after: self.after,
        };
        (rest, self.waited)
    }

    fn write_progress(&mut self) {
        self.progress_written = Instant::now();
        let encoded = self.after.encode(&mut self.pending);
        encoded.expect("a PROGRESS is smaller than a frame");
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let chunk = Chunk {
            frames: mem::take(&mut self.pending),
            after: self.after,
        };
        let started = Instant::now();
        let queued = (self.queue)(chunk);
        self.sent = Instant::now();
        self.waited += self.sent - started;
        queued
    }
}

impl Sink for ChunkWriter<'_> {
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped> {
        let is_urgent = self.is_first_urgent && !frames.is_empty();
        self.is_first_urgent &= !is_urgent;
        if self.pending.is_empty() {
            self.pending = frames;
        } else {
            self.pending.extend_from_slice(&frames);
        }
        self.after = *after;
        if self.progress_written.elapsed() >= PROGRESS_EVERY {
            self.write_progress();
        }
        let is_due = is_urgent || self.sent.elapsed() > CHUNK_WAIT;
        if is_due || self.pending.len() >= CHUNK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }
}
