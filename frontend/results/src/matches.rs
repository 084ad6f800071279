//! A match with context, decoded from a BATCH frame.
//!
//! Text and names are bytes and may not be UTF-8.

use crate::history::{about_commit, commit_name, shown_place};
use schema::line_text::LineText;
use schema::message::{BatchView, ChangedLine, CommitChange, LineView};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    pub document: Arc<Document>,
    /// Line number from 1, the first of a span; 0 if the name matches.
    pub line: u32,
    /// Number of lines, above 1 for a span.
    pub lines: u32,
    /// Line without its end, or a part (see `window`); lines of a span joined by `\n`; the
    /// path if the name matches.
    pub text: Vec<u8>,
    /// Ascending byte ranges of `text` that matched.
    pub ranges: Vec<Range<usize>>,
    pub before: Vec<ContextLine>,
    pub after: Vec<ContextLine>,
    pub rank: f32,
    /// Byte offset of the line in the text.
    pub offset: u64,
    /// Part of the line in `text`, if not the whole.
    pub window: Option<Window>,
    /// In a search for symbols: bits of the kinds of the names in `ranges`.
    pub kinds: u32,
    pub changed: Option<ChangedLine>,
    /// Copies of its document; `None` if there are none or they are unknown.
    pub copies: Option<Copies>,
}

/// Other documents with equal text and matching lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// At least one.
    pub count: u64,
    /// Position of the match in the order, to list them.
    pub position: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Document {
    pub package: Vec<u8>,
    pub path: Vec<u8>,
    /// Language, empty if unknown.
    pub language: String,
    /// BLAKE3 of its text.
    pub hash: Vec<u8>,
    pub revisions: DocumentRevisions,
    pub change: Option<Box<CommitChange>>,
}

/// Revisions of a git repository with a document; empty for a directory's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DocumentRevisions {
    /// First short names: the default, then ascending.
    pub names: Vec<String>,
    pub count: u32,
    /// Commit at which the first was indexed, or empty.
    pub commit: String,
}

impl DocumentRevisions {
    /// First `most` names, and the number of further ones.
    pub fn first(&self, most: usize) -> (&[String], u32) {
        let names = &self.names[..self.names.len().min(most)];
        (names, self.count.saturating_sub(names.len() as u32))
    }
}

