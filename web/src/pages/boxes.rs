//! Boxes: the matches of one file on a page of results.
//!
//! Grouped by file, a box has several matches, ascending, with gaps; otherwise one. No line appears
//! twice.

use super::filters;
use super::form::Form;
use super::versions::RevisionLinks;
use super::visible::{self, Piece, SHORT, VisibleLine};
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::http::site::Site;
use crate::model::kind_name;
use crate::source::colours::{ColouredParts, DocumentColours, PageColours};
use crate::symbols::Enclosing;
use askama::Template;
use frontend::query::date_shown;
use frontend::{ContextLine, Document, Match, SearchResult, SpoolError, Window, shown_place};
use std::ops::Range;

pub(super) struct BoxView {
    /// For the script.
    pub(super) key: String,
    pub(super) href: String,
    pub(super) raw_href: String,
    /// `None` if the name is not UTF-8.
    pub(super) export_href: Option<String>,
    pub(super) package: String,
    /// With marks if the name is the match.
    pub(super) path: Vec<Piece>,
    /// 0 for several matches or a match of the name.
    pub(super) line: u32,
    pub(super) language: String,
    pub(super) revisions: RevisionLinks,
    pub(super) commit: Option<CommitView>,
    pub(super) rows: Vec<LineView>,
    /// Matches of the file, if counted and more than one.
    pub(super) total: Option<u64>,
    pub(super) more: Option<More>,
    pub(super) copies: Option<CopiesView>,
}

pub(super) struct More {
    pub(super) count: Option<u64>,
    pub(super) href: Option<String>,
    /// True if `href` continues the box instead of replacing its lines.
    pub(super) continues: bool,
}

impl BoxView {
    /// Matches of one document, in line order.
    ///
    /// # Panics
    /// Without a match.
    pub(super) fn new(form: &Form, matches: &[Match], colours: &PageColours) -> BoxView {
        let (first, best) = (&matches[0], best(matches));
        let document = &*first.document;
        let address = form.address_of(document);
        let query = form.marking_parameters();
        let line = if matches.len() == 1 {
            shown_place(first.line, first.changed).0
        } else {
            0
        };
        let commit = CommitView::of(document);
        let of_commit = commit.as_ref().and_then(|it| it.href.clone());
        let is_after = best.changed.is_none_or(|changed| changed.is_added);
        let of_commit = of_commit.filter(|_| {
            first.is_name() || !is_after || commit.as_ref().is_some_and(|it| it.is_message)
        });
        let alone = names(first).filter(|_| !form.q.is_empty());
        let colours = colours.of(document);
        let named = matches.iter().find(|found| found.is_name());
        BoxView {
            key: address.show_href(line),
            // Pages of files cannot mark a match of the name.
            href: match of_commit {
                Some(href) => href,
                None if first.is_name() => address.show_href(0),
                None => {
                    let line = shown_place(best.line, best.changed).0;
                    address.with_query(&query).show_href(line)
                }
            },
            raw_href: address.raw_href(),
            export_href: alone
                .map(|(package, path)| form.in_document(package, path).href_export("jsonl")),
            package: visible::plain(&document.package),
            path: named.map_or_else(
                || visible::pieces(&document.path, &[], &[]),
                |found| visible::pieces(&found.text, &found.ranges, &[]),
            ),
            line,
            language: document.language.clone(),
            revisions: RevisionLinks::of(&document.revisions, address),
            commit,
            rows: rows(matches, address.with_query(&query), &colours),
            total: None,
            more: None,
            copies: None,
        }
    }

    pub(super) fn is_message(&self) -> bool {
        self.commit.as_ref().is_some_and(|commit| commit.is_message)
    }

    /// `total` is the document's, if counted.
    pub(super) fn of_document(
        form: &Form,
        total: Option<u64>,
        matches: &[Match],
        colours: &PageColours,
    ) -> BoxView {
        let mut view = BoxView::new(form, matches, colours);
        let shown = matches.len() as u64;
        let is_all = total.is_some_and(|total| total <= shown) || matches[0].is_name();
        view = view.about_file(form, &matches[0]);
        view.total = total.filter(|&total| total > 1);
        view.more = (!is_all).then(|| More {
            count: total.map(|total| total - shown),
            href: names(&matches[0]).map(|(package, path)| form.in_document(package, path).href(0)),
            continues: false,
        });
        view
    }

