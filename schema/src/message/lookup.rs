//! LOOKUP: commits, histories, references, blames and changes of git repositories.
//!
//! A reply answers the first look-ups of its request, in order; the client repeats the others. Ids
//! are hexadecimal, names and messages bytes, revisions and reasons text.

use super::codec::MessageError;
use super::record::{encode_records, encode_values, frame_message, groups, read_from, record};
use crate::trawl_capnp::{
    blame, blame_hunk, blame_source, change, change_list, commit, commit_log, lookup,
    lookup_answer, lookup_problem, lookup_reply, lookup_request, reference, reference_list,
    signature,
};

/// Bounds a request to a few milliseconds, unless a history is long.
pub const LOOKUPS_MAX: usize = 256;

/// Bytes of a name, address or tag.
const NAME_BYTES_MAX: usize = 1 << 10;

/// Bytes of a message's first paragraph, and of the rest.
const SUBJECT_BYTES_MAX: usize = 4 << 10;
const BODY_BYTES_MAX: usize = 128 << 10;

/// Parents and tags. No commit of Linux has more than 66 parents.
const PARENTS_MAX: usize = 512;
const TAGS_MAX: usize = 64;

record! {
    /// The LOOKUP frame, frontend to backend.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LookupRequest: lookup_request {
        /// At most [`LOOKUPS_MAX`].
        pub lookups: Vec<Lookup> =
            [get_lookups, records init_lookups, LOOKUPS_MAX "number of look-ups"],
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Lookup: lookup {
        /// Path below the directory of repositories, without `.git`.
        pub repository: String = [get_repository, set_repository],
        pub of: LookupOf = [union],
    }
}

groups! {
    /// Subject of a look-up. An empty revision is the default branch.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum LookupOf: lookup {
        Commit = init_commit {
            /// Syntax of `git rev-parse`, except for reflogs.
            revision: String = [get_revision, set_revision],
        },
        /// Commits reachable from a revision, in the order of `git log`.
        Log = init_log {
            /// Newest commit.
            revision: String = [get_revision, set_revision],
            /// File or directory changed by the commits; empty: all.
            path: Vec<u8> = [get_path, set_path],
            /// [`CommitLog::next`] of the previous part; empty: from the newest.
            after: Vec<u8> = [get_after, set_after],
            count: u32 = [get_count, set_count],
        },
        References = init_references {
            /// Only names after this one.
            after: Vec<u8> = [get_after, set_after],
            count: u32 = [get_count, set_count],
        },
        /// Origin commits of a file's lines.
        Blame = init_blame {
            revision: String = [get_revision, set_revision],
            path: Vec<u8> = [get_path, set_path],
        },
        /// Files that differ between two commits.
        Changes = init_changes {
            revision: String = [get_revision, set_revision],
            /// Earlier commit; empty: the first parent.
            since: String = [get_since, set_since],
            /// File or directory; empty: all.
            path: Vec<u8> = [get_path, set_path],
            count: u32 = [get_count, set_count],
        },
    }
}

impl LookupOf {
    pub fn operation(&self) -> &'static str {
        match self {
            LookupOf::Commit { .. } => "commit",
            LookupOf::Log { .. } => "log",
            LookupOf::References { .. } => "references",
            LookupOf::Blame { .. } => "blame",
            LookupOf::Changes { .. } => "changes",
        }
    }

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

record! {
    /// The LOOKUP frame, backend to frontend.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LookupReply: lookup_reply {
        /// Answers to the first look-ups, in order; at least one.
        pub answers: Vec<LookupAnswer> = [get_answers, records init_answers],
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "nearly all answers are commits")]
pub enum LookupAnswer {
    Commit(Commit),
    Log(CommitLog),
    References(ReferenceList),
    Blame(Blame),
    Changes(ChangeList),
    Problem(LookupProblem),
}

