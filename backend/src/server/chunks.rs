//! From a search's thread to its connection: frames collected to chunks, each with how far the
//! search is behind it.
//!
//! **Invariant:** a PROGRESS says of what stands before it on the connection, and of what comes
//! behind it, what is so: among frames it is in its place, and beside them the connection repeats
//! what the last chunk that it sent came with.

use super::PROGRESS_EVERY;
use crate::search::{HEAVY_BLOCKS, Sink, Stopped};
use schema::message::Progress;
use std::mem;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// ChunkWriter between a search and its connection.
const CHUNKS_MAX: usize = 4;

/// Bytes of frames that are sent at once: fewer, larger writes.
const CHUNK_BYTES: usize = 64 << 10;

/// Frames wait this long, at most, for a chunk to fill.
const CHUNK_WAIT: Duration = Duration::from_millis(5);

/// A search of so many candidate blocks, some tenths of a millisecond, is over before anybody could
/// look at its first frames: they are sent with its last, in one write.
const SMALL_BLOCKS: u64 = 256;

/// Frames, and how far the search is behind them.
pub(super) struct Chunk {
    pub(super) frames: Vec<u8>,
    pub(super) after: Progress,
}

/// Where chunks are queued.
#[derive(Clone)]
pub(super) struct ChunkSender(mpsc::Sender<Chunk>);

/// A queue, and the end that is taken from.
pub(super) fn queue() -> (ChunkSender, mpsc::Receiver<Chunk>) {
    let (sender, receiver) = mpsc::channel(CHUNKS_MAX);
    (ChunkSender(sender), receiver)
}

/// Collects frames to chunks and queues those; among them, in its place, how far the search is.
pub(super) struct ChunkWriter {
    queue: ChunkSender,
    pending: Vec<u8>,
    after: Progress,
    /// When a chunk was last queued.
    sent: Instant,
    /// Whether the next matches go at once: they are the first, and somebody waits for them.
    hurry: bool,
    /// When PROGRESS was last among them.
    told: Instant,
    /// How long the connection was waited for.
    waited: Duration,
}

impl ChunkWriter {
    /// Begins with how far a search is that has been planned. It is sent with the first frames, or
    /// at once when those may be long in coming.
    pub(super) fn begin(queue: ChunkSender, progress: Progress) -> Result<Self, Stopped> {
        let mut chunks = ChunkWriter {
            queue,
            pending: Vec::new(),
            after: progress,
            sent: Instant::now(),
            hurry: progress.blocks_total > SMALL_BLOCKS,
            told: Instant::now(),
            waited: Duration::ZERO,
        };
        chunks.tell();
        if progress.blocks_total > HEAVY_BLOCKS {
            chunks.flush()?;
        }
        Ok(chunks)
    }

    /// What is left to be sent, and how long the connection was waited for.
    pub(super) fn finish(self) -> (Chunk, Duration) {
        let rest = Chunk {
            frames: self.pending,
            after: self.after,
        };
        (rest, self.waited)
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        let encoded = self.after.encode(&mut self.pending);
        encoded.expect("a PROGRESS is far below a frame's bound");
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
        let queued = self.queue.0.blocking_send(chunk);
        self.sent = Instant::now();
        self.waited += self.sent - started;
        queued.map_err(|_| Stopped)
    }
}

impl Sink for ChunkWriter {
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped> {
        let first = self.hurry && !frames.is_empty();
        self.hurry &= !first;
        match self.pending.is_empty() {
            true => self.pending = frames,
            false => self.pending.extend_from_slice(&frames),
        }
        self.after = *after;
        if self.told.elapsed() >= PROGRESS_EVERY {
            self.tell();
        }
        let due = first || self.sent.elapsed() > CHUNK_WAIT;
        if due || self.pending.len() >= CHUNK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }
}
