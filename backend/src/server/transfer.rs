//! Sends frames of a search to its connection until its end or deadline.
//!
//! Without frames it sends progress, proof that the search works or is queued, so the frontend does
//! not give up.
//!
//! **Invariant:** a PROGRESS fits the frames around it: it is written among the frames of a chunk,
//! or repeats the progress after the last one.

use super::chunk::{Chunk, PROGRESS_EVERY};
use super::connection::{Connection, ConnectionError, Duplex};
use crate::search::Cancel;
use schema::message::Progress;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::sync::mpsc;
use tokio::time::{self, MissedTickBehavior};

pub(super) struct Transfer<'a, S> {
    pub(super) connection: &'a mut Connection<S>,
    pub(super) chunks: mpsc::Receiver<Chunk>,
    /// Progress after the sent frames.
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

    /// Sends a whole chunk. After the deadline it stops the search and returns `false`.
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
