//! Hot path of a stream: checks arriving frames and makes pointers to them.
//!
//! An [`Ingest`] takes all complete frames of a decoder in place, collects a pointer for each match
//! or run of text, and spools all bytes with one write. Backends may deliver in turn: the account
//! says where the next one resumes, and repeated frames are dropped.
//!
//! **Invariant:** a kept pointer points into a written frame. Pointers are dropped if the write
//! fails, and no frame is written that fails a check.

use crate::execution::collector::{BegunDocument, Collector};
use crate::execution::stream_stats::StreamStats;
use crate::peers::account::{Answer, StreamAccount};
use crate::peers::{PeerError, check_semantics, hello};
use cache::lock;
use results::SkippedDocument;
use results::facets::Facets;
use results::order::{BEST_MAX, Origin, Pointer, TopDocument, TopDocuments, keep_best};
use results::spool::ResultFiles;
use schema::frame::{self, Frame, Frames, Kind};
use schema::message::{
    self, BatchReader, End, Failure, LineView, Progress, ResumePoint, Skip, TextOrder, TextReader,
};
use schema::order::document_hash;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Interval of publishing the best matches.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// Counts are for people.
const COUNTS_EVERY: Duration = Duration::from_millis(250);

pub(crate) struct Target<'a> {
    pub(crate) stream: u16,
    pub(crate) search: &'a message::Search,
    pub(crate) stats: &'a StreamStats,
    pub(crate) spool: &'a ResultFiles,
    pub(crate) on_skip: Box<dyn Fn(SkippedDocument) + 'a>,
}

#[derive(Debug)]
pub(crate) enum Ingested {
    /// Everything sent has arrived.
    End(End),
    /// Needs more bytes. The answer has grown, and all complete frames are written.
    Grown,
    /// Needs more bytes. The answer has not grown.
    Nothing,
}

enum Walked {
    All,
    /// A greeting or repeated frame: neither counted nor written.
    Dropped,
    End(End),
}

pub(crate) struct Ingest<'a> {
    target: Target<'a>,
    pub(crate) account: StreamAccount,
    answer: Answer,
    collector: &'a mut Collector,
    best: Vec<Pointer>,
    best_documents: TopDocuments,
    begun: Vec<Option<BegunDocument>>,
    folds: bool,
    written: u64,
    /// Bytes of checked frames since the last write.
    walked: u64,
    /// True if the current backend's PROGRESS bounds all remaining ranks.
    bounds_all: bool,
    /// Reports of earlier backends on completed shards.
    pub(crate) earlier: Option<End>,
    published: Instant,
    counted: Instant,
}

impl<'a> Ingest<'a> {
    pub(crate) fn new(target: Target<'a>, collector: &'a mut Collector, now: Instant) -> Self {
        let shards = target.search.shards.len();
        let folds = folds(target.search) && collector.is_ordered;
        Ingest {
            account: StreamAccount::new(shards),
            answer: Answer::default(),
            collector,
            best: Vec::new(),
            best_documents: TopDocuments::default(),
            begun: (0..shards).map(|_| None).collect(),
            folds,
            written: target.stats.received_bytes.load(Relaxed),
            walked: 0,
            bounds_all: true,
            earlier: None,
            published: now,
            counted: now,
            target,
        }
    }

    pub(crate) fn take(
        &mut self,
        decoder: &mut impl Frames,
        now: Instant,
    ) -> Result<Ingested, PeerError> {
        loop {
            let walked = self.frames(decoder);
            // Dropped and failed frames come last.
            let checked = &decoder.consumed()[..self.walked as usize];
            self.write(checked, now)?;
            return Ok(match walked? {
                Walked::Dropped => continue,
                Walked::End(end) => Ingested::End(end),
                Walked::All if self.answer.take_growth() => Ingested::Grown,
                Walked::All => Ingested::Nothing,
            });
        }
    }

    /// False after misordered matches or a contradicting END, and once an uncounted search has
    /// skipped a document: its progress is unknown.
    pub(crate) fn can_resume_after(&self, error: &PeerError) -> bool {
        let is_uncounted = self.target.search.uncounted;
        error.is_fault() && !(is_uncounted && self.account.has_skipped())
    }

    pub(crate) fn resume_points(&self, shards: &[u32]) -> Vec<ResumePoint> {
        let shards = shards.iter();
        shards.map(|&it| self.account.resume_point(it)).collect()
    }

    pub(crate) fn ask(&mut self, shards: &[u32]) {
        self.account.ask(shards);
        self.answer = Answer::default();
        self.bounds_all = shards.len() == self.account.left().len();
        self.walked = 0;
    }

    /// Substitute for an END if no backend can search the remaining shards;
    /// `None` if nothing ended.
    pub(crate) fn end_without_rest(&mut self, reason: &str) -> Option<End> {
        let mut end = self.earlier.take()?;
        let left = self.account.left().into_iter();
        let failed = left.map(|shard| self.account.failed(shard, reason));
        end.shards.extend(failed);
        Some(end)
    }

