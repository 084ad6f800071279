//! Matches of a running search as they arrive, by document, not in total order.
//!
//! Read from the spool, so a slow reader delays no stream. Memory holds one document's matches per
//! stream; no file stays open between reads.
//!
//! **Invariant:** matches of a document come together in line order, unless they exceed
//! [`HELD_BYTES_MAX`] or their stream pauses longer than [`HOLD_MAX`].

use super::matches::{Match, push_match};
use crate::history;
use crate::order::FrameAt;
use crate::spool::{FrameReader, ResultFiles, SpoolError, TextFrame, with_text};
use schema::frame::Kind;
use schema::line_text::LineText;
use schema::message::{BatchReader, BatchView, LineView};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time that a document waits for more matches, so the last one before a long search is not
/// delayed. Backends report progress every 250 ms.
const HOLD_MAX: Duration = Duration::from_millis(250);

const HELD_BYTES_MAX: usize = 256 << 10;

const RELEASED_BYTES_MIN: u64 = 1 << 20;

/// Matches of one document, rendered or not.
#[derive(Debug)]
pub enum FoundText<'a> {
    /// Lines `package/path:number:line`.
    Lines(&'a [u8]),
    /// Matches with a long line that was cut.
    Cut(Vec<Match>),
}

/// Reads matches from where it stopped.
pub struct MatchStream {
    spool: Arc<ResultFiles>,
    streams: Vec<StreamReader>,
    next: usize,
}

enum Added<B> {
    /// Nothing: pass on held text first.
    Not,
    /// Text was added, if any.
    Text,
    /// Text was passed on.
    Passed(ControlFlow<B>),
    /// Nothing: a line is cut.
    Cut,
}

struct StreamReader {
    context_lines: u32,
    next: FrameAt,
    /// Matches of a document that may continue, and their last arrival.
    document: Vec<Match>,
    since: Instant,
    held_bytes: usize,
    text: Vec<u8>,
    text_of: Option<(u32, u32)>,
    lines: LineText,
    cut: Option<Vec<Match>>,
    /// The last read stopped at such matches.
    is_at_cut: bool,
    /// `None` if not releasing.
    released: Option<u64>,
}

impl MatchStream {
    pub fn new(spool: Arc<ResultFiles>, context_lines: u32) -> MatchStream {
        let stream = |stream| StreamReader {
            context_lines,
            next: (stream, 0),
            document: Vec::new(),
            since: Instant::now(),
            held_bytes: 0,
            text: Vec::new(),
            text_of: None,
            lines: LineText::default(),
            cut: None,
            is_at_cut: false,
            released: None,
        };
        MatchStream {
            streams: (0..spool.streams()).map(stream).collect(),
            spool,
            next: 0,
        }
    }

    /// Releases memory once read; must be the only reader.
    pub fn releasing(mut self) -> MatchStream {
        for stream in &mut self.streams {
            stream.released = Some(0);
        }
        self
    }

    /// Calls `each` with newly completed documents until it breaks; with all once
    /// the execution `has_ended`.
    pub fn read<B>(
        &mut self,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        self.each_stream(|stream, spool| stream.read(spool, has_ended, each))
    }

