//! The BATCH frame: matches of one document with their context.
//!
//! Lines share one blob of text and one list of ranges. A line costs 24 bytes besides its text, a
//! range 8, and shared context is sent once.
//!
//! **Invariant:** [`BatchReader::view`] checks every length against the data, so iterating cannot
//! run out of bytes. Without that check iterating ends early; it never panics.

use super::codec::{MessageError, Segments, builder_of, finish, reader};
use super::document_kind::DocumentKind;
use super::lookup::Signature;
use super::record::{Read, Write, encode_records, encode_values, read_from, record};
use crate::frame::Kind;
use crate::trawl_capnp::{batch, commit_change, line, range, signature, span, window};
use capnp::message::Reader;
use capnp::private::layout::StructSize;
use capnp::traits::HasStructSize;
use capnp::{primitive_list, struct_list, text_list};

/// A repository may have thousands of tags.
pub const REVISIONS_MAX: usize = 64;

/// A ref name may have more than a thousand bytes.
pub const REVISIONS_BYTES_MAX: usize = 4 << 10;

record! {
    /// Half-open range of bytes in a line's text as sent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Range: range {
        pub start: u32 = [get_start, set_start],
        /// Exclusive.
        pub end: u32 = [get_end, set_end],
    }

    /// Line to be sent, or a match over several lines.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Line: line {
        /// From 1; 0 for the document's path.
        pub number: u32 = [get_number, set_number],
        /// 0 for context.
        pub rank: f32 = [get_rank, set_rank],
        pub offset: u64 = [get_offset, set_offset],
        /// Its bytes of [`Batch::text`].
        pub text_bytes: u32 = [get_text_bytes, set_text_bytes],
        pub ranges: u32 = [get_ranges, set_ranges],
    }

    /// Sent part of a line, if not all of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Window: window {
        /// Index in [`Batch::lines`].
        pub line: u32 = [get_line, set_line],
        /// In bytes.
        pub start: u64 = [get_start, set_start],
        /// Without line end.
        pub line_bytes: u64 = [get_line_bytes, set_line_bytes],
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Span: span {
        /// Index in [`Batch::lines`]; that entry has the text of all lines, joined by `\n`.
        pub line: u32 = [get_line, set_line],
        /// At least two.
        pub lines: u32 = [get_lines, set_lines],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CommitChange: commit_change {
        pub author: Signature = [get_author, record init_author],
        pub committer: Signature = [get_committer, record init_committer],
        /// Of a moved file; else empty.
        pub former_path: Vec<u8> = [get_former_path, set_former_path],
        /// First line of the message, or its beginning.
        pub subject: Vec<u8> = [get_subject, set_subject],
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedLine {
    pub number: u32,
    pub is_added: bool,
}

impl ChangedLine {
    /// Twice the number, and one if added; the number saturates.
    pub fn encoded(self) -> u32 {
        self.number.min(u32::MAX >> 1) << 1 | u32::from(self.is_added)
    }

    pub fn decoded(encoded: u32) -> ChangedLine {
        ChangedLine {
            number: encoded >> 1,
            is_added: encoded & 1 == 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Index in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    pub document: u32,
    pub package: &'a [u8],
    pub path: &'a [u8],
    pub language: &'a str,
    pub kind: DocumentKind,
    pub hash: &'a [u8],
    /// Text of all lines without final `\n`; a `\r` stays.
    pub text: &'a [u8],
    /// Matches and context, ascending by number, each line once.
    pub lines: &'a [Line],
    /// In order.
    pub ranges: &'a [Range],
    /// Lines sent in part, ascending.
    pub windows: &'a [Window],
    /// Matches over several lines, ascending.
    pub spans: &'a [Span],
    /// Short names of revisions, the default first, the rest ascending, within [`REVISIONS_MAX`]
    /// and [`REVISIONS_BYTES_MAX`]. Empty for a directory's file.
    pub revisions: &'a [&'a str],
    pub revision_count: u32,
    /// Commit id at which the first revision was indexed, or empty.
    pub commit: &'a str,
    /// In a search for symbols: for each line the bits of the kinds that it defines.
    pub kinds: &'a [u32],
    pub change: Option<&'a CommitChange>,
    /// Of a change of a file, for each line its encoded [`ChangedLine`].
    pub changed_lines: &'a [u32],
}

impl Batch<'_> {
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let mut message = builder_of(self.words());
        let mut root = message.init_root::<batch::Builder<'_>>();
        root.set_shard(self.shard);
        root.set_document(self.document);
        root.set_package(self.package);
        root.set_path(self.path);
        root.set_language(self.language);
        root.set_kind(self.kind.wire());
        root.set_hash(self.hash);
        root.set_text(self.text);
        encode_records!(root.init_lines, self.lines);
        encode_records!(root.init_ranges, self.ranges);
        if !self.windows.is_empty() {
            encode_records!(root.init_windows, self.windows);
        }
        if !self.spans.is_empty() {
            encode_records!(root.init_spans, self.spans);
        }
        if !self.commit.is_empty() {
            root.set_commit(self.commit);
        }
        if self.revision_count > 0 {
            root.set_revision_count(self.revision_count);
            encode_values!(root.init_revisions, self.revisions);
        }
        if !self.kinds.is_empty() {
            root.set_kinds(self.kinds)?;
        }
        if let Some(change) = self.change {
            let mut to = root.init_change();
            change.encode_to(to.reborrow());
            to.set_lines(self.changed_lines)?;
        }
        finish(Kind::Batch, &message, out)
    }

    /// Memory is allocated once, and no more zeroed than needed.
    pub(super) fn words(&self) -> usize {
        fn structs<T>(list: &[T], of: StructSize) -> usize {
            1 + list.len() * of.total() as usize
        }
        /// Words of a list that is omitted when empty.
        fn if_any<T>(list: &[T], of: StructSize) -> usize {
            if list.is_empty() {
                0
            } else {
                structs(list, of)
            }
        }
        fn bytes(data: &[u8]) -> usize {
            data.len().div_ceil(8)
        }
        fn text(text: &str) -> usize {
            text.len() / 8 + 1
        }
        let root = structs(&[()], batch::Builder::STRUCT_SIZE);
        let names = bytes(self.package) + bytes(self.path) + bytes(self.hash);
        let language = text(self.language);
        let revisions = if self.revision_count > 0 {
            let names = self.revisions.iter().map(|name| 1 + text(name));
            names.sum::<usize>()
        } else {
            0
        };
        let commit = if self.commit.is_empty() {
            0
        } else {
            text(self.commit)
        };
        let lines = structs(self.lines, line::Builder::STRUCT_SIZE);
        let ranges = structs(self.ranges, range::Builder::STRUCT_SIZE);
        let windows = if_any(self.windows, window::Builder::STRUCT_SIZE);
        let spans = if_any(self.spans, span::Builder::STRUCT_SIZE);
        let kinds = self.kinds.len().div_ceil(2);
        let change = self.change.map_or(0, |change| {
            let people = [&change.author, &change.committer];
            let names = people.map(|it| bytes(&it.name) + bytes(&it.email));
            let people = 2 * signature::Builder::STRUCT_SIZE.total() as usize;
            let own = commit_change::Builder::STRUCT_SIZE.total() as usize + people;
            own + names[0]
                + names[1]
                + bytes(&change.former_path)
                + bytes(&change.subject)
                + self.changed_lines.len().div_ceil(2)
        });
        let lists = lines + ranges + windows + spans + kinds + change;
        root + names + language + bytes(self.text) + lists + revisions + commit
    }
}

pub(super) fn rank(said: f32) -> Result<f32, MessageError> {
    if said.is_finite() {
        Ok(said)
    } else {
        Err(MessageError::Impossible("rank"))
    }
}

/// Payload of a BATCH frame; [`view`](Self::view) reads it in place.
pub struct BatchReader<'a> {
    message: Reader<Segments<'a>>,
}

