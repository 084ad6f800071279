//! The search of one shard, and what its workers share.

use super::request::Request;
use super::top_k::Threshold;
use crate::document_matcher::PatternSet;
use index::shard::Shard;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One shard of a request.
#[derive(Clone, Copy)]
pub(super) struct ShardTask<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) shard: &'a Shard,
    /// The shard's index in the request.
    pub(super) index: u32,
    /// The highest static rank in the shards that are searched after this one.
    pub(super) later_static_rank: f32,
    pub(super) threshold: &'a Threshold,
    pub(super) evaluations: &'a SharedEvaluations,
}

/// Whether a document matches the expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Evaluation {
    /// It does, because these patterns match.
    Matches(PatternSet),
    Fails,
    /// The document is too large to be evaluated.
    TooLarge,
}

/// The evaluations of documents that are in several work units, by document id: at most one per
/// [`UNIT_BLOCKS`](super::blocks::UNIT_BLOCKS) blocks of the shard.
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