    /// Names the definitions around matches, once for those that follow each other.
    pub(super) fn enclose(&mut self, form: &Form, document: &Document, enclosing: &Enclosing) {
        let (mut first, mut last) = (0, None);
        for at in 0..self.rows.len() {
            if self.rows[at].gap {
                first = at;
            }
            if !self.rows[at].hit {
                continue;
            }
            let around = enclosing.at(document, self.rows[at].number);
            let is_new = around != last;
            last = around;
            self.rows[first].inside = around.filter(|_| is_new).map(|it| InsideView {
                kind: kind_name(it.kind),
                parent: visible::plain(&it.parent),
                name: visible::plain(&it.name),
                href: form.address_of(document).show_href(it.line),
            });
            first = at + 1;
        }
    }

    pub(super) fn about_file(mut self, form: &Form, found: &Match) -> BoxView {
        self.key = form.address_of(&found.document).show_href(0);
        self.line = 0;
        self
    }
}

pub(super) struct CommitView {
    pub(super) id: String,
    pub(super) href: Option<String>,
    pub(super) subject: String,
    pub(super) author: String,
    pub(super) date: String,
    pub(super) is_message: bool,
}

impl CommitView {
    fn of(document: &Document) -> Option<CommitView> {
        let change = document.change.as_ref()?;
        let id = &document.revisions.commit;
        let repo = str::from_utf8(&document.package).ok();
        let address = repo.map(|repo| RepositoryAddress { repo, rev: id });
        Some(CommitView {
            id: id.chars().take(ID_DIGITS).collect(),
            href: address.map(RepositoryAddress::commit_href),
            subject: visible::plain(&change.subject),
            author: visible::plain(&change.author.name),
            date: date_shown(change.committer.seconds),
            is_message: document.path == id.as_bytes(),
        })
    }
}

/// `None` if filters cannot contain them.
pub(super) fn names(found: &Match) -> Option<(&str, &str)> {
    let document = &found.document;
    let package = str::from_utf8(&document.package).ok()?;
    Some((package, str::from_utf8(&document.path).ok()?))
}

/// Highest rank; of equal ones the first.
fn best(matches: &[Match]) -> &Match {
    let best = matches
        .iter()
        .min_by(|one, other| other.rank.total_cmp(&one.rank));
    best.expect("a box has a match")
}

fn rows(matches: &[Match], address: FileAddress<'_>, colours: &DocumentColours) -> Vec<LineView> {
    let lines = matches.iter();
    let mut rows: Vec<_> = lines
        .flat_map(|found| match_lines(found, address, colours))
        .collect();
    let mut last = None;
    for line in &mut rows {
        line.gap = last.is_some_and(|last: u32| line.number > last.saturating_add(1));
        last = Some(line.number);
    }
    place(&mut rows, matches, address);
    rows
}

/// Gives lines of changes their numbers in the file. `address` has the lines after the commit.
fn place(rows: &mut [LineView], matches: &[Match], address: FileAddress<'_>) {
    for found in matches {
        let Some(changed) = found.changed else {
            if found.document.change.is_some() {
                rows.iter_mut().for_each(|row| row.href.clear());
            }
            continue;
        };
        let own = found.line..found.line.saturating_add(found.lines.max(1));
        for row in rows
            .iter_mut()
            .filter(|row| own.contains(&row.number) && row.mark.is_empty())
        {
            row.number = changed.number.saturating_add(row.number - found.line);
            row.mark = if changed.is_added { "+" } else { "-" };
            row.href = match changed.is_added {
                true => address.show_href(row.number),
                false => String::new(),
            };
        }
    }
}

pub(super) fn fragment(boxes: Vec<BoxView>, site: &Site) -> String {
    #[derive(Template)]
    #[template(path = "boxes.html")]
    struct Boxes {
        boxes: Vec<BoxView>,
    }
    site.render(&Boxes { boxes })
}

const ID_DIGITS: usize = 8;

const COPIES_SHOWN_MAX: usize = 10;

/// The file's page shows all.
const LINES_MAX: usize = 50;

/// First copies of a document, as names and addresses.
#[derive(Clone)]
pub(super) struct CopiesView {
    pub(super) count: u64,
    pub(super) names: Vec<(String, String)>,
    pub(super) more: u64,
    pub(super) more_href: String,
}

pub(super) struct LineView {
    pub(super) number: u32,
    /// `+` or `-` of a changed line.
    pub(super) mark: &'static str,
    pub(super) href: String,
    /// Follows lines that are not shown.
    pub(super) gap: bool,
    pub(super) hit: bool,
    pub(super) inside: Option<InsideView>,
    pub(super) shown: VisibleLine,
}

