//! One stream of an execution: what its backend is asked for, and the answer on its way into the spool.
//!
//! A [`StreamHandle`] sends the request and reads the socket until the END, unless another thread stops
//! it; a backend in the same process may answer without a socket. What was read goes through an [`Ingest`], the hot path: it takes all complete frames that a decoder
//! holds, in place, collects one pointer for each match, and appends all bytes to the spool with one
//! write. It does not know the socket; a simulation feeds it too. Other threads see counters and, at most
//! every 50 ms, a copy of the best pointers in the stream's stats.
//!
//! **Invariant:** a kept pointer points into a written frame. Pointers are dropped if the write or a
//! check of their frame fails.

use crate::execution::begun_document::BegunDocument;
use crate::execution::collector::Collector;
use crate::execution::event::StreamEvent;
use crate::execution::stream_stats::StreamStats;
use crate::lock::lock;
use crate::order::{Origin, TopDocument, TopDocuments, TopPointers};
use crate::peers::account::StreamAccount;
use crate::peers::{Connection, Peer, PeerError, Socket, check_semantics, hello};
use crate::results::SkippedDocument;
use crate::results::facets::{CountedDocument, Facets};
use crate::spool::ResultFiles;
use schema::frame::{self, Decoder, Frame, Kind};
use schema::message::{self, BatchReader, BatchView, End, Failure, LineView, Progress, Skip};
use schema::order::document_hash;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the best matches so far are published.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// How often counts by package, language and directory are published: they are for people.
const COUNTS_EVERY: Duration = Duration::from_millis(250);

/// A stream of an execution.
pub(crate) struct StreamHandle {
    pub(crate) peer: Arc<Peer>,
    /// The number of the stream in pointers and in the spool.
    pub(crate) backend: u16,
    /// What the backend is asked for.
    pub(crate) search: message::Search,
    pub(crate) stats: StreamStats,
    connection: Mutex<Shutdown>,
    collector: Mutex<Option<Collector>>,
}

/// How to stop a stream.
enum Shutdown {
    /// There is no connection to shut down.
    Idle,
    Connected(Arc<Socket>),
    /// A backend in this process answers on the thread of the stream until the flag is set.
    Here(Arc<AtomicBool>),
    /// The stream is not to begin any more.
    Stopped,
}

impl StreamHandle {
    pub(crate) fn new(
        peer: Arc<Peer>,
        backend: u16,
        search: message::Search,
        stats: StreamStats,
        collector: Collector,
    ) -> StreamHandle {
        StreamHandle {
            peer,
            backend,
            search,
            stats,
            connection: Mutex::new(Shutdown::Idle),
            collector: Mutex::new(Some(collector)),
        }
    }

    /// Ends the stream, or does not let it begin.
    pub(crate) fn stop(&self) {
        let mut connection = lock(&self.connection);
        match &*connection {
            Shutdown::Connected(stream) => stream.shutdown(),
            Shutdown::Here(stop) => stop.store(true, Relaxed),
            Shutdown::Idle | Shutdown::Stopped => {}
        }
        *connection = Shutdown::Stopped;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        matches!(*lock(&self.connection), Shutdown::Stopped)
    }

    /// Takes the collector: for the thread that receives the stream, and at the end of all.
    pub(crate) fn take_collector(&self) -> Option<Collector> {
        lock(&self.collector).take()
    }

    pub(crate) fn put_collector(&self, collector: Collector) {
        *lock(&self.collector) = Some(collector);
    }

