//! Commits, histories and references of git repositories.

use super::ProblemDocument;
use super::bytes::readable_owned;
use jiff::Timestamp;
use jiff::tz::Offset;
use schema::message;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Commit {
    pub repo: String,
    /// The revision, as it was requested; empty: the default branch. In a history the commit's id.
    pub rev: String,
    pub id: String,
    pub tree: String,
    pub parents: Vec<String>,
    pub author: Person,
    pub committer: Person,
    /// The first paragraph of the message, as one line.
    pub subject: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub subject_base64: Option<String>,
    /// The rest of the message.
    pub body: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub body_base64: Option<String>,
    /// The short names of tags that point to it. Bytes that are not UTF-8 are replaced; `/api/v2/refs` has
    /// the exact names.
    pub tags: Vec<String>,
    /// Present and true if a name, the message, the parents or the tags were too long, and are cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub shortened: bool,
}

/// Who wrote or committed a change, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    pub name: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub email: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub email_base64: Option<String>,
    /// With the time zone of the person; null if git recorded no possible date.
    #[schema(required, example = "2024-02-29T23:59:59+01:30")]
    pub date: Option<String>,
    /// The same, in seconds since 1970.
    pub seconds: i64,
}

/// The commits that are asked for at once.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"revisions": [{"repo": "project", "rev": "HEAD~1"}, {"repo": "project"}]}))]
pub struct RevisionNames {
    pub revisions: Vec<RevisionName>,
}

/// A revision of a repository.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionName {
    pub repo: String,
    /// Absent: the default branch.
    #[serde(default)]
    #[schema(required = false)]
    pub rev: String,
}

/// Commits, or why they are not there, in the order of the request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Commits {
    pub commits: Vec<CommitEntry>,
}

/// A commit, or why it is not there.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CommitEntry {
    pub repo: String,
    pub rev: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub commit: Option<Commit>,
    /// What a request for this commit alone would be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<ProblemDocument>,
}

/// A part of a history, in the order of `git log`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CommitLog {
    pub repo: String,
    pub rev: String,
    pub commits: Vec<Commit>,
    /// The value of `cursor` for the rest; null if this is all.
    #[schema(required)]
    pub next: Option<String>,
}

/// A part of the references of a repository, by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Refs {
    pub repo: String,
    pub refs: Vec<Ref>,
    /// The value of `after` for the rest; null if this is all.
    #[schema(required)]
    pub next: Option<String>,
}

/// A name of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ref {
    /// In full, such as `refs/heads/main`.
    pub name: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub kind: RefKind,
    /// The id of the commit.
    pub id: String,
    /// Whether it can be searched.
    pub indexed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RefKind {
    Branch,
    Tag,
    Other,
}

impl Commit {
    /// Commit of a repository under a revision.
    pub fn new(repo: &str, rev: &str, commit: &message::Commit) -> Commit {
        let (subject, subject_base64) = readable_owned(&commit.subject);
        let (body, body_base64) = readable_owned(&commit.body);
        let tags = commit.tags.iter();
        Commit {
            repo: repo.to_owned(),
            rev: rev.to_owned(),
            id: commit.id.clone(),
            tree: commit.tree.clone(),
            parents: commit.parents.clone(),
            author: Person::new(&commit.author),
            committer: Person::new(&commit.committer),
            subject,
            subject_base64,
            body,
            body_base64,
            tags: tags
                .map(|tag| String::from_utf8_lossy(tag).into_owned())
                .collect(),
            shortened: commit.shortened,
        }
    }
}

impl Person {
    fn new(signature: &message::Signature) -> Person {
        let (name, name_base64) = readable_owned(&signature.name);
        let (email, email_base64) = readable_owned(&signature.email);
        Person {
            name,
            name_base64,
            email,
            email_base64,
            date: date(signature.seconds, signature.offset_minutes),
            seconds: signature.seconds,
        }
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
    Some(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{sign}{hours:02}:{minutes:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
    ))
}

impl From<&message::Reference> for Ref {
    fn from(reference: &message::Reference) -> Ref {
        let (name, name_base64) = readable_owned(&reference.name);
        Ref {
            name,
            name_base64,
            kind: match reference.kind {
                message::ReferenceKind::Branch => RefKind::Branch,
                message::ReferenceKind::Tag => RefKind::Tag,
                message::ReferenceKind::Other => RefKind::Other,
            },
            id: reference.id.clone(),
            indexed: reference.indexed,
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
