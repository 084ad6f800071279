//! LOOKUP: commits, histories, references, blames and changes of git repositories.
//!
//! A request has several look-ups, and its reply the answers to the first of them, in their order: what does
//! not fit into a reply, or would take too long, is asked for again. Ids are hexadecimal digits. Names
//! and messages from a repository are bytes. Revisions and reasons are text.

use super::blame::{Blame, ChangeList};
use super::codec::{
    MessageError, builder, convert_enum, finish, frame_message, length, reader, text,
};
use super::signature::Signature;
use crate::frame::Kind;
use crate::trawl_capnp::{
    commit, commit_log, lookup, lookup_answer, lookup_problem, lookup_reply, lookup_request,
    reference, reference_list,
};

/// Look-ups in a request, at most. A backend answers these within a few milliseconds, unless a history is
/// long.
pub const LOOKUPS_MAX: usize = 256;

/// The LOOKUP frame, frontend to backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookupRequest {
    /// At most [`LOOKUPS_MAX`].
    pub lookups: Vec<Lookup>,
}

/// A question to a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// The repository: its path below the directory of repositories, without `.git` at its end.
    pub repository: String,
    /// What to look up in it.
    pub of: LookupOf,
}

/// What is looked up. An empty revision is the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LookupOf {
    /// The commit that a revision names.
    Commit {
        /// Anything that `git rev-parse` knows, except what reads a reflog.
        revision: String,
    },
    /// The commits that a revision reaches, in the order of `git log`.
    Log {
        /// The newest commit.
        revision: String,
        /// Only commits that changed this file or directory; empty: all.
        path: Vec<u8>,
        /// [`CommitLog::next`] of the previous part; empty: from the newest commit on.
        after: Vec<u8>,
        /// Number of commits, at most.
        count: u32,
    },
    /// The references to commits, by name.
    References {
        /// Only names after this one.
        after: Vec<u8>,
        /// Number of references, at most.
        count: u32,
    },
    /// The commits that the lines of a file come from.
    Blame {
        /// The commit whose file it is.
        revision: String,
        /// The path of the file.
        path: Vec<u8>,
    },
    /// The files that a commit changed against its first parent.
    Changes {
        /// The commit.
        revision: String,
        /// Number of files, at most.
        count: u32,
    },
}

impl LookupOf {
    /// The name of the operation, for metrics and logs.
    pub fn operation(&self) -> &'static str {
        match self {
            LookupOf::Commit { .. } => "commit",
            LookupOf::Log { .. } => "log",
            LookupOf::References { .. } => "references",
            LookupOf::Blame { .. } => "blame",
            LookupOf::Changes { .. } => "changes",
        }
    }

    /// The revision, unless all references are listed.
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
    /// The answers to the first look-ups of the request, in their order; at least one.
    pub answers: Vec<LookupAnswer>,
}

/// The answer to a look-up.
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
    /// The id of its tree.
    pub tree: String,
    /// The ids of its parents.
    pub parents: Vec<String>,
    /// Who wrote the change.
    pub author: Signature,
    /// Who made the commit.
    pub committer: Signature,
    /// The first paragraph of the message, as one line.
    pub subject: Vec<u8>,
    /// The rest of the message.
    pub body: Vec<u8>,
    /// The short names of tags that point to it, ascending.
    pub tags: Vec<Vec<u8>>,
    /// Whether a name, the message, the parents or the tags were too long, and are cut off.
    pub shortened: bool,
}

/// A part of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitLog {
    /// The commits.
    pub commits: Vec<Commit>,
    /// Where the next part begins; empty after the last commit.
    pub next: Vec<u8>,
}

/// A part of the references of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceList {
    /// The references, ascending by name.
    pub references: Vec<Reference>,
    /// Whether more names follow the last one.
    pub more: bool,
}

/// A name of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// In full, such as `refs/heads/main`.
    pub name: Vec<u8>,
    /// What the name says that it is.
    pub kind: ReferenceKind,
    /// The id of the commit.
    pub id: String,
    /// Whether its revision can be searched.
    pub indexed: bool,
}

/// The kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// Below `refs/heads/`.
    Branch,
    /// Below `refs/tags/`.
    Tag,
    /// Elsewhere.
    Other,
}

/// Why a look-up has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupProblem {
    /// The kind.
    pub kind: LookupProblemKind,
    /// The reason, for people; empty if the kind says all.
    pub reason: String,
    /// Similar names, or what an ambiguous revision may mean.
    pub candidates: Vec<String>,
}

/// The kind of a problem, which tells what the client can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupProblemKind {
    /// This backend does not have the repository; another one may have it.
    UnknownRepository,
    /// The repository does not have the revision.
    UnknownRevision,
    /// The revision names several commits.
    Ambiguous,
    /// No backend answers such a revision.
    Refused,
    /// The repository is damaged or cannot be read.
    Unreadable,
    /// The look-up took too long.
    Late,
}

impl LookupRequest {
    fn encode_to(&self, root: lookup_request::Builder<'_>) {
        let mut lookups = root.init_lookups(length(self.lookups.len()));
        for (index, lookup) in (0..).zip(&self.lookups) {
            lookup.encode_to(lookups.reborrow().get(index));
        }
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
    /// Whether it is an answer to this kind of look-up.
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
    fn encode_to(&self, root: lookup_reply::Builder<'_>) {
        let mut answers = root.init_answers(length(self.answers.len()));
        for (index, answer) in (0..).zip(&self.answers) {
            answer.encode_to(answers.reborrow().get(index));
        }
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
        let mut parents = to.reborrow().init_parents(length(self.parents.len()));
        for (index, parent) in (0..).zip(&self.parents) {
            parents.set(index, &parent[..]);
        }
        let mut tags = to.init_tags(length(self.tags.len()));
        for (index, tag) in (0..).zip(&self.tags) {
            tags.set(index, tag);
        }
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
        let mut commits = to.init_commits(length(self.commits.len()));
        for (index, commit) in (0..).zip(&self.commits) {
            commit.encode_to(commits.reborrow().get(index));
        }
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
        let mut candidates = to.init_candidates(length(self.candidates.len()));
        for (index, candidate) in (0..).zip(&self.candidates) {
            candidates.set(index, &candidate[..]);
        }
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
