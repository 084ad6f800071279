//! Takes units in order: sums them up, leaves out what is not wanted, and passes their frames on.
//!
//! **Invariant:** nothing here depends on the number of workers or on time: units come in the order
//! of the shard, and shards in that of the request.

use super::top_k::{PendingMatch, TopMatches};
use super::worker::{WorkResult, Worker};
use super::{Interrupted, ShardTask, Sink};
use crate::batch::Packed;
use crate::rank;
use index::shard::DocId;
use schema::message::{Progress, ShardEnd, Want};
use std::mem;

/// What goes on from shard to shard.
pub(super) struct Output<'a> {
    pub(super) sink: &'a mut dyn Sink,
    /// What has been passed on.
    pub(super) progress: Progress,
    /// When only the best are wanted.
    pub(super) best: Option<TopMatches>,
}

/// Emits the units of a shard.
pub(super) struct Emitter<'e, 'a> {
    task: ShardTask<'a>,
    course: &'e mut Output<'a>,
    end: &'e mut ShardEnd,
    /// The last document of the units so far, and whether it had a match.
    last_document: Option<(DocId, bool)>,
    /// Packs the matches that are left.
    packer: Option<Worker<'a>>,
}

impl<'e, 'a> Emitter<'e, 'a> {
    pub(super) fn new(
        task: ShardTask<'a>,
        course: &'e mut Output<'a>,
        end: &'e mut ShardEnd,
    ) -> Self {
        Emitter {
            task,
            course,
            end,
            last_document: None,
            packer: None,
        }
    }

    pub(super) fn emit(&mut self, mut unit: WorkResult) -> Result<(), Interrupted> {
        // A document that began in an earlier unit has been counted there.
        let continued = self
            .last_document
            .filter(|(document, _)| Some(*document) == unit.first);
        let continued_matched = continued.is_some_and(|(_, matched)| matched);
        let matched_before = unit.first_matched && continued_matched;
        if matched_before && self.task.request.want == Want::Documents {
            unit.forget_first();
        }
        if let Some((document, matched)) = unit.last {
            let matched = matched || (unit.documents == 1 && continued_matched);
            self.last_document = Some((document, matched));
        }
        let documents = unit.documents - u64::from(continued.is_some());
        let matched_documents = unit.matched_documents - u64::from(matched_before);
        let kept = mem::take(&mut unit.kept);
        let packed = mem::take(&mut unit.packed);
        self.sum_up(&unit, documents, matched_documents);
        let Packed { mut frames, keys } = match self.course.best.is_some() {
            true => self.pack_best(kept)?,
            false => packed,
        };
        frames.extend_from_slice(&unit.skips);
        self.end.matches += keys.len() as u64;
        self.end.hash = keys.iter().fold(self.end.hash, |hash, &(document, line)| {
            ShardEnd::key_hash(hash, document.0, line)
        });
        let bound = self.bound_after(&unit);
        let progress = &mut self.course.progress;
        progress.matches += keys.len() as u64;
        progress.blocks_done += unit.blocks;
        progress.documents += documents;
        progress.bound = bound;
        self.course.sink.frames(frames, progress)?;
        Ok(())
    }

    /// No match still to come has a higher rank.
    fn bound_after(&self, unit: &WorkResult) -> f32 {
        let static_rank = unit.static_rank_after.max(self.task.later_static_rank);
        rank::bound(static_rank, self.task.request.compiled.names)
    }

    fn sum_up(&mut self, unit: &WorkResult, documents: u64, matched_documents: u64) {
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

    /// Packs what of a unit is among the best so far, those of the unit included.
    fn pack_best(&mut self, mut kept: Vec<PendingMatch>) -> Result<Packed, Interrupted> {
        let Some(best) = &mut self.course.best else {
            return Ok(Packed::default());
        };
        kept.iter().for_each(|kept| best.offer(&kept.key));
        self.task.threshold.raise_to(best);
        kept.retain(|kept| !best.leaves_out(&kept.key));
        if kept.is_empty() {
            return Ok(Packed::default());
        }
        let packer = self.packer.get_or_insert_with(|| Worker::new(self.task));
        packer.pack(&kept)
    }
}