impl<'a> BatchReader<'a> {
    /// Wraps a payload, aligned to 8 bytes.
    pub fn new(payload: &'a [u8]) -> Result<Self, MessageError> {
        Ok(BatchReader {
            message: reader(payload)?,
        })
    }

    /// Checks every length in the message and returns its content.
    pub fn view(&self) -> Result<BatchView<'_>, MessageError> {
        let mut view = self.view_again()?;
        view.best_rank = view.check()?;
        Ok(view)
    }

    /// Content of a message that passed [`view`](Self::view). Otherwise iterating ends early, and
    /// ranges may be outside of their line.
    pub fn view_again(&self) -> Result<BatchView<'_>, MessageError> {
        let root = self.message.get_root::<batch::Reader<'_>>()?;
        let windows = root.has_windows().then(|| root.get_windows());
        let spans = root.has_spans().then(|| root.get_spans());
        let revisions = root.has_revisions().then(|| root.get_revisions());
        let kinds = root.has_kinds().then(|| root.get_kinds());
        let change = root.has_change().then(|| root.get_change()).transpose()?;
        let changed_lines = match change {
            Some(change) if change.has_lines() => Some(change.get_lines()?),
            _ => None,
        };
        Ok(BatchView {
            shard: root.get_shard(),
            document: root.get_document(),
            package: root.get_package()?,
            path: root.get_path()?,
            language: root.get_language()?.to_str()?,
            kind: Read::read(root.get_kind())?,
            hash: root.get_hash()?,
            text: root.get_text()?,
            lines: root.get_lines()?,
            ranges: root.get_ranges()?,
            windows: windows.transpose()?,
            spans: spans.transpose()?,
            revisions: revisions.transpose()?,
            revision_count: root.get_revision_count(),
            commit: root.get_commit()?.to_str()?,
            kinds: kinds.transpose()?,
            change,
            changed_lines,
            best_rank: f32::INFINITY,
        })
    }
}

