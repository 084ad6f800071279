//! Answers for people. The templates escape every piece of text they are given; what is put into
//! an address is percent-encoded byte by byte here.

mod filters;
mod links;
mod show;

pub(crate) use links::{Choice, Form, FormFilter, Group, PageLink, page_links};
pub(crate) use show::{SHOW_LINES_MAX, ShowPage};

use super::visible::{self, Piece};
use crate::assets;
use crate::problem::kinds::Kind;
use askama::Template;
use frontend::Package;
use frontend::Progress;
use frontend::query::Notice;
use frontend::{ContextLine, Match, Window};
use links::show_href;
use schema::message::Want;
use std::ops::Range;

/// Said of the best matches when nothing can change them any more; the script says it too.
const FINAL: &str = "The best matches, which nothing can change any more:";

/// What all pages have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chrome {
    pub(crate) form: Form,
    /// Addresses of the assets, which change when those do.
    pub(crate) style: String,
    pub(crate) script: String,
}

impl Chrome {
    pub(crate) fn new(form: Form) -> Chrome {
        Chrome {
            form,
            style: assets::STYLE.address(),
            script: assets::SCRIPT.address(),
        }
    }
}

#[derive(Template)]
#[template(path = "start.html")]
pub(crate) struct StartPage {
    pub(crate) frame: Chrome,
    pub(crate) packages: u64,
    pub(crate) documents: u64,
    pub(crate) text_bytes: u64,
    /// Backends that are not connected, and why.
    pub(crate) lost: Vec<(String, String)>,
}

#[derive(Default, Template)]
#[template(path = "results.html")]
pub(crate) struct ResultsPage {
    pub(crate) frame: Chrome,
    pub(crate) id: String,
    pub(crate) interpreted_as: String,
    /// What may have been meant otherwise.
    pub(crate) notices: Vec<NoticeView>,
    /// Where the characters are searched for as one text, when they were taken for words.
    pub(crate) exact: Option<String>,
    /// While the search runs; `matches` are the best so far then.
    pub(crate) running: Option<Progress>,
    /// How long it will still take, when there is an estimate.
    pub(crate) left: String,
    /// Whether nothing can change `matches` any more.
    pub(crate) is_final: bool,
    /// Where the page of the same run is to be had later.
    pub(crate) follow: String,
    pub(crate) want: Wanted,
    /// How many there are of what is wanted, of which `total` are on the pages.
    pub(crate) found: u64,
    pub(crate) total: u64,
    pub(crate) documents: u64,
    pub(crate) packages: u64,
    /// Documents that were searched, and how many there are.
    pub(crate) searched: u64,
    pub(crate) of: u64,
    pub(crate) elapsed: String,
    pub(crate) missing: Vec<MissingView>,
    pub(crate) again: String,
    pub(crate) skipped: u64,
    pub(crate) skipped_listed: Vec<SkippedView>,
    pub(crate) page: u64,
    pub(crate) pages: u64,
    pub(crate) page_links: Vec<PageLink>,
    pub(crate) matches: Vec<MatchView>,
    pub(crate) groups: Vec<GroupView>,
}

/// What the numbers of a page count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    #[default]
    Matches,
    /// Files with a match, of which the first one is shown.
    Documents,
    /// Matches, of which none is shown.
    Count,
}

impl From<Want> for Wanted {
    fn from(want: Want) -> Self {
        match want {
            Want::Matches => Wanted::Matches,
            Want::Documents => Wanted::Documents,
            Want::Count | Want::Estimate => Wanted::Count,
        }
    }
}

impl Wanted {
    fn is_documents(self) -> bool {
        self == Wanted::Documents
    }

    fn is_count(self) -> bool {
        self == Wanted::Count
    }
}

pub(crate) struct MissingView {
    pub(crate) backend: String,
    pub(crate) reason: String,
    pub(crate) shards: u64,
}

pub(crate) struct SkippedView {
    pub(crate) name: String,
    pub(crate) reason: String,
}

