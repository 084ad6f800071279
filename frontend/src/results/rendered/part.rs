//! A part of a window: renders the matches of some frames, in the order of the spool.

use crate::results::line_text::push_match;
use crate::results::matches::Match;
use crate::results::search_result::LinePosition;
use crate::spool::{ResultFiles, SpoolError, TextFrame};
use schema::line_text::LineText;
use schema::message::{BatchView, TextView};

/// Appends a match in some format.
pub type WriteMatch = dyn Fn(&Match, &mut Vec<u8>) + Send + Sync;

/// Where the bytes of a match are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rendered {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether they have the whole line.
    pub(super) whole: bool,
}

pub(super) struct Part<'a> {
    write: Option<&'a WriteMatch>,
    context_lines: u32,
    pub(super) bytes: Vec<u8>,
    /// The matches, in the order of the spool.
    pub(super) matches: Vec<Rendered>,
}

impl<'a> Part<'a> {
    pub(super) fn new(write: Option<&'a WriteMatch>, context_lines: u32) -> Part<'a> {
        Part {
            write,
            context_lines,
            bytes: Vec::new(),
            matches: Vec::new(),
        }
    }

    /// Renders the matches at `positions`; false, with a part of them, if they have more than `bytes_max`.
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
                None => reader.text(frame, |frame| match frame {
                    TextFrame::Batch(batch) => self.add_text(batch, group, &mut text),
                    TextFrame::Text(batch) => self.add_runs(batch, group),
                })?,
            }
            if self.bytes.len() > bytes_max {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds matches of a batch; `None` if the batch lacks a line.
    fn add_each(
        &mut self,
        batch: &BatchView<'_>,
        group: &[LinePosition],
        write: &WriteMatch,
    ) -> Option<()> {
        let lines: Vec<u32> = group.iter().map(|line| line.line_index()).collect();
        let mut ended = Some(());
        Match::each(batch, &lines, self.context_lines, |found| {
            let start = self.bytes.len();
            write(&found, &mut self.bytes);
            ended = ended.and(self.end(start, found.window.is_none()));
        })?;
        ended
    }

    /// Adds matches of a batch, which ascend by line, as text; `None` if the batch lacks a line.
    fn add_text(
        &mut self,
        batch: &BatchView<'_>,
        group: &[LinePosition],
        text: &mut LineText,
    ) -> Option<()> {
        text.begin(batch.package, batch.path);
        let mut lines = (0_u32..).zip(batch.lines());
        for position in group {
            let (_, line) = lines.find(|(index, _)| *index == position.line_index())?;
            let start = self.bytes.len();
            push_match(text, &line, &mut self.bytes);
            self.end(start, line.text.len() as u64 == line.line_bytes)?;
        }
        Some(())
    }

    /// Adds runs of a batch of text; `None` if the batch lacks one.
    fn add_runs(&mut self, batch: &TextView<'_>, group: &[LinePosition]) -> Option<()> {
        let mut end = 0;
        let ranges = batch.runs().map(|run| {
            let start = end;
            end += run.text_bytes as usize;
            start..end
        });
        let mut ranges = (0_u32..).zip(ranges);
        for position in group {
            let (_, range) = ranges.find(|(index, _)| *index == position.line_index())?;
            let start = self.bytes.len();
            self.bytes.extend_from_slice(&batch.text[range]);
            self.end(start, true)?;
        }
        Some(())
    }

    /// Ends a match that begins at `start`; `None` if a place cannot say where.
    fn end(&mut self, start: usize, whole: bool) -> Option<()> {
        self.matches.push(Rendered {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(self.bytes.len()).ok()?,
            whole,
        });
        Some(())
    }
}
