//! Matches and lines as pages show them.

use super::filters;
use super::visible::{self, Piece};
use crate::colours::{ColouredParts, DocumentColours};
use crate::links::FileAddress;
use askama::Template;
use frontend::{ContextLine, Document, DocumentRevisions, Match, SearchResult, SpoolError, Window};
use std::ops::Range;

/// Copies of a document that are listed with a match.
const COPIES_SHOWN_MAX: usize = 10;

/// Lines of one match that are shown. The page of the file shows all.
const LINES_MAX: usize = 50;

/// Revisions that are named beside a document.
const REVISIONS_MAX: usize = 3;

/// A match: its document and its lines.
pub(super) struct MatchView {
    pub(super) href: String,
    pub(super) package: String,
    /// With marks if the name is the match.
    pub(super) path: Vec<Piece>,
    /// 0 if the name is the match.
    pub(super) line: u32,
    pub(super) language: String,
    pub(super) revisions: RevisionsView,
    pub(super) lines: Vec<LineView>,
    pub(super) copies: Option<CopiesView>,
}

/// The first copies of a document, by their names and addresses, and how many more there are.
#[derive(Clone)]
pub(super) struct CopiesView {
    pub(super) count: u64,
    pub(super) names: Vec<(String, String)>,
    pub(super) more: u64,
    /// The address of the page with all copies.
    pub(super) more_href: String,
}

