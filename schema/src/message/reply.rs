//! Replies of a backend, except batches.

use super::codec::MessageError;
use super::record::{encode_records, encode_values, frame_message, read_from, record};
use crate::name::name_of;
use crate::trawl_capnp::{
    end, estimate, failure, file_definition, file_reply, hello, indexed_repository,
    indexed_revision, list_entry, list_reply, listed_place, progress, shard_end, shard_info, skip,
};
use zerocopy::IntoBytes;

/// Bound of a shard; sums over 16,000 shards fit in 64 bits.
const COUNT_MAX: u64 = 1 << 50;

pub(super) fn count(said: u64) -> Result<u64, MessageError> {
    if said > COUNT_MAX {
        return Err(MessageError::Impossible("count"));
    }
    Ok(said)
}

record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ShardInfo: shard_info {
        pub id: [u8; 32] = [get_id, set_id],
        /// Packages without a part in earlier shards.
        pub packages: u32 = [get_packages, set_packages],
        /// All packages, as in LIST.
        pub parts: u32 = [get_parts, set_parts],
        pub documents: u32 = [get_documents, set_documents],
        pub blocks: u32 = [get_blocks, set_blocks],
        pub text_bytes: u64 = [get_text_bytes, set_text_bytes, count],
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Hello: hello {
        pub protocol: u32 = [get_protocol, set_protocol],
        pub shards: Vec<ShardInfo> = [get_shards, records init_shards],
        /// Manifest time, in seconds since 1970.
        pub updated: u64 = [get_updated, set_updated],
        /// False from earlier versions.
        pub has_repositories: bool = [get_has_repositories, set_has_repositories],
        pub indexed_repositories: u32 = [get_indexed_repositories, set_indexed_repositories],
        /// 1 from earlier versions.
        pub semantics: u32 = [get_semantics, set_semantics],
        /// Restricts answers to visible packages; earlier versions show all.
        pub has_views: bool = [get_has_views, set_has_views],
        /// Resumes another backend's answer; earlier versions start over.
        pub resumes: bool = [get_resumes, set_resumes],
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Progress: progress, check {
        pub blocks_done: u64 = [get_blocks_done, set_blocks_done],
        /// Candidate blocks in planned shards.
        pub blocks_total: u64 = [get_blocks_total, set_blocks_total, count],
        pub documents: u64 = [get_documents, set_documents, count],
        pub matches: u64 = [get_matches, set_matches, count],
        /// Upper bound of the ranks of later matches.
        pub bound: f32 = [get_bound, set_bound],
        /// Grows while the search works, also within a document or block. A number not above the
        /// last proves nothing.
        pub steps: u64 = [get_steps, set_steps],
        pub is_queued: bool = [get_is_queued, set_is_queued],
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            blocks_done: 0,
            blocks_total: 0,
            documents: 0,
            matches: 0,
            bound: f32::INFINITY,
            steps: 0,
            is_queued: false,
        }
    }
}

impl Progress {
    fn words(&self) -> usize {
        9
    }

    fn check(&self) -> Result<(), MessageError> {
        if self.blocks_done > self.blocks_total {
            return Err(MessageError::Impossible("number of blocks"));
        }
        if self.bound.is_nan() {
            return Err(MessageError::Impossible("bound"));
        }
        Ok(())
    }
}

record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Skip: skip {
        pub shard: u32 = [get_shard, set_shard],
        pub document: u32 = [get_document, set_document],
        pub package: Vec<u8> = [get_package, set_package],
        pub path: Vec<u8> = [get_path, set_path],
        pub reason: String = [get_reason, set_reason],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ShardEnd: shard_end {
        pub shard: u32 = [get_shard, set_shard],
        pub matches: u64 = [get_matches, set_matches, count],
        /// Matches, sent or not; documents for [`Want::Documents`](super::Want::Documents).
        pub found: u64 = [get_found, set_found, count],
        pub documents: u64 = [get_documents, set_documents, count],
        pub matched_documents: u64 = [get_matched_documents, set_matched_documents, count],
        pub blocks: u64 = [get_blocks, set_blocks, count],
        /// Blocks not ruled out by the index.
        pub candidates: u64 = [get_candidates, set_candidates, count],
        pub matched_blocks: u64 = [get_matched_blocks, set_matched_blocks, count],
        pub verified_bytes: u64 = [get_verified_bytes, set_verified_bytes, count],
        /// CRC-32C over the keys of sent matches; see [`key_hash`](Self::key_hash).
        pub hash: u32 = [get_hash, set_hash],
        pub skipped: u64 = [get_skipped, set_skipped, count],
        /// Empty if finished.
        pub failure: String = [get_failure, set_failure],
    }
}