    /// Like [`read`](Self::read), as text and several times faster. Not to be mixed with it.
    pub fn read_text<B>(
        &mut self,
        has_ended: bool,
        each: &mut impl FnMut(FoundText<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let is_last = has_ended || self.streams.len() == 1;
        self.each_stream(|stream, spool| stream.read_text(spool, is_last, each))
    }

    fn each_stream<B>(
        &mut self,
        mut read: impl FnMut(&mut StreamReader, &ResultFiles) -> Result<ControlFlow<B>, SpoolError>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let count = self.streams.len();
        for _ in 0..count {
            let stream = &mut self.streams[self.next];
            let flow = read(stream, &self.spool)?;
            // After a break, go on with the next stream, for fairness. At a long line, its document
            // continues.
            if !stream.is_at_cut {
                self.next = (self.next + 1) % count;
            }
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// True if [`read`](Self::read) would return matches.
    pub fn has_more(&self) -> bool {
        let mut streams = self.streams.iter();
        streams.any(|stream| stream.has_more(&self.spool) || stream.is_overdue())
    }
}

impl StreamReader {
    fn read<B>(
        &mut self,
        spool: &ResultFiles,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        let mut reader = spool.reader();
        while self.has_more(spool) {
            let matches = self.frame(&mut reader, spool)?;
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

    /// Passes on complete text, or all if the stream `is_alone`.
    fn read_text<B>(
        &mut self,
        spool: &ResultFiles,
        is_alone: bool,
        each: &mut impl FnMut(FoundText<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SpoolError> {
        self.is_at_cut = false;
        let mut reader = spool.reader();
        while self.has_more(spool) {
            let read = match self.cut {
                Some(_) => Added::Cut,
                None => self.text_frame(&mut reader, spool, is_alone, each)?,
            };
            let flow = match read {
                Added::Passed(flow) => flow,
                Added::Not | Added::Cut => self.pass_text(each),
                Added::Text => continue,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if is_alone || self.is_overdue() {
            return Ok(self.pass_text(each));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes on held text; holds the rest after a break.
    fn pass_text<B>(
        &mut self,
        each: &mut impl FnMut(FoundText<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !self.text.is_empty() {
            let flow = each(FoundText::Lines(&self.text));
            self.text.clear();
            flow?;
        }
        match self.cut.take() {
            Some(cut) => {
                let flow = each(FoundText::Cut(cut));
                self.is_at_cut = flow.is_break();
                flow
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// Reads a frame. Passes its text on at once if `is_alone` and nothing is held.
    fn text_frame<B>(
        &mut self,
        reader: &mut FrameReader<'_>,
        spool: &ResultFiles,
        is_alone: bool,
        each: &mut impl FnMut(FoundText<'_>) -> ControlFlow<B>,
    ) -> Result<Added<B>, SpoolError> {
        let position = self.next;
        let corrupt = || spool.corrupt(position);
        let frame = reader.read(position)?;
        if !matches!(frame.kind, Kind::Batch | Kind::Text) {
            self.next.1 += frame.bytes as u64;
            return Ok(Added::Text);
        }
        let added = with_text(&frame, |found| {
            let document = Some(match found {
                TextFrame::Batch(view) => (view.shard, view.document),
                TextFrame::Text(view) => (view.shard, view.document),
            });
            let is_next = self.text_of != document && !is_alone;
            self.text_of = document;
            if !self.text.is_empty() && (is_next || self.text.len() > HELD_BYTES_MAX) {
                return Some(Added::Not);
            }
            Some(match found {
                TextFrame::Text(view) if is_alone && self.text.is_empty() => {
                    Added::Passed(each(FoundText::Lines(view.text)))
                }
                TextFrame::Text(view) => {
                    self.text.extend_from_slice(view.text);
                    Added::Text
                }
                TextFrame::Batch(view) => self.add_batch(view),
            })
        });
        let added = added.ok_or_else(corrupt)?;
        match added {
            // This frame is read again.
            Added::Not => return Ok(added),
            Added::Text | Added::Passed(_) => {}
            Added::Cut => {
                let cut = matches_of(frame.payload, self.context_lines);
                self.cut = Some(cut.ok_or_else(corrupt)?);
            }
        }
        self.next.1 += frame.bytes as u64;
        self.since = Instant::now();
        self.release(spool);
        Ok(added)
    }

    fn release(&mut self, spool: &ResultFiles) {
        if let Some(released) = &mut self.released
            && self.next.1 - *released >= RELEASED_BYTES_MIN
        {
            spool.release(self.next);
            *released = self.next.1;
        }
    }

    fn add_batch<B>(&mut self, view: &BatchView<'_>) -> Added<B> {
        let is_cut = |line: LineView<'_>| line.text.len() as u64 != line.line_bytes;
        if view.lines().any(is_cut) {
            return Added::Cut;
        }
        history::begin(&mut self.lines, view);
        let matches = view.lines().filter(LineView::is_match);
        matches.for_each(|line| {
            push_match(
                &mut self.lines,
                (line.number, line.changed),
                (line.lines, line.text),
                &mut self.text,
            )
        });
        Added::Text
    }

    fn has_more(&self, spool: &ResultFiles) -> bool {
        let (stream, at) = self.next;
        self.cut.is_some() || at < spool.received(stream)
    }

    fn is_overdue(&self) -> bool {
        let holds = !self.document.is_empty() || !self.text.is_empty();
        holds && self.since.elapsed() > HOLD_MAX
    }

    /// Adds a frame's matches; returns the document that they complete.
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

    fn frame(
        &mut self,
        reader: &mut FrameReader<'_>,
        spool: &ResultFiles,
    ) -> Result<Vec<Match>, SpoolError> {
        let position = self.next;
        let frame = reader.read(position)?;
        self.next.1 += frame.bytes as u64;
        if frame.kind != Kind::Batch {
            return Ok(Vec::new());
        }
        let matches = matches_of(frame.payload, self.context_lines);
        matches.ok_or_else(|| spool.corrupt(position))
    }
}

/// Matches of a BATCH; `None` if it does not decode.
fn matches_of(payload: &[u8], context_lines: u32) -> Option<Vec<Match>> {
    let batch = BatchReader::new(payload).ok()?;
    let view = batch.view().ok()?;
    let lines = (0..).zip(view.lines());
    let matches = lines.filter(|(_, line)| line.is_match());
    let indexes: Vec<u32> = matches.map(|(index, _)| index).collect();
    Match::each(&view, &indexes, context_lines).collect()
}
