//! Collects the frames of a search into chunks. A chunk goes through a short queue to the connection of the search, or is
//! passed to a client in the same process. Each chunk has the progress of the search after it.

use crate::search::{HEAVY_BLOCKS, Sink, Stopped};
use schema::message::Progress;
use std::mem;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A search sends PROGRESS at least this often. The other side gives up after 3 s without a frame.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Chunks between a search and its connection.
pub(super) const CHUNKS_MAX: usize = 4;

/// Bytes after which a chunk is sent, to have fewer and larger writes.
const CHUNK_BYTES: usize = 64 << 10;

/// How long frames wait for a chunk to fill, at most.
const CHUNK_WAIT: Duration = Duration::from_millis(5);

/// A search of at most this number of candidate blocks takes a few tenths of a millisecond. Its
/// first frames are sent with the last ones, in one write, because a reader gains nothing from them
/// earlier.
const SMALL_BLOCKS: u64 = 256;

/// Frames, and the progress of the search after them.
pub(super) struct Chunk {
    pub(super) frames: Vec<u8>,
    pub(super) after: Progress,
}

impl Chunk {
    /// Counts the frames as sent.
    pub(super) fn count_sent(&self) {
        metrics::counter!("trawl_backend_sent_bytes_total").increment(self.frames.len() as u64);
    }
}

/// Takes chunks. An error stops the search.
pub(super) type Queue<'a> = dyn FnMut(Chunk) -> Result<(), Stopped> + 'a;

/// Returns a function that queues chunks for a connection.
pub(super) fn queue(chunks: mpsc::Sender<Chunk>) -> impl FnMut(Chunk) -> Result<(), Stopped> {
    move |chunk| chunks.blocking_send(chunk).map_err(|_| Stopped)
}

/// Collects frames into chunks and queues them. Writes PROGRESS among the frames.
pub(super) struct ChunkWriter<'a> {
    queue: &'a mut Queue<'a>,
    pending: Vec<u8>,
    after: Progress,
    /// When a chunk was last queued.
    sent: Instant,
    /// Whether to send the next frames at once, because they are the first.
    is_first_urgent: bool,
    /// When PROGRESS was last written.
    progress_written: Instant,
    /// How long the connection made the search wait.
    waited: Duration,
}

impl<'a> ChunkWriter<'a> {
    /// Writes the progress of the planned search. It is sent together with the first frames; that of a
    /// heavy search, whose first frames may take long, is sent at once.
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

    /// Returns what is left to send, and how long the connection made the search wait.
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