/// 1 KiB on the stack.
const KEYS_AT_ONCE: usize = 128;

impl ShardEnd {
    /// Extends `hash` by a match: document and line, each u32 little endian.
    pub fn key_hash(hash: u32, document: u32, line: u32) -> u32 {
        ShardEnd::keys_hash(hash, [(document, line)])
    }

    /// One call takes a tenth of the time of a call for each match.
    pub fn keys_hash(mut hash: u32, keys: impl IntoIterator<Item = (u32, u32)>) -> u32 {
        let mut buffer = [0_u64; KEYS_AT_ONCE];
        let mut keys = keys.into_iter();
        loop {
            let mut len = 0;
            for (space, (document, line)) in buffer.iter_mut().zip(&mut keys) {
                *space = (u64::from(line) << 32 | u64::from(document)).to_le();
                len += 1;
            }
            hash = crc32c::crc32c_append(hash, buffer[..len].as_bytes());
            if len < KEYS_AT_ONCE {
                return hash;
            }
        }
    }
}

record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct End: end {
        pub shards: Vec<ShardEnd> = [get_shards, records init_shards],
        /// Trigram query, for people.
        pub plan: String = [get_plan, set_plan],
        pub phases: Phases = [phases],
        /// Estimate: one for each pattern, in order.
        pub estimates: Vec<Estimate> = [get_estimates, records init_estimates],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Estimate: estimate {
        pub plan: String = [get_plan, set_plan],
        /// Blocks kept by this pattern inside the filters.
        pub candidates: u64 = [get_candidates, set_candidates, count],
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    pub plan_us: u64,
    pub candidates_us: u64,
    pub verify_us: u64,
}

impl End {
    fn words(&self) -> usize {
        let of_text = |text: &str| text.len() / 8 + 1;
        let shards = self.shards.iter().map(|it| 12 + of_text(&it.failure));
        let estimates = self.estimates.iter().map(|it| 4 + of_text(&it.plan));
        12 + of_text(&self.plan) + shards.sum::<usize>() + estimates.sum::<usize>()
    }
}

record! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FailureKind: failure::Kind {
        BadQuery,
        /// A requested shard is no longer served.
        StaleShards,
        Unavailable,
        /// Undecodable request.
        Protocol,
        /// Expensive search, not allowed by the request.
        Heavy,
        Deadline,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Failure: failure {
        pub kind: FailureKind = [get_kind, set_kind],
        pub message: String = [get_message, set_message],
        /// Bad query: byte offset in the atom.
        pub offset: Option<u32> = [get_offset, set_offset],
        /// Bad query: index in [`Expr::atoms`](super::Expr::atoms).
        pub atom: Option<u32> = [get_atom, set_atom],
        pub hint: String = [get_hint, set_hint],
        /// Candidate blocks of a heavy search.
        pub cost: u64 = [get_cost, set_cost],
    }
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure {
            kind,
            message: message.into(),
            offset: None,
            atom: None,
            hint: String::new(),
            cost: 0,
        }
    }
}

record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct FileReply: file_reply {
        pub found: bool = [get_found, set_found],
        /// Offset of `text`, in bytes.
        pub offset: u64 = [get_offset, set_offset],
        /// Number of the first line; 0 if too far to count.
        pub first_line: u32 = [get_first_line, set_first_line],
        pub text: Vec<u8> = [get_text, set_text],
        pub total_lines: u32 = [get_total_lines, set_total_lines],
        pub total_bytes: u64 = [get_total_bytes, set_total_bytes],
        pub language: String = [get_language, set_language],
        /// BLAKE3 of the whole text; empty if not found.
        pub hash: Vec<u8> = [get_hash, set_hash],
        /// Id of the commit read from a git repository.
        pub commit: String = [get_commit, set_commit],
        /// Short names of indexed revisions with this text.
        pub revisions: Vec<String> = [get_revisions, values init_revisions],
        /// Newest indexed revision with the path, if not found.
        pub newest: String = [get_newest, set_newest],
        /// Read from the repository for an unindexed revision.
        pub from_objects: bool = [get_from_objects, set_from_objects],
        /// Bytes of the repository, not decoded.
        pub original: bool = [get_original, set_original],
        /// Original encoding, such as `utf-16le`.
        pub decoded_from: String = [get_decoded_from, set_decoded_from],
        /// SHA-256 and size in bytes of a Git LFS pointer, or empty.
        pub lfs_pointer: String = [get_lfs_pointer, set_lfs_pointer],
        /// Reason for withholding the file, or empty.
        pub reason: String = [get_reason, set_reason],
        /// Ascending by name.
        pub definitions: Vec<FileDefinition> = [get_definitions, records init_definitions],
        pub definitions_missing: String = [get_definitions_missing, set_definitions_missing],
        /// Resolved symbol at the requested position.
        pub symbol: Vec<u8> = [get_symbol, set_symbol],
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FileDefinition: file_definition {
        pub name: Vec<u8> = [get_name, set_name],
        /// Number of its `language::symbols::Kind`.
        pub kind: u32 = [get_kind, set_kind],
        pub is_declaration: bool = [get_declaration, set_declaration],
        /// From 1.
        pub line: u32 = [get_line, set_line],
        /// In bytes.
        pub column: u32 = [get_column, set_column],
        /// Last line of the body; `line` without one.
        pub end_line: u32 = [get_end_line, set_end_line],
        /// Name of the enclosing definition, or empty.
        pub parent: Vec<u8> = [get_parent, set_parent],
        /// Its index in the list, if present.
        pub parent_index: Option<u32> = [get_parent_index, set_parent_index],
    }
}

