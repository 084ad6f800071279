//! The BATCH frame: matches of one document with their context.
//!
//! A line's text is cut out of one blob that all lines share, and its ranges out of one list, so
//! that a line costs 24 bytes beside its text and 8 a range, and context that two matches share is
//! sent once.
//!
//! **Invariant:** [`BatchReader::view`] has compared every length in the message with what is
//! there: iterating afterwards cannot run out of bytes.

use super::codec::{MessageError, Segments, builder_of, finish, length, reader};
use crate::frame::Kind;
use crate::trawl_capnp::{batch, line, range, span, window};
use capnp::message::Reader;
use capnp::private::layout::StructSize;
use capnp::struct_list;
use capnp::traits::HasStructSize;

/// Half open, in bytes from the first byte of a line's sent text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

/// A line of a batch that is to be sent, or a run of lines that a match is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its number in the document, from 1; 0: it is no line, but the document's path.
    pub number: u32,
    /// The match's rank; 0 for context.
    pub rank: f32,
    /// Offset of its first byte in the document's text.
    pub offset: u64,
    /// How many bytes of [`Batch::text`] are this line's.
    pub text_bytes: u32,
    /// How many of [`Batch::ranges`] are this line's; none: the line is context.
    pub ranges: u32,
}

/// Of a line that is sent in part: which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index in [`Batch::lines`].
    pub line: u32,
    /// Where in the line the sent text begins, in bytes.
    pub start: u64,
    /// Bytes of the whole line, without its end.
    pub line_bytes: u64,
}

/// Of a match over several lines: how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index in [`Batch::lines`]. Its text is that of all lines, joined by `\n`.
    pub line: u32,
    /// How many lines there are; two at least.
    pub lines: u32,
}

/// The BATCH frame, to be encoded.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Index of the shard in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    /// The document in the shard.
    pub document: u32,
    /// Its package, as its directory was named.
    pub package: &'a [u8],
    /// Its path within the package.
    pub path: &'a [u8],
    /// Its language, empty when unknown.
    pub language: &'a str,
    /// BLAKE3 of its text.
    pub hash: &'a [u8],
    /// The lines' bytes, one after the other, without the `\n` that ends each; a `\r` before it stays.
    pub text: &'a [u8],
    /// Matches and context, ascending by number, each line once.
    pub lines: &'a [Line],
    /// The lines' ranges, in order.
    pub ranges: &'a [Range],
    /// The lines that are sent in part, ascending.
    pub windows: &'a [Window],
    /// The matches over several lines, ascending.
    pub spans: &'a [Span],
}

impl Batch<'_> {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let mut message = builder_of(self.words());
        let mut root = message.init_root::<batch::Builder<'_>>();
        root.set_shard(self.shard);
        root.set_document(self.document);
        root.set_package(self.package);
        root.set_path(self.path);
        root.set_language(self.language);
        root.set_hash(self.hash);
        root.set_text(self.text);
        let mut lines = root.reborrow().init_lines(length(self.lines.len()));
        for (index, line) in (0..).zip(self.lines) {
            let mut entry = lines.reborrow().get(index);
            entry.set_number(line.number);
            entry.set_rank(line.rank);
            entry.set_offset(line.offset);
            entry.set_text_bytes(line.text_bytes);
            entry.set_ranges(line.ranges);
        }
        let mut ranges = root.reborrow().init_ranges(length(self.ranges.len()));
        for (index, range) in (0..).zip(self.ranges) {
            let mut entry = ranges.reborrow().get(index);
            entry.set_start(range.start);
            entry.set_end(range.end);
        }
        if !self.windows.is_empty() {
            let mut windows = root.reborrow().init_windows(length(self.windows.len()));
            for (index, window) in (0..).zip(self.windows) {
                let mut entry = windows.reborrow().get(index);
                entry.set_line(window.line);
                entry.set_start(window.start);
                entry.set_line_bytes(window.line_bytes);
            }
        }
        if !self.spans.is_empty() {
            let mut spans = root.init_spans(length(self.spans.len()));
            for (index, run) in (0..).zip(self.spans) {
                let mut entry = spans.reborrow().get(index);
                entry.set_line(run.line);
                entry.set_lines(run.lines);
            }
        }
        finish(Kind::Batch, &message, out)
    }

    /// How many words the message takes: memory is zeroed for no more, and not copied as it grows.
    pub(super) fn words(&self) -> usize {
        /// A struct's pointer or a list's tag, and its words.
        fn structs<T>(list: &[T], of: StructSize) -> usize {
            1 + list.len() * of.total() as usize
        }
        /// Of a list that is left out when it is empty.
        fn if_any<T>(list: &[T], of: StructSize) -> usize {
            match list.is_empty() {
                true => 0,
                false => structs(list, of),
            }
        }
        fn bytes(data: &[u8]) -> usize {
            data.len().div_ceil(8)
        }
        let root = structs(&[()], batch::Builder::STRUCT_SIZE);
        let names = bytes(self.package) + bytes(self.path) + bytes(self.hash);
        let language = self.language.len() / 8 + 1;
        let lines = structs(self.lines, line::Builder::STRUCT_SIZE);
        let ranges = structs(self.ranges, range::Builder::STRUCT_SIZE);
        let windows = if_any(self.windows, window::Builder::STRUCT_SIZE);
        let spans = if_any(self.spans, span::Builder::STRUCT_SIZE);
        root + names + language + bytes(self.text) + lines + ranges + windows + spans
    }
}

