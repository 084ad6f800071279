//! Boxes: the matches of one file on a page of results.
//!
//! Grouped by file, a box has the lines of several matches, ascending, with gaps between them. In
//! other groups it has one match. No line appears twice.

use super::filters;
use super::form::Form;
use super::matches::{CopiesView, LineView, RevisionsView, match_lines};
use super::visible::{self, Piece};
use crate::http::links::FileAddress;
use crate::http::site::Site;
use crate::source::colour_cache::PageColours;
use crate::source::colours::DocumentColours;
use askama::Template;
use frontend::{Match, SearchResult, SpoolError};

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
    pub(super) revisions: RevisionsView,
    pub(super) rows: Vec<Row>,
    /// Matches of the file, if counted and more than one.
    pub(super) total: Option<u64>,
    pub(super) more: Option<More>,
    pub(super) copies: Option<CopiesView>,
}

pub(super) struct Row {
    pub(super) gap: bool,
    pub(super) line: LineView,
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
        let line = if matches.len() == 1 { first.line } else { 0 };
        let alone = names(first).filter(|_| !form.q.is_empty());
        let colours = colours.of(document);
        let named = matches.iter().find(|found| found.is_name());
        BoxView {
            key: address.show_href(line),
            // Pages of files cannot mark a match of the name.
            href: if first.is_name() {
                address.show_href(0)
            } else {
                FileAddress {
                    query: &query,
                    ..address
                }
                .show_href(best.line)
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
            revisions: (&document.revisions).into(),
            rows: rows(
                matches,
                FileAddress {
                    query: &query,
                    ..address
                },
                &colours,
            ),
            total: None,
            more: None,
            copies: None,
        }
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

    pub(super) fn about_file(mut self, form: &Form, found: &Match) -> BoxView {
        self.key = form.address_of(&found.document).show_href(0);
        self.line = 0;
        self
    }

    pub(super) fn with_copies(
        mut self,
        answer: &SearchResult,
        found: &Match,
        form: &Form,
        all_href: &str,
    ) -> Result<BoxView, SpoolError> {
        self.copies = CopiesView::of(answer, found, (form, all_href))?;
        Ok(self)
    }
}

/// Names of a document, if filters can contain them.
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

fn rows(matches: &[Match], address: FileAddress<'_>, colours: &DocumentColours) -> Vec<Row> {
    let mut last = None;
    let lines = matches
        .iter()
        .flat_map(|found| match_lines(found, address, colours));
    let row = |line: LineView| {
        let gap = last.is_some_and(|last: u32| line.number > last.saturating_add(1));
        last = Some(line.number);
        Row { gap, line }
    };
    lines.map(row).collect()
}

pub(super) fn fragment(boxes: Vec<BoxView>, site: &Site) -> String {
    #[derive(Template)]
    #[template(path = "boxes.html")]
    struct Boxes {
        boxes: Vec<BoxView>,
    }
    site.render(&Boxes { boxes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::{Document, DocumentRevisions};
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