    /// Completes the counts. After `Heavy` the collector is unchanged, for another request.
    pub(crate) fn close(self, result: &Result<End, PeerError>) -> &'a mut Collector {
        match result {
            Ok(end) => {
                for document in self.begun.into_iter().flatten() {
                    document.finish(self.target.stream, self.collector);
                }
                let shards = end.shards.iter();
                self.collector.documents = shards.clone().map(|it| it.matched_documents).sum();
                self.collector.found = shards.map(|shard| shard.found).sum();
                self.target.stats.end(end, &self.best, &self.best_documents);
            }
            Err(PeerError::Heavy) => return self.collector,
            Err(_) => {
                self.collector.documents = self.account.documents();
                self.collector.found = self.collector.matches;
                self.target.stats.lose();
            }
        }
        self.collector.sorter.seal();
        self.collector
    }

    fn frames(&mut self, decoder: &mut impl Frames) -> Result<Walked, PeerError> {
        while let Some(frame) = decoder.decode()? {
            let walked = self.frame(&frame)?;
            if !matches!(walked, Walked::Dropped) {
                self.walked += frame.bytes as u64;
            }
            if !matches!(walked, Walked::All) {
                return Ok(walked);
            }
        }
        Ok(Walked::All)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<Walked, PeerError> {
        let stats = self.target.stats;
        if !self.answer.accepts(frame.kind) {
            return Err(PeerError::Unexpected(frame.kind));
        }
        if frame.kind != Kind::Hello {
            stats.answered.store(true, Relaxed);
        }
        match frame.kind {
            Kind::Batch => return self.batch(frame.payload),
            Kind::Text if self.target.search.text != TextOrder::None => {
                return self.text(frame.payload);
            }
            Kind::Progress => {
                let mut progress = Progress::decode(frame.payload)?;
                self.answer.progress(&progress)?;
                if !self.bounds_all {
                    progress.bound = f32::INFINITY;
                }
                stats.progress(progress);
            }
            Kind::Skip => return self.skip(Skip::decode(frame.payload)?),
            Kind::Hello => {
                check_semantics(hello(frame.payload)?.semantics)?;
                return Ok(Walked::Dropped);
            }
            Kind::End => {
                let end = End::decode(frame.payload)?;
                self.account.end(&end)?;
                return Ok(Walked::End(match self.earlier.take() {
                    Some(earlier) => join(earlier, end),
                    None => end,
                }));
            }
            Kind::Error => return Err(self.failure(Failure::decode(frame.payload)?)),
            kind @ (Kind::Search
            | Kind::Cancel
            | Kind::File
            | Kind::Manifest
            | Kind::List
            | Kind::Lookup
            | Kind::Record
            | Kind::Text) => return Err(PeerError::Unexpected(kind)),
        }
        Ok(Walked::All)
    }

    fn batch(&mut self, payload: &[u8]) -> Result<Walked, PeerError> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        self.answer.rank(view.best_rank)?;
        let shard = self.account.shard(view.shard)?;
        if let Some(first) = view.first_match() {
            let first = (view.document, first);
            let last = || {
                let last = view.lines().filter(LineView::is_match).last();
                last.map_or(first, |last| (view.document, last.number))
            };
            if !shard.begin(first, last)? {
                let matches = view.lines().filter(LineView::is_match).count();
                self.answer.repeated(matches as u64);
                return Ok(Walked::Dropped);
            }
        }
        let revision = (view.revision_count > 0).then_some(view.hash);
        let origin = self.origin(view.package, view.path, revision);
        let mut document = self.begun_document((view.shard, view.document), &origin, view.hash);
        let shard = self.account.shard(view.shard)?;
        let (before, mut found) = (self.collector.len(), 0);
        let mut best_lines = TopDocument::default();
        for (index, line) in (0..).zip(view.lines()) {
            if !line.is_match() {
                continue;
            }
            // Cannot fail: lines of a batch ascend, and the first match was checked.
            shard.key(view.document, line.number)?;
            found += 1;
            if !self.collector.is_ordered {
                self.collector.uncollected += 1;
                continue;
            }
            self.collector.facets.add_symbols(line.kinds);
            let pointer = origin.pointer(line.rank, line.number, index);
            document.add(&pointer, line.number);
            keep_best(&mut self.best, BEST_MAX, pointer);
            best_lines.offer(pointer);
            self.collector.sorter.push(pointer);
        }
        self.answer.found(found);
        best_lines.text = document.text;
        self.best_documents.offer(&best_lines);
        self.begun[view.shard as usize] = Some(document);
        let matches = (self.collector.len() - before) as u64;
        let counted = (view.language, view.kind, view.path);
        self.collector.facets.add(counted, matches);
        self.collector.count_package(origin.package, matches);
        Ok(Walked::All)
    }

    fn text(&mut self, payload: &[u8]) -> Result<Walked, PeerError> {
        let reader = TextReader::new(payload)?;
        let view = reader.view()?;
        self.answer.rank(view.best_rank)?;
        let shard = self.account.shard(view.shard)?;
        let Some((first, last)) = view.first_and_last() else {
            return Ok(Walked::All);
        };
        if !shard.begin((view.document, first), || (view.document, last))? {
            self.answer.repeated(view.numbers().count() as u64);
            return Ok(Walked::Dropped);
        }
        for number in view.numbers() {
            // Infallible, as for a batch.
            shard.key(view.document, number)?;
        }
        let revision = view.is_revision.then_some(view.hash);
        let origin = self.origin(view.package, view.path, revision);
        let document = self.begun_document((view.shard, view.document), &origin, view.hash);
        self.begun[view.shard as usize] = Some(document);
        let mut matches = 0;
        for (index, run) in (0..).zip(view.runs()) {
            matches += u64::from(run.lines);
            if self.collector.is_ordered {
                // The run has a single pointer.
                self.collector.uncollected += u64::from(run.lines) - 1;
                self.collector
                    .sorter
                    .push(origin.pointer(run.rank, run.number, index));
            } else {
                self.collector.uncollected += u64::from(run.lines);
            }
        }
        self.answer.found(matches);
        self.collector.count_package(origin.package, matches);
        Ok(Walked::All)
    }

    fn origin(&mut self, package: &[u8], path: &[u8], revision: Option<&[u8]>) -> Origin {
        Origin {
            hash: document_hash(package, path, revision),
            package: self.collector.packages.id(package),
            stream: self.target.stream,
            offset: self.written + self.walked,
        }
    }

    /// The document before is complete.
    fn begun_document(
        &mut self,
        (shard, document): (u32, u32),
        origin: &Origin,
        hash: &[u8],
    ) -> BegunDocument {
        let begun = &mut self.begun[shard as usize];
        if let Some(mut begun) = begun.take_if(|begun| begun.document == document) {
            self.collector.continued.push(origin.offset, begun.first);
            begun.continue_at(origin.offset);
            return begun;
        }
        if let Some(complete) = begun.take() {
            complete.finish(self.target.stream, self.collector);
        }
        let text = if self.folds { hash } else { &[] };
        BegunDocument::new(document, origin, text)
    }

    fn skip(&mut self, skip: Skip) -> Result<Walked, PeerError> {
        if !self.account.shard(skip.shard)?.skip(skip.document)? {
            return Ok(Walked::Dropped);
        }
        self.answer.found(0);
        (self.target.on_skip)(skip.into());
        Ok(Walked::All)
    }

    /// `Heavy` is unexpected if heavy search was allowed (endless retry) or after matches
    /// (duplicates).
    fn failure(&self, failure: Failure) -> PeerError {
        match PeerError::reported(failure) {
            PeerError::Heavy if self.target.search.heavy || self.account.has_begun() => {
                PeerError::Unexpected(Kind::Error)
            }
            error => error,
        }
    }

    fn write(&mut self, walked: &[u8], now: Instant) -> Result<(), PeerError> {
        if walked.is_empty() {
            return Ok(());
        }
        let frames = walked.len() as u64;
        let Target { stats, spool, .. } = self.target;
        metrics::counter!("trawl_frontend_received_bytes_total").increment(frames);
        if let Err(error) = spool.append_frames(self.target.stream, walked) {
            self.collector.drop_from(self.written);
            uncount(&mut self.collector.facets, walked);
            return Err(error.into());
        }
        self.written += frames;
        self.walked = 0;
        stats.received_bytes.store(self.written, Relaxed);
        let new = self.collector.mark_written();
        stats.matches.fetch_add(new, Relaxed);
        let is_due = now.duration_since(self.published) >= PUBLISH_EVERY;
        if is_due || self.collector.matches == new || stats.has_news() {
            stats.publish(&self.best, &self.best_documents);
            self.published = now;
        }
        if now.duration_since(self.counted) >= COUNTS_EVERY {
            *lock(&stats.facets) = self.collector.facets_so_far();
            self.counted = now;
        }
        self.collector.spill_if_full(spool)?;
        Ok(())
    }
}

