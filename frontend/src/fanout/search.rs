//! One backend's stream of one query: the hot path.
//!
//! A large read into an aligned buffer, all complete frames walked in place, one pointer recorded a
//! match, one write of the walked bytes to the spool. What other threads want to know of it is in
//! atomics and, at most every 50 ms, a copy of the best few pointers.
//!
//! **Invariant:** a pointer that is kept points into frames that are written: what a failed write
//! or a faulty frame leaves over is dropped.

use super::connection::{Connection, Lost, hello};
use crate::facets::Facets;
use crate::harvest::Harvest;
use crate::live::{Live, Slot};
use crate::rank::{Best, Origin, path_hash};
use crate::run::{Event, Part, SkippedDocument, StreamEnd};
use schema::frame::{self, Frame, Kind};
use schema::message::{self, BatchReader, End, Failure, LineView, Progress, Skip};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

/// How often the best matches so far are made known.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// Runs a stream from the request to its end; what came in by then is in `harvest`. `heavy`: it may
/// cost what it costs.
pub(crate) fn receive(
    live: &Arc<Live>,
    stream: usize,
    heavy: bool,
    harvest: &mut Harvest,
) -> Result<StreamEnd, Lost> {
    let slot = live.slot(stream);
    if slot.is_stopped() {
        return Err(Lost::Stopped);
    }
    if let Some(connection) = slot.peer.take_idle() {
        match Receiver::new(live, stream, heavy, harvest).run(connection) {
            // It had died while it was idle. What is left on it are greetings, if anything.
            Err(Lost::Broken(_) | Lost::Closed) if slot.may_ask_again() => {}
            settled => return settled,
        }
    }
    Receiver::new(live, stream, heavy, harvest).run(slot.peer.dial()?)
}

struct Receiver<'a> {
    live: &'a Arc<Live>,
    slot: &'a Slot,
    stream: usize,
    part: Part,
    harvest: &'a mut Harvest,
    best: Best,
    heavy: bool,
    /// Of each shard, the last batch's document and where its first batch is.
    begun: Vec<Option<(u32, u64)>>,
    /// Bytes in the spool.
    written: u64,
    /// Bytes walked since.
    walked: u64,
    published: Instant,
}

impl<'a> Receiver<'a> {
    fn new(live: &'a Arc<Live>, stream: usize, heavy: bool, harvest: &'a mut Harvest) -> Self {
        let slot = live.slot(stream);
        Receiver {
            live,
            slot,
            stream,
            part: Part::new(slot.search.shards.len()),
            harvest,
            best: Best::default(),
            heavy,
            begun: vec![None; slot.search.shards.len()],
            written: slot.meter.received_bytes.load(Relaxed),
            walked: 0,
            published: Instant::now(),
        }
    }

    fn run(mut self, mut connection: Connection) -> Result<StreamEnd, Lost> {
        self.slot.connect(connection.stream())?;
        let mut request = Vec::new();
        let deadline_ms = self.live.left_ms().ok_or(Lost::Stopped)?;
        let search = message::Search {
            heavy: self.heavy,
            deadline_ms,
            ..self.slot.search.clone()
        };
        search.encode(&mut request)?;
        let result = connection
            .send(&request)
            .and_then(|()| self.receive(&mut connection));
        match &result {
            Ok(end) => {
                self.harvest.end(end);
                self.slot.meter.end(&self.best);
            }
            // It has not begun.
            Err(Lost::Heavy) => {}
            Err(_) => {
                self.harvest.cut(self.part.documents());
                self.slot.meter.lose();
            }
        }
        self.slot.disconnect();
        if let Ok(_) | Err(Lost::Refused(_) | Lost::Stale(_) | Lost::Heavy) = result {
            self.slot.peer.put_idle(connection);
        }
        result
    }

    fn receive(&mut self, connection: &mut Connection) -> Result<StreamEnd, Lost> {
        loop {
            // What the decoder still holds of an earlier request's time is HELLO frames.
            let walked = self.walk(connection);
            let kept = self.keep(connection.decoder.walked())?;
            if let Some(end) = walked? {
                return Ok(end);
            }
            if kept {
                // Only now: the time that the disk took is not the backend's silence.
                connection.touch();
            }
            connection.fill()?;
        }
    }

    /// Takes all frames that are complete; the END when it is among them.
    fn walk(&mut self, connection: &mut Connection) -> Result<Option<StreamEnd>, Lost> {
        while let Some(frame) = connection.decoder.decode()? {
            let end = self.frame(&frame)?;
            self.walked += frame.bytes as u64;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<Option<StreamEnd>, Lost> {
        if frame.kind != Kind::Hello {
            self.slot.meter.answered.store(true, Relaxed);
        }
        match frame.kind {
            Kind::Batch => self.batch(frame.payload)?,
            Kind::Progress => self.slot.meter.progress(Progress::decode(frame.payload)?),
            Kind::Skip => self.skip(Skip::decode(frame.payload)?),
            Kind::Hello => drop(hello(frame.payload)?),
            Kind::End => {
                let end = End::decode(frame.payload)?;
                return Ok(Some(self.part.end(end, SystemTime::now())?));
            }
            Kind::Error => {
                let failure = Failure::decode(frame.payload)?;
                return Err(Lost::by(failure, &self.slot.search.filters));
            }
            kind @ (Kind::Search | Kind::Cancel | Kind::File | Kind::Manifest) => {
                return Err(Lost::Unexpected(kind));
            }
        }
        Ok(None)
    }

    /// Records a pointer for each match of a batch.
    fn batch(&mut self, payload: &[u8]) -> Result<(), Lost> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        let tally = self.part.shard(view.shard)?;
        let origin = Origin {
            hash: path_hash(view.package, view.path),
            package: self.harvest.packages.id(view.package),
            backend: self.slot.backend,
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

    fn skip(&self, skip: Skip) {
        let document = SkippedDocument {
            package: skip.package,
            path: skip.path,
            reason: skip.reason,
        };
        self.live.on(self.stream, Event::Skip(document));
    }

    /// Writes what was walked, if anything, and lets others see how far the stream is.
    fn keep(&mut self, walked: &[u8]) -> Result<bool, Lost> {
        if walked.is_empty() {
            return Ok(false);
        }
        let frames = walked.len() as u64;
        if let Err(error) = self.live.append(self.slot.backend, walked) {
            self.harvest.drop_from(self.written);
            uncount(&mut self.harvest.facets, walked);
            return Err(error.into());
        }
        self.written += frames;
        self.walked = 0;
        self.slot.meter.received_bytes.store(self.written, Relaxed);
        let new = self.harvest.written();
        self.slot.meter.matches.fetch_add(new, Relaxed);
        let is_due = self.published.elapsed() >= PUBLISH_EVERY;
        if is_due || self.harvest.matches == new || self.slot.meter.has_news() {
            self.slot.meter.publish(&self.best);
            self.published = Instant::now();
        }
        self.harvest.settle(self.slot.backend, &self.live.spool)?;
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