    /// Sends the request and receives the answer to its end; what arrives until then is in `collector`.
    /// `on_skip` is called for each document that the backend skipped.
    pub(crate) fn receive(
        &self,
        search: &message::Search,
        spool: &ResultFiles,
        collector: &mut Collector,
        on_skip: &dyn Fn(SkippedDocument),
    ) -> Result<End, PeerError> {
        self.stats.answered.store(false, Relaxed);
        let target = || Target {
            backend: self.backend,
            search,
            stats: &self.stats,
            spool,
            on_skip: Box::new(on_skip),
        };
        if self.peer.backend().may_answer_here() {
            let mut ingest = Ingest::new(target(), collector, Instant::now());
            if let Some(result) = self.answer_here(search, &mut ingest) {
                ingest.close(&result);
                return result;
            }
        }
        let mut request = Vec::new();
        search.encode(&mut request)?;
        let mut idle = self.peer.take_idle();
        loop {
            let was_idle = idle.is_some();
            let mut connection = match idle.take() {
                Some(connection) => connection,
                None => self.peer.dial()?,
            };
            self.connect(Shutdown::Connected(connection.stream()))?;
            // What a request for a file has left is not part of this answer.
            connection.decoder.consumed();
            let mut ingest = Ingest::new(target(), collector, Instant::now());
            let sent = connection.send(&request);
            let result = sent.and_then(|()| read(&mut connection, &mut ingest));
            ingest.close(&result);
            self.disconnect();
            match result {
                // The connection broke while it was idle. Nothing but greetings can be left on it.
                Err(PeerError::Broken(_) | PeerError::Closed)
                    if was_idle && self.may_ask_again() => {}
                result => {
                    self.keep_idle(connection, &result);
                    return result;
                }
            }
        }
    }

    /// Has a backend in this process answer on this thread; `None` if the search is to be sent to a connection.
    fn answer_here(
        &self,
        search: &message::Search,
        ingest: &mut Ingest<'_>,
    ) -> Option<Result<End, PeerError>> {
        let stop = Arc::default();
        if let Err(stopped) = self.connect(Shutdown::Here(Arc::clone(&stop))) {
            return Some(Err(stopped));
        }
        let mut result = None;
        let mut take = |frames: &[u8]| {
            if result.is_none() {
                result = match ingest.take(&mut Decoder::of(frames), Instant::now()) {
                    Ok(Ingested::End(end)) => Some(Ok(end)),
                    Ok(Ingested::Written | Ingested::Nothing) => None,
                    Err(error) => Some(Err(error)),
                };
            }
            result.is_none()
        };
        let is_answered = self.peer.backend().answer_here(search, &stop, &mut take);
        self.disconnect();
        let result = match result {
            // What a search that was stopped sends is not told apart from a failure.
            Some(Err(_)) if self.is_stopped() => Err(PeerError::Stopped),
            Some(result) => result,
            None => Err(PeerError::Closed),
        };
        is_answered.then_some(result)
    }

    /// Keeps a connection for other requests if its answer has been read to the end.
    fn keep_idle(&self, mut connection: Connection, result: &Result<End, PeerError>) {
        if connection.is_at_rest()
            && let Ok(_) | Err(PeerError::Refused(_) | PeerError::Stale(_) | PeerError::Heavy) =
                result
        {
            self.peer.put_idle(connection);
        }
    }

    /// Whether nothing has come of the request, and the stream is not to end.
    fn may_ask_again(&self) -> bool {
        !self.stats.answered.load(Relaxed) && !self.is_stopped()
    }

    /// Lets [`stop`](Self::stop) end an answer in this way; an error after a stop.
    fn connect(&self, way: Shutdown) -> Result<(), PeerError> {
        let mut connection = lock(&self.connection);
        if let Shutdown::Stopped = *connection {
            return Err(PeerError::Stopped);
        }
        *connection = way;
        Ok(())
    }

    /// The connection may be used for other requests from now on.
    fn disconnect(&self) {
        let mut connection = lock(&self.connection);
        if let Shutdown::Connected(_) | Shutdown::Here(_) = *connection {
            *connection = Shutdown::Idle;
        }
    }
}

fn read(connection: &mut Connection, ingest: &mut Ingest<'_>) -> Result<End, PeerError> {
    loop {
        match ingest.take(&mut connection.decoder, Instant::now())? {
            Ingested::End(end) => return Ok(end),
            // Only now: the time that the disk took is not the backend's silence.
            Ingested::Written => connection.touch(),
            Ingested::Nothing => {}
        }
        connection.fill()?;
    }
}

/// Returns what the end of a stream means for its execution.
pub(crate) fn event(result: Result<End, PeerError>) -> StreamEvent {
    match result {
        Ok(end) => StreamEvent::End(end),
        Err(PeerError::Refused(bad)) => StreamEvent::Refused(bad),
        Err(PeerError::Heavy) => StreamEvent::Heavy,
        Err(PeerError::Spool(error)) => StreamEvent::Unspooled {
            reason: error.in_words(),
        },
        Err(lost) => StreamEvent::Lost {
            reason: lost.to_string(),
        },
    }
}

