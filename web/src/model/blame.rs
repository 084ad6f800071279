//! Blame of a file, and files of a commit.

use super::bytes::readable_owned;
use super::commits::date;
use schema::message;

shapes! {
    /// Commits of a file's lines, like `git blame`.
    #[derive(PartialEq, Eq)]
    struct Blame {
        repo: String,
        /// Requested revision; empty: the default branch.
        rev: String,
        path / path_base64: String,
        /// Id of the revision's commit.
        commit: String,
        /// True if the commit of each line was found. Otherwise a limit was reached, and some hunks
        /// are `or_earlier`.
        complete: bool,
        /// All lines, ascending.
        hunks: Vec<BlameHunk>,
        /// Commits of the hunks.
        commits: Vec<BlameCommit>,
    }

    /// Lines from one commit.
    #[derive(Copy, PartialEq, Eq)]
    struct BlameHunk {
        /// From 1.
        first: u32,
        last: u32,
        /// Index in `commits`.
        commit: u32,
        /// Number of the first of these lines in that commit's file.
        line: u32,
        /// Present and true if the lines may be older.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        or_earlier: bool,
    }

    /// Commit of some lines.
    #[derive(PartialEq, Eq)]
    struct BlameCommit {
        id: String,
        /// Name, as lossy UTF-8.
        author: String,
        /// Author date, with time zone; null if git recorded no possible date.
        #[schema(required, example = "2024-02-29T23:59:59+01:30")]
        date: Option<String>,
        /// Author date in seconds since 1970.
        seconds: i64,
        /// Beginning of the message's first paragraph, as lossy UTF-8; empty if the answer would be
        /// too long.
        subject: String,
        /// Present if the file had another path in this commit.
        path?: String,
        /// File before this commit, to request the earlier blame.
        previous?: BlamePrevious,
    }

    /// File before a commit changed it.
    #[derive(PartialEq, Eq)]
    struct BlamePrevious {
        rev: String,
        path / path_base64: String,
    }

    /// Files that a commit changed.
    #[derive(PartialEq, Eq)]
    struct Changes {
        repo: String,
        /// Requested revision; empty: the default branch.
        rev: String,
        /// Id of the commit.
        commit: String,
        /// By path. A merge is compared with its first parent; a moved file is removed and added.
        changes: Vec<ChangedFile>,
        /// True if all changes are listed.
        complete: bool,
    }

    /// File that a commit changed.
    #[derive(PartialEq, Eq)]
    struct ChangedFile {
        path / path_base64: String,
        kind: ChangedFileKind,
    }

    enum ChangedFileKind {
        Added,
        Removed,
        Modified,
    }
}

impl BlameHunk {
    pub(crate) fn new(hunk: &message::BlameHunk) -> BlameHunk {
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
    pub(crate) fn new(source: &message::BlameSource, asked: &[u8]) -> BlameCommit {
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

impl ChangedFile {
    pub(crate) fn new(change: &message::Change) -> ChangedFile {
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
