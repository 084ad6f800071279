//! Searches shards: candidate blocks in, frames of batches out, in the order of shards and
//! documents.
//!
//! A [`Request`] is planned first (`plan`). Then a `pool` of workers searches units of blocks, by
//! lines (`verify`) or documents (`document_search`). The calling thread emits results in order,
//! without those that cannot be top matches (`top_k`).
//!
//! **Invariant:** frames depend neither on the number of workers nor on time.

mod best_first;
mod document_matches;
mod document_search;
mod line_locator;
mod lone_byte;
mod plan;
mod pool;
mod request;
mod slices;
mod spans;
mod symbols;
mod top_k;
mod verify;

pub use plan::{HEAVY_BLOCKS, Plan, PlanError};
pub(crate) use pool::yielding;
pub use request::{Cancel, LIMIT_MAX, Request, Sink, Stopped};

use crate::matcher::compiled_query::Strategy;
use crate::matcher::line_matcher::{self, LineMatcher};
use crate::matcher::long_line::Effort;
use crate::matcher::place::Haystack;
use crate::pack::{Match, Packed};
use document_matches::{UnitResult, frames_of};
use document_search::{DocumentMatchers, DocumentSearch, find_ranges};
use index::shard::{DocId, ShardError};
use plan::ShardCandidates;
use pool::Workers;
use request::{Interrupted, ShardTask, SharedEvaluations};
use schema::message::{Progress, ShardEnd, Skip, Want};
use slices::{ReadAhead, Slice, Slices, is_dense};
use std::mem;
use symbols::Defining;
use top_k::{PendingMatch, PendingMatches, Threshold, TopMatches};
use verify::Verifier;

impl Request<'_> {
    /// Searches all shards, and summarizes each. Errors are in `failure`; earlier frames stay
    /// valid.
    pub fn run(&self, plan: Plan, sink: &mut dyn Sink) -> Result<Vec<ShardEnd>, Stopped> {
        let threshold = Threshold::default();
        let workers = Workers {
            count: self.workers,
            yielding: plan.is_heavy(),
        };
        let mut output = Output {
            sink,
            progress: plan.progress,
            top: self.top_k().map(TopMatches::new),
        };
        let plans = plan.shards.into_iter().zip(plan.later_static_ranks);
        let shards = self.shards.iter().zip(plans).enumerate();
        let ends = shards.map(|(index, (shard, (plan, later_static_rank)))| {
            let candidates = self.planned_candidates(plan, shard)?;
            let evaluations = SharedEvaluations::default();
            let (candidates, defining) = candidates
                .and_then(|candidates| Ok((Ok(candidates), self.defining(shard)?)))
                .unwrap_or_else(|error| (Err(error), Defining::Anywhere));
            let task = ShardTask::new(self, index, &threshold, &evaluations, &defining);
            let candidates = (candidates, later_static_rank);
            search_shard(task, workers, candidates, &mut output)
        });
        ends.collect()
    }
}

fn search_shard(
    task: ShardTask<'_>,
    workers: Workers,
    (candidates, later_static_rank): (Result<ShardCandidates, ShardError>, f32),
    output: &mut Output<'_>,
) -> Result<ShardEnd, Stopped> {
    let mut end = task.end();
    let searched = candidates
        .map_err(Interrupted::Failed)
        .and_then(|candidates| {
            let blocks = candidates.blocks();
            end.candidates = blocks;
            candidates.read_tables_ahead(task.shard);
            let units = candidates.slices(task.shard)?;
            let first = units_done(&task, &units, output);
            let read_ahead = ReadAhead::starting_at(first);
            let mut emitter = Emitter {
                task,
                output,
                end: &mut end,
                last_document: None,
                last_skip: None,
                last_sent: task.resume.and_then(|resume| Some(DocId(resume.last?.0))),
                packer: None,
                later_static_rank,
            };
            pool::in_order(
                workers,
                units.unit_count() - first,
                || Worker::new(task, blocks),
                |worker, index| {
                    let unit = first + index;
                    read_ahead.before(unit, &units, task.shard)?;
                    worker.verifier.touches =
                        read_ahead.is_warm() && is_dense(&units.unit_blocks(unit));
                    worker.search(units.unit(unit), &units)
                },
                |unit| emitter.emit(unit),
            )
        });
    if let Some(resume) = task.resume
        && resume.matches > 0
        && output.top.is_none()
    {
        // Units not searched again have the rest.
        end.found = end.matches;
        end.matched_documents += resume.documents;
    }
    match searched {
        Ok(()) => Ok(end),
        Err(Interrupted::Stopped) => Err(Stopped),
        Err(Interrupted::Failed(error)) => {
            end.failure = error.to_string();
            Ok(end)
        }
    }
}

