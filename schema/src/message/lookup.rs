//! LOOKUP: commits, histories, references, blames and changes of git repositories.
//!
//! A reply answers the first look-ups of its request, in order; the client repeats the others. Ids
//! are hexadecimal, names and messages bytes, revisions and reasons text.

use super::blame::{Blame, ChangeList};
use super::codec::{
    MessageError, builder, convert_enum, encode_records, encode_values, finish, frame_message,
    length, reader, text,
};
use super::signature::Signature;
use crate::frame::Kind;
use crate::trawl_capnp::{
    commit, commit_log, lookup, lookup_answer, lookup_problem, lookup_reply, lookup_request,
    reference, reference_list,
};

/// A few milliseconds, unless a history is long.
pub const LOOKUPS_MAX: usize = 256;

/// The LOOKUP frame, frontend to backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookupRequest {
    /// At most [`LOOKUPS_MAX`].
    pub lookups: Vec<Lookup>,
}

/// Question to a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Path below the directory of repositories, without `.git`.
    pub repository: String,
    /// Subject of the look-up.
    pub of: LookupOf,
}

/// Subject of a look-up. An empty revision is the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LookupOf {
    /// Commit of a revision.
    Commit {
        /// Syntax of `git rev-parse`, except for reflogs.
        revision: String,
    },
    /// Commits reachable from a revision, in the order of `git log`.
    Log {
        /// Newest commit.
        revision: String,
        /// File or directory changed by the commits; empty: all.
        path: Vec<u8>,
        /// [`CommitLog::next`] of the previous part; empty: from the newest.
        after: Vec<u8>,
        /// Commits, at most.
        count: u32,
    },
    /// References to commits, by name.
    References {
        /// Only names after this one.
        after: Vec<u8>,
        /// References, at most.
        count: u32,
    },
    /// Origin commits of a file's lines.
    Blame {
        /// Commit of the file.
        revision: String,
        /// Path of the file.
        path: Vec<u8>,
    },
    /// Files that a commit changed against its first parent.
    Changes {
        /// The commit.
        revision: String,
        /// Files, at most.
        count: u32,
    },
}

impl LookupOf {
    /// Operation name, for metrics and logs.
    pub fn operation(&self) -> &'static str {
        match self {
            LookupOf::Commit { .. } => "commit",
            LookupOf::Log { .. } => "log",
            LookupOf::References { .. } => "references",
            LookupOf::Blame { .. } => "blame",
            LookupOf::Changes { .. } => "changes",
        }
    }

    /// Revision, unless all references are listed.
    pub fn revision(&self) -> Option<&str> {
        match self {
            LookupOf::Commit { revision }
            | LookupOf::Log { revision, .. }
            | LookupOf::Blame { revision, .. }
            | LookupOf::Changes { revision, .. } => Some(revision),
            LookupOf::References { .. } => None,
        }
    }
}

/// The LOOKUP frame, backend to frontend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookupReply {
    /// Answers to the first look-ups, in order; at least one.
    pub answers: Vec<LookupAnswer>,
}

/// Answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "nearly all answers are commits")]
pub enum LookupAnswer {
    /// To [`LookupOf::Commit`].
    Commit(Commit),
    /// To [`LookupOf::Log`].
    Log(CommitLog),
    /// To [`LookupOf::References`].
    References(ReferenceList),
    /// To [`LookupOf::Blame`].
    Blame(Blame),
    /// To [`LookupOf::Changes`].
    Changes(ChangeList),
    /// To any of them.
    Problem(LookupProblem),
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: String,
    /// Tree id.
    pub tree: String,
    /// Parent ids.
    pub parents: Vec<String>,
    /// Author of the change.
    pub author: Signature,
    /// Maker of the commit.
    pub committer: Signature,
    /// First paragraph of the message, as one line.
    pub subject: Vec<u8>,
    /// Rest of the message.
    pub body: Vec<u8>,
    /// Short names of its tags, ascending.
    pub tags: Vec<Vec<u8>>,
    /// True if a name, message, parents or tags were cut.
    pub shortened: bool,
}

/// Part of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitLog {
    /// The commits.
    pub commits: Vec<Commit>,
    /// Start of the next part; empty at the end.
    pub next: Vec<u8>,
}

/// Part of a repository's references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceList {
    /// Ascending by name.
    pub references: Vec<Reference>,
    /// True if more names follow.
    pub more: bool,
}

/// Name of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// In full, such as `refs/heads/main`.
    pub name: Vec<u8>,
    /// Kind according to the name.
    pub kind: ReferenceKind,
    /// Commit id.
    pub id: String,
    /// True if its revision can be searched.
    pub indexed: bool,
}

/// Kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// Below `refs/heads/`.
    Branch,
    /// Below `refs/tags/`.
    Tag,
    /// Elsewhere.
    Other,
}