/// A BATCH frame's payload, to be read in place with [`view`](Self::view).
pub struct BatchReader<'a> {
    message: Reader<Segments<'a>>,
}

impl<'a> BatchReader<'a> {
    /// Takes a frame's payload, which must be aligned to 8 bytes.
    pub fn new(payload: &'a [u8]) -> Result<Self, MessageError> {
        Ok(BatchReader {
            message: reader(payload)?,
        })
    }

    /// What the batch holds, once every length in it has been compared with what is there.
    pub fn view(&self) -> Result<BatchView<'_>, MessageError> {
        let root = self.message.get_root::<batch::Reader<'_>>()?;
        let windows = if root.has_windows() {
            Some(root.get_windows()?)
        } else {
            None
        };
        let spans = if root.has_spans() {
            Some(root.get_spans()?)
        } else {
            None
        };
        let view = BatchView {
            shard: root.get_shard(),
            document: root.get_document(),
            package: root.get_package()?,
            path: root.get_path()?,
            language: root.get_language()?.to_str()?,
            hash: root.get_hash()?,
            text: root.get_text()?,
            lines: root.get_lines()?,
            ranges: root.get_ranges()?,
            windows,
            spans,
        };
        view.check()?;
        Ok(view)
    }
}

/// A batch, borrowed from its frame.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    /// Index of the shard in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    /// The document in the shard.
    pub document: u32,
    /// Its package, as its directory was named.
    pub package: &'a [u8],
    /// Its path within the package.
    pub path: &'a [u8],
    /// Its language, empty when unknown.
    pub language: &'a str,
    /// BLAKE3 of its text.
    pub hash: &'a [u8],
    text: &'a [u8],
    lines: struct_list::Reader<'a, line::Owned>,
    ranges: struct_list::Reader<'a, range::Owned>,
    windows: Option<struct_list::Reader<'a, window::Owned>>,
    spans: Option<struct_list::Reader<'a, span::Owned>>,
}

/// A line of a batch, borrowed from its frame, or a run of lines that a match is.
#[derive(Clone, Copy)]
pub struct LineView<'a> {
    /// Its number in the document, from 1, or that of its first line; 0: it is the document's path.
    pub number: u32,
    /// How many lines it is.
    pub lines: u32,
    /// The match's rank; 0 for context.
    pub rank: f32,
    /// Offset of its first byte in the document's text.
    pub offset: u64,
    /// The bytes that were sent, without the line's end.
    pub text: &'a [u8],
    /// Where in the line `text` begins; 0 when the whole line was sent.
    pub start: u64,
    /// Bytes of the whole line, without its end.
    pub line_bytes: u64,
    all_ranges: struct_list::Reader<'a, range::Owned>,
    first_range: u32,
    range_count: u32,
}

impl<'a> LineView<'a> {
    /// Whether the line is a match; else it is the context of one.
    pub fn is_match(&self) -> bool {
        self.range_count > 0
    }

    /// What matched: within `text`, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + use<'a> {
        let ranges = self.all_ranges;
        (self.first_range..self.first_range + self.range_count).map(move |index| {
            let range = ranges.get(index);
            Range {
                start: range.get_start(),
                end: range.get_end(),
            }
        })
    }
}

