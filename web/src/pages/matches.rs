//! Matches and lines as pages show them.

use super::form::Form;
use super::visible::{self, Piece};
use crate::http::links::FileAddress;
use crate::source::colours::{ColouredParts, DocumentColours};
use frontend::{ContextLine, Document, DocumentRevisions, Match, SearchResult, SpoolError, Window};
use std::ops::Range;

const COPIES_SHOWN_MAX: usize = 10;

/// The file's page shows all.
const LINES_MAX: usize = 50;

const REVISIONS_MAX: usize = 3;

/// First copies of a document, as names and addresses.
#[derive(Clone)]
pub(super) struct CopiesView {
    pub(super) count: u64,
    pub(super) names: Vec<(String, String)>,
    pub(super) more: u64,
    pub(super) more_href: String,
}

#[derive(Default)]
pub(super) struct RevisionsView {
    pub(super) names: Vec<String>,
    pub(super) more: u64,
}

impl From<&DocumentRevisions> for RevisionsView {
    fn from(revisions: &DocumentRevisions) -> Self {
        let (names, more) = revisions.first(REVISIONS_MAX);
        let names = names.iter().map(|name| visible::plain(name.as_bytes()));
        RevisionsView {
            names: names.collect(),
            more: more.into(),
        }
    }
}

pub(super) struct LineView {
    pub(super) number: u32,
    pub(super) href: String,
    pub(super) anchor: String,
    pub(super) hit: bool,
    pub(super) pieces: Vec<Piece>,
    pub(super) cut_before: u64,
    pub(super) cut_after: u64,
}

/// Lines of a match and its context; empty for a match of the name. `address` includes the query,
/// for marks. Lines ascend, as `colours` requires.
pub(super) fn match_lines(
    found: &Match,
    address: FileAddress<'_>,
    colours: &DocumentColours,
) -> Vec<LineView> {
    if found.is_name() {
        return Vec::new();
    }
    let linked = |view: LineView| LineView {
        href: address.show_href(view.number),
        ..view
    };
    let beside =
        |line: &ContextLine| LineView::new(line.line, &line.text, &[], line.window, false, colours);
    if found.window.is_none() {
        let texts = (found.before.iter().map(|line| &line.text[..]))
            .chain(found.text.split(|&byte| byte == b'\n'))
            .chain(found.after.iter().map(|line| &line.text[..]));
        let first = found.before.first().map_or(found.line, |line| line.line);
        colours.guess(first, texts);
    }
    let lines = (found.before.iter().map(beside))
        .chain(hits(found, colours))
        .chain(found.after.iter().map(beside));
    lines.map(linked).collect()
}

impl CopiesView {
    /// Copies, if any. Blocks on the disk.
    pub(super) fn of(
        answer: &SearchResult,
        found: &Match,
        (form, all_href): (&Form, &str),
    ) -> Result<Option<CopiesView>, SpoolError> {
        let query = &form.marking_parameters();
        let Some(copies) = found.copies else {
            return Ok(None);
        };
        let first = 0..COPIES_SHOWN_MAX as u64 + 1;
        let (documents, _) = answer.documents_with_text(copies.position, first)?;
        let others = documents.iter().filter(|other| **other != *found.document);
        let name = |other: &Document| {
            let name = [&other.package[..], &other.path].join(&b'/');
            let address = form.address_of(other);
            let href = FileAddress { query, ..address }.show_href(found.line);
            (visible::plain(&name), href)
        };
        let names: Vec<_> = others.take(COPIES_SHOWN_MAX).map(name).collect();
        Ok(Some(CopiesView {
            count: copies.count,
            more: copies.count.saturating_sub(names.len() as u64),
            names,
            more_href: all_href.to_owned(),
        }))
    }
}

/// Drops matches in copies of earlier documents.
pub(super) fn without_copies(matches: &[Match]) -> impl Iterator<Item = &Match> {
    let is_copy = |found: &Match, other: &Match| {
        let (found, line) = (&found.document, found.line);
        line > 0
            && line == other.line
            && *found != other.document
            && found.hash == other.document.hash
    };
    matches.iter().enumerate().filter_map(move |(at, found)| {
        let mut earlier = matches[..at].iter();
        (!earlier.any(|other| is_copy(found, other))).then_some(found)
    })
}

fn hits(found: &Match, colours: &DocumentColours) -> Vec<LineView> {
    if found.lines == 1 {
        let (line, ranges) = (found.line, &found.ranges);
        return vec![LineView::new(
            line,
            &found.text,
            ranges,
            found.window,
            true,
            colours,
        )];
    }
    let mut start = 0;
    let lines = found.text.split(|&byte| byte == b'\n').map(|text| {
        let line = start..start + text.len();
        start = line.end + 1;
        (within(&found.ranges, line), text)
    });
    let lines = (found.line..).zip(lines).take(LINES_MAX);
    lines
        .map(|(number, (ranges, text))| LineView::new(number, text, &ranges, None, true, colours))
        .collect()
}

/// Clips `ranges` to a line.
pub(super) fn within(ranges: &[Range<usize>], line: Range<usize>) -> Vec<Range<usize>> {
    let part = |range: &Range<usize>| {
        let (start, end) = (range.start.max(line.start), range.end.min(line.end));
        (start < end).then(|| start - line.start..end - line.start)
    };
    ranges.iter().filter_map(part).collect()
}

impl LineView {
    pub(super) fn new(
        number: u32,
        text: &[u8],
        ranges: &[Range<usize>],
        window: Option<Window>,
        hit: bool,
        colours: &DocumentColours,
    ) -> Self {
        // Colours depend on the text before a window, which is unknown.
        let is_whole = window.is_none_or(|window| window.start == 0);
        let tokens = if is_whole {
            colours.tokens(number, text)
        } else {
            ColouredParts::new()
        };
        let mut shown = visible::line(text, ranges, &tokens);
        if let Some(window) = window {
            let behind = window.line_bytes - window.start - text.len() as u64;
            shown.cut_before += window.start;
            shown.cut_after += behind;
        }
        LineView {
            number,
            href: String::new(),
            anchor: String::new(),
            hit,
            pieces: shown.pieces,
            cut_before: shown.cut_before,
            cut_after: shown.cut_after,
        }
    }
}
