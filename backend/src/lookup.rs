//! Interface of look-ups, and bounds of their answers.
//!
//! Names and messages of a repository have any length, frames do not. Long ones are cut, and marked
//! ([`Commit::shortened`]).

pub(crate) mod git_repositories;
pub(crate) mod recorded;

use git::Blob;
use schema::message::{
    Blame, BlameSource, Change, Commit, CommitLog, Lookup, LookupAnswer, LookupProblem,
    LookupProblemKind, RecordedRevision, Reference, ReferenceList,
};

/// Bytes of an answer in a frame, at most.
pub(crate) const ANSWER_BYTES_MAX: usize = 400 << 10;

/// Characters of a reason or candidate, and candidates of a problem.
const REASON_CHARS_MAX: usize = 1 << 10;
const CANDIDATES_MAX: usize = 16;

/// A pointer, padding, and perhaps another pointer.
const STRING_BYTES: usize = 24;

const COMMIT_BYTES: usize = 256;

/// Blocks, since it reads files.
pub trait LookUp: Send + Sync {
    /// Shortens the answer.
    fn look_up(&self, lookup: &Lookup) -> LookupAnswer;

    /// Also returns the commit's id.
    fn file(&self, _: &WantedFile<'_>) -> Option<(String, Blob)> {
        None
    }

    /// Names in a directory of a revision; directories end with `/`. Empty if missing.
    fn directory(&self, _: &WantedFile<'_>) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Counts newer commits of a recorded revision; `None` if unknown.
    fn behind(&self, _: &str, _: &RecordedRevision) -> Option<u32> {
        None
    }
}

/// File or directory in a repository, with a size limit.
#[derive(Clone, Copy, Debug)]
pub struct WantedFile<'a> {
    pub repository: &'a str,
    /// Revision; empty for the default branch.
    pub revision: &'a str,
    pub path: &'a [u8],
    /// In bytes.
    pub bytes_max: u64,
}

/// Answer with a problem, shortened.
pub(crate) fn problem(
    kind: LookupProblemKind,
    reason: impl Into<String>,
    candidates: Vec<String>,
) -> LookupAnswer {
    let (mut reason, mut candidates) = (reason.into(), candidates);
    candidates.truncate(CANDIDATES_MAX);
    for text in candidates.iter_mut().chain([&mut reason]) {
        if let Some((end, _)) = text.char_indices().nth(REASON_CHARS_MAX) {
            text.truncate(end);
        }
    }
    LookupAnswer::Problem(LookupProblem {
        kind,
        reason,
        candidates,
    })
}

/// The first `references`, up to `count`, that fit into an answer.
pub(crate) fn first_references(
    references: impl Iterator<Item = Reference>,
    count: u32,
) -> ReferenceList {
    let mut list = ReferenceList::default();
    let mut bytes = 0;
    for reference in references {
        bytes += reference_bytes(&reference);
        let is_full = list.references.len() == count.max(1) as usize;
        if is_full || bytes > ANSWER_BYTES_MAX {
            list.more = true;
            break;
        }
        list.references.push(reference);
    }
    list
}

pub(crate) fn answer_bytes(answer: &LookupAnswer) -> usize {
    COMMIT_BYTES
        + match answer {
            LookupAnswer::Commit(commit) => commit_bytes(commit),
            LookupAnswer::Log(log) => log_bytes(log),
            LookupAnswer::References(list) => list.references.iter().map(reference_bytes).sum(),
            LookupAnswer::Blame(blame) => blame_bytes(blame),
            LookupAnswer::Changes(list) => list.changes.iter().map(change_bytes).sum(),
            LookupAnswer::Problem(problem) => {
                let texts = problem.candidates.iter().chain([&problem.reason]);
                strings_bytes(texts.map(String::len))
            }
        }
}

pub(crate) fn log_bytes(log: &CommitLog) -> usize {
    let paths = strings_bytes(log.paths.iter().map(Vec::len));
    log.next.len() + STRING_BYTES + paths + log.commits.iter().map(commit_bytes).sum::<usize>()
}

/// Bytes of a blame's hunk and its commit, besides strings.
const HUNK_BYTES: usize = 24;
const SOURCE_BYTES: usize = 96;

pub(crate) fn blame_bytes(blame: &Blame) -> usize {
    let source = |source: &BlameSource| {
        let texts = [
            source.commit.len(),
            source.author.name.len(),
            source.author.email.len(),
            source.subject.len(),
            source.path.len(),
            source.previous.len(),
            source.previous_path.len(),
        ];
        SOURCE_BYTES + strings_bytes(texts)
    };
    HUNK_BYTES * blame.hunks.len() + blame.sources.iter().map(source).sum::<usize>()
}

pub(crate) fn change_bytes(change: &Change) -> usize {
    let texts = [
        change.path.len(),
        change.was.len(),
        change.before.len(),
        change.after.len(),
    ];
    STRING_BYTES + strings_bytes(texts)
}

fn reference_bytes(Reference { name, id, .. }: &Reference) -> usize {
    3 * STRING_BYTES + name.len() + id.len()
}

fn commit_bytes(commit: &Commit) -> usize {
    let Commit {
        author, committer, ..
    } = commit;
    let texts = [
        &author.name,
        &author.email,
        &committer.name,
        &committer.email,
        &commit.subject,
        &commit.body,
    ];
    let ids = commit.parents.iter().chain([&commit.id, &commit.tree]);
    let lengths = texts
        .into_iter()
        .chain(&commit.tags)
        .map(Vec::len)
        .chain(ids.map(String::len));
    COMMIT_BYTES + strings_bytes(lengths)
}

fn strings_bytes(lengths: impl IntoIterator<Item = usize>) -> usize {
    let lengths = lengths.into_iter();
    lengths.map(|length| length + STRING_BYTES).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{LookupReply, Signature};

    fn huge() -> Commit {
        let text = "ü".repeat(1 << 20).into_bytes();
        let person = Signature {
            name: text.clone(),
            email: text.clone(),
            ..Signature::default()
        };
        Commit {
            id: "1".repeat(64),
            tree: "2".repeat(64),
            parents: vec!["3".repeat(64); 5000],
            author: person.clone(),
            committer: person,
            subject: [b"x", &text[..]].concat(),
            body: text.clone(),
            tags: vec![text; 100],
            shortened: false,
        }
    }

    #[test]
    fn a_hostile_commit_is_shortened_until_it_fits_into_an_answer() {
        let mut commit = huge();
        commit.shorten();
        assert!(commit.shortened);
        assert_eq!(commit.subject.len(), (4 << 10) - 1, "a whole letter");
        assert!(str::from_utf8(&commit.body).is_ok());
        let answer = LookupAnswer::Commit(commit);
        let bytes = answer_bytes(&answer);
        assert!(bytes < ANSWER_BYTES_MAX, "{bytes}");
        let mut frame = Vec::new();
        let answers = vec![answer];
        LookupReply { answers }.encode(&mut frame).unwrap();
        assert!(frame.len() <= bytes, "{} of {bytes}", frame.len());
    }

    #[test]
    fn an_ordinary_commit_is_not_changed() {
        let mut commit = Commit {
            subject: b"index: fix \xff".to_vec(),
            tags: vec![b"v1".to_vec()],
            ..Commit::default()
        };
        let before = commit.clone();
        commit.shorten();
        assert_eq!(commit, before);
    }
}