/// Failed look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupProblem {
    /// The kind.
    pub kind: LookupProblemKind,
    /// Reason, for people; may be empty.
    pub reason: String,
    /// Similar names, or meanings of an ambiguous revision.
    pub candidates: Vec<String>,
}

/// Kind of a problem, by the client's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupProblemKind {
    /// This backend lacks the repository; another may have it.
    UnknownRepository,
    /// The repository lacks the revision.
    UnknownRevision,
    /// Revision of several commits.
    Ambiguous,
    /// Such revisions are refused by every backend.
    Refused,
    /// Damaged or unreadable repository.
    Unreadable,
    /// Look-up took too long.
    Late,
}

impl LookupRequest {
    fn encode_to(&self, mut root: lookup_request::Builder<'_>) {
        encode_records!(root.init_lookups, self.lookups);
    }

    fn decode_from(root: lookup_request::Reader<'_>) -> Result<Self, MessageError> {
        let lookups = root.get_lookups()?;
        if lookups.len() as usize > LOOKUPS_MAX {
            return Err(MessageError::Impossible("number of look-ups"));
        }
        let lookups = lookups.iter().map(Lookup::decode_from);
        Ok(LookupRequest {
            lookups: lookups.collect::<Result<_, _>>()?,
        })
    }
}

impl Lookup {
    fn encode_to(&self, mut to: lookup::Builder<'_>) {
        to.set_repository(&self.repository[..]);
        match &self.of {
            LookupOf::Commit { revision } => to.init_commit().set_revision(&revision[..]),
            LookupOf::Log {
                revision,
                path,
                after,
                count,
            } => {
                let mut log = to.init_log();
                log.set_revision(&revision[..]);
                log.set_path(path);
                log.set_after(after);
                log.set_count(*count);
            }
            LookupOf::References { after, count } => {
                let mut references = to.init_references();
                references.set_after(after);
                references.set_count(*count);
            }
            LookupOf::Blame { revision, path } => {
                let mut blame = to.init_blame();
                blame.set_revision(&revision[..]);
                blame.set_path(path);
            }
            LookupOf::Changes { revision, count } => {
                let mut changes = to.init_changes();
                changes.set_revision(&revision[..]);
                changes.set_count(*count);
            }
        }
    }

    fn decode_from(from: lookup::Reader<'_>) -> Result<Self, MessageError> {
        let of = match from.which()? {
            lookup::Commit(commit) => LookupOf::Commit {
                revision: text(commit.get_revision()?)?,
            },
            lookup::Log(log) => LookupOf::Log {
                revision: text(log.get_revision()?)?,
                path: log.get_path()?.to_vec(),
                after: log.get_after()?.to_vec(),
                count: log.get_count(),
            },
            lookup::References(references) => LookupOf::References {
                after: references.get_after()?.to_vec(),
                count: references.get_count(),
            },
            lookup::Blame(blame) => LookupOf::Blame {
                revision: text(blame.get_revision()?)?,
                path: blame.get_path()?.to_vec(),
            },
            lookup::Changes(changes) => LookupOf::Changes {
                revision: text(changes.get_revision()?)?,
                count: changes.get_count(),
            },
        };
        Ok(Lookup {
            repository: text(from.get_repository()?)?,
            of,
        })
    }
}

impl LookupAnswer {
    /// True if it answers this kind of look-up.
    pub fn fits(&self, lookup: &Lookup) -> bool {
        matches!(
            (&lookup.of, self),
            (_, LookupAnswer::Problem(_))
                | (LookupOf::Commit { .. }, LookupAnswer::Commit(_))
                | (LookupOf::Log { .. }, LookupAnswer::Log(_))
                | (LookupOf::References { .. }, LookupAnswer::References(_))
                | (LookupOf::Blame { .. }, LookupAnswer::Blame(_))
                | (LookupOf::Changes { .. }, LookupAnswer::Changes(_))
        )
    }
}

impl LookupReply {
    fn encode_to(&self, mut root: lookup_reply::Builder<'_>) {
        encode_records!(root.init_answers, self.answers);
    }

    fn decode_from(root: lookup_reply::Reader<'_>) -> Result<Self, MessageError> {
        let answers = root.get_answers()?.iter().map(LookupAnswer::decode_from);
        Ok(LookupReply {
            answers: answers.collect::<Result<_, _>>()?,
        })
    }
}

impl LookupAnswer {
    fn encode_to(&self, to: lookup_answer::Builder<'_>) {
        match self {
            LookupAnswer::Commit(commit) => commit.encode_to(to.init_commit()),
            LookupAnswer::Log(log) => log.encode_to(to.init_log()),
            LookupAnswer::References(list) => list.encode_to(to.init_references()),
            LookupAnswer::Blame(blame) => blame.encode_to(to.init_blame()),
            LookupAnswer::Changes(list) => list.encode_to(to.init_changes()),
            LookupAnswer::Problem(problem) => problem.encode_to(to.init_problem()),
        }
    }