/// The revisions that have a document.
#[derive(Default)]
pub(super) struct RevisionsView {
    /// The first of them.
    pub(super) names: Vec<String>,
    /// How many more there are.
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

/// A line: its number, and its text as pieces.
pub(super) struct LineView {
    pub(super) number: u32,
    pub(super) href: String,
    pub(super) anchor: String,
    pub(super) hit: bool,
    pub(super) pieces: Vec<Piece>,
    pub(super) cut_before: u64,
    pub(super) cut_after: u64,
}

impl From<&Match> for MatchView {
    fn from(found: &Match) -> Self {
        let colours = DocumentColours::reading(&found.document.language);
        MatchView::new(found, &colours)
    }
}

impl MatchView {
    /// A match in a document with these colours.
    pub(super) fn new(found: &Match, colours: &DocumentColours) -> Self {
        let Document { package, path, .. } = &*found.document;
        let address = FileAddress::of(&found.document);
        let linked = |view: LineView| LineView {
            href: address.show_href(view.number),
            ..view
        };
        let beside = |line: &ContextLine| {
            LineView::new(line.line, &line.text, &[], line.window, false, colours)
        };
        let hits = if found.is_name() {
            Vec::new()
        } else {
            hits(found, colours)
        };
        let lines = (found.before.iter().map(beside))
            .chain(hits)
            .chain(found.after.iter().map(beside));
        MatchView {
            href: address.show_href(found.line),
            package: visible::plain(package),
            path: if found.is_name() {
                visible::pieces(&found.text, &found.ranges, &[])
            } else {
                visible::pieces(path, &[], &[])
            },
            line: found.line,
            language: found.document.language.clone(),
            revisions: (&found.document.revisions).into(),
            lines: lines.map(linked).collect(),
            copies: None,
        }
    }
}

impl CopiesView {
    /// The copies of a match's document; `None` if it has none. Blocks on the disk.
    fn of(
        answer: &SearchResult,
        found: &Match,
        all_href: &str,
    ) -> Result<Option<CopiesView>, SpoolError> {
        let Some(copies) = found.copies else {
            return Ok(None);
        };
        let first = 0..COPIES_SHOWN_MAX as u64 + 1;
        let (documents, _) = answer.documents_with_text(copies.position, first)?;
        let others = documents.iter().filter(|other| **other != *found.document);
        let name = |other: &Document| {
            let name = [&other.package[..], &other.path].join(&b'/');
            let href = FileAddress::of(other).show_href(found.line);
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

/// Views of matches with the copies of their documents. `all_href` is the address of the page that shows
/// all copies. Blocks on the disk.
pub(super) fn views_with_copies(
    answer: &SearchResult,
    matches: &[Match],
    all_href: &str,
) -> Result<Vec<MatchView>, SpoolError> {
    let view = |found: &Match| {
        let copies = CopiesView::of(answer, found, all_href)?;
        Ok(MatchView {
            copies,
            ..MatchView::from(found)
        })
    };
    matches.iter().map(view).collect()
}

/// Returns the best matches so far without those in copies of documents that come before them.
fn without_copies(matches: &[Match]) -> impl Iterator<Item = &Match> {
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

/// Returns the lines of a match, each with its share of the ranges.
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

/// Returns the parts of `ranges` that are in a line, relative to its start.
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
        // What comes before a part of a line is not known.
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

/// Renders a list of the best matches so far, for a page that is already open.
pub(crate) fn match_list(matches: &[Match]) -> String {
    #[derive(Template)]
    #[template(path = "matches.html")]
    struct MatchList {
        matches: Vec<MatchView>,
    }
    let list = MatchList {
        matches: views(matches),
    };
    list.render().expect("a page fits in memory")
}

/// Views of the best matches so far.
pub(super) fn views(matches: &[Match]) -> Vec<MatchView> {
    without_copies(matches).map(MatchView::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn found(text: &[u8]) -> Match {
        Match {
            document: Arc::new(Document {
                package: b"<b>p".to_vec(),
                path: b"a/\"><script>".to_vec(),
                language: "C".to_owned(),
                hash: vec![],
                revisions: DocumentRevisions::default(),
            }),
            line: 3,
            lines: 1,
            text: text.to_vec(),
            ranges: vec![0..1],
            before: vec![],
            after: vec![],
            rank: 1.0,
            offset: 0,
            window: None,
            copies: None,
        }
    }

    #[test]
    fn escapes_every_text_of_a_match() {
        let html = render(&found(b"<script>alert('x')&</script>"));
        for markup in ["<script", "<b>p", "/\"><", "alert('x')"] {
            assert!(!html.contains(markup), "{markup} in {html}");
        }
        assert!(html.contains("%22%3E%3Cscript%3E"), "{html}");
    }

    #[test]
    fn names_a_few_revisions_and_links_to_the_commit() {
        let mut found = found(b"x");
        let document = Arc::make_mut(&mut found.document);
        document.revisions = DocumentRevisions {
            names: ["main", "a<b>", "c", "d"].map(str::to_owned).to_vec(),
            count: 12,
            commit: "12".repeat(20),
        };
        let html = render(&found);
        assert!(html.contains("a&#60;b&#62;</span>"), "{html}");
        assert!(
            html.contains(">+9</span>") && !html.contains(">d<"),
            "{html}"
        );
        assert!(
            html.contains(&format!("&#38;rev={}", "12".repeat(20))),
            "{html}"
        );
    }

    fn render(found: &Match) -> String {
        match_list(std::slice::from_ref(found))
    }

    #[test]
    fn shows_every_line_of_a_match() {
        let mut several = found(b"one {\ntwo\n}");
        (several.lines, several.ranges) = (3, vec![4..10]);
        let html = render(&several);
        let marked = ["one <mark>{</mark>", "<mark>two</mark>", "<code>}</code>"];
        assert!(marked.iter().all(|line| html.contains(line)), "{html}");
        let numbers = [">3</a>", ">4</a>", ">5</a>"];
        assert!(numbers.iter().all(|number| html.contains(number)), "{html}");
        several.text = b"x\n".repeat(1000);
        assert_eq!(render(&several).matches("class=\"number\"").count(), 50);
    }

    #[test]
    fn a_matching_name_links_to_the_file() {
        let mut name = found(b"a/\"><script>");
        (name.line, name.ranges) = (0, vec![3..5]);
        let html = render(&name);
        assert!(html.contains("<mark>&#62;&#60;</mark>script"), "{html}");
        assert!(
            !html.contains("class=\"code\"") && !html.contains("line="),
            "{html}"
        );
    }
}
