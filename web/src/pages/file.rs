//! A file, or a part of it, line by line.

use super::form::{Form, Layout};
use super::matches::{LineView, RevisionsView};
use super::{filters, visible};
use crate::colours::DocumentColours;
use crate::file_range::{Fetched, fetch, fetch_revision};
use crate::links::FileAddress;
use crate::params::Params;
use crate::problem::Problem;
use crate::state::App;
use crate::viewer::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use frontend::{DocumentRevisions, Scope};
use schema::message::{FileRange, FileReply};

/// Lines of a file on a page.
const LINES_MAX: u32 = 400;

/// Lines on a page before the line that a link names.
const LINES_BEFORE: u32 = 100;

/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 2000;

/// Digits of a commit id that are shown.
const SHORT_ID: usize = 10;

#[derive(Template)]
#[template(path = "file.html")]
struct FilePage {
    layout: Layout,
    package: String,
    path: String,
    language: String,
    /// The commit, and the address of the file at it.
    commit: String,
    permalink: String,
    revisions: RevisionsView,
    /// Why another revision is shown than the one that the address names.
    notice: Option<String>,
    first: u64,
    last: u64,
    total_lines: u64,
    total_bytes: u64,
    raw: String,
    previous: Option<String>,
    next: Option<String>,
    lines: Vec<LineView>,
}

/// Shows the lines of a file around `line`, or from `first` on.
pub(crate) async fn show(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    let line = params.number("line", 0_u32)?;
    let around = line.saturating_sub(LINES_BEFORE).max(1);
    let first = params.number("first", around)?.max(1);
    let count = LINES_MAX;
    let range = FileRange::Lines { first, count };
    let scope = viewer.scope_of(&app, params.required("package")?).await?;
    let (Fetched { package, reply }, notice) =
        fetch_or_newest(&app, &scope, &params, range).await?;
    let lines_max = reply.total_lines.max(1);
    if first > lines_max || line > lines_max {
        let detail = format!("the file has {} lines", reply.total_lines);
        return Err(Problem::missing(detail));
    }
    let name = (&package[..], params.required("path")?);
    let colours = app.colours.of_file(&app.coordinator, &scope, name, &reply);
    let mut page = FilePage::new(name, line, &reply, &colours.await);
    page.notice = notice;
    page.layout = Layout::new(Form {
        has_key: params.has_key,
        ..Form::default()
    });
    Ok(Html(page.render().expect("a page fits in memory")))
}

/// Fetches the file; if its revision is no longer indexed, from the newest one that has it, and says so.
async fn fetch_or_newest(
    app: &App,
    scope: &Scope,
    params: &Params,
    range: FileRange,
) -> Result<(Fetched, Option<String>), Problem> {
    let problem = match fetch(app, scope, params, range).await {
        Ok(fetched) => return Ok((fetched, None)),
        Err(problem) => problem,
    };
    let Some(newest) = problem.instead() else {
        return Err(problem);
    };
    let fetched = fetch_revision(app, scope, params, newest, range).await?;
    let notice = format!("{}; this is the file in {newest}", problem.detail);
    Ok((fetched, Some(visible::plain(notice.as_bytes()))))
}

impl FilePage {
    /// Returns the page of a part of a document, with the line `marked` highlighted.
    fn new(
        (package, path): (&[u8], &[u8]),
        marked: u32,
        reply: &FileReply,
        colours: &DocumentColours,
    ) -> Self {
        let lines: Vec<_> = (reply.first_line..)
            .zip(split_lines(&reply.text))
            .map(|(number, text)| line_view(number, text, marked == number, colours))
            .collect();
        let (first, last) = (reply.first_line, lines.last().map_or(0, |line| line.number));
        let address = FileAddress {
            package,
            path,
            revision: &reply.commit,
        };
        let window = |first: u32| address.window_href(first);
        let revisions = DocumentRevisions {
            names: reply.revisions.clone(),
            count: reply.revisions.len() as u32,
            commit: String::new(),
        };
        FilePage {
            layout: Layout::default(),
            package: visible::plain(package),
            path: visible::plain(path),
            language: reply.language.clone(),
            commit: reply.commit.chars().take(SHORT_ID).collect(),
            permalink: address.show_href(marked),
            revisions: (&revisions).into(),
            notice: None,
            first: u64::from(first),
            last: u64::from(last),
            total_lines: u64::from(reply.total_lines),
            total_bytes: reply.total_bytes,
            raw: address.raw_href(),
            previous: (first > 1).then(|| window(first.saturating_sub(LINES_MAX).max(1))),
            next: (last != 0 && last < reply.total_lines).then(|| window(last + 1)),
            lines,
        }
    }
}

/// Splits a text into lines without `\n` and `\r\n`.
fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

fn line_view(number: u32, text: &[u8], hit: bool, colours: &DocumentColours) -> LineView {
    let tokens = colours.tokens(number, text);
    let shown = &text[..text.len().min(LINE_BYTES_MAX)];
    LineView {
        number,
        href: format!("#L{number}"),
        anchor: format!("L{number}"),
        hit,
        pieces: visible::pieces(shown, &[], &tokens),
        cut_before: 0,
        cut_after: (text.len() - shown.len()) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_numbered_lines_and_links_to_neighbours() {
        let reply = FileReply {
            found: true,
            first_line: 401,
            text: b"a\r\n\nb\n".to_vec(),
            total_lines: 900,
            total_bytes: 5000,
            ..FileReply::default()
        };
        let page = FilePage::new((b"p", b"d"), 402, &reply, &DocumentColours::reading(""));
        let lines: Vec<_> = page
            .lines
            .iter()
            .map(|line| (line.number, line.hit))
            .collect();
        assert_eq!(lines, [(401, false), (402, true), (403, false)]);
        assert_eq!(
            page.previous.as_deref(),
            Some("/show?package=p&path=d&first=1")
        );
        assert_eq!(
            page.next.as_deref(),
            Some("/show?package=p&path=d&first=404")
        );
        assert!(page.render().unwrap().contains("Lines 401 to 403 of 900"));
    }
}
