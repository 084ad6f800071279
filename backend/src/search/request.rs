//! Search request, sink for its frames, reasons for an early end, and the state that workers on a
//! shard share.
//!
//! No algorithms: `plan` counts the candidates of a request, and the parent module searches them.

use super::symbols::Defining;
use super::top_k::Threshold;
use crate::matcher::compiled_query::CompiledQuery;
use crate::matcher::document_matcher::PatternSet;
use crate::matcher::line_matcher::{self, LineMatcher};
use crate::matcher::long_line::Effort;
use crate::matcher::place::Haystack;
use crate::pack::LINE_BYTES_MAX;
use index::shard::{DocId, Shard, ShardError};
use language::words::words_in;
use schema::message::{Progress, ResumePoint, Search, ShardEnd, TextOrder, Want};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// More means all matches: top matches are held in memory.
pub const LIMIT_MAX: u64 = 10_000;

#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Frames refer to them by index.
    pub shards: &'a [Arc<Shard>],
    pub query: &'a CompiledQuery,
    /// Kind and bounds of the answer. A limit above [`LIMIT_MAX`] means all. Lines are sent as text
    /// only without limit and context. Matches before `resume` are not sent again, and if all
    /// matches are wanted, they are not searched again.
    pub search: &'a Search,
    pub workers: usize,
    pub cancel: &'a Cancel,
}

impl Request<'_> {
    /// Finds the ranges of a line that are sent or decide its rank. With `is_unranked` none decides
    /// it, in a search for text; if the line `may_define` something, all ranges count.
    pub(super) fn find_ranges(
        &self,
        matcher: &LineMatcher,
        may_define: bool,
        (line, is_unranked): (Haystack<'_>, bool),
        effort: &mut Effort<'_>,
        out: &mut Vec<(usize, usize)>,
    ) {
        let is_unranked = is_unranked || self.search.text == TextOrder::Found;
        // Shorter, because a carriage return may follow.
        if is_unranked && line.bytes.len() < LINE_BYTES_MAX {
            // A search for text does not send ranges.
            out.clear();
            out.push((0, 0));
        } else if self.search.first_range && !may_define {
            // The first range with words decides the rank.
            let decides = |(start, end)| words_in(line.bytes, start, end).is_some();
            line_matcher::first_range(matcher, line, effort, decides, out);
        } else {
            line_matcher::ranges(matcher, line, effort, out);
        }
    }

    /// The only possible byte of a range, in ranked text: there ranges only decide ranks.
    pub(super) fn single_byte(&self, matcher: &LineMatcher) -> Option<u8> {
        let byte = matcher.single_byte();
        byte.filter(|_| self.search.text == TextOrder::Ranked)
    }

    /// Parts of a shard in which a line may define a match, if ranks of lines matter.
    pub(super) fn defining(&self, shard: &Shard) -> Result<Defining, ShardError> {
        if self.search.want == Want::Count || self.search.text == TextOrder::Found {
            return Ok(Defining::nowhere());
        }
        let stop = || self.cancel.is_cancelled();
        Defining::of(shard, self.query.defined_words.as_ref(), &stop)
    }

    /// `None` for all.
    pub(super) fn top_k(&self) -> Option<usize> {
        let limited =
            self.search.want != Want::Count && (1..=LIMIT_MAX).contains(&self.search.limit);
        limited.then_some(self.search.limit as usize)
    }
}

/// Stops a search. Its checks also prove that threads make progress.
#[derive(Debug, Default)]
pub struct Cancel {
    stop: Arc<AtomicBool>,
    has_checked: AtomicBool,
}

impl Cancel {
    pub(crate) fn by(flag: &Arc<AtomicBool>) -> Cancel {
        Cancel {
            stop: Arc::clone(flag),
            has_checked: AtomicBool::new(false),
        }
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Stops the search at its next check, every 10 ms at least: at each line, piece of text,
    /// posting list and package, and inside long lines.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        // Written once between two looks, or workers contend for the cache line.
        if !self.has_checked.load(Ordering::Relaxed) {
            self.has_checked.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    /// True if the search has checked since the last call.
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
    /// Takes whole frames of a unit, and the progress after them. An error stops the search.
    fn frames(&mut self, frames: Vec<u8>, after: &Progress) -> Result<(), Stopped>;
}

/// Cancelled, or refused by the sink.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

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

#[derive(Clone, Copy)]
pub(super) struct ShardTask<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) shard: &'a Shard,
    /// Index in the request, or number of the resume point.
    pub(super) index: u32,
    pub(super) resume: Option<&'a ResumePoint>,
    pub(super) threshold: &'a Threshold,
    pub(super) evaluations: &'a SharedEvaluations,
    pub(super) defining: &'a Defining,
}

impl<'a> ShardTask<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        index: usize,
        threshold: &'a Threshold,
        evaluations: &'a SharedEvaluations,
        defining: &'a Defining,
    ) -> ShardTask<'a> {
        let resume = request.search.resume.get(index);
        ShardTask {
            request,
            shard: &request.shards[index],
            index: resume.map_or(index as u32, |resume| resume.shard),
            resume,
            threshold,
            evaluations,
            defining,
        }
    }

    pub(super) fn first_line(&self, document: DocId) -> u32 {
        match self.resume.and_then(|resume| resume.last) {
            Some((last, _)) if document.0 < last => u32::MAX,
            Some((last, line)) if document.0 == last => line.saturating_add(1),
            _ => 0,
        }
    }

    /// True if another backend named this or a later skipped document.
    pub(super) fn has_named(&self, skipped: DocId) -> bool {
        let last = self.resume.and_then(|resume| resume.last_skipped);
        last.is_some_and(|last| skipped.0 <= last)
    }

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

#[derive(Clone, Copy, Debug)]
pub(super) enum Evaluation {
    Matches(PatternSet),
    Fails,
    TooLarge,
    GivenUp,
}

/// By document in several units: at most one per [`UNIT_BLOCKS`](super::slices::UNIT_BLOCKS)
/// blocks.
#[derive(Default)]
pub(super) struct SharedEvaluations(Mutex<HashMap<u32, SharedEvaluation>>);

/// Locked by the worker that evaluates the document.
type SharedEvaluation = Arc<Mutex<Option<Evaluation>>>;

impl SharedEvaluations {
    /// Single flight: other workers wait for the first one.
    pub(super) fn get_or_evaluate<E>(
        &self,
        document: u32,
        evaluate: impl FnOnce() -> Result<Evaluation, E>,
    ) -> Result<Evaluation, E> {
        let shared = {
            // Valid after a panic.
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
