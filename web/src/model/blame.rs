//! Blame of a file, and files of a commit.

use super::bytes::readable_owned;
use super::commits::date;
use schema::message;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The commits that the lines of a file come from, as `git blame` says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Blame {
    pub repo: String,
    /// The revision, as it was requested; empty: the default branch.
    pub rev: String,
    pub path: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// The id of the commit that the revision stands for.
    pub commit: String,
    /// Whether the commit of each line was found. If not, a bound of time or of commits was reached, and some hunks are
    /// `or_earlier`.
    pub complete: bool,
    /// All lines of the file, ascending.
    pub hunks: Vec<BlameHunk>,
    /// The commits that hunks come from.
    pub commits: Vec<BlameCommit>,
}

/// Lines that come from one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlameHunk {
    /// From 1.
    pub first: u32,
    pub last: u32,
    /// An index in `commits`.
    pub commit: u32,
    /// The number of the first of these lines in the file of that commit.
    pub line: u32,
    /// Present and true if they may be of an earlier commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub or_earlier: bool,
}

/// A commit that lines come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlameCommit {
    pub id: String,
    /// The name of the author. Bytes that are not UTF-8 are replaced.
    pub author: String,
    /// When it was written, with the time zone of the author; null if git recorded no possible date.
    #[schema(required, example = "2024-02-29T23:59:59+01:30")]
    pub date: Option<String>,
    /// The same, in seconds since 1970.
    pub seconds: i64,
    /// The beginning of the message's first paragraph; empty if the answer would be too long. Bytes that are not UTF-8
    /// are replaced.
    pub subject: String,
    /// Present if the file had another path in this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// The file in the commit before this one: what to ask for to see the blame before this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub previous: Option<BlamePrevious>,
}

/// A file before a commit changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlamePrevious {
    pub rev: String,
    pub path: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
}

/// The files that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    pub repo: String,
    /// The revision, as it was requested; empty: the default branch.
    pub rev: String,
    /// The id of the commit.
    pub commit: String,
    /// By path. A merge is compared with its first parent; a file that was moved is removed and added.
    pub changes: Vec<ChangedFile>,
    /// Whether these are all.
    pub complete: bool,
}

/// A file that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangedFile {
    pub path: String,
    /// Present if it is not UTF-8.
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
