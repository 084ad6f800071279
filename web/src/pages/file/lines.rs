//! Lines of a file as HTML, with a column of their commits.
//!
//! Chunks are elements, so that a browser lays out only visible ones. The first line of a hunk
//! links to its commit, and to the blame before it.

use super::super::filters::{self, signed};
use super::super::visible::{self, VisibleLine};
use super::asked::LineRange;
use super::marks::Marks;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::http::site::Site;
use crate::repositories::problem;
use crate::source::colours::{DocumentColours, split_lines};
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use askama::Template;
use schema::message::{Blame, BlameHunk};
use std::sync::Arc;

/// The style sheet has the height of a chunk.
pub(super) const CHUNK_LINES: usize = 200;

/// Bytes before the first mark of a longer line, and of all of it.
const LINE_BYTES: (usize, usize) = (2000, 4000);

#[derive(Template)]
#[template(path = "file_lines.html")]
struct Chunk {
    /// True with [`CHUNK_LINES`] lines.
    is_full: bool,
    lines: Vec<Line>,
}

struct Line {
    number: u32,
    hit: bool,
    blame: Option<BlameCell>,
    shown: VisibleLine,
}

pub(super) struct LinesView {
    pub(super) marks: Marks,
    pub(super) blame: Option<BlameColumn>,
    pub(super) hit: LineRange,
    pub(super) colours: DocumentColours,
}

impl LinesView {
    /// From line `first`.
    pub(super) fn render(&mut self, site: &Site, first: u32, text: &[u8]) -> String {
        let line = |(number, text)| {
            let coloured = self.colours.tokens(number, text);
            let marks = self.marks.of_line(number);
            Line {
                number,
                hit: self.hit.has(number),
                blame: (self.blame.as_ref()).map(|blame| blame.cell(number, number == first)),
                shown: visible::line(text, marks, &coloured, LINE_BYTES),
            }
        };
        let lines: Vec<Line> = (first..).zip(split_lines(text)).map(line).collect();
        let chunk = Chunk {
            is_full: lines.len() == CHUNK_LINES,
            lines,
        };
        site.render(&chunk)
    }
}

/// At most `count` lines.
pub(super) fn first_lines(text: &[u8], count: usize) -> (usize, u32) {
    let (mut bytes, mut lines) = (0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n').take(count) {
        bytes += line.len();
        lines += 1;
    }
    (bytes, lines)
}

const AGES: u64 = 5;

pub(super) struct BlameColumn {
    repo: String,
    path: Vec<u8>,
    parameters: String,
    found: Arc<Blame>,
    span: (i64, i64),
}

pub(super) struct BlameCell {
    /// True if the line before it is of another commit.
    pub(super) starts: bool,
    /// 0 for the youngest.
    pub(super) age: u64,
    /// Present in the first line of a hunk, and of a rendered chunk.
    pub(super) about: Option<BlameAbout>,
}

pub(super) struct BlameAbout {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) author: String,
    pub(super) day: String,
    pub(super) before_href: Option<String>,
}

/// Returns a reason if the blame is unavailable.
pub(super) async fn find_blame(
    corpus: Corpus<'_>,
    path: &[u8],
    parameters: String,
    shown: &Fetched,
) -> Result<BlameColumn, String> {
    let (Ok(repo), commit) = (str::from_utf8(&shown.package), &shown.reply.commit) else {
        return Err("the name of the repository is not text".to_owned());
    };
    if commit.is_empty() {
        return Err("the file is not of a git repository".to_owned());
    }
    let (repository, revision) = (repo.to_owned(), commit.clone());
    let found = (corpus.coordinator).blame(corpus.scope, repository, revision, path.to_vec());
    let found = found.await;
    let found = found.map_err(|error| problem(error, repo, commit).document.detail)?;
    let last = found.hunks.last();
    let lines = last.map_or(0, |last| last.first + (last.lines - 1));
    if !found.found || lines != shown.reply.total_lines {
        let reason = "the text is not the one that was committed: it was decoded, or filtered";
        return Err(reason.to_owned());
    }
    let seconds = || found.sources.iter().map(|source| source.author.seconds);
    let span = (seconds().min().unwrap_or(0), seconds().max().unwrap_or(0));
    Ok(BlameColumn {
        repo: repo.to_owned(),
        path: path.to_vec(),
        parameters,
        found,
        span,
    })
}

impl BlameColumn {
    pub(super) fn is_complete(&self) -> bool {
        self.found.complete
    }

    /// `is_first`: of a chunk.
    pub(super) fn cell(&self, line: u32, is_first: bool) -> BlameCell {
        let hunks = &self.found.hunks;
        let at = hunks.partition_point(|hunk| hunk.first <= line);
        let hunk = at.checked_sub(1).map(|at| &hunks[at]);
        let starts = hunk.is_some_and(|hunk| hunk.first == line);
        BlameCell {
            starts,
            age: hunk.map_or(0, |hunk| self.age(hunk)),
            about: (hunk.filter(|_| starts || is_first)).map(|hunk| self.about(hunk, line)),
        }
    }

    fn age(&self, hunk: &BlameHunk) -> u64 {
        let (oldest, youngest) = self.span;
        let seconds = self.found.sources[hunk.source as usize].author.seconds;
        let before = youngest.saturating_sub(seconds) as u64;
        let span = (youngest.saturating_sub(oldest) as u64).saturating_add(1);
        (u128::from(before) * u128::from(AGES) / u128::from(span)) as u64
    }

    fn about(&self, hunk: &BlameHunk, line: u32) -> BlameAbout {
        let source = &self.found.sources[hunk.source as usize];
        let path = match &source.previous_path[..] {
            b"" => &self.path,
            path => path,
        };
        let before = FileAddress::current(self.repo.as_bytes(), path);
        let before = before.at(&source.previous).with_query(&self.parameters);
        let at = hunk.source_line.saturating_add(line - hunk.first);
        let (author, moment) = signed(&source.author);
        let or_earlier = if hunk.or_earlier { "≤ " } else { "" };
        let mut title = visible::plain(&source.subject);
        if hunk.or_earlier {
            title = format!("This commit or an earlier one; its message: {title}");
        }
        BlameAbout {
            href: RepositoryAddress {
                repo: &self.repo,
                rev: &source.commit,
            }
            .commit_href(),
            title,
            author,
            day: format!("{or_earlier}{}", &moment[..10]),
            // The earlier file may be shorter.
            before_href: (!source.previous.is_empty()).then(|| match at {
                0 | 1 => before.show_href(0),
                _ => format!("{}#L{at}", before.show_href(0)),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_marks_and_no_ends() {
        let mut view = LinesView {
            marks: Marks::default(),
            blame: None,
            hit: LineRange { first: 8, last: 9 },
            colours: DocumentColours::reading(""),
        };
        let html = view.render(&Site::default(), 7, b"a\r\n\n<b>");
        for part in [
            r#"<div class="line" id="L7">"#,
            r#"<div class="line hit" id="L8">"#,
            r#"<div class="line hit" id="L9">"#,
            "<code>a</code>",
            "<code></code>",
            "<code>&#60;b&#62;</code>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn counts_the_first_lines() {
        assert_eq!(first_lines(b"a\nb\nc", 2), (4, 2));
        assert_eq!(first_lines(b"a\nb\nc", 5), (5, 3));
        assert_eq!(first_lines(b"", 5), (0, 0));
    }
}
