//! A search request, the sink for its frames, the reasons for which it ends early, and what the
//! workers on one of its shards share.
//!
//! There is no algorithm here: `plan` counts the candidates of a request, and the parent module
//! searches them.

use super::top_k::Threshold;
use crate::batch::LINE_BYTES_MAX;
use crate::compiled_query::CompiledQuery;
use crate::document_matcher::PatternSet;
use crate::line_matcher::{self, LineMatcher};
use crate::long_line::Effort;
use crate::rank;
use index::shard::{DocId, Shard, ShardError};
use schema::message::{Progress, ResumePoint, ShardEnd, TextOrder, Want};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Whether only the first range of each match is sent.
    pub first_range: bool,
    /// Whether lines are sent as text. Not with a limit or with context.
    pub text: TextOrder,
    /// Threads that verify candidates.
    pub workers: usize,
    /// Stops the search.
    pub cancel: &'a Cancel,
    /// How far another backend has answered for each shard; empty if none has. What it sent is not sent again, and not
    /// searched again if all matches are wanted.
    pub resume: &'a [ResumePoint],
}

impl Request<'_> {
    /// Finds the ranges of a matching line that are sent or decide its rank; `line` is without its end. `is_unranked` says
    /// that none decides its rank, in a search for text.
    pub(super) fn find_ranges(
        &self,
        matcher: &LineMatcher,
        (line, is_unranked): (&[u8], bool),
        effort: &mut Effort<'_>,
        out: &mut Vec<(usize, usize)>,
    ) {
        let is_unranked = is_unranked || self.text == TextOrder::Found;
        // Shorter, because a carriage return may follow.
        if is_unranked && line.len() < LINE_BYTES_MAX {
            // Nobody reads the ranges of a search for text.
            out.clear();
            out.push((0, 0));
        } else if self.first_range {
            let decides = |range| rank::is_ranked_by(line, range);
            line_matcher::first_range(matcher, line, effort, decides, out);
        } else {
            line_matcher::ranges(matcher, line, effort, out);
        }
    }

    /// Returns the only byte that a range can be, in a search for ranked text: there ranges do nothing but decide ranks.
    pub(super) fn single_byte(&self, matcher: &LineMatcher) -> Option<u8> {
        let byte = matcher.single_byte();
        byte.filter(|_| self.text == TextOrder::Ranked)
    }

    /// Returns how many top matches are wanted; `None` when all matches are.
    pub(super) fn top_k(&self) -> Option<usize> {
        let limited = self.want != Want::Count && (1..=LIMIT_MAX).contains(&self.limit);
        limited.then_some(self.limit as usize)
    }
}

/// Stops a search, and shows that it works: a thread that checks whether to stop does something between two checks.
#[derive(Debug, Default)]
pub struct Cancel {
    stop: Arc<AtomicBool>,
    has_checked: AtomicBool,
}

impl Cancel {
    /// Returns one that stops the search when the flag is set.
    pub(crate) fn by(flag: &Arc<AtomicBool>) -> Cancel {
        Cancel {
            stop: Arc::clone(flag),
            has_checked: AtomicBool::new(false),
        }
    }

    /// Returns the flag that stops the search when it is set.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Stops the search at its next check. It checks at least once per matching line, piece of text,
    /// posting list and package, and inside long lines: every 10 ms.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether the search has to stop.
    pub fn is_cancelled(&self) -> bool {
        // Written once between two looks, so that workers do not take the cache line from each other at every check.
        if !self.has_checked.load(Ordering::Relaxed) {
            self.has_checked.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns whether the search has checked since the last call.
    pub fn has_worked(&self) -> bool {
        self.has_checked.swap(false, Ordering::Relaxed)
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

/// One shard of a request.
#[derive(Clone, Copy)]
pub(super) struct ShardTask<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) shard: &'a Shard,
    /// The number by which frames refer to the shard: its index in the request, or the number of the resume point.
    pub(super) index: u32,
    /// How far another backend has answered.
    pub(super) resume: Option<&'a ResumePoint>,
    /// The highest static rank in the shards that are searched after this one.
    pub(super) later_static_rank: f32,
    pub(super) threshold: &'a Threshold,
    pub(super) evaluations: &'a SharedEvaluations,
}

impl<'a> ShardTask<'a> {
    /// The task for the shard with this index in the request.
    pub(super) fn new(
        request: &'a Request<'a>,
        index: usize,
        later_static_rank: f32,
        threshold: &'a Threshold,
        evaluations: &'a SharedEvaluations,
    ) -> ShardTask<'a> {
        let resume = request.resume.get(index);
        ShardTask {
            request,
            shard: &request.shards[index],
            index: resume.map_or(index as u32, |resume| resume.shard),
            resume,
            later_static_rank,
            threshold,
            evaluations,
        }
    }

    /// Returns the first line of a document that may be sent.
    pub(super) fn first_line(&self, document: DocId) -> u32 {
        match self.resume.and_then(|resume| resume.last) {
            Some((last, _)) if document.0 < last => u32::MAX,
            Some((last, line)) if document.0 == last => line.saturating_add(1),
            _ => 0,
        }
    }

    /// Returns whether another backend has named this skipped document, or a later one.
    pub(super) fn has_named(&self, skipped: DocId) -> bool {
        let last = self.resume.and_then(|resume| resume.last_skipped);
        last.is_some_and(|last| skipped.0 <= last)
    }

    /// Returns what is known of the shard before it is searched.
    pub(super) fn end(&self) -> ShardEnd {
        let resume = self.resume.copied().unwrap_or_default();
        ShardEnd {
            shard: self.index,
            blocks: u64::from(self.shard.live_counts().blocks),
            matches: resume.matches,
            hash: resume.hash,
            skipped: resume.skipped,
            ..ShardEnd::default()
        }
    }
}

/// Whether a document matches the expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Evaluation {
    /// It does, because these patterns match.
    Matches(PatternSet),
    Fails,
    /// The document is too large to be evaluated.
    TooLarge,
    /// Evaluating it needs too many steps.
    GivenUp,
}

/// The evaluations of documents that are in several work units, by document id: at most one per
/// [`UNIT_BLOCKS`](super::slices::UNIT_BLOCKS) blocks of the shard.
#[derive(Default)]
pub(super) struct SharedEvaluations(Mutex<HashMap<u32, SharedEvaluation>>);

/// Locked by the worker that evaluates the document.
type SharedEvaluation = Arc<Mutex<Option<Evaluation>>>;

impl SharedEvaluations {
    /// Returns the evaluation of a document. The first worker that asks for it calls `evaluate`;
    /// the others wait for the result.
    pub(super) fn get_or_evaluate<E>(
        &self,
        document: u32,
        evaluate: impl FnOnce() -> Result<Evaluation, E>,
    ) -> Result<Evaluation, E> {
        let shared = {
            // A panic of another worker leaves the map valid.
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(document).or_default())
        };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluation) = *shared {
            return Ok(evaluation);
        }
        let evaluation = evaluate()?;
        *shared = Some(evaluation);
        Ok(evaluation)
    }
}
