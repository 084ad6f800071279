//! Matches, alone and in groups.
//!
//! An export writes up to a million matches, so a match borrows from the spool, and none of its
//! fields is flattened, which serde does through a slower path.

use super::OutlineDefinition;
use super::Person;
use super::bytes::{Malformed, exact, from_hex, hex, readable, readable_owned};
use frontend::{Copies, Document, DocumentRevisions};
use language::symbols::Kind;
use schema::message::{ChangedLine, CommitChange, Signature};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use utoipa::ToSchema;

shapes! {
    /// Matching line, span of lines, or name of a document.
    struct Match<'a> {
        /// Package, named after its directory.
        package / package_base64: Cow<'a, str>,
        /// Path within the package.
        path / path_base64: Cow<'a, str>,
        /// Line number, from 1; 0 for a match of the name.
        line: u32,
        /// Number of lines, if more than one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, minimum = 2)]
        lines: Option<u32>,
        /// Line without its end, lines joined by line feeds, or the path.
        text / text_base64: Cow<'a, str>,
        /// Start and end of each matching part, in bytes of the text.
        ranges: Vec<[usize; 2]>,
        /// Present in a search for symbols: their kinds, as in queries.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        kinds: Vec<Cow<'a, str>>,
        /// Present with `enclosing=true`: the innermost definition around this line.
        enclosing?: OutlineDefinition,
        context: Context<'a>,
        /// Language; empty if unknown.
        language: Cow<'a, str>,
        /// Matches are ordered by rank, highest first.
        rank: f32,
        /// BLAKE3 of the document's text.
        hash: String,
        /// At most 64 short names of git revisions that have the document, the default one first,
        /// the others ascending. Absent outside git.
        #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
        #[schema(required = false, value_type = Vec<String>)]
        revisions: Cow<'a, [String]>,
        /// Number of revisions that have it. Absent outside git.
        revision_count?: u32,
        /// Full commit id, as `rev` of a permanent link: of the first revision when it was indexed,
        /// or of the match in a history. Absent outside git.
        commit?: Cow<'a, str>,
        /// Present in a history.
        change?: MatchCommit,
        /// Present for a line of a change.
        changed?: ChangedPlace,
        /// Offset of the line in the document, in bytes.
        offset: u64,
        window?: MatchWindow,
        /// Present on pages if the document has copies.
        copies?: DocumentCopies,
    }

    /// Commit of a match.
    struct MatchCommit {
        author: Person,
        committer: Person,
        /// First line of the message, or its beginning.
        subject / subject_base64: String,
        /// Present for a moved file: its path before.
        former_path? / former_path_base64: String,
    }

    /// Place of a changed line.
    #[derive(Copy)]
    struct ChangedPlace {
        /// Line number in the file after the commit if added, else before it.
        line: u32,
        added: bool,
    }

    /// Other documents with the same text and matching lines.
    #[derive(Copy)]
    #[schema(as = Copies)]
    struct DocumentCopies {
        /// Number of copies.
        #[schema(minimum = 1)]
        count: u64,
        /// Position among all matches, from 0, to list the copies by `/api/v2/copies`.
        position: u64,
    }

    /// Requested lines around a match.
    struct Context<'a> {
        before: Vec<ContextLine<'a>>,
        after: Vec<ContextLine<'a>>,
    }

    /// Line beside a match.
    struct ContextLine<'a> {
        line: u32,
        text / text_base64: Cow<'a, str>,
        window?: MatchWindow,
    }

    /// Shown part of a long line.
    #[derive(Copy, PartialEq, Eq)]
    #[schema(as = Window)]
    struct MatchWindow {
        /// Offset in the line, in bytes.
        start: u64,
        /// Bytes of the whole line.
        line_bytes: u64,
    }
}

/// Matches of a page, in order or in groups.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Results<'a> {
    Matches(Vec<Match<'a>>),
    Groups(Vec<MatchGroup<'a>>),
}

shapes! {
    /// First matches of a package or document.
    #[derive(Default)]
    #[schema(as = Group)]
    struct MatchGroup<'a> {
        package / package_base64: Cow<'a, str>,
        /// Present for a document.
        path? / path_base64: Cow<'a, str>,
        /// Present for a document.
        language?: Cow<'a, str>,
        /// Present for a document: BLAKE3 of its text.
        hash?: String,
        /// Present for a document in git: its revisions, as in a match.
        #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
        #[schema(required = false, value_type = Vec<String>)]
        revisions: Cow<'a, [String]>,
        /// Present for a document in git: number of its revisions.
        revision_count?: u32,
        /// Present for a document in git: its first revision's indexed commit.
        commit?: Cow<'a, str>,
        /// Number of matches; null if more documents match than are counted.
        #[schema(required)]
        total: Option<u64>,
        /// Best matches: of a package by rank, of a document by line. Context lines of a document
        /// never overlap.
        matches: Vec<Match<'a>>,
    }
}

impl Default for Results<'_> {
    fn default() -> Self {
        Results::Matches(Vec::new())
    }
}

