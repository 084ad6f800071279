//! Blame of a file, and files of a commit.

use super::bytes::readable_owned;
use super::commits::date;
use schema::message;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Commits of a file's lines, like `git blame`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Blame {
    pub repo: String,
    /// Requested revision; empty: the default branch.
    pub rev: String,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Id of the revision's commit.
    pub commit: String,
    /// True if the commit of each line was found. Otherwise a limit was reached, and some hunks are
    /// `or_earlier`.
    pub complete: bool,
    /// All lines, ascending.
    pub hunks: Vec<BlameHunk>,
    /// Commits of the hunks.
    pub commits: Vec<BlameCommit>,
}

/// Lines from one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlameHunk {
    /// From 1.
    pub first: u32,
    pub last: u32,
    /// Index in `commits`.
    pub commit: u32,
    /// Number of the first of these lines in that commit's file.
    pub line: u32,
    /// Present and true if the lines may be older.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub or_earlier: bool,
}

/// Commit of some lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlameCommit {
    pub id: String,
    /// Name, as lossy UTF-8.
    pub author: String,
    /// Author date, with time zone; null if git recorded no possible date.
    #[schema(required, example = "2024-02-29T23:59:59+01:30")]
    pub date: Option<String>,
    /// Author date in seconds since 1970.
    pub seconds: i64,
    /// Beginning of the message's first paragraph, as lossy UTF-8; empty if the answer would be too
    /// long.
    pub subject: String,
    /// Present if the file had another path in this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// File before this commit, to request the earlier blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub previous: Option<BlamePrevious>,
}

/// File before a commit changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlamePrevious {
    pub rev: String,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
}

/// Files that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    pub repo: String,
    /// Requested revision; empty: the default branch.
    pub rev: String,
    /// Id of the commit.
    pub commit: String,
    /// By path. A merge is compared with its first parent; a moved file is removed and added.
    pub changes: Vec<ChangedFile>,
    /// True if all changes are listed.
    pub complete: bool,
}

/// File that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangedFile {
    pub path: String,
    /// Present if not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    pub kind: ChangedFileKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangedFileKind {
    Added,
    Removed,
    Modified,
}

impl Blame {
    /// `None` if the file was not found.
    pub(crate) fn new(repo: &str, rev: &str, path: &[u8], found: &message::Blame) -> Option<Blame> {
        let (shown, path_base64) = readable_owned(path);
        found.found.then(|| Blame {
            repo: repo.to_owned(),
            rev: rev.to_owned(),
            path: shown,
            path_base64,
            commit: found.commit.clone(),
            complete: found.complete,
            hunks: found.hunks.iter().map(BlameHunk::new).collect(),
            commits: (found.sources.iter())
                .map(|source| BlameCommit::new(source, path))
                .collect(),
        })
    }
}

impl BlameHunk {
    fn new(hunk: &message::BlameHunk) -> BlameHunk {
        BlameHunk {
            first: hunk.first,
            last: hunk.first.saturating_add(hunk.lines - 1),
            commit: hunk.source,
            line: hunk.source_line,
            or_earlier: hunk.or_earlier,
        }
    }
}

impl BlameCommit {
    fn new(source: &message::BlameSource, asked: &[u8]) -> BlameCommit {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let or_asked = |path: &[u8]| if path.is_empty() { asked } else { path }.to_vec();
        let (path, path_base64) = readable_owned(&or_asked(&source.previous_path));
        BlameCommit {
            id: source.commit.clone(),
            author: lossy(&source.author.name),
            date: date(source.author.seconds, source.author.offset_minutes),
            seconds: source.author.seconds,
            subject: lossy(&source.subject),
            path: (!source.path.is_empty()).then(|| lossy(&source.path)),
            previous: (!source.previous.is_empty()).then(|| BlamePrevious {
                rev: source.previous.clone(),
                path,
                path_base64,
            }),
        }
    }
}

impl Changes {
    pub(crate) fn new(repo: &str, rev: &str, found: &message::ChangeList) -> Changes {
        Changes {
            repo: repo.to_owned(),
            rev: rev.to_owned(),
            commit: found.commit.clone(),
            changes: found.changes.iter().map(ChangedFile::new).collect(),
            complete: !found.more,
        }
    }
}

impl ChangedFile {
    fn new(change: &message::Change) -> ChangedFile {
        let (path, path_base64) = readable_owned(&change.path);
        ChangedFile {
            path,
            path_base64,
            kind: match change.kind {
                message::ChangeKind::Added => ChangedFileKind::Added,
                message::ChangeKind::Removed => ChangedFileKind::Removed,
                message::ChangeKind::Modified => ChangedFileKind::Modified,
            },
        }
    }
}
