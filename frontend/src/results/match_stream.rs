//! The matches of a running search as they arrive, document by document, not in total order.
//!
//! They are read from the spool, after the streams have written them: a slow reader delays nobody. Memory
//! holds one document's matches for each stream, at most [`HELD_BYTES_MAX`] and a frame, and no file stays
//! open between two reads.
//!
//! **Invariant:** the matches of a document come in line order, and together, unless they exceed
//! [`HELD_BYTES_MAX`] or their stream pauses for longer than [`HOLD_MAX`].

use super::matches::Match;
use crate::order::FrameAt;
use crate::spool::{FrameReader, ResultFiles, SpoolError};
use schema::frame::Kind;
use schema::message::BatchReader;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a document is held back when more of its matches may follow. The last document before a long
/// search must not wait for the next one; backends report progress every 250 ms.
const HOLD_MAX: Duration = Duration::from_millis(250);

/// Memory for the matches of a document that are held back until the document is complete.
const HELD_BYTES_MAX: usize = 256 << 10;

/// An event of a match stream.
#[derive(Debug)]
pub enum MatchEvent {
    /// The matches of a document, or of a part of it if its stream paused.
    Matches(Vec<Match>),
    /// No more matches for the moment.
    Pause,
}

/// Reads matches from where it stopped the last time.
pub struct MatchStream {
    spool: Arc<ResultFiles>,
    context_lines: u32,
    streams: Vec<StreamReader>,
    /// The stream to read first.
    next: usize,
}

/// Reads the frames of one backend.
struct StreamReader {
    /// The next frame.
    next: FrameAt,
    /// The matches of a document that may continue, and when the last of them arrived.
    document: Vec<Match>,
    since: Instant,
    /// The memory of `document`.
    held_bytes: usize,
}

impl MatchStream {
    pub(crate) fn new(spool: Arc<ResultFiles>, context_lines: u32) -> MatchStream {
        let stream = |backend| StreamReader {
            next: (backend, 0),
            document: Vec::new(),
            since: Instant::now(),
            held_bytes: 0,
        };
        MatchStream {
            streams: (0..spool.backends()).map(stream).collect(),
            spool,
            context_lines,
            next: 0,
        }
    }

    /// Calls `each` with the documents that are complete since the last call, until it breaks; with all
    /// of them when the execution `has_ended`.
    pub fn read<B>(
        &mut self,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let count = self.streams.len();
        for _ in 0..count {
            let stream = &mut self.streams[self.next];
            // After a break, continue with the next stream, so that all are served.
            self.next = (self.next + 1) % count;
            let flow = stream.read(&self.spool, self.context_lines, has_ended, each)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether [`read`](Self::read) would return matches.
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
        if !self.document.is_empty() && (has_ended || self.is_overdue()) {
            self.held_bytes = 0;
            return Ok(each(std::mem::take(&mut self.document)));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn has_more(&self, spool: &ResultFiles) -> bool {
        let (backend, at) = self.next;
        at < spool.received(backend)
    }

    fn is_overdue(&self) -> bool {
        !self.document.is_empty() && self.since.elapsed() > HOLD_MAX
    }

    /// Takes the matches of a frame, and returns the document that they complete.
    fn take(&mut self, mut matches: Vec<Match>) -> Option<Vec<Match>> {
        let first = matches.first()?;
        self.since = Instant::now();
        let bytes: usize = matches.iter().map(Match::memory_bytes).sum();
        let last = self.document.last();
        let continues = last.is_none_or(|last| last.document == first.document);
        if continues && self.held_bytes + bytes <= HELD_BYTES_MAX {
            self.held_bytes += bytes;
            self.document.append(&mut matches);
            return None;
        }
        self.held_bytes = bytes;
        Some(std::mem::replace(&mut self.document, matches)).filter(|whole| !whole.is_empty())
    }

    /// Reads the matches of the next frame, if it has any.
    fn frame(
        &mut self,
        reader: &mut FrameReader<'_>,
        spool: &ResultFiles,
        context_lines: u32,
    ) -> Result<Vec<Match>, SpoolError> {
        let position = self.next;
        let corrupt = || spool.corrupt(position);
        let frame = reader.read(position)?;
        self.next.1 += frame.bytes as u64;
        if frame.kind != Kind::Batch {
            return Ok(Vec::new());
        }
        let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
        let view = batch.view().map_err(|_| corrupt())?;
        let lines = (0..).zip(view.lines());
        let matches = lines.filter(|(_, line)| line.is_match());
        let indexes: Vec<u32> = matches.map(|(index, _)| index).collect();
        let mut found = Vec::with_capacity(indexes.len());
        Match::each(&view, &indexes, context_lines, |each| found.push(each)).ok_or_else(corrupt)?;
        Ok(found)
    }
}
