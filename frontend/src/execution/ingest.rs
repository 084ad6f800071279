//! What the frames of one stream mean: the hot path.
//!
//! A [`Ingest`] takes what a decoder holds: all complete frames in place, one pointer recorded a match,
//! one write of the walked bytes to the spool. Where the bytes come from is not its business: from a
//! socket (see `search`), or from a simulation. What other threads want to know of the stream is in
//! its meter and, at most every 50 ms, a copy of the best few pointers.
//!
//! **Invariant:** a pointer that is kept points into frames that are written: what a failed write
//! or a faulty frame leaves over is dropped.

use super::collector::Collector;
use super::stream_stats::StreamStats;
use crate::order::{Origin, TopPointers};
use crate::peers::account::{StreamAccount, StreamEnd};
use crate::peers::{PeerError, hello};
use crate::results::SkippedDocument;
use crate::results::facets::Facets;
use crate::spool::ResultFiles;
use schema::frame::{self, Decoder, Frame, Kind};
use schema::message::{self, BatchReader, End, Failure, LineView, Progress, Skip};
use schema::order::path_hash;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How often the best matches so far are made known.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// Where a stream belongs.
pub(crate) struct Target<'a> {
    /// The number by which pointers and spool know it.
    pub(crate) backend: u16,
    /// What its backend was asked for.
    pub(crate) search: &'a message::Search,
    pub(crate) meter: &'a StreamStats,
    pub(crate) spool: &'a ResultFiles,
    /// Is told of each document that was given up.
    pub(crate) skipped: Box<dyn Fn(SkippedDocument) + 'a>,
}

/// How far a stream is.
#[derive(Debug)]
pub(crate) enum Ingested {
    /// It has ended, and what was sent is what arrived.
    End(StreamEnd),
    /// More bytes are needed; all whole frames so far, if there were any, are written.
    Written,
    /// More bytes are needed.
    Nothing,
}

/// One stream on its way from the request to its end.
pub(crate) struct Ingest<'a> {
    place: Target<'a>,
    part: StreamAccount,
    harvest: &'a mut Collector,
    best: TopPointers,
    /// Of each shard, the last batch's document and where its first batch is.
    begun: Vec<Option<(u32, u64)>>,
    /// Bytes in the spool.
    written: u64,
    /// Bytes walked since.
    walked: u64,
    /// When the best so far were made known.
    published: Instant,
}

impl<'a> Ingest<'a> {
    /// A request that has just been made; what comes of it goes to `harvest`.
    pub(crate) fn new(place: Target<'a>, harvest: &'a mut Collector, now: Instant) -> Self {
        let shards = place.search.shards.len();
        Ingest {
            part: StreamAccount::new(shards),
            harvest,
            best: TopPointers::default(),
            begun: vec![None; shards],
            written: place.meter.received_bytes.load(Relaxed),
            walked: 0,
            published: now,
            place,
        }
    }

    /// Takes all frames that are complete, and writes them.
    pub(crate) fn take(
        &mut self,
        decoder: &mut Decoder,
        now: Instant,
    ) -> Result<Ingested, PeerError> {
        // What the decoder still holds of an earlier request's time is HELLO frames.
        let end = self.frames(decoder);
        let is_written = self.keep(decoder.consumed(), now)?;
        Ok(match end? {
            Some(end) => Ingested::End(end),
            None if is_written => Ingested::Written,
            None => Ingested::Nothing,
        })
    }