/// Batch, borrowed from its frame.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    pub shard: u32,
    pub document: u32,
    pub package: &'a [u8],
    pub path: &'a [u8],
    pub language: &'a str,
    pub kind: DocumentKind,
    pub hash: &'a [u8],
    /// 0 for a directory's file.
    pub revision_count: u32,
    /// Commit id at which the first of [`revisions`](Self::revisions) was indexed.
    pub commit: &'a str,
    /// Highest rank of a match, a number; infinite if the message was not checked.
    pub best_rank: f32,
    revisions: Option<text_list::Reader<'a>>,
    kinds: Option<primitive_list::Reader<'a, u32>>,
    change: Option<commit_change::Reader<'a>>,
    changed_lines: Option<primitive_list::Reader<'a, u32>>,
    text: &'a [u8],
    lines: struct_list::Reader<'a, line::Owned>,
    ranges: struct_list::Reader<'a, range::Owned>,
    windows: Option<struct_list::Reader<'a, window::Owned>>,
    spans: Option<struct_list::Reader<'a, span::Owned>>,
}

/// Line of a batch, or a match over several lines.
#[derive(Clone, Copy)]
pub struct LineView<'a> {
    /// Number of the (first) line, from 1; 0 for the document's path.
    pub number: u32,
    /// More than 1 for a match over several.
    pub lines: u32,
    /// 0 for context.
    pub rank: f32,
    pub offset: u64,
    /// Sent bytes, without line end.
    pub text: &'a [u8],
    /// Offset of `text` in the line; 0 for a whole line.
    pub start: u64,
    /// Bytes of the whole line, without line end.
    pub line_bytes: u64,
    /// Bits of the kinds of matching definitions.
    pub kinds: u32,
    pub changed: Option<ChangedLine>,
    all_ranges: struct_list::Reader<'a, range::Owned>,
    first_range: u32,
    range_count: u32,
}

impl<'a> LineView<'a> {
    pub fn is_match(&self) -> bool {
        self.range_count > 0
    }

    /// In `text`, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + use<'a> {
        let ranges = self.all_ranges;
        let indexes = self.first_range..self.first_range.saturating_add(self.range_count);
        indexes.map_while(move |index| {
            let range = ranges.try_get(index)?;
            Some(Range {
                start: range.get_start(),
                end: range.get_end(),
            })
        })
    }
}