/// A repository may have thousands of tags.
pub const INDEXED_REVISIONS_MAX: usize = 64;

record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct IndexedRepository: indexed_repository {
        pub default: String = [get_default, set_default],
        /// Last fetch, in seconds since 1970, or 0.
        pub fetched: u64 = [get_fetched, set_fetched],
        /// Reason of a failed last update, or empty.
        pub problem: String = [get_problem, set_problem],
        /// Default revision, then the first others, ascending.
        pub revisions: Vec<IndexedRevision> =
            [get_revisions, records init_revisions, INDEXED_REVISIONS_MAX "number of revisions"],
        pub revision_count: u32 = [get_revision_count, set_revision_count],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct IndexedRevision: indexed_revision {
        /// Full name, such as `refs/heads/main`.
        pub name: String = [get_name, set_name],
        pub commit: String = [get_commit, set_commit],
        /// Commit time, in seconds since 1970.
        pub committed: i64 = [get_committed, set_committed],
        /// Commits missing from the index; `None` if unknown.
        pub behind: Option<u32> = [get_behind, set_behind],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListEntry: list_entry {
        pub package: Vec<u8> = [get_package, set_package],
        /// Path within the package. A directory ends with `/`.
        pub path: Vec<u8> = [get_path, set_path],
        pub documents: u32 = [get_documents, set_documents],
        pub text_bytes: u64 = [get_text_bytes, set_text_bytes],
        pub lines: u64 = [get_lines, set_lines],
        pub language: String = [get_language, set_language],
        /// BLAKE3 of a document's text.
        pub hash: Vec<u8> = [get_hash, set_hash],
        /// Time of its shard, in seconds since 1970.
        pub indexed: u64 = [get_indexed, set_indexed],
        pub reason: String = [get_reason, set_reason],
        pub detail: String = [get_detail, set_detail],
        /// Package number in the shard, for [`ListKind::Shard`](super::ListKind::Shard).
        pub number: u32 = [get_number, set_number],
        /// For [`ListKind::Repositories`](super::ListKind::Repositories).
        pub repository: Option<IndexedRepository> =
            [has_repository, get_repository, optional init_repository],
        pub is_repository: bool = [get_is_repository, set_is_repository],
        /// True if no version is split from the name.
        pub has_own_name: bool = [get_has_own_name, set_has_own_name],
        /// Stale if `hash` is empty.
        pub place: Option<ListedPlace> = [has_place, get_place, optional init_place],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListedPlace: listed_place {
        /// From 1.
        pub line: u32 = [get_line, set_line],
        /// In bytes.
        pub column: u32 = [get_column, set_column],
        /// Line without its end, cut around the column if long.
        pub text: Vec<u8> = [get_text, set_text],
        pub commit: String = [get_commit, set_commit],
        /// Markdown for a definition.
        pub documentation: Vec<u8> = [get_documentation, set_documentation],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListReply: list_reply {
        /// In name order.
        pub entries: Vec<ListEntry> = [get_entries, records init_entries],
        pub more: bool = [get_more, set_more],
    }
}

impl ListEntry {
    /// Package name without a version, unless the directory has its own.
    pub fn name(&self) -> &[u8] {
        name_of(&self.package, self.has_own_name || self.is_repository)
    }

    /// Sort key of a place: package, path, line, column.
    pub fn place_name(package: &[u8], path: &[u8], line: u32, column: u32) -> Vec<u8> {
        let position = u64::from(line) << 32 | u64::from(column);
        [package, b"/", path, b"\0", &position.to_be_bytes()].concat()
    }
}

frame_message!(
    Hello: Hello,
    Progress: Progress in Progress::words,
    Skip: Skip,
    End: End in End::words,
    Failure: Error,
    FileReply: File,
    ListReply: List,
);