/// Where the frames of a stream go.
pub(crate) struct Target<'a> {
    /// The number of the stream in pointers and in the spool.
    pub(crate) backend: u16,
    /// The request.
    pub(crate) search: &'a message::Search,
    pub(crate) stats: &'a StreamStats,
    pub(crate) spool: &'a ResultFiles,
    /// Called with each skipped document.
    pub(crate) on_skip: Box<dyn Fn(SkippedDocument) + 'a>,
}

/// What a call of [`Ingest::take`] came to.
#[derive(Debug)]
pub(crate) enum Ingested {
    /// The stream ended, and everything that was sent has arrived.
    End(End),
    /// More bytes are needed. All complete frames are written, and there were some.
    Written,
    /// More bytes are needed for a complete frame.
    Nothing,
}

/// Takes the answer to one request.
pub(crate) struct Ingest<'a> {
    target: Target<'a>,
    account: StreamAccount,
    collector: &'a mut Collector,
    best: TopPointers,
    best_documents: TopDocuments,
    /// For each shard, the document of the last batch.
    begun: Vec<Option<BegunDocument>>,
    /// Whether copies of documents are found.
    folds: bool,
    /// Bytes of the stream in the spool.
    written: u64,
    /// Bytes walked since the last write.
    walked: u64,
    /// When the best matches were published last.
    published: Instant,
    /// When counts were published.
    counted: Instant,
}

impl<'a> Ingest<'a> {
    /// Expects the answer to a request that was just sent.
    pub(crate) fn new(target: Target<'a>, collector: &'a mut Collector, now: Instant) -> Self {
        let shards = target.search.shards.len();
        let folds = folds(target.search) && collector.is_ordered();
        Ingest {
            account: StreamAccount::new(shards),
            collector,
            best: TopPointers::default(),
            best_documents: TopDocuments::default(),
            begun: (0..shards).map(|_| None).collect(),
            folds,
            written: target.stats.received_bytes.load(Relaxed),
            walked: 0,
            published: now,
            counted: now,
            target,
        }
    }

    /// Takes all complete frames, and writes them.
    pub(crate) fn take(
        &mut self,
        decoder: &mut Decoder,
        now: Instant,
    ) -> Result<Ingested, PeerError> {
        // HELLO frames from before the request may be in the decoder.
        let end = self.frames(decoder);
        let is_written = self.write(decoder.consumed(), now)?;
        Ok(match end? {
            Some(end) => Ingested::End(end),
            None if is_written => Ingested::Written,
            None => Ingested::Nothing,
        })
    }

