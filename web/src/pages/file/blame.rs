//! Commit of each line of a file, as a column.
//!
//! The first line of a hunk links to its commit, and to the blame before it.

use super::super::commit::signed;
use super::super::visible;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::repositories::problem;
use crate::source::file_range::Fetched;
use crate::state::App;
use frontend::Scope;
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
    app: &App,
    scope: &Scope,
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
    let asked = (repo.to_owned(), commit.clone(), path.to_vec());
    let found = app.coordinator.blame(scope, asked.0, asked.1, asked.2);
    let found = found
        .await
        .map_err(|error| problem(error, repo, commit).detail)?;
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
        let or_asked = |path: &'_ [u8]| {
            if path.is_empty() {
                self.path.clone()
            } else {
                path.to_vec()
            }
        };
        let path = or_asked(&source.previous_path);
        let before = FileAddress {
            package: self.repo.as_bytes(),
            path: &path,
            revision: &source.previous,
            query: &self.parameters,
        };
        let at = hunk.source_line.saturating_add(line - hunk.first);
        let author = signed(&source.author);
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
            author: author.name,
            day: if hunk.or_earlier {
                format!("≤ {}", author.day)
            } else {
                author.day
            },
            // The earlier file may be shorter.
            before_href: (!source.previous.is_empty()).then(|| match at {
                0 | 1 => before.show_href(0),
                _ => format!("{}#L{at}", before.show_href(0)),
            }),
        }
    }
}