impl<'a> BatchView<'a> {
    /// Short names of the first revisions, the default first, the rest ascending.
    pub fn revisions(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = self.revisions.into_iter().flat_map(|names| names.iter());
        // Checked by `view`.
        names.map(|name| {
            name.ok()
                .and_then(|name| name.to_str().ok())
                .unwrap_or_default()
        })
    }

    pub fn change(&self) -> Option<CommitChange> {
        // Checked by `view`.
        self.change.and_then(|change| Read::read(change).ok())
    }

    pub fn first_match(&self) -> Option<u32> {
        let mut lines = self.lines.iter();
        let first = lines.find(|line| line.get_ranges() > 0)?;
        Some(first.get_number())
    }

    /// With context, ascending by number.
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

    /// Checks that lines use up text and ranges, ranges stay inside lines, lines are unique, ranks
    /// are numbers, and windows and spans have lines. Returns the highest rank.
    fn check(&self) -> Result<f32, MessageError> {
        let (mut text, mut ranges, mut next) = (0_u64, 0_u64, 0_u64);
        let mut best_rank = f32::NEG_INFINITY;
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
            if end > ranges {
                best_rank = best_rank.max(rank(line.get_rank())?);
            }
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
            return Err(MessageError::Impossible("span of lines"));
        }
        if self
            .kinds
            .is_some_and(|kinds| kinds.len() != self.lines.len())
        {
            return Err(MessageError::Impossible("number of kinds"));
        }
        let changed = self.changed_lines.map(|lines| lines.len());
        if changed.is_some_and(|count| count > 0 && count != self.lines.len()) {
            return Err(MessageError::Impossible("number of changed lines"));
        }
        if let Some(change) = self.change {
            CommitChange::read(change)?;
        }
        self.check_windows()?;
        self.check_revisions()?;
        Ok(best_rank)
    }

    fn check_revisions(&self) -> Result<(), MessageError> {
        if self.revision_count == 0 && !self.commit.is_empty() && self.change.is_none() {
            return Err(MessageError::Impossible("commit"));
        }
        let Some(names) = self.revisions else {
            return Ok(());
        };
        if names.len() as usize > REVISIONS_MAX || names.len() > self.revision_count {
            return Err(MessageError::Impossible("number of revisions"));
        }
        let mut bytes = 0;
        for name in names {
            bytes += name?.to_str()?.len();
        }
        if bytes > REVISIONS_BYTES_MAX {
            return Err(MessageError::Impossible("length of revisions"));
        }
        Ok(())
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
        let text = self.batch.text.get(self.text_at..)?;
        let text = text.get(..line.get_text_bytes() as usize)?;
        let (start, line_bytes) = self.window().unwrap_or((0, text.len() as u64));
        let view = LineView {
            number: line.get_number(),
            lines: self.run().unwrap_or(1),
            rank: line.get_rank(),
            offset: line.get_offset(),
            text,
            start,
            line_bytes,
            kinds: self
                .batch
                .kinds
                .and_then(|all| all.try_get(self.next))
                .unwrap_or_default(),
            changed: self
                .batch
                .changed_lines
                .and_then(|all| all.try_get(self.next))
                .map(ChangedLine::decoded),
            all_ranges: self.batch.ranges,
            first_range: self.range_at,
            range_count: line.get_ranges(),
        };
        self.next += 1;
        self.text_at += text.len();
        self.range_at = self.range_at.saturating_add(line.get_ranges());
        Some(view)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.batch.lines.len() - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Lines<'_> {}

impl Lines<'_> {
    /// Start and whole length of the next line, if a window.
    fn window(&mut self) -> Option<(u64, u64)> {
        let window = self.batch.windows?.try_get(self.window_at)?;
        if window.get_line() != self.next {
            return None;
        }
        self.window_at += 1;
        Some((window.get_start(), window.get_line_bytes()))
    }

    fn run(&mut self) -> Option<u32> {
        let run = self.batch.spans?.try_get(self.span_at)?;
        if run.get_line() != self.next {
            return None;
        }
        self.span_at += 1;
        Some(run.get_lines().max(1))
    }
}
