//! One backend's stream of one query: the hot path.
//!
//! A large read into an aligned buffer, all complete frames walked in place, one pointer recorded a
//! match, one write of the walked bytes to the spool. What other threads want to know of it is in
//! atomics and, at most every 50 ms, a copy of the best few pointers.
//!
//! **Invariant:** a pointer that is kept points into frames that are written: what a failed write
//! or a faulty frame leaves over is dropped.

use super::connection::{Connection, Lost, hello};
use crate::live::{Live, Slot};
use crate::rank::{Best, Continued, Origin, Pointer, StringPool, path_hash};
use crate::run::{Event, Part, SkippedDocument, StreamEnd};
use schema::frame::{Frame, Kind};
use schema::message::{BatchReader, End, Failure, Progress, Skip};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

/// How often the best matches so far are made known.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// What a stream has brought in.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub(crate) pointers: Vec<Pointer>,
    /// The names that the pointers' package ids stand for.
    pub(crate) packages: StringPool,
    /// Frames that go on with an earlier one's document.
    pub(crate) continued: Continued,
    /// Documents with a match.
    pub(crate) documents: u64,
}

/// Runs a stream from the request to its end; what came in by then is in `harvest`.
pub(crate) fn receive(
    live: &Live,
    stream: usize,
    harvest: &mut Harvest,
) -> Result<StreamEnd, Lost> {
    let slot = live.slot(stream);
    if slot.is_stopped() {
        return Err(Lost::Stopped);
    }
    if let Some(connection) = slot.peer.take_idle() {
        match Receiver::new(live, stream, harvest).run(connection) {
            // It had died while it was idle. What is left on it are greetings, if anything.
            Err(Lost::Broken(_) | Lost::Closed) if slot.may_ask_again() => {}
            settled => return settled,
        }
    }
    Receiver::new(live, stream, harvest).run(slot.peer.dial()?)
}

struct Receiver<'a> {
    live: &'a Live,
    slot: &'a Slot,
    stream: usize,
    part: Part,
    harvest: &'a mut Harvest,
    best: Best,
    /// Of each shard, the last batch's document and where its first batch is.
    begun: Vec<Option<(u32, u64)>>,
    /// Bytes in the spool.
    written: u64,
    /// Bytes walked since.
    walked: u64,
    published: Instant,
}

impl<'a> Receiver<'a> {
    fn new(live: &'a Live, stream: usize, harvest: &'a mut Harvest) -> Self {
        let slot = live.slot(stream);
        Receiver {
            live,
            slot,
            stream,
            part: Part::new(slot.search.shards.len()),
            harvest,
            best: Best::default(),
            begun: vec![None; slot.search.shards.len()],
            written: slot.meter.received_bytes.load(Relaxed),
            walked: 0,
            published: Instant::now(),
        }
    }

    fn run(mut self, mut connection: Connection) -> Result<StreamEnd, Lost> {
        self.slot.connect(connection.stream())?;
        let mut request = Vec::new();
        self.slot.search.encode(&mut request)?;
        let result = connection
            .send(&request)
            .and_then(|()| self.receive(&mut connection));
        self.harvest.documents = self.part.documents();
        match &result {
            Ok(_) => self.slot.meter.end(&self.best),
            Err(_) => self.slot.meter.lose(),
        }
        self.slot.disconnect();
        if let Ok(_) | Err(Lost::Refused(_) | Lost::Stale(_)) = result {
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
        let pointers = &mut self.harvest.pointers;
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
        let before = pointers.len();
        for (index, line) in (0..).zip(view.lines()) {
            if !line.is_match() {
                continue;
            }
            if let Err(fault) = tally.key(view.document, line.number) {
                pointers.truncate(before);
                return Err(fault.into());
            }
            let pointer = origin.pointer(line.rank, line.number, index);
            self.best.offer(pointer);
            pointers.push(pointer);
        }
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
        let (written, frames) = (self.written, walked.len() as u64);
        if let Err(error) = self.live.append(self.slot.backend, walked) {
            let pointers = &mut self.harvest.pointers;
            pointers.truncate(pointers.partition_point(|pointer| pointer.offset() < written));
            return Err(error.into());
        }
        self.written += frames;
        self.walked = 0;
        self.slot.meter.received_bytes.store(self.written, Relaxed);
        let matches = self.harvest.pointers.len() as u64;
        let new = matches - self.slot.meter.matches.swap(matches, Relaxed);
        let is_due = self.published.elapsed() >= PUBLISH_EVERY;
        if is_due || matches == new || self.slot.meter.has_news() {
            self.slot.meter.publish(&self.best);
            self.published = Instant::now();
        }
        self.live.count(self.stream, new)?;
        Ok(true)
    }
}