pub(crate) struct NoticeView {
    pub(crate) reason: String,
    pub(crate) hint: String,
}

impl From<&Notice> for NoticeView {
    fn from(notice: &Notice) -> Self {
        NoticeView {
            reason: notice.reason.clone(),
            hint: notice.hint.clone().unwrap_or_default(),
        }
    }
}

/// Matches of a package or a document.
pub(crate) struct GroupView {
    pub(crate) name: String,
    /// Of a document, where it is shown.
    pub(crate) href: String,
    /// When they were counted.
    pub(crate) total: Option<u64>,
    /// Matches that are not shown, and where they are.
    pub(crate) more: u64,
    pub(crate) more_href: String,
    pub(crate) matches: Vec<MatchView>,
}

impl GroupView {
    /// The matches of a package.
    pub(crate) fn of_package(form: &Form, package: &Package, matches: &[Match]) -> GroupView {
        // A name that is no text is no filter's value either.
        let more_href = str::from_utf8(&package.name).map(|name| form.href_in(name));
        GroupView {
            name: visible::plain(&package.name),
            href: String::new(),
            total: Some(package.total),
            more: package.total - matches.len() as u64,
            more_href: more_href.unwrap_or_default(),
            matches: matches.iter().map(MatchView::from).collect(),
        }
    }

    /// The matches of a document.
    pub(crate) fn of_document(form: &Form, total: Option<u64>, matches: &[Match]) -> GroupView {
        let document = matches.first().map(|found| &*found.document);
        let (package, path) = document.map_or((&b""[..], &b""[..]), |document| {
            (&document.package[..], &document.path[..])
        });
        let names = (str::from_utf8(package), str::from_utf8(path));
        GroupView {
            name: visible::plain(&[package, path].join(&b'/')),
            href: show_href(package, path, 0),
            total,
            more: total.map_or(0, |total| total.saturating_sub(matches.len() as u64)),
            more_href: match names {
                (Ok(package), Ok(path)) => form.href_in_document(package, path),
                _ => String::new(),
            },
            matches: matches.iter().map(MatchView::from).collect(),
        }
    }

    fn counted(&self) -> u64 {
        self.total.unwrap_or_default()
    }

    fn is_document(&self) -> bool {
        !self.href.is_empty()
    }
}

/// The best matches so far, for a page that is open.
#[derive(Template)]
#[template(path = "matches.html")]
pub(crate) struct BestPart {
    pub(crate) matches: Vec<MatchView>,
}

#[derive(Default, Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage {
    pub(crate) frame: Chrome,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) caret: Option<String>,
    pub(crate) hint: String,
    pub(crate) link: String,
    pub(crate) link_text: String,
}

/// Lines of one match that are shown; the file has the others.
const RUN_LINES_MAX: usize = 50;

/// What kinds of problems mean.
#[derive(Template)]
#[template(path = "problems.html")]
pub(crate) struct ProblemsPage {
    pub(crate) frame: Chrome,
    pub(crate) kinds: Vec<&'static Kind>,
}

/// A match as it is shown.
pub(crate) struct MatchView {
    pub(crate) href: String,
    pub(crate) package: String,
    /// With marks where a name matches.
    pub(crate) path: Vec<Piece>,
    /// 0 when a name is all that was found.
    pub(crate) line: u32,
    pub(crate) language: String,
    pub(crate) lines: Vec<LineView>,
}

/// A line as it is shown.
pub(crate) struct LineView {
    pub(crate) number: u32,
    pub(crate) href: String,
    pub(crate) anchor: String,
    pub(crate) hit: bool,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) cut_before: u64,
    pub(crate) cut_after: u64,
}

