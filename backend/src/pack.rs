//! Packs the matches of one document, with context, into batches or as text ([`text_batch`]).
//!
//! **Invariant:** every match has all its context in its own batch; lines around a cut are in both.
//!
//! **Invariant:** frames stay far below their size limit. A batch is sent at [`BATCH_TEXT_BYTES`]
//! of text or 256 lines. Lines over [`LINE_BYTES_MAX`] are sent as a window around their first
//! range.

mod text_batch;

use crate::matcher::filters::kind_of;
use index::change::FileChange;
use index::shard::{DocId, Document, Shard, ShardError, TextCache};
use schema::line_text::LineText;
use schema::message::{
    Batch, ChangedLine, CommitChange, DocumentKind, Line, REVISIONS_BYTES_MAX, REVISIONS_MAX,
    Range, Search, Span, TextOrder, TextRun, Window,
};
use schema::order::RankKey;
use std::ops;
use std::rc::Rc;

/// Text that completes a batch. A page reads a batch for each match, so batches are small.
const BATCH_TEXT_BYTES: usize = 16 << 10;

/// Lines that complete a batch: a quarter of a megabyte with all ranges.
const BATCH_LINES: usize = 256;

/// Longest line sent whole.
pub const LINE_BYTES_MAX: usize = 4 << 10;

/// Bytes of a window before the first range.
const LEAD_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePosition {
    /// Number of the first line, from 1; 0 for the document's name.
    pub(crate) number: u32,
    pub(crate) lines: u32,
    /// First byte in the text of all documents.
    pub(crate) start: u64,
    /// End, line end included.
    pub(crate) end: u64,
    /// Block of the first line. A line is in one block.
    pub(crate) block: u32,
    /// Block of the last line.
    pub(crate) last_block: u32,
}

impl LinePosition {
    pub(crate) fn of_line(number: u32, text: ops::Range<u64>, block: u32) -> LinePosition {
        LinePosition {
            number,
            lines: 1,
            start: text.start,
            end: text.end,
            block,
            last_block: block,
        }
    }

    /// Position of a document's name. Its text begins at `start`.
    pub(crate) fn of_name(document: &Document<'_>, start: u64) -> LinePosition {
        LinePosition::of_line(0, start..start, document.blocks.start)
    }
}

/// Line or span with its end. `ranges`, at least one, are before the end.
#[derive(Clone, Copy)]
pub(crate) struct Match<'l> {
    pub(crate) position: LinePosition,
    pub(crate) line: &'l [u8],
    /// 0 until known.
    pub(crate) rank: f32,
    pub(crate) ranges: &'l [(usize, usize)],
    /// Bits of the kinds of the definitions at `ranges`.
    pub(crate) kinds: u32,
}

impl<'l> Match<'l> {
    pub(crate) fn new(
        position: LinePosition,
        line: &'l [u8],
        ranges: &'l [(usize, usize)],
    ) -> Match<'l> {
        Match {
            position,
            line,
            rank: 0.0,
            ranges,
            kinds: 0,
        }
    }
}

/// Packs lines of one document.
pub(crate) struct Packer<'a> {
    shard: &'a Shard,
    shard_index: u32,
    search: &'a Search,
    /// Matches in earlier lines are left out.
    first_line: u32,
    /// True if the packer gets all matches of the document.
    is_whole: bool,
    document: Document<'a>,
    package: &'a [u8],
    language: &'a str,
    kind: DocumentKind,
    revisions: RevisionNames<'a>,
    history: Option<History<'a>>,
    document_text: ops::Range<u64>,
    buffers: PackBuffers,
    texts: Rc<TextCache>,
    last: Option<LinePosition>,
    /// Missing lines of context after the last match.
    due: u32,
    /// Bytes of the lines sent as text, and of their text.
    line_bytes: usize,
    text_bytes: usize,
}

