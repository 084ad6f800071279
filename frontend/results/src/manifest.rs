//! Writes a result's manifest and reads it after a restart.

use super::outcome::{CorpusSize, Counts, Explain, Outcome, Skipped, SkippedDocument, Timings};
use super::search_result::SearchResult;
use crate::spool::Recovered;
use query::Query;
use schema::message::{ShardEnd, Skip, SpoolManifest};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of skipped documents: half of a frame's limit.
const SKIPPED_BYTES_MAX: usize = 512 << 10;

impl SearchResult {
    /// Manifest frame, written after everything else.
    pub fn manifest(&self) -> Vec<u8> {
        let (explain, now) = (self.explain(), SystemTime::now().duration_since(UNIX_EPOCH));
        let manifest = SpoolManifest {
            generation: self.generation.clone(),
            search: (*self.query).clone(),
            frame_bytes: self.spool.frame_bytes_by_backend(),
            pointers: self.counts.pointers,
            packages: self.counts.packages,
            documents: self.documents,
            explain: ShardEnd {
                found: self.found,
                ..explain.sum.clone()
            },
            shards: explain.shards,
            shard_documents: explain.shard_documents,
            plan: explain.plan.clone(),
            skipped: skips(self.skipped()),
            skipped_count: self.skipped().count,
            queue_us: micros(self.outcome.timings.queue),
            stream_us: micros(self.outcome.timings.stream),
            rank_us: micros(self.outcome.timings.rank),
            phases: self.outcome.timings.phases,
            finished: now.map_or(0, |since| since.as_secs()),
            order_bytes: self.spool.order.bytes(),
            packages_bytes: self.spool.packages.len(),
            facets_bytes: self.spool.facets.len(),
            unique: self.counts.unique,
            folded_bytes: self.spool.folded.len(),
            copies_bytes: self.spool.copies.len(),
            copy_groups_bytes: self.spool.copy_groups.len(),
            copy_frames_bytes: self.spool.copy_frames.len(),
            scope: self.scope,
        };
        let mut frame = Vec::new();
        let encoded = manifest.encode(&mut frame);
        encoded.expect("the bounds of its parts keep a manifest below a frame's");
        frame
    }

    /// Restores an earlier process's result; removes it if this version refuses its query.
    pub fn recover(recovered: Recovered) -> Option<SearchResult> {
        let Recovered {
            id,
            files,
            manifest,
        } = recovered;
        let query = Query::of(manifest.search).ok().filter(|query| {
            let identity = query.identity_for(manifest.scope, &manifest.generation);
            identity == id
        });
        let Some(query) = query else {
            files.forget();
            return None;
        };
        Some(SearchResult {
            identity: id,
            generation: manifest.generation,
            query,
            scope: manifest.scope,
            known: CorpusSize {
                shards: manifest.shards,
                documents: manifest.shard_documents,
            },
            counts: Counts {
                pointers: manifest.pointers,
                packages: manifest.packages,
                unique: manifest.unique,
            },
            documents: manifest.documents,
            found: manifest.explain.found,
            outcome: Outcome {
                timings: Timings {
                    queue: Duration::from_micros(manifest.queue_us),
                    stream: Duration::from_micros(manifest.stream_us),
                    rank: Duration::from_micros(manifest.rank_us),
                    phases: manifest.phases,
                },
                skipped: Skipped {
                    count: manifest.skipped_count,
                    documents: manifest.skipped.into_iter().map(Into::into).collect(),
                },
                explain: Explain {
                    plan: manifest.plan,
                    shards: manifest.shards,
                    sum: manifest.explain,
                    shard_documents: manifest.shard_documents,
                    // Estimates have no matches and are never on disk.
                    estimates: Vec::new(),
                },
                ..Outcome::default()
            },
            spool: Arc::new(files),
            damaged: AtomicBool::default(),
        })
    }
}

fn skips(skipped: &Skipped) -> Vec<Skip> {
    let mut left = SKIPPED_BYTES_MAX;
    let fits = |document: &&SkippedDocument| {
        let bytes = document.package.len() + document.path.len() + document.reason.len() + 128;
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    };
    let skip = |document: &SkippedDocument| Skip {
        shard: 0,
        document: 0,
        package: document.package.clone(),
        path: document.path.clone(),
        reason: document.reason.clone(),
    };
    let documents = skipped.documents.iter();
    documents.take_while(fits).map(skip).collect()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