impl<'a> BatchView<'a> {
    /// Matches and context, ascending by number.
    pub fn lines(&self) -> Lines<'a> {
        Lines {
            batch: *self,
            next: 0,
            text_at: 0,
            range_at: 0,
            window_at: 0,
            span_at: 0,
        }
    }

    /// Goes through all lines once with checked arithmetic. What holds afterwards: the lines' text
    /// and ranges are exactly those that were sent, every range is within its line's text, no line is
    /// sent twice, and every window and run belongs to a line.
    fn check(&self) -> Result<(), MessageError> {
        let (mut text, mut ranges, mut next) = (0_u64, 0_u64, 0_u64);
        let mut spans = self.spans.into_iter().flatten().peekable();
        for (index, line) in (0..).zip(self.lines) {
            let number = u64::from(line.get_number());
            let is_name = self.lines.len() == 1 && self.text == self.path;
            if number < next || (number == 0 && !is_name) {
                return Err(MessageError::Impossible("line number"));
            }
            let run = spans.next_if(|run| run.get_line() == index);
            next = number + u64::from(run.map_or(1, |run| run.get_lines().max(1)));
            text += u64::from(line.get_text_bytes());
            let end = ranges + u64::from(line.get_ranges());
            if end > u64::from(self.ranges.len()) {
                return Err(MessageError::Impossible("number of ranges"));
            }
            for index in ranges..end {
                let range = self.ranges.get(index as u32);
                if range.get_start() > range.get_end() || range.get_end() > line.get_text_bytes() {
                    return Err(MessageError::Impossible("range"));
                }
            }
            ranges = end;
        }
        if text != self.text.len() as u64 || ranges != u64::from(self.ranges.len()) {
            return Err(MessageError::Impossible("number of bytes or ranges"));
        }
        if spans.next().is_some() {
            return Err(MessageError::Impossible("run of lines"));
        }
        self.check_windows()
    }

    fn check_windows(&self) -> Result<(), MessageError> {
        let mut next_line = 0;
        for window in self.windows.into_iter().flatten() {
            let line = window.get_line();
            if line < next_line || line >= self.lines.len() {
                return Err(MessageError::Impossible("window"));
            }
            next_line = line + 1;
            let sent = u64::from(self.lines.get(line).get_text_bytes());
            if window
                .get_start()
                .checked_add(sent)
                .is_none_or(|end| end > window.get_line_bytes())
            {
                return Err(MessageError::Impossible("window"));
            }
        }
        Ok(())
    }
}

/// Iterates over the lines of a checked batch.
#[derive(Clone)]
pub struct Lines<'a> {
    batch: BatchView<'a>,
    next: u32,
    text_at: usize,
    range_at: u32,
    window_at: u32,
    span_at: u32,
}

impl<'a> Iterator for Lines<'a> {
    type Item = LineView<'a>;

    fn next(&mut self) -> Option<LineView<'a>> {
        let line = self.batch.lines.try_get(self.next)?;
        let text = &self.batch.text[self.text_at..][..line.get_text_bytes() as usize];
        let (start, line_bytes) = self.window().unwrap_or((0, text.len() as u64));
        let view = LineView {
            number: line.get_number(),
            lines: self.run().unwrap_or(1),
            rank: line.get_rank(),
            offset: line.get_offset(),
            text,
            start,
            line_bytes,
            all_ranges: self.batch.ranges,
            first_range: self.range_at,
            range_count: line.get_ranges(),
        };
        self.next += 1;
        self.text_at += text.len();
        self.range_at += line.get_ranges();
        Some(view)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.batch.lines.len() - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Lines<'_> {}

impl Lines<'_> {
    /// Start and whole length of the next line, when only a window of it was sent.
    fn window(&mut self) -> Option<(u64, u64)> {
        let window = self.batch.windows?.try_get(self.window_at)?;
        if window.get_line() != self.next {
            return None;
        }
        self.window_at += 1;
        Some((window.get_start(), window.get_line_bytes()))
    }

    /// How many lines the next one is, when it is several.
    fn run(&mut self) -> Option<u32> {
        let run = self.batch.spans?.try_get(self.span_at)?;
        if run.get_line() != self.next {
            return None;
        }
        self.span_at += 1;
        Some(run.get_lines().max(1))
    }
}
