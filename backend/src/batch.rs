//! Packs the matches of one document, with their context, into batches.
//!
//! **Invariant:** every match has all its context in its own batch: where a document is cut, the
//! lines around the cut are in both batches. So a match is shown the same however it was cut.
//! **Invariant:** a frame stays far below its bound whatever a document holds: a batch is sent when
//! it has [`BATCH_TEXT_BYTES`] of text or 256 lines, and of a line longer than [`LINE_BYTES_MAX`] a window
//! around its first range is sent, with its place and the line's length.

use index::shard::{DocId, Document, Shard, ShardError};
use schema::message::{Batch, Line, Range, Span, Window};
use std::ops;

/// Text after which a batch is sent. A page reads a batch for each match it shows, so they are
/// kept small.
pub const BATCH_TEXT_BYTES: usize = 16 << 10;

/// Lines after which a batch is sent, for lines without text. With all their ranges they are a
/// quarter of a megabyte.
const BATCH_LINES: usize = 256;

/// A longer line is sent in part.
pub const LINE_BYTES_MAX: usize = 4 << 10;

/// Of a line that is sent in part, how much in front of the first range.
const LEAD_BYTES: usize = 512;

/// A place in a shard's text: a line, or a run of them, and the block that it begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePosition {
    /// The line's number, from 1; 0: it is the document's name.
    pub number: u32,
    /// How many lines.
    pub lines: u32,
    /// Its first byte, in the text of all documents.
    pub start: u64,
    /// Behind its last byte, line end included.
    pub end: u64,
    /// The block it begins in. A line is in one block.
    pub block: u32,
    /// The block that its last line is in.
    pub last_block: u32,
}

impl LinePosition {
    /// That of a document's name, of which the text begins at `start`.
    pub fn of_name(document: &Document<'_>, start: u64) -> LinePosition {
        LinePosition {
            number: 0,
            lines: 1,
            start,
            end: start,
            block: document.blocks.start,
            last_block: document.blocks.start,
        }
    }
}

/// Collects lines of one document and encodes them as batches.
pub struct BatchPacker<'a> {
    shard: &'a Shard,
    shard_index: u32,
    context_lines: u32,
    document: Document<'a>,
    package: &'a [u8],
    language: &'static str,
    /// The document's place in the text of all documents.
    document_text: ops::Range<u64>,
    collected: BatchBuffers,
    /// The last line that was packed, of this batch.
    last: Option<LinePosition>,
    /// How many lines of context are still due after the last match.
    due: u32,
}

/// What a packer collects for the next batch. Empty between documents; kept for its memory.
#[derive(Default)]
pub struct BatchBuffers {
    text: Vec<u8>,
    lines: Vec<Line>,
    ranges: Vec<Range>,
    windows: Vec<Window>,
    spans: Vec<Span>,
}

impl BatchBuffers {
    fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
        self.ranges.clear();
        self.windows.clear();
        self.spans.clear();
    }
}

/// What packers have made.
#[derive(Debug, Default)]
pub struct Packed {
    /// Whole frames.
    pub frames: Vec<u8>,
    /// Document and line of every match in them, in order.
    pub keys: Vec<(DocId, u32)>,
}