/// Units sent completely by another backend. For top matches all are searched again: they decide
/// about later ones.
fn units_done(task: &ShardTask<'_>, units: &Slices<'_>, output: &mut Output<'_>) -> usize {
    let last = task.resume.and_then(|resume| resume.last);
    let Some((document, _)) = last.filter(|_| output.top.is_none()) else {
        return 0;
    };
    let done = units.units_before(DocId(document));
    let slices = (0..done).flat_map(|index| units.unit(index));
    output.progress.blocks_done += slices.map(|slice| units.weight(slice)).sum::<u64>();
    done
}

struct Output<'o> {
    sink: &'o mut dyn Sink,
    progress: Progress,
    /// Set if only top matches are wanted.
    top: Option<TopMatches>,
}

struct Emitter<'e, 'o, 'a> {
    task: ShardTask<'a>,
    output: &'e mut Output<'o>,
    end: &'e mut ShardEnd,
    last_document: Option<(DocId, bool)>,
    last_skip: Option<u32>,
    /// Document of the last match sent, when resuming.
    last_sent: Option<DocId>,
    packer: Option<Worker<'a>>,
    /// Highest, of the shards searched later.
    later_static_rank: f32,
}

impl Emitter<'_, '_, '_> {
    fn emit(&mut self, mut unit: UnitResult) -> Result<(), Interrupted> {
        // A document begun in an earlier unit was counted there.
        let (first, first_matched) = unit.first.unzip();
        let continued = (self.last_document).filter(|(document, _)| Some(*document) == first);
        let continued_matched = continued.is_some_and(|(_, matched)| matched);
        let matched_before = first_matched == Some(true) && continued_matched;
        if matched_before && self.task.request.search.want == Want::Documents {
            unit.remove_first();
        }
        // It may have been named with another part in an earlier unit.
        let named = |skip: &Skip| Some(skip.document) == self.last_skip;
        if unit.skips.first().is_some_and(named) {
            unit.skips.remove(0);
        }
        let last_skip = unit.skips.last().map(|skip| skip.document);
        self.last_skip = last_skip.or(self.last_skip);
        if let Some((document, matched)) = unit.last {
            let matched = matched || (unit.documents == 1 && continued_matched);
            self.last_document = Some((document, matched));
        }
        unit.documents -= u64::from(continued.is_some());
        unit.matched_documents -= u64::from(matched_before);
        let pending = mem::take(&mut unit.pending);
        let packed = if self.output.top.is_some() {
            self.pack_top(pending)?
        } else {
            mem::take(&mut unit.packed)
        };
        if self.last_sent.is_some() && self.output.top.is_none() {
            // Another backend may have sent documents of the unit.
            unit.matched_documents = self.count_sent(&packed.keys);
        }
        unit.count_in(self.end, self.task.request.search.want);
        let bound = self.bound_after(&unit);
        let progress = &mut self.output.progress;
        let frames = frames_of(packed, &unit.skips, self.end, progress);
        progress.blocks_done += unit.blocks;
        progress.documents += unit.documents;
        progress.bound = bound;
        self.output.sink.frames(frames, progress)?;
        Ok(())
    }

    fn count_sent(&mut self, keys: &[(DocId, u32)]) -> u64 {
        let mut new = 0;
        for (document, _) in keys {
            new += u64::from(self.last_sent.replace(*document) != Some(*document));
        }
        new
    }

    fn bound_after(&self, unit: &UnitResult) -> f32 {
        let static_rank = unit.static_rank_after.max(self.later_static_rank);
        self.task.request.query.bound(static_rank)
    }

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
        let packer = self
            .packer
            .get_or_insert_with(|| Worker::new(self.task, self.end.candidates));
        packer.pack(&pending)
    }
}

