//! Commit of each line of a file, as a column.
//!
//! The first line of a hunk links to its commit, and to the blame before it.

use super::super::commit::signed;
use super::super::visible;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::repositories::problem;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use schema::message::{Blame, BlameHunk};
use std::sync::Arc;

pub(super) struct BlameColumn {
    repo: String,
    path: Vec<u8>,
    parameters: String,
    found: Arc<Blame>,
}

pub(super) struct BlameCell {
    /// True if the line before it is of another commit.
    pub(super) starts: bool,
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
pub(super) async fn find(
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
    Ok(BlameColumn {
        repo: repo.to_owned(),
        path: path.to_vec(),
        parameters,
        found,
    })
}

impl BlameColumn {
    pub(super) fn is_complete(&self) -> bool {
        self.found.complete
    }

    /// `is_first` marks the first line of a chunk.
    pub(super) fn cell(&self, line: u32, is_first: bool) -> BlameCell {
        let hunks = &self.found.hunks;
        let at = hunks.partition_point(|hunk| hunk.first <= line);
        let hunk = at.checked_sub(1).map(|at| &hunks[at]);
        let starts = hunk.is_some_and(|hunk| hunk.first == line);
        BlameCell {
            starts,
            about: (hunk.filter(|_| starts || is_first)).map(|hunk| self.about(hunk, line)),
        }
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