    /// Completes the counts of the collector and of the stats after the stream ended in this way. After
    /// `Heavy` the collector is unchanged, for another request.
    pub(crate) fn close(self, result: &Result<End, PeerError>) -> &'a mut Collector {
        match result {
            Ok(end) => {
                for document in self.begun.into_iter().flatten() {
                    document.finish(self.target.backend, self.collector);
                }
                self.collector.end(end);
                self.target.stats.end(end, &self.best, &self.best_documents);
            }
            Err(PeerError::Heavy) => return self.collector,
            Err(_) => {
                self.collector.end_early(self.account.documents());
                self.target.stats.lose();
            }
        }
        self.collector.seal();
        self.collector
    }

    /// Walks the frames, up to the END if it has arrived.
    fn frames(&mut self, decoder: &mut Decoder) -> Result<Option<End>, PeerError> {
        while let Some(frame) = decoder.decode()? {
            let end = self.frame(&frame)?;
            self.walked += frame.bytes as u64;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<Option<End>, PeerError> {
        let stats = self.target.stats;
        if frame.kind != Kind::Hello {
            stats.answered.store(true, Relaxed);
        }
        match frame.kind {
            Kind::Batch => self.batch(frame.payload)?,
            Kind::Progress => stats.progress(Progress::decode(frame.payload)?),
            Kind::Skip => self.skip(Skip::decode(frame.payload)?)?,
            Kind::Hello => check_semantics(hello(frame.payload)?.semantics)?,
            Kind::End => {
                let end = End::decode(frame.payload)?;
                self.account.end(&end)?;
                return Ok(Some(end));
            }
            Kind::Error => return Err(self.failure(Failure::decode(frame.payload)?)),
            kind @ (Kind::Search
            | Kind::Cancel
            | Kind::File
            | Kind::Manifest
            | Kind::List
            | Kind::Lookup
            | Kind::Record) => return Err(PeerError::Unexpected(kind)),
        }
        Ok(None)
    }

    /// Collects a pointer for each match of a batch.
    fn batch(&mut self, payload: &[u8]) -> Result<(), PeerError> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        let shard = self.account.shard(view.shard)?;
        let origin = Origin {
            hash: document_hash(
                view.package,
                view.path,
                (view.revision_count > 0).then_some(view.hash),
            ),
            package: self.collector.packages.id(view.package),
            backend: self.target.backend,
            offset: self.written + self.walked,
        };
        let begun = &mut self.begun[view.shard as usize];
        let continues = begun.take_if(|begun| begun.document == view.document);
        let mut document = if let Some(mut document) = continues {
            self.collector.continued.push(origin.offset, document.first);
            document.continue_at(origin.offset);
            document
        } else {
            if let Some(complete) = begun.take() {
                complete.finish(self.target.backend, self.collector);
            }
            let text = if self.folds { view.hash } else { &[] };
            BegunDocument::new(view.document, &origin, text)
        };
        let before = self.collector.len();
        let mut best_lines = TopDocument::default();
        for (index, line) in (0..).zip(view.lines()) {
            if !line.is_match() {
                continue;
            }
            if let Err(error) = shard.key(view.document, line.number) {
                self.collector.drop_from(origin.offset);
                return Err(error.into());
            }
            if !self.collector.is_ordered() {
                self.collector.count();
                continue;
            }
            let pointer = origin.pointer(line.rank, line.number, index);
            document.add(&pointer, line.number);
            self.best.offer(pointer);
            best_lines.offer(pointer);
            self.collector.push(pointer);
        }
        self.best_documents.offer(&best_lines);
        *begun = Some(document);
        let matches = (self.collector.len() - before) as u64;
        self.collector.facets.add(counted(&view), matches);
        self.collector.count_package(origin.package, matches);
        Ok(())
    }

    fn skip(&mut self, skip: Skip) -> Result<(), PeerError> {
        self.account.shard(skip.shard)?.skip();
        (self.target.on_skip)(skip.into());
        Ok(())
    }

    /// Returns the error for an ERROR frame. `Heavy` is unexpected if the request allowed a heavy search,
    /// which would be sent again without end, and after matches, which would arrive twice.
    fn failure(&self, failure: Failure) -> PeerError {
        match PeerError::reported(failure) {
            PeerError::Heavy if self.target.search.heavy || self.account.has_begun() => {
                PeerError::Unexpected(Kind::Error)
            }
            error => error,
        }
    }

    /// Writes the walked frames, if there are any, and publishes progress.
    fn write(&mut self, walked: &[u8], now: Instant) -> Result<bool, PeerError> {
        if walked.is_empty() {
            return Ok(false);
        }
        let frames = walked.len() as u64;
        let Target { stats, spool, .. } = self.target;
        metrics::counter!("trawl_frontend_received_bytes_total").increment(frames);
        if let Err(error) = spool.append_frames(self.target.backend, walked) {
            self.collector.drop_from(self.written);
            // A frame that failed its check is behind them, and was not counted.
            uncount(&mut self.collector.facets, &walked[..self.walked as usize]);
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
            stats.publish_facets(self.collector.facets_so_far());
            self.counted = now;
        }
        self.collector.spill_if_full(self.target.backend, spool)?;
        Ok(true)
    }
}

/// Whether copies are folded: not among matches that are the best of each backend, since which ones those
/// are depends on what the backend has, nor among names, which copies do not share.
fn folds(search: &message::Search) -> bool {
    search.limit == 0 && !search.names
}

/// Takes back the counts of frames that could not be written.
fn uncount(facets: &mut Facets, mut frames: &[u8]) {
    while let Ok(Some(frame)) = frame::decode(frames) {
        frames = &frames[frame.bytes..];
        if frame.kind == Kind::Batch
            && let Ok(batch) = BatchReader::new(frame.payload)
            && let Ok(view) = batch.view()
        {
            let matches = view.lines().filter(LineView::is_match).count() as u64;
            facets.remove(counted(&view), matches);
        }
    }
}

/// Returns what is counted of the document of a batch.
fn counted<'a>(view: &BatchView<'a>) -> CountedDocument<'a> {
    CountedDocument {
        language: view.language,
        kind: view.kind,
        path: view.path,
    }
}
