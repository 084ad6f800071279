//! Sends frames of a search to its connection until its end or deadline.
//!
//! Frames are collected into chunks, each with the progress after it. Chunks go through a short
//! queue to a connection, or to a client in the process. Without frames, a connection gets
//! progress, proof that the search works or is queued, so the frontend does not give up.
//!
//! **Invariant:** a PROGRESS fits the frames around it: it is written among the frames of a chunk,
//! or repeats the progress after the last one.

use super::connection::{Connection, ConnectionError, Duplex};
use crate::search::{Cancel, HEAVY_BLOCKS, Sink, Stopped};
use schema::message::Progress;
use std::future::Future;
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{self, MissedTickBehavior};

/// The other side gives up after 3 s of silence.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

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
    pending: Chunk,
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
            pending: Chunk {
                frames: Vec::new(),
                after: progress,
            },
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
        (self.pending, self.waited)
    }

    fn write_progress(&mut self) {
        self.progress_written = Instant::now();
        let Chunk { frames, after } = &mut self.pending;
        let encoded = after.encode(frames);
        encoded.expect("a PROGRESS is smaller than a frame");
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pending.frames.is_empty() {
            return Ok(());
        }
        let chunk = Chunk {
            frames: mem::take(&mut self.pending.frames),
            ..self.pending
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
        if self.pending.frames.is_empty() {
            self.pending.frames = frames;
        } else {
            self.pending.frames.extend_from_slice(&frames);
        }
        self.pending.after = *after;
        if self.progress_written.elapsed() >= PROGRESS_EVERY {
            self.write_progress();
        }
        let is_due = is_urgent || self.sent.elapsed() > CHUNK_WAIT;
        if is_due || self.pending.frames.len() >= CHUNK_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }
}

pub(super) struct Transfer<'a, S> {
    pub(super) connection: &'a mut Connection<S>,
    pub(super) chunks: mpsc::Receiver<Chunk>,
    /// After the sent frames.
    pub(super) sent: Progress,
    /// Steps at the last progress without frames.
    pub(super) steps: u64,
    pub(super) deadline: Option<time::Instant>,
    pub(super) cancel: &'a Cancel,
    pub(super) is_queued: &'a AtomicBool,
}

impl<S: Duplex> Transfer<'_, S> {
    /// Result of `running` after all frames; `None` after the deadline.
    pub(super) async fn run<T>(
        mut self,
        running: impl Future<Output = T>,
    ) -> Result<Option<T>, ConnectionError> {
        let deadline = self.deadline;
        let mut running = pin!(running);
        let mut deadline_passed = pin!(async {
            match deadline {
                Some(at) => time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        });
        let mut result = None;
        let mut progress = time::interval(PROGRESS_EVERY);
        progress.set_missed_tick_behavior(MissedTickBehavior::Delay);
        progress.reset();
        loop {
            tokio::select! {
                biased;
                end = &mut running, if result.is_none() => result = Some(end),
                () = &mut deadline_passed => return Ok(None),
                chunk = self.chunks.recv() => match chunk {
                    Some(chunk) => {
                        if !self.send(chunk, deadline_passed.as_mut()).await? {
                            return Ok(None);
                        }
                        progress.reset();
                    }
                    None => break,
                },
                error = self.connection.reader.interrupted() => return Err(error),
                _ = progress.tick() => {
                    let now = self.progress();
                    self.connection.send(|out| now.encode(out)).await?;
                }
            }
        }
        // The end of the search closed the queue.
        Ok(Some(match result {
            Some(result) => result,
            None => running.await,
        }))
    }

    fn progress(&mut self) -> Progress {
        self.steps += u64::from(self.cancel.has_worked());
        Progress {
            steps: self.steps,
            is_queued: self.is_queued.load(Relaxed),
            ..self.sent
        }
    }

    /// After the deadline it stops the search and returns `false`.
    async fn send(
        &mut self,
        chunk: Chunk,
        deadline_passed: impl Future<Output = ()>,
    ) -> Result<bool, ConnectionError> {
        let mut sending = pin!(self.connection.send_while_wanted(&chunk.frames));
        let in_time = tokio::select! {
            biased;
            sent = &mut sending => sent.map(|()| true)?,
            () = deadline_passed => {
                self.cancel.cancel();
                self.chunks.close();
                sending.await?;
                false
            }
        };
        self.sent = chunk.after;
        chunk.count_sent();
        Ok(in_time)
    }
}

impl<S> Drop for Transfer<'_, S> {
    /// Stops the workers in any case.
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