impl Document {
    pub(super) fn of(batch: &BatchView<'_>) -> Document {
        Document {
            package: batch.package.to_vec(),
            path: batch.path.to_vec(),
            language: batch.language.to_owned(),
            hash: batch.hash.to_vec(),
            revisions: DocumentRevisions {
                names: batch.revisions().map(str::to_owned).collect(),
                count: batch.revision_count,
                commit: batch.commit.to_owned(),
            },
            change: batch.change().map(Box::new),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ContextLine {
    /// From 1.
    pub line: u32,
    /// Line without its end; empty for a long line.
    pub text: Vec<u8>,
    /// Set for a long line.
    pub window: Option<Window>,
}

/// A part of a long line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Byte offset in the line.
    pub start: u64,
    /// Bytes of the whole line.
    pub line_bytes: u64,
}

pub(super) const MATCH_BYTES: usize = size_of::<Match>();

impl Match {
    /// Matches in these lines; `None` for one that is no match.
    pub(crate) fn each(
        batch: &BatchView<'_>,
        indexes: &[u32],
        context_lines: u32,
    ) -> impl Iterator<Item = Option<Match>> {
        let lines: Vec<_> = batch.lines().collect();
        let document = Arc::new(Document::of(batch));
        let indexes = indexes.iter();
        indexes.map(move |&at| Match::one(&document, &lines, at as usize, context_lines as usize))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let context = self.before.iter().chain(&self.after);
        let context = context.map(|line| size_of::<ContextLine>() + line.text.len());
        let bytes = self.text.len() + size_of_val(&self.ranges[..]);
        MATCH_BYTES + bytes + context.sum::<usize>()
    }

    fn one(
        document: &Arc<Document>,
        lines: &[LineView<'_>],
        index: usize,
        context_lines: usize,
    ) -> Option<Match> {
        let line = lines.get(index).filter(|line| line.is_match())?;
        let range = |range: schema::message::Range| range.start as usize..range.end as usize;
        let above = lines[..index].iter().rev();
        let above = above.flat_map(|line| ContextLine::all(line).rev());
        let before = neighbours(line.number, above, |n, by| n.checked_sub(by));
        let mut before: Vec<_> = before.take(context_lines).collect();
        before.reverse();
        // A span's context begins after its last line.
        let last = line.number.saturating_add(line.lines.saturating_sub(1));
        let below = lines[index + 1..].iter().flat_map(ContextLine::all);
        let after = neighbours(last, below, |n, by| n.checked_add(by));
        Some(Match {
            document: Arc::clone(document),
            line: line.number,
            lines: line.lines,
            text: line.text.to_vec(),
            ranges: line.ranges().map(range).collect(),
            before,
            after: after.take(context_lines).collect(),
            rank: line.rank,
            offset: line.offset,
            window: Window::of(line),
            kinds: line.kinds,
            changed: line.changed,
            copies: None,
        })
    }

    /// True if the name matches, not a line.
    pub fn is_name(&self) -> bool {
        self.line == 0
    }

    /// Appends `package/path:line:text` for each line, or `package/path` for a name.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let mut text = LineText::default();
        let of = &*self.document;
        match &of.change {
            None => text.begin(&of.package, &of.path),
            Some(change) => {
                let name = commit_name(&of.package, &of.revisions.commit, &of.path);
                text.begin_named(&[&name], &about_commit(change));
            }
        }
        let place = (self.line, self.changed);
        push_match(&mut text, place, (self.lines, &self.text), out);
    }
}

/// Gapless lines next to line `number` in one direction.
fn neighbours(
    number: u32,
    lines: impl Iterator<Item = ContextLine>,
    step: impl Fn(u32, u32) -> Option<u32>,
) -> impl Iterator<Item = ContextLine> {
    let is_next =
        move |(distance, line): &(u32, ContextLine)| Some(line.line) == step(number, *distance);
    (1..).zip(lines).take_while(is_next).map(|(_, line)| line)
}

impl ContextLine {
    /// Splits a line or span into lines; none if a span was cut.
    fn all(line: &LineView<'_>) -> impl DoubleEndedIterator<Item = ContextLine> + use<> {
        let all = match (line.lines, Window::of(line)) {
            (1, _) => vec![ContextLine::of(line)],
            (_, Some(_)) => Vec::new(),
            (_, None) => {
                let texts = line.text.split(|&byte| byte == b'\n');
                let numbered = (line.number..).zip(texts);
                let one = |(line, text): (u32, &[u8])| ContextLine {
                    line,
                    text: text.to_vec(),
                    window: None,
                };
                numbered.map(one).collect()
            }
        };
        all.into_iter()
    }

    /// Omits the text of a cut line, since its sent part depends on the division into batches.
    fn of(line: &LineView<'_>) -> ContextLine {
        let window = Window::of(line).map(|window| Window { start: 0, ..window });
        let text = match window {
            Some(_) => Vec::new(),
            None => line.text.to_vec(),
        };
        ContextLine {
            line: line.number,
            text,
            window,
        }
    }
}

impl Window {
    fn of(line: &LineView<'_>) -> Option<Window> {
        let whole = line.start == 0 && line.line_bytes == line.text.len() as u64;
        (!whole).then_some(Window {
            start: line.start,
            line_bytes: line.line_bytes,
        })
    }
}

/// Appends a match, given by its first line, their number and text, as [`Match::write_text`] does.
pub(super) fn push_match(
    text: &mut LineText,
    (number, changed): (u32, Option<ChangedLine>),
    (count, lines): (u32, &[u8]),
    out: &mut Vec<u8>,
) {
    let (first, mark) = shown_place(number, changed);
    match (number, count) {
        // A name match has no line.
        (0, _) => text.push_name(out),
        (_, 1) => text.push_marked(first, mark, lines, out),
        _ => {
            let lines = (first..).zip(lines.split(|&byte| byte == b'\n'));
            lines.for_each(|(number, line)| text.push_marked(number, mark, line, out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::frame::{HEADER_BYTES, decode};
    use schema::message::{Batch, BatchReader, DocumentKind, Line, Span};
    use zerocopy::IntoBytes;

    fn one(view: &BatchView<'_>, index: u32, context: u32) -> Option<Match> {
        Match::each(view, &[index], context).next()?
    }

    fn check(numbers: &[u32], index: u32, context: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        check_with(&[], numbers, index, context)
    }

    fn check_with(
        runs: &[Span],
        numbers: &[u32],
        index: u32,
        context: u32,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let lines: Vec<_> = numbers
            .iter()
            .map(|&number| Line {
                number,
                rank: 1.0,
                offset: 0,
                text_bytes: 1,
                ranges: 1,
            })
            .collect();
        let ranges = vec![schema::message::Range { start: 0, end: 1 }; lines.len()];
        let batch = Batch {
            shard: 0,
            document: 0,
            package: b"p",
            path: b"d",
            language: "",
            kind: DocumentKind::Source,
            hash: &[],
            text: &vec![b'x'; lines.len()],
            lines: &lines,
            ranges: &ranges,
            windows: &[],
            spans: runs,
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        let mut bytes = Vec::new();
        batch.encode(&mut bytes).unwrap();
        decode(&bytes).unwrap().unwrap();
        let mut words = vec![0_u64; (bytes.len() - HEADER_BYTES) / 8];
        words.as_mut_bytes().copy_from_slice(&bytes[HEADER_BYTES..]);
        let reader = BatchReader::new(words.as_bytes()).unwrap();
        let view = reader.view().unwrap();
        let found = one(&view, index, context)?;
        let numbers = |lines: &[ContextLine]| lines.iter().map(|line| line.line).collect();
        Some((numbers(&found.before), numbers(&found.after)))
    }

    #[test]
    fn spans_are_split_into_context_lines() {
        let line = |number, text_bytes| Line {
            number,
            rank: 1.0,
            offset: 0,
            text_bytes,
            ranges: 1,
        };
        let batch = Batch {
            shard: 0,
            document: 0,
            package: b"p",
            path: b"d",
            language: "",
            kind: DocumentKind::Source,
            hash: &[],
            text: b"a\nb\ncdx\ny",
            lines: &[line(3, 5), line(6, 1), line(7, 3)],
            ranges: &[schema::message::Range { start: 0, end: 1 }; 3],
            windows: &[],
            spans: &[
                schema::message::Span { line: 0, lines: 3 },
                schema::message::Span { line: 2, lines: 2 },
            ],
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        let mut bytes = Vec::new();
        batch.encode(&mut bytes).unwrap();
        let mut words = vec![0_u64; (bytes.len() - HEADER_BYTES) / 8];
        words.as_mut_bytes().copy_from_slice(&bytes[HEADER_BYTES..]);
        let reader = BatchReader::new(words.as_bytes()).unwrap();
        let found = one(&reader.view().unwrap(), 1, 2).unwrap();
        let shown = |lines: &[ContextLine]| {
            let shown = lines.iter().map(|line| (line.line, line.text.clone()));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(
            shown(&found.before),
            [(4, b"b".to_vec()), (5, b"c".to_vec())]
        );
        assert_eq!(
            shown(&found.after),
            [(7, b"x".to_vec()), (8, b"y".to_vec())]
        );
    }

    #[test]
    fn context_ends_at_the_first_gap() {
        let numbers = [1, 3, 4, 5, 6, 8];
        assert_eq!(check(&numbers, 3, 2), Some((vec![3, 4], vec![6])));
        assert_eq!(check(&numbers, 0, 2), Some((vec![], vec![])));
        assert_eq!(check(&numbers, 3, 0), Some((vec![], vec![])));
        assert_eq!(
            check(&[u32::MAX - 1, u32::MAX], 1, 2),
            Some((vec![u32::MAX - 1], vec![]))
        );
        assert_eq!(check(&numbers, 6, 2), None);
    }

    #[test]
    fn context_begins_after_the_last_line_of_a_span() {
        let run = [Span { line: 1, lines: 3 }];
        let numbers = [3, 4, 7, 8];
        assert_eq!(check_with(&run, &numbers, 1, 1), Some((vec![3], vec![7])));
        let far = [3, 4, 8];
        assert_eq!(check_with(&run, &far, 1, 1), Some((vec![3], vec![])));
    }
}