/// Content of the next frames. Empty between documents, only memory is reused.
#[derive(Default)]
pub(crate) struct PackBuffers {
    /// Set in a search for text.
    as_text: Option<TextBuffers>,
    text: Vec<u8>,
    lines: Vec<Line>,
    ranges: Vec<Range>,
    windows: Vec<Window>,
    spans: Vec<Span>,
    kinds: Vec<u32>,
}

#[derive(Default)]
struct TextBuffers {
    write: LineText,
    /// In document order.
    text: Vec<u8>,
    lines: Vec<TextLine>,
    numbers: Vec<u32>,
    runs: Vec<TextRun>,
    parts: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
struct TextLine {
    key: RankKey,
    number: u32,
    part: (u32, u32),
}

/// Output of packers.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) frames: Vec<u8>,
    /// Document and line of every match, in order.
    pub(crate) keys: Vec<(DocId, u32)>,
}

impl<'a> Packer<'a> {
    /// `buffers` are empty; `texts` has the last searched text.
    pub(crate) fn new(
        (shard, shard_index): (&'a Shard, u32),
        document: Document<'a>,
        package: &'a [u8],
        (search, first_line, is_whole): (&'a Search, u32, bool),
        (mut buffers, texts): (PackBuffers, Rc<TextCache>),
    ) -> Result<Self, ShardError> {
        if search.text != TextOrder::None {
            let as_text = buffers.as_text.get_or_insert_default();
            as_text.write.begin(package, document.path);
        }
        let document_text = shard.text_range(document.blocks.clone())?;
        let language = shard.language(&document)?;
        let kind = kind_of(shard.class(&document, &shard.package(document.package)?)?);
        let revisions = RevisionNames::of(shard, document.id);
        let history = (shard.is_history()).then(|| History::of(shard, &document));
        Ok(Packer {
            shard,
            shard_index,
            search,
            first_line,
            is_whole: is_whole && first_line == 0,
            document,
            package,
            language,
            kind,
            revisions,
            history: history.transpose()?,
            document_text,
            buffers,
            texts,
            last: None,
            due: 0,
            line_bytes: 0,
            text_bytes: 0,
        })
    }

    /// Lines ascend.
    pub(crate) fn push(&mut self, found: &Match<'_>, out: &mut Packed) -> Result<(), ShardError> {
        match self.search.text {
            TextOrder::None => self.push_to_batch(found, out),
            TextOrder::Ranked | TextOrder::Found => self.push_as_text(found, out),
        }
    }

    fn push_to_batch(&mut self, found: &Match<'_>, out: &mut Packed) -> Result<(), ShardError> {
        let position = found.position;
        self.check(position)?;
        if position.number < self.first_line {
            return Ok(());
        }
        if self.buffers.text.len() > BATCH_TEXT_BYTES || self.buffers.lines.len() > BATCH_LINES {
            // A match is rendered from its own batch.
            self.push_context_after(u32::MAX)?;
            self.encode(&mut out.frames);
            self.last = None;
        } else {
            self.push_context_after(position.number)?;
        }
        self.push_context_before(position)?;
        self.push_line(found);
        self.due = self.search.context_lines;
        out.keys.push((self.document.id, position.number));
        Ok(())
    }

    fn check(&self, position: LinePosition) -> Result<(), ShardError> {
        if position.start < self.document_text.start || position.end > self.document_text.end {
            return Err(self.shard.inconsistent("blocks of a document"));
        }
        Ok(())
    }

    /// Adds the document's name as the only match; `ranges` are in its path.
    pub(crate) fn push_name(&mut self, rank: f32, ranges: &[(usize, usize)], out: &mut Packed) {
        if self.first_line > 0 {
            return;
        }
        let position = LinePosition::of_name(&self.document, self.document_text.start);
        // A path is never cut.
        let whole = 0..self.document.path.len();
        let found = Match::new(position, self.document.path, ranges);
        self.push_window(&Match { rank, ..found }, whole);
        out.keys.push((self.document.id, 0));
    }

    /// Encodes the rest, and returns the empty buffers.
    pub(crate) fn finish(mut self, out: &mut Packed) -> Result<PackBuffers, ShardError> {
        self.encode_text(out);
        self.push_context_after(u32::MAX)?;
        self.encode(&mut out.frames);
        Ok(self.buffers)
    }

    fn encode(&mut self, out: &mut Vec<u8>) {
        let buffers = &mut self.buffers;
        if buffers.lines.is_empty() {
            return;
        }
        let lines = buffers.lines.iter().map(|line| line.number);
        let changed_lines = self
            .history
            .as_ref()
            .map_or(Vec::new(), |of| of.places(lines));
        let batch = Batch {
            shard: self.shard_index,
            document: self.document.id.0,
            package: self.package,
            path: self.document.path,
            language: self.language,
            kind: self.kind,
            hash: self.document.hash,
            text: &buffers.text,
            lines: &buffers.lines,
            ranges: &buffers.ranges,
            windows: &buffers.windows,
            spans: &buffers.spans,
            revisions: &self.revisions.names,
            revision_count: self.revisions.count,
            commit: match &self.history {
                Some(history) => history.commit,
                None => self.revisions.commit,
            },
            change: self.history.as_ref().map(|of| &of.facts),
            changed_lines: &changed_lines,
            kinds: match buffers.kinds.iter().max() {
                Some(1..) => &buffers.kinds,
                _ => &[],
            },
        };
        batch.encode(out).expect("a batch is smaller than a frame");
        buffers.text.clear();
        buffers.lines.clear();
        buffers.ranges.clear();
        buffers.windows.clear();
        buffers.spans.clear();
        buffers.kinds.clear();
        self.last = None;
    }

    fn push_context_after(&mut self, before: u32) -> Result<(), ShardError> {
        while self.due > 0
            && let Some(last) = self.last
            && let Some(position) = self.line_after(last)?
            && position.number < before
        {
            self.push_context(position)?;
            self.due -= 1;
        }
        self.due = 0;
        Ok(())
    }

    fn push_context_before(&mut self, of: LinePosition) -> Result<(), ShardError> {
        let packed = self.last.map_or(0, |last| last.number + last.lines - 1);
        let mut positions = Vec::new();
        let mut position = of;
        while positions.len() < self.search.context_lines as usize
            && let Some(before) = self.line_before(position)?
            && before.number > packed
        {
            positions.push(before);
            position = before;
        }
        positions
            .into_iter()
            .rev()
            .try_for_each(|position| self.push_context(position))
    }

    fn push_context(&mut self, position: LinePosition) -> Result<(), ShardError> {
        let shard = self.shard;
        let line = shard.text(position.start..position.end, &self.texts)?;
        self.push_line(&Match::new(position, &line, &[]));
        Ok(())
    }

    fn line_before(&self, position: LinePosition) -> Result<Option<LinePosition>, ShardError> {
        if position.start <= self.document_text.start {
            return Ok(None);
        }
        let mut block = position.block;
        let mut range = self.shard.text_range(block..block + 1)?;
        if range.start == position.start && block > self.document.blocks.start {
            block -= 1;
            range = self.shard.text_range(block..block + 1)?;
        }
        let before = range.start..position.start - 1;
        let text = self.shard.text(before, &self.texts)?;
        let start = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        let number = position.number.saturating_sub(1);
        let line = range.start + start as u64..position.start;
        Ok(Some(LinePosition::of_line(number, line, block)))
    }

    fn line_after(&self, position: LinePosition) -> Result<Option<LinePosition>, ShardError> {
        if position.end >= self.document_text.end {
            return Ok(None);
        }
        let mut block = position.last_block;
        let mut range = self.shard.text_range(block..block + 1)?;
        if range.end == position.end {
            block += 1;
            range = self.shard.text_range(block..block + 1)?;
        }
        let text = self.shard.text(position.end..range.end, &self.texts)?;
        let length = memchr::memchr(b'\n', &text).map_or(text.len(), |end| end + 1);
        let number = position.number.saturating_add(position.lines);
        let line = position.end..position.end + length as u64;
        Ok(Some(LinePosition::of_line(number, line, block)))
    }

    fn push_line(&mut self, found: &Match<'_>) {
        let line = found.line.strip_suffix(b"\n").unwrap_or(found.line);
        let window = window(line.len(), found.ranges.first().copied());
        self.push_window(&Match { line, ..*found }, window);
    }

    fn push_window(&mut self, found: &Match<'_>, window: ops::Range<usize>) {
        let (position, line) = (found.position, found.line);
        let buffers = &mut self.buffers;
        if window.len() < line.len() {
            buffers.windows.push(Window {
                line: buffers.lines.len() as u32,
                start: window.start as u64,
                line_bytes: line.len() as u64,
            });
        }
        if position.lines > 1 {
            buffers.spans.push(Span {
                line: buffers.lines.len() as u32,
                lines: position.lines,
            });
        }
        let first = buffers.ranges.len();
        let count = if self.search.first_range {
            1
        } else {
            usize::MAX
        };
        let ranges = found.ranges.iter().take(count);
        let ranges = ranges.filter_map(|range| within(range, &window));
        buffers.ranges.extend(ranges);
        buffers.text.extend_from_slice(&line[window.clone()]);
        buffers.lines.push(Line {
            number: position.number,
            rank: found.rank,
            offset: position.start - self.document_text.start,
            text_bytes: window.len() as u32,
            ranges: (buffers.ranges.len() - first) as u32,
        });
        buffers.kinds.push(found.kinds);
        self.last = Some(position);
    }
}

struct History<'a> {
    commit: &'a str,
    facts: CommitChange,
    change: Option<FileChange>,
}

impl<'a> History<'a> {
    fn of(shard: &'a Shard, document: &Document<'_>) -> Result<History<'a>, ShardError> {
        let found = shard.history_document(document)?;
        let former = found.change.as_ref().map(|it| it.former.clone());
        Ok(History {
            commit: found.commit,
            facts: CommitChange {
                author: found.author,
                committer: found.committer,
                former_path: former.unwrap_or_default(),
                subject: found.subject,
            },
            change: found.change,
        })
    }