record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Signature: signature {
        pub name: Vec<u8> = [get_name, set_name],
        pub email: Vec<u8> = [get_email, set_email],
        /// Seconds since 1970 in UTC, 0 if unreadable.
        pub seconds: i64 = [get_seconds, set_seconds],
        /// Minutes east of UTC.
        pub offset_minutes: i32 = [get_offset_minutes, set_offset_minutes],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Commit: commit {
        pub id: String = [get_id, set_id],
        pub tree: String = [get_tree, set_tree],
        pub author: Signature = [get_author, record init_author],
        pub committer: Signature = [get_committer, record init_committer],
        /// First paragraph of the message, as one line.
        pub subject: Vec<u8> = [get_subject, set_subject],
        pub body: Vec<u8> = [get_body, set_body],
        pub parents: Vec<String> = [get_parents, values init_parents],
        /// Short names of its tags, ascending.
        pub tags: Vec<Vec<u8>> = [get_tags, values init_tags],
        /// True if a name, message, parents or tags were cut.
        pub shortened: bool = [get_shortened, set_shortened],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CommitLog: commit_log {
        pub commits: Vec<Commit> = [get_commits, records init_commits],
        /// Start of the next part; empty at the end.
        pub next: Vec<u8> = [get_next, set_next],
        /// Path of the file in each commit; empty: as requested.
        pub paths: Vec<Vec<u8>> = [get_paths, values init_paths],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ReferenceList: reference_list {
        /// Ascending by name.
        pub references: Vec<Reference> = [get_references, records init_references],
        pub more: bool = [get_more, set_more],
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Reference: reference {
        /// In full, such as `refs/heads/main`.
        pub name: Vec<u8> = [get_name, set_name],
        pub kind: ReferenceKind = [get_kind, set_kind],
        pub id: String = [get_id, set_id],
        /// True if its revision can be searched.
        pub indexed: bool = [get_indexed, set_indexed],
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReferenceKind: reference::Kind {
        Branch,
        Tag,
        Other,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LookupProblem: lookup_problem {
        pub kind: LookupProblemKind = [get_kind, set_kind],
        /// Reason, for people; may be empty.
        pub reason: String = [get_reason, set_reason],
        /// Similar names, or meanings of an ambiguous revision.
        pub candidates: Vec<String> = [get_candidates, values init_candidates],
    }

    /// Kind of a problem, by the client's options.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LookupProblemKind: lookup_problem::Kind {
        /// This backend lacks the repository; another may have it.
        UnknownRepository,
        UnknownRevision,
        Ambiguous,
        /// Such revisions are refused by every backend.
        Refused,
        Unreadable,
        Late,
    }
}

impl Commit {
    /// Cuts long parts, and sets [`shortened`](Commit::shortened).
    pub fn shorten(&mut self) {
        let mut is_cut = self.parents.len() > PARENTS_MAX || self.tags.len() > TAGS_MAX;
        self.parents.truncate(PARENTS_MAX);
        self.tags.truncate(TAGS_MAX);
        let people = [&mut self.author, &mut self.committer];
        let names = people
            .into_iter()
            .flat_map(|Signature { name, email, .. }| [name, email])
            .chain(&mut self.tags)
            .map(|name| (name, NAME_BYTES_MAX));
        let message = [
            (&mut self.subject, SUBJECT_BYTES_MAX),
            (&mut self.body, BODY_BYTES_MAX),
        ];
        for (text, bytes_max) in names.chain(message) {
            is_cut |= cut(text, bytes_max);
        }
        self.shortened |= is_cut;
    }
}

/// Cuts text at a UTF-8 boundary. Returns true if longer.
fn cut(text: &mut Vec<u8>, bytes_max: usize) -> bool {
    if text.len() <= bytes_max {
        return false;
    }
    let is_inside = |byte: u8| byte & 0xc0 == 0x80;
    let start = (bytes_max - 3..=bytes_max).rev();
    let end = start.into_iter().find(|&end| !is_inside(text[end]));
    text.truncate(end.unwrap_or(bytes_max));
    true
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
            lookup_answer::Commit(it) => LookupAnswer::Commit(Commit::decode_from(it?)?),
            lookup_answer::Log(it) => LookupAnswer::Log(CommitLog::decode_from(it?)?),
            lookup_answer::References(it) => {
                LookupAnswer::References(ReferenceList::decode_from(it?)?)
            }
            lookup_answer::Blame(it) => LookupAnswer::Blame(Blame::decode_from(it?)?),
            lookup_answer::Changes(it) => LookupAnswer::Changes(ChangeList::decode_from(it?)?),
            lookup_answer::Problem(it) => LookupAnswer::Problem(LookupProblem::decode_from(it?)?),
        })
    }
}

record! {
    /// Origin commits of a file's lines.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Blame: blame, check {
        /// The commit has a file at the path.
        pub found: bool = [get_found, set_found],
        pub commit: String = [get_commit, set_commit],
        /// No bound was reached.
        pub complete: bool = [get_complete, set_complete],
        /// Ascending.
        pub hunks: Vec<BlameHunk> = [get_hunks, records init_hunks],
        pub sources: Vec<BlameSource> = [get_sources, records init_sources],
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BlameHunk: blame_hunk {
        /// From 1.
        pub first: u32 = [get_first, set_first],
        pub lines: u32 = [get_lines, set_lines],
        /// Index in [`Blame::sources`].
        pub source: u32 = [get_source, set_source],
        /// First line in the commit's file.
        pub source_line: u32 = [get_source_line, set_source_line],
        /// Perhaps of an earlier commit: a bound was reached.
        pub or_earlier: bool = [get_or_earlier, set_or_earlier],
    }

