//! Runs the passes on all shards, and packs the best matches.

use super::{Best, Found, Proof, ShardSearch};
use crate::pack::batch::Packed;
use crate::search::Worker;
use crate::search::request::{Interrupted, Request, ShardTask, SharedEvaluations, Sink, Stopped};
use crate::search::top_k::{Threshold, TopMatches};
use schema::message::{Progress, ShardEnd};

impl Request<'_> {
    /// Finds the best matches or documents without counting all. `None` if a search of all
    /// candidates may be as cheap.
    pub fn run_best_first(
        &self,
        best: Best,
        sink: &mut dyn Sink,
    ) -> Result<Option<Vec<ShardEnd>>, Stopped> {
        let (Some(limit), Some(passes)) = (self.top_k(), self.passes()) else {
            return Ok(None);
        };
        let mut top = TopMatches::new(limit);
        let threshold = Threshold::default();
        let evaluations = SharedEvaluations::default();
        let shards = 0..self.shards.len();
        let task = |index| ShardTask::new(self, index, 0.0, &threshold, &evaluations);
        let mut searches: Vec<Found<'_>> = shards.map(|index| Found::new(task(index))).collect();
        let mut blocks = 0;
        for pass in &passes {
            for found in searches.iter_mut().filter(|it| it.end.failure.is_empty()) {
                let mut search = ShardSearch::new(found, pass, (best, &mut top), blocks);
                match search.run() {
                    Ok(Proof::Complete) => {}
                    Ok(Proof::TooMuch) => return Ok(None),
                    Err(Interrupted::Stopped) => return Err(Stopped),
                    Err(Interrupted::Failed(error)) => search.found.end.failure = error.to_string(),
                }
                blocks = search.blocks;
            }
            // Later passes find worse matches.
            if top.is_full() {
                break;
            }
        }
        let finds_all = passes.last().is_some_and(|pass| pass.is_last);
        if !finds_all && !top.is_full() {
            return Ok(None);
        }
        let mut progress = Progress::default();
        let mut ends = Vec::with_capacity(searches.len());
        for search in searches {
            let (mut found, mut skips, mut end) = (search.matches, search.skips, search.end);
            if best == Best::Matches {
                found.retain(|pending| !top.leaves_out(&pending.key));
            } else {
                let of_documents = found.chunk_by(|a, b| a.document == b.document);
                let wanted = of_documents.filter(|of_one| !top.leaves_out(&of_one[0].key));
                found = wanted.flatten().cloned().collect();
            }
            found.sort_unstable_by_key(|pending| (pending.document, pending.position.number));
            let mut packed = Packed::default();
            if !found.is_empty() {
                match Worker::new(search.task, 0).pack(&found) {
                    Ok(all) => packed = all,
                    Err(Interrupted::Stopped) => return Err(Stopped),
                    Err(Interrupted::Failed(error)) => end.failure = error.to_string(),
                }
            }
            let Packed { mut frames, keys } = packed;
            frames.append(&mut skips);
            end.matches += keys.len() as u64;
            let matches = keys.iter().map(|&(document, line)| (document.0, line));
            end.hash = ShardEnd::keys_hash(end.hash, matches);
            progress.matches += keys.len() as u64;
            progress.blocks_done += end.candidates;
            progress.blocks_total = progress.blocks_done;
            progress.documents += end.documents;
            sink.frames(frames, &progress)?;
            ends.push(end);
        }
        Ok(Some(ends))
    }
}
