//! A search request, the sink for its frames, and the reasons for which it ends early.
//!
//! There is no algorithm here: `plan` counts the candidates of a request, and the parent module
//! searches them.

use crate::compiled_query::CompiledQuery;
use index::shard::{Shard, ShardError};
use schema::message::{Progress, Want};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest limit; a larger one means all matches. The top matches are held in memory, with 16
/// bytes each and the names of their documents, and no page is that long.
pub const LIMIT_MAX: u64 = 10_000;

/// What to search for, where, and how.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The shards. Frames refer to them by their index here.
    pub shards: &'a [Arc<Shard>],
    /// What to search for, and in which documents.
    pub query: &'a CompiledQuery,
    /// What to send: all matching lines, the first one of every document, or nothing but a count.
    pub want: Want,
    /// How many of the best matches to send; 0 and values above [`LIMIT_MAX`] mean all.
    pub limit: u64,
    /// Lines of context before and after a match.
    pub context_lines: u32,
    /// Threads that verify candidates.
    pub workers: usize,
    /// Stops the search.
    pub cancel: &'a Cancel,
}

impl Request<'_> {
    /// Returns how many top matches are wanted; `None` when all matches are.
    pub(super) fn top_k(&self) -> Option<usize> {
        let limited = self.want != Want::Count && (1..=LIMIT_MAX).contains(&self.limit);
        limited.then_some(self.limit as usize)
    }
}

/// Stops a search.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Stops the search at its next check. It checks at least once per matching line, range of
    /// blocks, posting list and package. Searching one line cannot be interrupted.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the search has to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self) -> Result<(), Stopped> {
        if self.is_cancelled() {
            Err(Stopped)
        } else {
            Ok(())
        }
    }
}

/// Receives the frames of batches, in order.
pub trait Sink {
    /// Takes the frames of one work unit, which are always whole, and the progress of the search
    /// after them: what was sent, these frames included, and what is still to come. An error stops
    /// the search.
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped>;
}

/// The search was cancelled, or its sink takes no more frames.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// Why the search of a shard ended early.
pub(super) enum Interrupted {
    Stopped,
    Failed(ShardError),
}

impl From<ShardError> for Interrupted {
    fn from(error: ShardError) -> Self {
        Interrupted::Failed(error)
    }
}

impl From<Stopped> for Interrupted {
    fn from(Stopped: Stopped) -> Self {
        Interrupted::Stopped
    }
}
