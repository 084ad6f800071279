//! The matches of a run as they arrive, document by document, before there is an order.
//!
//! They are read from the spool behind the streams that write it: who is slow holds up nobody. What is
//! in memory is a document's matches for each stream, and no file is open between two reads.
//! **Invariant:** the matches of a document come in the order of its lines, and together; only one whose
//! stream pauses within it for longer than [`HOLD_MAX`] comes in pieces.

use super::matches::Match;
use crate::order::FrameAt;
use crate::spool::{FrameReader, ResultFiles, SpoolError};
use schema::frame::Kind;
use schema::message::BatchReader;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a document that may go on is held back when nothing follows it. The last one before a long
/// search for the next is not to wait for that; backends say every 250 ms that they are there.
const HOLD_MAX: Duration = Duration::from_millis(250);

/// What comes of a run that is followed.
#[derive(Debug)]
pub enum MatchEvent {
    /// The matches of a document, or, when its stream pauses within it, of a part of one.
    Matches(Vec<Match>),
    /// There is no more for the moment.
    Pause,
}

/// Reads on where it left off.
pub struct MatchStream {
    spool: Arc<ResultFiles>,
    context_lines: u32,
    streams: Vec<StreamReader>,
    /// Whose turn it is to be read first.
    turn: usize,
}

/// What one backend has sent.
struct StreamReader {
    /// The frame that comes next.
    next: FrameAt,
    /// The matches of the document that may go on, and since when there are no more of it.
    document: Vec<Match>,
    since: Instant,
}

impl MatchStream {
    pub(crate) fn new(spool: Arc<ResultFiles>, context_lines: u32) -> MatchStream {
        let stream = |backend| StreamReader {
            next: (backend, 0),
            document: Vec::new(),
            since: Instant::now(),
        };
        MatchStream {
            streams: (0..spool.backends()).map(stream).collect(),
            spool,
            context_lines,
            turn: 0,
        }
    }

    /// Calls `each` with the documents that have arrived whole since the last time, until it breaks;
    /// with all that there are when the run `has_ended`.
    pub fn read<B>(
        &mut self,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let count = self.streams.len();
        for _ in 0..count {
            let stream = &mut self.streams[self.turn];
            // Who breaks off goes on with the next one, so that all have their share.
            self.turn = (self.turn + 1) % count;
            let flow = stream.read(&self.spool, self.context_lines, has_ended, each)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether [`read`](Self::read) would find something.
    pub fn has_more(&self) -> bool {
        let mut streams = self.streams.iter();
        streams.any(|stream| stream.has_more(&self.spool) || stream.is_overdue())
    }
}

impl StreamReader {
    fn read<B>(
        &mut self,
        spool: &ResultFiles,
        context_lines: u32,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let mut reader = spool.reader();
        while self.has_more(spool) {
            let matches = self.frame(&mut reader, spool, context_lines)?;
            if let Some(whole) = self.take(matches) {
                let flow = each(whole);
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        match !self.document.is_empty() && (has_ended || self.is_overdue()) {
            true => Ok(each(std::mem::take(&mut self.document))),
            false => Ok(ControlFlow::Continue(())),
        }
    }

    fn has_more(&self, spool: &ResultFiles) -> bool {
        let (backend, at) = self.next;
        at < spool.received(backend)
    }

    fn is_overdue(&self) -> bool {
        !self.document.is_empty() && self.since.elapsed() > HOLD_MAX
    }

    /// Takes the matches of a frame, and gives the document that is whole by that.
    fn take(&mut self, mut matches: Vec<Match>) -> Option<Vec<Match>> {
        let first = matches.first()?;
        self.since = Instant::now();
        let last = self.document.last();
        if last.is_none_or(|last| last.document == first.document) {
            self.document.append(&mut matches);
            return None;
        }
        Some(std::mem::replace(&mut self.document, matches))
    }

    /// The matches of the next frame, if it has any.
    fn frame(
        &mut self,
        reader: &mut FrameReader<'_>,
        spool: &ResultFiles,
        context_lines: u32,
    ) -> Result<Vec<Match>, SpoolError> {
        let place = self.next;
        let corrupt = || spool.corrupt(place);
        let frame = reader.read(place)?;
        self.next.1 += frame.bytes as u64;
        if frame.kind != Kind::Batch {
            return Ok(Vec::new());
        }
        let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
        let view = batch.view().map_err(|_| corrupt())?;
        let lines = (0..).zip(view.lines());
        let matches = lines.filter(|(_, line)| line.is_match());
        let indexes: Vec<u32> = matches.map(|(index, _)| index).collect();
        Match::all(&view, &indexes, context_lines).ok_or_else(corrupt)
    }
}