pub(super) struct InsideView {
    pub(super) kind: &'static str,
    pub(super) parent: String,
    pub(super) name: String,
    pub(super) href: String,
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
    let view = |number, text: &[u8], ranges: &[_], window, hit| LineView {
        number,
        mark: "",
        href: address.show_href(number),
        gap: false,
        hit,
        inside: None,
        shown: shown((number, text), ranges, window, colours),
    };
    let beside = |line: &ContextLine| view(line.line, &line.text, &[], line.window, false);
    if found.window.is_none() {
        let texts = (found.before.iter().map(|line| &line.text[..]))
            .chain(found.text.split(|&byte| byte == b'\n'))
            .chain(found.after.iter().map(|line| &line.text[..]));
        let first = found.before.first().map_or(found.line, |line| line.line);
        colours.guess(first, texts);
    }
    let mut hits = Vec::new();
    if found.lines == 1 {
        hits.push(view(
            found.line,
            &found.text,
            &found.ranges,
            found.window,
            true,
        ));
    } else {
        for (number, text, ranges) in lines_of(found).take(LINES_MAX) {
            hits.push(view(number, text, &ranges, None, true));
        }
    }
    let before = found.before.iter().map(beside);
    let after = found.after.iter().map(beside);
    before.chain(hits).chain(after).collect()
}

/// `window` is the part of a long line that was sent.
fn shown(
    (number, text): (u32, &[u8]),
    ranges: &[Range<usize>],
    window: Option<Window>,
    colours: &DocumentColours,
) -> VisibleLine {
    // Colours depend on the text before a window, which is unknown.
    let tokens = match window {
        Some(window) if window.start > 0 => ColouredParts::new(),
        _ => colours.tokens(number, text),
    };
    let mut shown = visible::line(text, ranges, &tokens, SHORT);
    if let Some(window) = window {
        shown.cut_before += window.start;
        shown.cut_after += window.line_bytes - window.start - text.len() as u64;
    }
    shown
}

impl CopiesView {
    /// Blocks on the disk.
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
            let href = address.with_query(query).show_href(found.line);
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

pub(super) fn without_copies(matches: &[Match], folds: bool) -> impl Iterator<Item = &Match> {
    let is_copy = |found: &Match, other: &Match| {
        let (found, line) = (&found.document, found.line);
        line > 0
            && line == other.line
            && *found != other.document
            && found.hash == other.document.hash
    };
    matches.iter().enumerate().filter_map(move |(at, found)| {
        let mut earlier = matches[..at].iter();
        (!folds || !earlier.any(|other| is_copy(found, other))).then_some(found)
    })
}

pub(super) fn lines_of(found: &Match) -> impl Iterator<Item = (u32, &[u8], Vec<Range<usize>>)> {
    let texts = found.text.split(|&byte| byte == b'\n');
    let mut start = 0;
    (found.line..).zip(texts).map(move |(number, text)| {
        let ranges = within(&found.ranges, start..start + text.len());
        start += text.len() + 1;
        (number, text, ranges)
    })
}

fn within(ranges: &[Range<usize>], line: Range<usize>) -> Vec<Range<usize>> {
    let part = |range: &Range<usize>| {
        let (start, end) = (range.start.max(line.start), range.end.min(line.end));
        (start < end).then(|| start - line.start..end - line.start)
    };
    ranges.iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::DocumentRevisions;
    use std::sync::Arc;

    fn found(text: &[u8]) -> Match {
        Match {
            document: Arc::new(Document {
                package: b"<b>p".to_vec(),
                path: b"a/\"><script>".to_vec(),
                language: "C".to_owned(),
                hash: vec![],
                revisions: DocumentRevisions::default(),
                change: None,
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
            kinds: 0,
            changed: None,
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
        assert!(html.contains("a&#60;b&#62;</a>"), "{html}");
        assert!(
            html.contains(">+9</span>") && !html.contains(">d<"),
            "{html}"
        );
        assert!(
            html.contains(&format!("&#38;rev={}", "12".repeat(20))),
            "{html}"
        );
    }

    #[test]
    fn links_carry_the_query_unless_it_is_long_or_the_name_is_the_match() {
        let mut form = Form {
            q: "x y".to_owned(),
            word: true,
            ..Form::default()
        };
        let mut found = found(b"x");
        let html = render_for(&form, &found);
        let query = "&#38;q=x%20y&#38;word=yes&#38;line=3#L3";
        assert_eq!(html.matches(query).count(), 2, "{html}");
        form.q = "x".repeat(1000);
        assert!(!render_for(&form, &found).contains("&#38;q="));
        (form.q, found.line) = ("x".to_owned(), 0);
        assert!(!render_for(&form, &found).contains("&#38;q="));
    }

    fn render(found: &Match) -> String {
        render_for(&Form::default(), found)
    }

    fn render_for(form: &Form, found: &Match) -> String {
        let (found, colours) = (std::slice::from_ref(found), PageColours::default());
        fragment(vec![BoxView::new(form, found, &colours)], &form.site)
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