    /// Puts the harvest in order, and settles what it counts and what the meter shows, now that the
    /// stream has ended in this way. After `Heavy` nothing has begun, and another walk may go on.
    pub(crate) fn close(self, result: &Result<StreamEnd, PeerError>) -> &'a mut Collector {
        match result {
            Ok(end) => {
                self.harvest.end(end);
                self.place.meter.end(&self.best);
            }
            // It has not begun.
            Err(PeerError::Heavy) => return self.harvest,
            Err(_) => {
                self.harvest.cut(self.part.documents());
                self.place.meter.lose();
            }
        }
        self.harvest.seal();
        self.harvest
    }

    /// Walks up to the END, when it is there.
    fn frames(&mut self, decoder: &mut Decoder) -> Result<Option<StreamEnd>, PeerError> {
        while let Some(frame) = decoder.decode()? {
            let end = self.frame(&frame)?;
            self.walked += frame.bytes as u64;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<Option<StreamEnd>, PeerError> {
        let meter = self.place.meter;
        if frame.kind != Kind::Hello {
            meter.answered.store(true, Relaxed);
        }
        match frame.kind {
            Kind::Batch => self.batch(frame.payload)?,
            Kind::Progress => meter.progress(Progress::decode(frame.payload)?),
            Kind::Skip => self.skip(Skip::decode(frame.payload)?)?,
            Kind::Hello => drop(hello(frame.payload)?),
            Kind::End => {
                let end = End::decode(frame.payload)?;
                return Ok(Some(self.part.end(end)?));
            }
            Kind::Error => return Err(self.failure(Failure::decode(frame.payload)?)),
            kind @ (Kind::Search | Kind::Cancel | Kind::File | Kind::Manifest | Kind::List) => {
                return Err(PeerError::Unexpected(kind));
            }
        }
        Ok(None)
    }

    /// Records a pointer for each match of a batch.
    fn batch(&mut self, payload: &[u8]) -> Result<(), PeerError> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        let tally = self.part.shard(view.shard)?;
        let origin = Origin {
            hash: path_hash(view.package, view.path),
            package: self.harvest.packages.id(view.package),
            backend: self.place.backend,
            offset: self.written + self.walked,
        };
        match &mut self.begun[view.shard as usize] {
            Some((document, first)) if *document == view.document => {
                self.harvest.continued.push(origin.offset, *first);
            }
            begun => *begun = Some((view.document, origin.offset)),
        }
        let before = self.harvest.len();
        for (index, line) in (0..).zip(view.lines()) {
            if !line.is_match() {
                continue;
            }
            if let Err(fault) = tally.key(view.document, line.number) {
                self.harvest.drop_from(origin.offset);
                return Err(fault.into());
            }
            let pointer = origin.pointer(line.rank, line.number, index);
            self.best.offer(pointer);
            self.harvest.push(pointer);
        }
        let matches = (self.harvest.len() - before) as u64;
        self.harvest
            .facets
            .add(view.language.as_bytes(), view.path, matches);
        Ok(())
    }

    fn skip(&mut self, skip: Skip) -> Result<(), PeerError> {
        self.part.shard(skip.shard)?.skip();
        (self.place.skipped)(SkippedDocument {
            package: skip.package,
            path: skip.path,
            reason: skip.reason,
        });
        Ok(())
    }

    /// A search that was asked for whatever it costs, or that has begun, cannot be put off for its
    /// cost: it would be asked for again without end, or its matches be there twice.
    fn failure(&self, failure: Failure) -> PeerError {
        match PeerError::by(failure) {
            PeerError::Heavy if self.place.search.heavy || self.part.has_begun() => {
                PeerError::Unexpected(Kind::Error)
            }
            lost => lost,
        }
    }

    /// Writes what was walked, if anything, and lets others see how far the stream is.
    fn keep(&mut self, walked: &[u8], now: Instant) -> Result<bool, PeerError> {
        if walked.is_empty() {
            return Ok(false);
        }
        let frames = walked.len() as u64;
        let Target { meter, spool, .. } = self.place;
        metrics::counter!("trawl_frontend_received_bytes_total").increment(frames);
        if let Err(error) = spool.append_frames(self.place.backend, walked) {
            self.harvest.drop_from(self.written);
            // Not the frame at fault behind them, if there is one.
            uncount(&mut self.harvest.facets, &walked[..self.walked as usize]);
            return Err(error.into());
        }
        self.written += frames;
        self.walked = 0;
        meter.received_bytes.store(self.written, Relaxed);
        let new = self.harvest.written();
        meter.matches.fetch_add(new, Relaxed);
        let is_due = now.duration_since(self.published) >= PUBLISH_EVERY;
        if is_due || self.harvest.matches == new || meter.has_news() {
            meter.publish(&self.best);
            self.published = now;
        }
        self.harvest.settle(self.place.backend, spool)?;
        Ok(true)
    }
}

/// Takes back what frames have been counted for that could not be written.
fn uncount(facets: &mut Facets, mut frames: &[u8]) {
    while let Ok(Some(frame)) = frame::decode(frames) {
        frames = &frames[frame.bytes..];
        if frame.kind == Kind::Batch
            && let Ok(batch) = BatchReader::new(frame.payload)
            && let Ok(view) = batch.view()
        {
            let matches = view.lines().filter(LineView::is_match).count() as u64;
            facets.remove(view.language.as_bytes(), view.path, matches);
        }
    }
}