impl<'a> From<&'a frontend::Match> for Match<'a> {
    fn from(found: &'a frontend::Match) -> Self {
        let document = &*found.document;
        let (package, package_base64) = readable(&document.package);
        let (path, path_base64) = readable(&document.path);
        let (text, text_base64) = readable(&found.text);
        let ranges = found.ranges.iter();
        Match {
            package,
            package_base64,
            path,
            path_base64,
            line: found.line,
            lines: (found.lines > 1).then_some(found.lines),
            text,
            text_base64,
            ranges: ranges.map(|range| [range.start, range.end]).collect(),
            kinds: Kind::names_of(found.kinds)
                .into_iter()
                .map(Cow::from)
                .collect(),
            enclosing: None,
            context: Context {
                before: found.before.iter().map(Into::into).collect(),
                after: found.after.iter().map(Into::into).collect(),
            },
            language: (&document.language).into(),
            rank: found.rank,
            hash: hex(&document.hash),
            revisions: (&document.revisions.names[..]).into(),
            revision_count: revision_count(document),
            commit: commit(document),
            change: document.change.as_deref().map(Into::into),
            changed: found.changed.as_ref().map(Into::into),
            offset: found.offset,
            window: found.window.as_ref().map(Into::into),
            copies: found.copies.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<Match<'_>> for frontend::Match {
    type Error = Malformed;

    fn try_from(read: Match<'_>) -> Result<Self, Malformed> {
        let lines = |lines: Vec<ContextLine<'_>>| -> Result<Vec<_>, Malformed> {
            lines.into_iter().map(TryInto::try_into).collect()
        };
        let ranges = read.ranges.into_iter();
        Ok(frontend::Match {
            document: Arc::new(Document {
                package: exact(read.package, read.package_base64.as_deref())?,
                path: exact(read.path, read.path_base64.as_deref())?,
                language: read.language.into_owned(),
                hash: from_hex(&read.hash)?,
                revisions: DocumentRevisions {
                    names: read.revisions.into_owned(),
                    count: read.revision_count.unwrap_or_default(),
                    commit: read.commit.map_or_else(String::new, Cow::into_owned),
                },
                change: read
                    .change
                    .map(TryInto::try_into)
                    .transpose()?
                    .map(Box::new),
            }),
            line: read.line,
            lines: read.lines.unwrap_or(1),
            text: exact(read.text, read.text_base64.as_deref())?,
            ranges: ranges.map(|[start, end]| start..end).collect(),
            before: lines(read.context.before)?,
            after: lines(read.context.after)?,
            rank: read.rank,
            offset: read.offset,
            window: read.window.as_ref().map(Into::into),
            kinds: (read.kinds.iter())
                .filter_map(|kind| Kind::bits_of(kind))
                .fold(0, |all, bits| all | bits),
            copies: read.copies.as_ref().map(Into::into),
            changed: read.changed.as_ref().map(Into::into),
        })
    }
}

impl From<&CommitChange> for MatchCommit {
    fn from(of: &CommitChange) -> MatchCommit {
        let (subject, subject_base64) = readable_owned(&of.subject);
        let former = (!of.former_path.is_empty()).then(|| readable_owned(&of.former_path));
        let (former_path, former_path_base64) = former.unzip();
        MatchCommit {
            author: (&of.author).into(),
            committer: (&of.committer).into(),
            subject,
            subject_base64,
            former_path,
            former_path_base64: former_path_base64.flatten(),
        }
    }
}

impl TryFrom<MatchCommit> for CommitChange {
    type Error = Malformed;

    fn try_from(read: MatchCommit) -> Result<CommitChange, Malformed> {
        let former = read.former_path.unwrap_or_default();
        Ok(CommitChange {
            author: read.author.try_into()?,
            committer: read.committer.try_into()?,
            subject: exact(read.subject, read.subject_base64.as_deref())?,
            former_path: exact(former, read.former_path_base64.as_deref())?,
        })
    }
}

impl TryFrom<Person> for Signature {
    type Error = Malformed;

    fn try_from(read: Person) -> Result<Signature, Malformed> {
        Ok(Signature {
            name: exact(read.name, read.name_base64.as_deref())?,
            email: exact(read.email, read.email_base64.as_deref())?,
            seconds: read.seconds,
            ..Signature::default()
        })
    }
}

fn revision_count(document: &Document) -> Option<u32> {
    Some(document.revisions.count).filter(|&count| count > 0)
}

fn commit(document: &Document) -> Option<Cow<'_, str>> {
    let commit = &document.revisions.commit[..];
    (!commit.is_empty()).then_some(commit.into())
}