/// Matchers have their own caches.
struct Worker<'a> {
    verifier: Verifier<'a>,
    matchers: Matchers<'a>,
}

impl Matchers<'_> {
    fn is_placed(&self) -> bool {
        match self {
            Matchers::Line(matcher) => matcher.is_placed(),
            Matchers::Document(matchers) => matchers.matcher.is_placed(),
        }
    }
}

enum Matchers<'a> {
    Line(Box<LineMatcher>),
    Document(DocumentMatchers<'a>),
}

impl<'a> Worker<'a> {
    fn new(task: ShardTask<'a>, blocks: u64) -> Self {
        Worker {
            verifier: Verifier::new(task),
            matchers: match &task.request.query.strategy {
                Strategy::Lines { matcher, .. } => {
                    Matchers::Line(Box::new(matcher.for_blocks(blocks)))
                }
                Strategy::Documents(matcher) => Matchers::Document(DocumentMatchers::new(matcher)),
            },
        }
    }

    /// Searches a unit. The result is valid only without an error.
    fn search(&mut self, unit: &[Slice], all: &Slices<'_>) -> Result<UnitResult, Interrupted> {
        let mut out = UnitResult::default();
        let shard = self.verifier.task.shard;
        match &mut self.matchers {
            Matchers::Line(matcher) => {
                self.verifier.search_texts(matcher, unit, all, &mut out)?;
            }
            Matchers::Document(matchers) => {
                let mut search = DocumentSearch {
                    verifier: &mut self.verifier,
                    matchers,
                    slices: all,
                    out: &mut out,
                };
                search.search(unit)?;
            }
        }
        out.pending.finish();
        if let Some(last) = unit.last() {
            out.static_rank_after = shard.static_rank_bound(last.last_document())?;
        }
        shard.intact()?;
        Ok(out)
    }

    fn pack(&mut self, pending: &[PendingMatch]) -> Result<Packed, Interrupted> {
        let mut packed = Packed::default();
        let verifier = &mut self.verifier;
        let ShardTask { shard, request, .. } = verifier.task;
        for of_document in pending.chunk_by(|a, b| a.document == b.document) {
            let mut matches = verifier.begin(shard.document(of_document[0].document)?)?;
            for pending in of_document {
                request.cancel.check()?;
                let position = pending.position;
                if let Matchers::Document(matchers) = &self.matchers
                    && position.number == 0
                {
                    let path = matches.document.path;
                    let ranges = matchers.matcher.path_ranges(pending.patterns, path);
                    matches.pack_name(&ranges, &mut packed)?;
                    continue;
                }
                let line = &shard.text(position.start..position.end, &verifier.texts)?[..];
                let is_placed = self.matchers.is_placed();
                let symbols = verifier.symbols_for(is_placed, &matches.document)?;
                let start = shard.text_range(matches.document.blocks.clone())?.start;
                let offset = position.start.saturating_sub(start);
                let body = line_matcher::without_end(line);
                let body = Haystack::new(body, symbols.as_deref(), offset);
                let ranges = &mut verifier.ranges;
                let stop = || request.cancel.is_cancelled();
                let effort = &mut Effort::new(&stop);
                match &mut self.matchers {
                    Matchers::Document(matchers) => {
                        let document = &matches.document;
                        let found = (effort, ranges);
                        let text = (shard, &*verifier.texts);
                        find_ranges(matchers, text, document, pending, body, found)?;
                    }
                    Matchers::Line(matcher) => {
                        request.find_ranges(matcher, true, (body, false), effort, ranges);
                    }
                }
                let rank = pending.key.rank();
                let found = Match::new(position, line, &verifier.ranges);
                matches.pack(&Match { rank, ..found }, &mut packed)?;
            }
            verifier.buffers = matches.finish(&mut packed)?;
        }
        // Ranges are missing if the search was stopped meanwhile.
        request.cancel.check()?;
        shard.intact()?;
        Ok(packed)
    }
}

#[cfg(test)]
mod tests;