    fn decode_from(from: lookup_answer::Reader<'_>) -> Result<Self, MessageError> {
        Ok(match from.which()? {
            lookup_answer::Commit(commit) => LookupAnswer::Commit(Commit::decode_from(commit?)?),
            lookup_answer::Log(log) => LookupAnswer::Log(CommitLog::decode_from(log?)?),
            lookup_answer::References(list) => {
                LookupAnswer::References(ReferenceList::decode_from(list?)?)
            }
            lookup_answer::Blame(blame) => LookupAnswer::Blame(Blame::decode_from(blame?)?),
            lookup_answer::Changes(list) => LookupAnswer::Changes(ChangeList::decode_from(list?)?),
            lookup_answer::Problem(problem) => {
                LookupAnswer::Problem(LookupProblem::decode_from(problem?)?)
            }
        })
    }
}

impl Commit {
    pub(super) fn encode_to(&self, mut to: commit::Builder<'_>) {
        to.set_id(&self.id[..]);
        to.set_tree(&self.tree[..]);
        self.author.encode_to(to.reborrow().init_author());
        self.committer.encode_to(to.reborrow().init_committer());
        to.set_subject(&self.subject);
        to.set_body(&self.body);
        to.set_shortened(self.shortened);
        encode_values!(to.init_parents, self.parents);
        encode_values!(to.init_tags, self.tags);
    }

    pub(super) fn decode_from(from: commit::Reader<'_>) -> Result<Self, MessageError> {
        let mut parents = Vec::new();
        for parent in from.get_parents()? {
            parents.push(text(parent?)?);
        }
        let mut tags = Vec::new();
        for tag in from.get_tags()? {
            tags.push(tag?.to_vec());
        }
        Ok(Commit {
            id: text(from.get_id()?)?,
            tree: text(from.get_tree()?)?,
            parents,
            author: Signature::decode_from(from.get_author()?)?,
            committer: Signature::decode_from(from.get_committer()?)?,
            subject: from.get_subject()?.to_vec(),
            body: from.get_body()?.to_vec(),
            tags,
            shortened: from.get_shortened(),
        })
    }
}

impl CommitLog {
    fn encode_to(&self, mut to: commit_log::Builder<'_>) {
        to.set_next(&self.next);
        encode_records!(to.init_commits, self.commits);
    }

    fn decode_from(from: commit_log::Reader<'_>) -> Result<Self, MessageError> {
        let commits = from.get_commits()?.iter().map(Commit::decode_from);
        Ok(CommitLog {
            commits: commits.collect::<Result<_, _>>()?,
            next: from.get_next()?.to_vec(),
        })
    }
}

impl ReferenceList {
    fn encode_to(&self, mut to: reference_list::Builder<'_>) {
        to.set_more(self.more);
        let mut references = to.init_references(length(self.references.len()));
        for (index, reference) in (0..).zip(&self.references) {
            let mut entry = references.reborrow().get(index);
            entry.set_name(&reference.name);
            entry.set_kind(reference.kind.into());
            entry.set_id(&reference.id[..]);
            entry.set_indexed(reference.indexed);
        }
    }

    fn decode_from(from: reference_list::Reader<'_>) -> Result<Self, MessageError> {
        let mut references = Vec::new();
        for entry in from.get_references()? {
            references.push(Reference {
                name: entry.get_name()?.to_vec(),
                kind: entry.get_kind()?.into(),
                id: text(entry.get_id()?)?,
                indexed: entry.get_indexed(),
            });
        }
        Ok(ReferenceList {
            references,
            more: from.get_more(),
        })
    }
}

impl LookupProblem {
    fn encode_to(&self, mut to: lookup_problem::Builder<'_>) {
        to.set_kind(self.kind.into());
        to.set_reason(&self.reason[..]);
        encode_values!(to.init_candidates, self.candidates);
    }

    fn decode_from(from: lookup_problem::Reader<'_>) -> Result<Self, MessageError> {
        let mut candidates = Vec::new();
        for candidate in from.get_candidates()? {
            candidates.push(text(candidate?)?);
        }
        Ok(LookupProblem {
            kind: from.get_kind()?.into(),
            reason: text(from.get_reason()?)?,
            candidates,
        })
    }
}

frame_message!(LookupRequest: Lookup, LookupReply: Lookup);
convert_enum!(ReferenceKind, reference::Kind: Branch, Tag, Other);
convert_enum!(
    LookupProblemKind,
    lookup_problem::Kind: UnknownRepository, UnknownRevision, Ambiguous, Refused, Unreadable, Late
);