impl<'a> From<&'a frontend::ContextLine> for ContextLine<'a> {
    fn from(line: &'a frontend::ContextLine) -> Self {
        let (text, text_base64) = readable(&line.text);
        ContextLine {
            line: line.line,
            text,
            text_base64,
            window: line.window.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<ContextLine<'_>> for frontend::ContextLine {
    type Error = Malformed;

    fn try_from(read: ContextLine<'_>) -> Result<Self, Malformed> {
        Ok(frontend::ContextLine {
            line: read.line,
            text: exact(read.text, read.text_base64.as_deref())?,
            window: read.window.as_ref().map(Into::into),
        })
    }
}

copied! {
    changed: ChangedLine => ChangedPlace { line: changed.number, added: changed.is_added }
    changed: ChangedPlace => ChangedLine { number: changed.line, is_added: changed.added }
    window: frontend::Window => MatchWindow { start, line_bytes }
    window: MatchWindow => frontend::Window { start, line_bytes }
    copies: Copies => DocumentCopies { count, position }
    copies: DocumentCopies => Copies { count, position }
}

impl<'a> MatchGroup<'a> {
    pub(crate) fn of_package(
        package: &'a frontend::PackageGroup,
        matches: &'a [frontend::Match],
    ) -> Self {
        let (name, package_base64) = readable(&package.name);
        MatchGroup {
            package: name,
            package_base64,
            total: Some(package.total),
            matches: matches.iter().map(Into::into).collect(),
            ..MatchGroup::default()
        }
    }

    /// `None` without a match, which names the document.
    pub(crate) fn of_document(total: Option<u64>, matches: &'a [frontend::Match]) -> Option<Self> {
        let document = &matches.first()?.document;
        let (package, package_base64) = readable(&document.package);
        let (path, path_base64) = readable(&document.path);
        Some(MatchGroup {
            package,
            package_base64,
            path: Some(path),
            path_base64,
            language: Some((&document.language).into()),
            hash: Some(hex(&document.hash)),
            revisions: (&document.revisions.names[..]).into(),
            revision_count: revision_count(document),
            commit: commit(document),
            total,
            matches: matches.iter().map(Into::into).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use frontend::Window;

    fn example() -> frontend::Match {
        frontend::Match {
            document: Arc::new(Document {
                package: b"p\xff".to_vec(),
                path: b"a/\xc3\xbc \"x\"".to_vec(),
                language: "C".to_owned(),
                hash: vec![0xab; 2],
                revisions: DocumentRevisions::default(),
                change: None,
            }),
            line: 7,
            lines: 1,
            text: b"caf\xe9".to_vec(),
            ranges: vec![0..3],
            before: vec![frontend::ContextLine {
                line: 6,
                text: b"before".to_vec(),
                window: None,
            }],
            after: vec![],
            rank: 1.1,
            offset: 10,
            window: Some(Window {
                start: 5,
                line_bytes: 5_000_000_000,
            }),
            kinds: 5,
            copies: None,
            changed: None,
        }
    }

    #[test]
    fn bytes_are_written_and_read_exactly() {
        let found = example();
        let json = serde_json::to_string(&Match::from(&found)).unwrap();
        expect![[r#"{"package":"p�","package_base64":"cP8=","path":"a/ü \"x\"","line":7,"text":"caf�","text_base64":"Y2Fm6Q==","ranges":[[0,3]],"kinds":["function","macro"],"context":{"before":[{"line":6,"text":"before"}],"after":[]},"language":"C","rank":1.1,"hash":"abab","offset":10,"window":{"start":5,"line_bytes":5000000000}}"#]]
            .assert_eq(&json);
        let read: Match<'_> = serde_json::from_str(&json).unwrap();
        assert_eq!(frontend::Match::try_from(read), Ok(found));
    }

    #[test]
    fn a_match_in_a_repository_names_its_revisions() {
        let mut found = example();
        let document = Arc::make_mut(&mut found.document);
        document.revisions = DocumentRevisions {
            names: vec!["main".to_owned(), "v1 \"x\"".to_owned()],
            count: 70,
            commit: "12".repeat(20),
        };
        let json = serde_json::to_string(&Match::from(&found)).unwrap();
        let shown =
            r#""hash":"abab","revisions":["main","v1 \"x\""],"revision_count":70,"commit":"1212"#;
        assert!(json.contains(shown), "{json}");
        let read: Match<'_> = serde_json::from_str(&json).unwrap();
        assert_eq!(frontend::Match::try_from(read), Ok(found));
    }

    #[test]
    fn rejects_malformed_bytes() {
        let found = example();
        let mut shape = Match::from(&found);
        shape.path_base64 = Some("?".to_owned());
        assert_eq!(frontend::Match::try_from(shape), Err(Malformed::Base64));
        for hash in ["abc", "xy", "a\u{fc}"] {
            let mut shape = Match::from(&found);
            shape.hash = hash.to_owned();
            assert_eq!(frontend::Match::try_from(shape), Err(Malformed::Hash));
        }
    }

    #[test]
    fn several_lines_are_counted() {
        let mut found = frontend::Match::default();
        (found.line, found.lines, found.text) = (7, 2, b"a\nb".to_vec());
        let json = serde_json::to_value(Match::from(&found)).unwrap();
        assert_eq!((&json["line"], &json["lines"]), (&7.into(), &2.into()));
        assert_eq!(json["text"], "a\nb");
        found.lines = 1;
        let json = serde_json::to_value(Match::from(&found)).unwrap();
        assert!(json.get("lines").is_none());
    }
}