fn join(mut earlier: End, end: End) -> End {
    earlier.shards.extend(end.shards);
    if earlier.plan.is_empty() {
        earlier.plan = end.plan;
    }
    let (phases, more) = (&mut earlier.phases, end.phases);
    phases.plan_us += more.plan_us;
    phases.candidates_us += more.candidates_us;
    phases.verify_us += more.verify_us;
    for (sum, other) in earlier.estimates.iter_mut().zip(end.estimates) {
        sum.candidates += other.candidates;
    }
    earlier
}

/// Excludes the best matches of each backend, which depend on its data, and names, which copies do
/// not share.
fn folds(search: &message::Search) -> bool {
    search.limit == 0 && !search.names && search.text == TextOrder::None
}

fn uncount(facets: &mut Facets, mut frames: &[u8]) {
    while let Ok(Some(frame)) = frame::decode(frames) {
        frames = &frames[frame.bytes..];
        if frame.kind == Kind::Batch
            && let Ok(batch) = BatchReader::new(frame.payload)
            && let Ok(view) = batch.view()
        {
            let matches = view.lines().filter(LineView::is_match);
            let matches = matches
                .inspect(|line| facets.remove_symbols(line.kinds))
                .count() as u64;
            facets.remove((view.language, view.kind, view.path), matches);
        }
    }
}