    fn places(&self, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
        let Some(change) = &self.change else {
            return Vec::new();
        };
        let places = numbers.map(|number| change.line(number).map_or(0, ChangedLine::encoded));
        places.collect()
    }
}

/// Revisions of a document, within the bounds of a message; none for a directory's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RevisionNames<'a> {
    /// Short names, the default first, the rest ascending.
    pub(crate) names: Vec<&'a str>,
    pub(crate) count: u32,
    /// Commit id of the first, when indexed.
    pub(crate) commit: &'a str,
}

impl<'a> RevisionNames<'a> {
    pub(crate) fn of(shard: &'a Shard, document: DocId) -> RevisionNames<'a> {
        let mut found = RevisionNames::default();
        let mut bytes = 0;
        for revision in shard.revisions_of(document).iter() {
            if found.count == 0 {
                found.commit = revision.commit;
            }
            bytes += revision.text.len();
            // The list is a prefix.
            let is_next = found.names.len() == found.count as usize;
            if is_next && found.names.len() < REVISIONS_MAX && bytes <= REVISIONS_BYTES_MAX {
                found.names.push(revision.text);
            }
            found.count += 1;
        }
        found
    }
}

/// Sent part of a line: nothing of long context.
fn window(line_bytes: usize, first: Option<(usize, usize)>) -> ops::Range<usize> {
    if line_bytes <= LINE_BYTES_MAX {
        return 0..line_bytes;
    }
    let Some((start, _)) = first else { return 0..0 };
    let start = start.saturating_sub(LEAD_BYTES);
    let start = start.min(line_bytes - LINE_BYTES_MAX);
    start..start + LINE_BYTES_MAX
}

/// Range relative to a window; `None` if it begins outside.
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
    fn window_of_long_line_is_around_first_range() {
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