    /// Commit, and its file with the lines.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BlameSource: blame_source {
        pub commit: String = [get_commit, set_commit],
        pub author: Signature = [get_author, record init_author],
        /// Beginning of the first paragraph; empty if the answer is too long.
        pub subject: Vec<u8> = [get_subject, set_subject],
        /// Path in the commit; empty: as requested.
        pub path: Vec<u8> = [get_path, set_path],
        /// Earlier commit with the file, or empty.
        pub previous: String = [get_previous, set_previous],
        /// Path there; empty: as requested.
        pub previous_path: Vec<u8> = [get_previous_path, set_previous_path],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ChangeList: change_list {
        pub commit: String = [get_commit, set_commit],
        pub changes: Vec<Change> = [get_changes, records init_changes],
        pub more: bool = [get_more, set_more],
        /// Commit compared with; empty without a parent.
        pub since: String = [get_since, set_since],
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Change: change {
        pub path: Vec<u8> = [get_path, set_path],
        pub kind: ChangeKind = [get_kind, set_kind],
        /// Former path of a renamed file.
        pub was: Vec<u8> = [get_was, set_was],
        /// Ids of the objects, empty without one, and their modes.
        pub before: String = [get_before, set_before],
        pub after: String = [get_after, set_after],
        pub mode_before: u16 = [get_mode_before, set_mode_before],
        pub mode_after: u16 = [get_mode_after, set_mode_after],
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ChangeKind: change::Kind {
        Added,
        Removed,
        /// Changed content, mode or type.
        Modified,
        Renamed,
    }
}

impl Blame {
    fn check(&self) -> Result<(), MessageError> {
        let mut next = 1;
        for hunk in &self.hunks {
            let is_next = hunk.first == next && hunk.lines > 0 && hunk.source_line > 0;
            if !is_next || hunk.source as usize >= self.sources.len() {
                return Err(MessageError::Impossible("lines of a blame"));
            }
            next = hunk.first.saturating_add(hunk.lines);
        }
        Ok(())
    }
}

read_from!(LookupAnswer: lookup_answer);
frame_message!(LookupRequest: Lookup, LookupReply: Lookup);
