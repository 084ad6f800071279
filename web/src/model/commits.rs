//! Commits, histories and references of git repositories, blame of a file, and files of a commit.

use super::ProblemDocument;
use super::bytes::readable_owned;
use jiff::Timestamp;
use jiff::tz::Offset;
use schema::message;

shapes! {
    /// Commit of a repository.
    #[derive(PartialEq, Eq)]
    struct Commit {
        repo: String,
        /// Requested revision; empty: the default branch. In a history: the commit's id.
        rev: String,
        id: String,
        tree: String,
        parents: Vec<String>,
        author: Person,
        committer: Person,
        /// First paragraph of the message, as one line.
        subject / subject_base64: String,
        /// Rest of the message.
        body / body_base64: String,
        /// Short names of its tags, as lossy UTF-8; `/api/v2/refs` has exact names.
        /// names.
        tags: Vec<String>,
        /// Present and true if a name, the message, the parents or the tags are cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        shortened: bool,
    }

    /// Author or committer of a change, with the time.
    #[derive(PartialEq, Eq)]
    struct Person {
        name / name_base64: String,
        email / email_base64: String,
        /// Date with time zone; null if git recorded no possible date.
        #[schema(required, example = "2024-02-29T23:59:59+01:30")]
        date: Option<String>,
        /// Date in seconds since 1970.
        seconds: i64,
    }

    /// Commits of a request.
    #[serde(deny_unknown_fields)]
    #[schema(example = json!({"revisions": [{"repo": "project", "rev": "HEAD~1"}, {"repo": "project"}]}))]
    struct RevisionNames {
        revisions: Vec<RevisionName>,
    }

    /// Revision of a repository.
    #[serde(deny_unknown_fields)]
    struct RevisionName {
        repo: String,
        /// Absent: the default branch.
        #[serde(default)]
        #[schema(required = false)]
        rev: String,
    }

    /// Commits or problems, in the order of the request.
    struct Commits {
        commits: Vec<CommitEntry>,
    }

    /// Commit, or the problem that prevents it.
    struct CommitEntry {
        repo: String,
        rev: String,
        commit?: Commit,
        /// Answer to a request for this commit alone.
        problem?: ProblemDocument,
    }

    /// Part of a history, in the order of `git log`.
    struct CommitLog {
        repo: String,
        rev: String,
        commits: Vec<Commit>,
        /// Value of `cursor` for the rest; null at the end.
        #[schema(required)]
        next: Option<String>,
    }

    /// Part of the references of a repository, by name.
    struct Refs {
        repo: String,
        refs: Vec<Ref>,
        /// Value of `after` for the rest; null at the end.
        #[schema(required)]
        next: Option<String>,
    }

    /// Name of a commit.
    #[derive(PartialEq, Eq)]
    struct Ref {
        /// Full name, such as `refs/heads/main`.
        name / name_base64: String,
        kind: RefKind,
        /// Id of the commit.
        id: String,
        /// True if it can be searched.
        indexed: bool,
    }

    enum RefKind {
        Branch,
        Tag,
        Other,
    }
}

impl Commit {
    /// Commit of a repository under a revision.
    pub fn new(repo: &str, rev: &str, commit: &message::Commit) -> Commit {
        let (subject, subject_base64) = readable_owned(&commit.subject);
        let (body, body_base64) = readable_owned(&commit.body);
        let lossy = |tag: &Vec<u8>| String::from_utf8_lossy(tag).into_owned();
        Commit {
            repo: repo.to_owned(),
            rev: rev.to_owned(),
            id: commit.id.clone(),
            tree: commit.tree.clone(),
            parents: commit.parents.clone(),
            author: (&commit.author).into(),
            committer: (&commit.committer).into(),
            subject,
            subject_base64,
            body,
            body_base64,
            tags: commit.tags.iter().map(lossy).collect(),
            shortened: commit.shortened,
        }
    }
}

copied! {
    signature: message::Signature => Person {
        date: date(signature.seconds, signature.offset_minutes),
        seconds;
        name / name_base64, email / email_base64
    }
    reference: message::Reference => Ref {
        kind: match reference.kind {
            message::ReferenceKind::Branch => RefKind::Branch,
            message::ReferenceKind::Tag => RefKind::Tag,
            message::ReferenceKind::Other => RefKind::Other,
        },
        id,
        indexed;
        name / name_base64
    }
    hunk: message::BlameHunk => BlameHunk {
        first,
        last: hunk.first.saturating_add(hunk.lines - 1),
        commit: hunk.source,
        line: hunk.source_line,
        or_earlier
    }
    change: message::Change => ChangedFile {
        kind: match change.kind {
            message::ChangeKind::Added => ChangedFileKind::Added,
            message::ChangeKind::Removed => ChangedFileKind::Removed,
            message::ChangeKind::Modified => ChangedFileKind::Modified,
            message::ChangeKind::Renamed => ChangedFileKind::Renamed,
        },
        was: (!change.was.is_empty()).then(|| String::from_utf8_lossy(&change.was).into_owned());
        path / path_base64
    }
}

/// Renders an RFC 3339 time; `None` for years above four digits and impossible time zones.
pub(super) fn date(seconds: i64, offset_minutes: i32) -> Option<String> {
    let offset = Offset::from_seconds(offset_minutes.checked_mul(60)?).ok()?;
    let at = offset.to_datetime(Timestamp::from_second(seconds).ok()?);
    if at.year() < 0 {
        return None;
    }
    let sign = if offset_minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset_minutes.abs() / 60, offset_minutes.abs() % 60);
    Some(format!("{at}{sign}{hours:02}:{minutes:02}"))
}

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
        /// By path. A merge is compared with its first parent.
        changes: Vec<ChangedFile>,
        /// True if all changes are listed.
        complete: bool,
    }

    /// File that a commit changed.
    #[derive(PartialEq, Eq)]
    struct ChangedFile {
        path / path_base64: String,
        kind: ChangedFileKind,
        /// Former path of a renamed file, as lossy UTF-8.
        was?: String,
    }

    enum ChangedFileKind {
        Added,
        Removed,
        Modified,
        Renamed,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_keep_their_time_zone() {
        let table = [
            (0, 0, Some("1970-01-01T00:00:00+00:00")),
            (1_709_245_799, 90, Some("2024-02-29T23:59:59+01:30")),
            (-1, -330, Some("1969-12-31T18:29:59-05:30")),
            (i64::MAX, 0, None),
            (0, 10_000, None),
            (0, i32::MIN, None),
        ];
        for (seconds, offset, expected) in table {
            let date = date(seconds, offset);
            assert_eq!(date.as_deref(), expected, "{seconds} {offset}");
        }
    }
}
