//! Emits the results of work units in order: adds up their counts, drops unwanted matches, and
//! passes their frames on.
//!
//! **Invariant:** nothing here depends on the number of workers or on time. Units come in the order
//! of the shard, and shards in the order of the request.

use super::request::{Interrupted, ShardTask, Sink};
use super::top_k::{PendingMatches, TopMatches};
use super::unit_result::UnitResult;
use super::worker::Worker;
use crate::batch::Packed;
use crate::rank;
use index::shard::DocId;
use schema::message::{Progress, ShardEnd, Want};
use std::mem;

/// The state of a search that continues from shard to shard.
pub(super) struct Output<'o> {
    pub(super) sink: &'o mut dyn Sink,
    /// What has been sent.
    pub(super) progress: Progress,
    /// Set when only the top matches are wanted.
    pub(super) top: Option<TopMatches>,
}

/// Emits the units of a shard.
pub(super) struct Emitter<'e, 'o, 'a> {
    task: ShardTask<'a>,
    output: &'e mut Output<'o>,
    end: &'e mut ShardEnd,
    /// The last document so far, and whether it matched.
    last_document: Option<(DocId, bool)>,
    /// Packs top matches.
    packer: Option<Worker<'a>>,
}

impl<'e, 'o, 'a> Emitter<'e, 'o, 'a> {
    pub(super) fn new(
        task: ShardTask<'a>,
        output: &'e mut Output<'o>,
        end: &'e mut ShardEnd,
    ) -> Self {
        Emitter {
            task,
            output,
            end,
            last_document: None,
            packer: None,
        }
    }

    pub(super) fn emit(&mut self, mut unit: UnitResult) -> Result<(), Interrupted> {
        // A document that began in an earlier unit was counted there.
        let continued = self
            .last_document
            .filter(|(document, _)| Some(*document) == unit.first);
        let continued_matched = continued.is_some_and(|(_, matched)| matched);
        let matched_before = unit.first_matched && continued_matched;
        if matched_before && self.task.request.want == Want::Documents {
            unit.remove_first();
        }
        if let Some((document, matched)) = unit.last {
            let matched = matched || (unit.documents == 1 && continued_matched);
            self.last_document = Some((document, matched));
        }
        let documents = unit.documents - u64::from(continued.is_some());
        let matched_documents = unit.matched_documents - u64::from(matched_before);
        self.count(&unit, documents, matched_documents);
        let pending = mem::take(&mut unit.pending);
        let Packed { mut frames, keys } = if self.output.top.is_some() {
            self.pack_top(pending)?
        } else {
            mem::take(&mut unit.packed)
        };
        frames.extend_from_slice(&unit.skips);
        self.end.matches += keys.len() as u64;
        self.end.hash = keys.iter().fold(self.end.hash, |hash, &(document, line)| {
            ShardEnd::key_hash(hash, document.0, line)
        });
        let bound = self.bound_after(&unit);
        let progress = &mut self.output.progress;
        progress.matches += keys.len() as u64;
        progress.blocks_done += unit.blocks;
        progress.documents += documents;
        progress.bound = bound;
        self.output.sink.frames(frames, progress)?;
        Ok(())
    }

    /// Returns the highest rank that a match after this unit can have.
    fn bound_after(&self, unit: &UnitResult) -> f32 {
        let static_rank = unit.static_rank_after.max(self.task.later_static_rank);
        rank::bound(static_rank, self.task.request.query.finds_names)
    }

    fn count(&mut self, unit: &UnitResult, documents: u64, matched_documents: u64) {
        let end = &mut *self.end;
        end.documents += documents;
        end.matched_documents += matched_documents;
        end.matched_blocks += unit.matched_blocks;
        end.verified_bytes += unit.verified_bytes;
        end.skipped += unit.skipped;
        end.found += match self.task.request.want {
            Want::Documents => matched_documents,
            Want::Matches | Want::Count | Want::Estimate => unit.lines,
        };
    }

    /// Packs those of a unit's matches that are among the top ones so far, this unit included.
    fn pack_top(
        &mut self,
        PendingMatches(mut pending): PendingMatches,
    ) -> Result<Packed, Interrupted> {
        let Some(top) = &mut self.output.top else {
            return Ok(Packed::default());
        };
        pending.iter().for_each(|pending| top.offer(&pending.key));
        self.task.threshold.raise_to(top);
        pending.retain(|pending| !top.leaves_out(&pending.key));
        if pending.is_empty() {
            return Ok(Packed::default());
        }
        let packer = self.packer.get_or_insert_with(|| Worker::new(self.task));
        packer.pack(&pending)
    }
}
