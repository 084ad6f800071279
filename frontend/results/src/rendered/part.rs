//! Part of a window: the matches of some frames, in spool order.

use crate::history;
use crate::matches::{Match, push_match};
use crate::search_result::LinePosition;
use crate::spool::{ResultFiles, SpoolError, TextFrame};
use schema::line_text::LineText;
use schema::message::{BatchView, TextView};
use std::sync::Arc;

/// Appends a match in some format.
pub type WriteMatch = dyn Fn(&Match, &mut Vec<u8>) + Send + Sync;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rendered {
    /// 0: bytes of the part; n: its chunk n - 1.
    chunk: u32,
    start: u32,
    end: u32,
    pub(super) whole: bool,
}

impl Rendered {
    pub(super) fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

#[derive(Debug, Default)]
pub(super) struct PartBytes {
    own: Vec<u8>,
    chunks: Vec<Arc<Vec<u8>>>,
}

impl PartBytes {
    pub(super) fn copied(&self) -> usize {
        self.own.len()
    }

    pub(super) fn of(&self, place: &Rendered) -> &[u8] {
        let bytes = match place.chunk.checked_sub(1) {
            None => &self.own,
            Some(chunk) => &self.chunks[chunk as usize],
        };
        &bytes[place.start as usize..place.end as usize]
    }
}

pub(super) struct Part<'a> {
    write: Option<&'a WriteMatch>,
    context_lines: u32,
    pub(super) bytes: PartBytes,
    pub(super) matches: Vec<Rendered>,
}

impl<'a> Part<'a> {
    pub(super) fn new(write: Option<&'a WriteMatch>, context_lines: u32) -> Part<'a> {
        Part {
            write,
            context_lines,
            bytes: PartBytes::default(),
            matches: Vec::new(),
        }
    }

    pub(super) fn reserve(&mut self, bytes: usize) {
        self.bytes.own.reserve(bytes);
    }

    /// Renders the matches at `positions`; false if more than `bytes_max` are copied.
    pub(super) fn read(
        &mut self,
        spool: &ResultFiles,
        positions: &[LinePosition],
        bytes_max: usize,
    ) -> Result<bool, SpoolError> {
        self.matches.reserve(positions.len());
        let (mut reader, mut text) = (spool.reader(), LineText::default());
        for group in positions.chunk_by(|a, b| a.frame() == b.frame()) {
            let frame = group[0].frame();
            match self.write {
                Some(write) => reader.batch(frame, |batch| self.add_each(batch, group, write))?,
                None => reader.text(frame, |frame, chunk| match frame {
                    TextFrame::Batch(batch) => self.add_text(batch, group, &mut text),
                    TextFrame::Text(batch) => self.add_runs(batch, chunk, group),
                })?,
            }
            if self.bytes.own.len() > bytes_max {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add_each(
        &mut self,
        batch: &BatchView<'_>,
        group: &[LinePosition],
        write: &WriteMatch,
    ) -> Option<()> {
        let lines: Vec<u32> = group.iter().map(|line| line.line_index()).collect();
        for found in Match::each(batch, &lines, self.context_lines) {
            let (found, start) = (found?, self.bytes.own.len());
            write(&found, &mut self.bytes.own);
            self.end(start, found.window.is_none())?;
        }
        Some(())
    }

    /// Adds matches as text, ascending by line; `None` if a line is missing.
    fn add_text(
        &mut self,
        batch: &BatchView<'_>,
        group: &[LinePosition],
        text: &mut LineText,
    ) -> Option<()> {
        history::begin(text, batch);
        let mut lines = (0_u32..).zip(batch.lines());
        for position in group {
            let (_, line) = lines.find(|(index, _)| *index == position.line_index())?;
            let start = self.bytes.own.len();
            push_match(
                text,
                (line.number, line.changed),
                (line.lines, line.text),
                &mut self.bytes.own,
            );
            self.end(start, line.text.len() as u64 == line.line_bytes)?;
        }
        Some(())
    }

    /// Adds runs of text, uncopied if in a chunk; `None` if one is missing.
    fn add_runs(
        &mut self,
        batch: &TextView<'_>,
        chunk: Option<&Arc<Vec<u8>>>,
        group: &[LinePosition],
    ) -> Option<()> {
        let mut end = 0;
        let ranges = batch.runs().map(|run| {
            let start = end;
            end += run.text_bytes as usize;
            start..end
        });
        let chunk = chunk.and_then(|chunk| self.chunk(chunk, batch.text));
        let mut ranges = (0_u32..).zip(ranges);
        for position in group {
            let (_, range) = ranges.find(|(index, _)| *index == position.line_index())?;
            let run = batch.text.get(range.clone())?;
            match chunk {
                Some((chunk, at)) => self.matches.push(Rendered {
                    chunk,
                    start: at + range.start as u32,
                    end: at + range.end as u32,
                    whole: true,
                }),
                None => {
                    let start = self.bytes.own.len();
                    self.bytes.own.extend_from_slice(run);
                    self.end(start, true)?;
                }
            }
        }
        Some(())
    }

    /// Keeps the chunk of a text. Returns its number and the text's offset; `None`
    /// if too large for a place.
    fn chunk(&mut self, chunk: &Arc<Vec<u8>>, text: &[u8]) -> Option<(u32, u32)> {
        let at = (text.as_ptr().addr()).checked_sub(chunk.as_ptr().addr())?;
        if at + text.len() > chunk.len() || u32::try_from(chunk.len()).is_err() {
            return None;
        }
        let chunks = &mut self.bytes.chunks;
        if !chunks.last().is_some_and(|last| Arc::ptr_eq(last, chunk)) {
            chunks.push(Arc::clone(chunk));
        }
        Some((u32::try_from(chunks.len()).ok()?, at as u32))
    }

    /// Ends a match that began at `start`; `None` if too large for a place.
    fn end(&mut self, start: usize, whole: bool) -> Option<()> {
        self.matches.push(Rendered {
            chunk: 0,
            start: u32::try_from(start).ok()?,
            end: u32::try_from(self.bytes.own.len()).ok()?,
            whole,
        });
        Some(())
    }
}