impl From<&Match> for MatchView {
    fn from(found: &Match) -> Self {
        let (package, path) = (&found.document.package, &found.document.path);
        let linked = |view: LineView| LineView {
            href: show_href(package, path, view.number),
            ..view
        };
        let beside =
            |line: &ContextLine| LineView::new(line.line, &line.text, &[], line.window, false);
        let hits = match found.is_name() {
            true => Vec::new(),
            false => hits(found),
        };
        let lines = (found.before.iter().map(beside))
            .chain(hits)
            .chain(found.after.iter().map(beside));
        MatchView {
            href: show_href(package, path, found.line),
            package: visible::plain(package),
            path: match found.is_name() {
                true => visible::marked(&found.text, &found.ranges),
                false => visible::whole(path),
            },
            line: found.line,
            language: found.document.language.clone(),
            lines: lines.map(linked).collect(),
        }
    }
}

/// The lines of a match, each with its part of what matched.
fn hits(found: &Match) -> Vec<LineView> {
    if found.lines == 1 {
        let (line, ranges) = (found.line, &found.ranges);
        return vec![LineView::new(line, &found.text, ranges, found.window, true)];
    }
    let mut start = 0;
    let lines = found.text.split(|&byte| byte == b'\n').map(|text| {
        let line = start..start + text.len();
        start = line.end + 1;
        (within(&found.ranges, line), text)
    });
    let lines = (found.line..).zip(lines).take(RUN_LINES_MAX);
    lines
        .map(|(number, (ranges, text))| LineView::new(number, text, &ranges, None, true))
        .collect()
}

/// What of `ranges` is in a line, in bytes of it.
fn within(ranges: &[Range<usize>], line: Range<usize>) -> Vec<Range<usize>> {
    let part = |range: &Range<usize>| {
        let (start, end) = (range.start.max(line.start), range.end.min(line.end));
        (start < end).then(|| start - line.start..end - line.start)
    };
    ranges.iter().filter_map(part).collect()
}

impl LineView {
    fn new(
        number: u32,
        text: &[u8],
        ranges: &[Range<usize>],
        window: Option<Window>,
        hit: bool,
    ) -> Self {
        let mut shown = visible::line(text, ranges);
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

/// A pattern or a filter with a caret below the place of the fault.
pub(crate) fn caret(pattern: &str, at: Option<usize>) -> Option<String> {
    let before = pattern.get(..at?)?;
    let column = visible::plain(before.as_bytes()).chars().count();
    let shown = visible::plain(pattern.as_bytes()).replace('\t', " ");
    Some(format!("{shown}\n{:column$}^", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use frontend::Document;
    use std::sync::Arc;

    fn found(text: &[u8]) -> Match {
        Match {
            document: Arc::new(Document {
                package: b"<b>p".to_vec(),
                path: b"a/\"><script>".to_vec(),
                language: "C".to_owned(),
                hash: vec![],
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
        }
    }

    #[test]
    fn nothing_of_a_match_is_taken_for_markup() {
        let part = BestPart {
            matches: vec![MatchView::from(&found(b"<script>alert('x')&</script>"))],
        };
        let html = part.render().unwrap();
        for markup in ["<script", "<b>p", "/\"><", "alert('x')"] {
            assert!(!html.contains(markup), "{markup} in {html}");
        }
        assert!(html.contains("%22%3E%3Cscript%3E"), "{html}");
    }

    fn render(found: &Match) -> String {
        let matches = vec![MatchView::from(found)];
        BestPart { matches }.render().unwrap()
    }

    #[test]
    fn a_match_over_several_lines_is_all_of_them() {
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
    fn a_name_is_a_link_to_the_file() {
        let mut name = found(b"a/\"><script>");
        (name.line, name.ranges) = (0, vec![3..5]);
        let html = render(&name);
        assert!(html.contains("<mark>&#62;&#60;</mark>script"), "{html}");
        assert!(
            !html.contains("class=\"code\"") && !html.contains("line="),
            "{html}"
        );
    }

    #[test]
    fn the_caret_stands_below_the_fault() {
        expect![[r"
            ü(b
             ^"]]
        .assert_eq(&caret("ü(b", Some(2)).unwrap());
        assert_eq!(caret("ü", Some(1)), None, "not at a character");
        assert_eq!(caret("x", Some(9)), None);
    }
}