impl<'a> BatchPacker<'a> {
    /// A packer for the matches of `document`, of the package `package`. `collected` is empty.
    pub fn new(
        (shard, shard_index): (&'a Shard, u32),
        document: Document<'a>,
        package: &'a [u8],
        context_lines: u32,
        collected: BatchBuffers,
    ) -> Result<Self, ShardError> {
        let document_text = shard.text_range(document.blocks.clone())?;
        let language = index::document::language(document.path).unwrap_or_default();
        Ok(BatchPacker {
            shard,
            shard_index,
            context_lines,
            document,
            package,
            language,
            document_text,
            collected,
            last: None,
            due: 0,
        })
    }

    /// Adds a match, the `line` at `place`, line end included; the lines ascend. `ranges` are in the
    /// line without its end; at least one.
    pub fn push(
        &mut self,
        place: LinePosition,
        line: &[u8],
        rank: f32,
        ranges: &[(usize, usize)],
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        if place.start < self.document_text.start || place.end > self.document_text.end {
            return Err(self.shard.inconsistent("blocks of a document"));
        }
        if self.collected.text.len() > BATCH_TEXT_BYTES || self.collected.lines.len() > BATCH_LINES
        {
            // A page is rendered from a match's batch alone: each has all context of its matches.
            self.push_context_after(u32::MAX)?;
            self.encode(&mut out.frames);
            self.last = None;
        } else {
            self.push_context_after(place.number)?;
        }
        self.push_context_before(place)?;
        self.push_line(place, line, rank, ranges);
        self.due = self.context_lines;
        out.keys.push((self.document.id, place.number));
        Ok(())
    }

    /// Adds the document's name as its only match; `ranges` are in its path.
    pub fn push_name(&mut self, rank: f32, ranges: &[(usize, usize)], out: &mut Packed) {
        let place = LinePosition::of_name(&self.document, self.document_text.start);
        // Whole, however long: it is the document's path, and no line.
        let whole = 0..self.document.path.len();
        self.push_window(place, self.document.path, whole, rank, ranges);
        out.keys.push((self.document.id, 0));
    }

    /// Encodes what is left, and gives back what it collected in, empty.
    pub fn finish(mut self, out: &mut Packed) -> Result<BatchBuffers, ShardError> {
        self.push_context_after(u32::MAX)?;
        self.encode(&mut out.frames);
        Ok(self.collected)
    }

    fn encode(&mut self, out: &mut Vec<u8>) {
        let collected = &mut self.collected;
        if collected.lines.is_empty() {
            return;
        }
        let batch = Batch {
            shard: self.shard_index,
            document: self.document.id.0,
            package: self.package,
            path: self.document.path,
            language: self.language,
            hash: self.document.hash,
            text: &collected.text,
            lines: &collected.lines,
            ranges: &collected.ranges,
            windows: &collected.windows,
            spans: &collected.spans,
        };
        batch
            .encode(out)
            .expect("a batch's bounds keep it below a frame's");
        collected.clear();
        self.last = None;
    }

    /// Packs the context that is due behind the last match, up to the line `before`.
    fn push_context_after(&mut self, before: u32) -> Result<(), ShardError> {
        while self.due > 0
            && let Some(last) = self.last
            && let Some(place) = self.line_after(last)?
            && place.number < before
        {
            self.push_context(place)?;
            self.due -= 1;
        }
        self.due = 0;
        Ok(())
    }

    fn push_context_before(&mut self, of: LinePosition) -> Result<(), ShardError> {
        let packed = self.last.map_or(0, |last| last.number + last.lines - 1);
        let mut places = Vec::new();
        let mut place = of;
        while places.len() < self.context_lines as usize
            && let Some(before) = self.line_before(place)?
            && before.number > packed
        {
            places.push(before);
            place = before;
        }
        places
            .into_iter()
            .rev()
            .try_for_each(|place| self.push_context(place))
    }

    fn push_context(&mut self, place: LinePosition) -> Result<(), ShardError> {
        let line = self.shard.text(place.start..place.end)?;
        self.push_line(place, line, 0.0, &[]);
        Ok(())
    }

    fn line_before(&self, place: LinePosition) -> Result<Option<LinePosition>, ShardError> {
        if place.start <= self.document_text.start {
            return Ok(None);
        }
        let mut block = place.block;
        let mut range = self.shard.text_range(block..block + 1)?;
        if range.start == place.start && block > self.document.blocks.start {
            block -= 1;
            range = self.shard.text_range(block..block + 1)?;
        }
        let text = self.shard.text(range.start..place.start - 1)?;
        let start = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
        Ok(Some(LinePosition {
            number: place.number.saturating_sub(1),
            lines: 1,
            start: range.start + start as u64,
            end: place.start,
            block,
            last_block: block,
        }))
    }

    fn line_after(&self, place: LinePosition) -> Result<Option<LinePosition>, ShardError> {
        if place.end >= self.document_text.end {
            return Ok(None);
        }
        let mut block = place.last_block;
        let mut range = self.shard.text_range(block..block + 1)?;
        if range.end == place.end {
            block += 1;
            range = self.shard.text_range(block..block + 1)?;
        }
        let text = self.shard.text(place.end..range.end)?;
        let length = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
        Ok(Some(LinePosition {
            number: place.number.saturating_add(place.lines),
            lines: 1,
            start: place.end,
            end: place.end + length as u64,
            block,
            last_block: block,
        }))
    }

    fn push_line(
        &mut self,
        place: LinePosition,
        line: &[u8],
        rank: f32,
        ranges: &[(usize, usize)],
    ) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let window = window(line.len(), ranges.first().copied());
        self.push_window(place, line, window, rank, ranges);
    }

    fn push_window(
        &mut self,
        place: LinePosition,
        line: &[u8],
        window: ops::Range<usize>,
        rank: f32,
        ranges: &[(usize, usize)],
    ) {
        let collected = &mut self.collected;
        if window.len() < line.len() {
            collected.windows.push(Window {
                line: collected.lines.len() as u32,
                start: window.start as u64,
                line_bytes: line.len() as u64,
            });
        }
        if place.lines > 1 {
            collected.spans.push(Span {
                line: collected.lines.len() as u32,
                lines: place.lines,
            });
        }
        let first = collected.ranges.len();
        let ranges = ranges.iter().filter_map(|range| within(range, &window));
        collected.ranges.extend(ranges);
        collected.text.extend_from_slice(&line[window.clone()]);
        collected.lines.push(Line {
            number: place.number,
            rank,
            offset: place.start - self.document_text.start,
            text_bytes: window.len() as u32,
            ranges: (collected.ranges.len() - first) as u32,
        });
        self.last = Some(place);
    }
}

/// Which part of a line is sent: of a long one that is only context nothing.
fn window(line_bytes: usize, first: Option<(usize, usize)>) -> ops::Range<usize> {
    if line_bytes <= LINE_BYTES_MAX {
        return 0..line_bytes;
    }
    let Some((start, _)) = first else { return 0..0 };
    let start = start.saturating_sub(LEAD_BYTES);
    let start = start.min(line_bytes - LINE_BYTES_MAX);
    start..start + LINE_BYTES_MAX
}

/// A range as it lies in a window; `None` when it begins outside.
fn within(&(start, end): &(usize, usize), window: &ops::Range<usize>) -> Option<Range> {
    if start < window.start || start > window.end || (start == window.end && end > start) {
        return None;
    }
    let end = end.min(window.end);
    Some(Range {
        start: (start - window.start) as u32,
        end: (end - window.start) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_sent_around_its_first_range() {
        assert_eq!(window(100, Some((50, 60))), 0..100);
        assert_eq!(window(10_000, None), 0..0);
        assert_eq!(window(10_000, Some((5000, 5004))), 4488..8584);
        assert_eq!(window(10_000, Some((9999, 10_000))), 5904..10_000);
    }

    #[test]
    fn ranges_are_clipped_to_the_window() {
        assert_eq!(
            within(&(10, 20), &(5..15)),
            Some(Range { start: 5, end: 10 })
        );
        assert_eq!(within(&(15, 20), &(5..15)), None);
        assert_eq!(
            within(&(15, 15), &(5..15)),
            Some(Range { start: 10, end: 10 })
        );
        assert_eq!(within(&(1, 20), &(5..15)), None);
    }
}
