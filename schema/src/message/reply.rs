//! Replies of a backend, except batches.

use super::codec::{
    MessageError, builder, builder_of, convert_enum, encode_records, encode_values, finish,
    frame_message, length, reader, text,
};
use super::indexed::IndexedRepository;
use super::request::shard_id;
use crate::frame::Kind;
use crate::name::name_of;
use crate::trawl_capnp::{
    end, failure, file_reply, hello, list_entry, list_reply, progress, shard_end, skip,
};
use zerocopy::IntoBytes;

/// A shard has at most a petabyte. Sums over 16,000 shards fit in 64 bits.
const COUNT_MAX: u64 = 1 << 50;

fn count(said: u64) -> Result<u64, MessageError> {
    if said > COUNT_MAX {
        return Err(MessageError::Impossible("count"));
    }
    Ok(said)
}

/// Shard that a backend serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardInfo {
    /// Hash of its bytes.
    pub id: [u8; 32],
    /// Packages without a part in earlier shards.
    pub packages: u32,
    /// All packages, as in LIST.
    pub parts: u32,
    /// Documents.
    pub documents: u32,
    /// Blocks.
    pub blocks: u32,
    /// Bytes of text.
    pub text_bytes: u64,
}

/// The HELLO frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// [`PROTOCOL`](super::PROTOCOL) of the sender.
    pub protocol: u32,
    /// Shards served now.
    pub shards: Vec<ShardInfo>,
    /// Time of its manifest, in seconds since 1970.
    pub updated: u64,
    /// True for look-ups in git repositories; false from earlier versions.
    pub has_repositories: bool,
    /// Packages that are git repositories.
    pub indexed_repositories: u32,
    /// [`SEMANTICS`](crate::order::SEMANTICS) of the sender; 1 if missing.
    pub semantics: u32,
    /// True if answers can be restricted to visible packages; earlier versions show all.
    pub has_views: bool,
    /// True if it resumes another backend's answer; earlier versions start over.
    pub resumes: bool,
}

impl Hello {
    fn encode_to(&self, mut root: hello::Builder<'_>) {
        root.set_protocol(self.protocol);
        root.set_updated(self.updated);
        root.set_has_repositories(self.has_repositories);
        root.set_semantics(self.semantics);
        root.set_indexed_repositories(self.indexed_repositories);
        root.set_has_views(self.has_views);
        root.set_resumes(self.resumes);
        let mut shards = root.init_shards(length(self.shards.len()));
        for (index, shard) in (0..).zip(&self.shards) {
            let mut entry = shards.reborrow().get(index);
            entry.set_id(&shard.id);
            entry.set_packages(shard.packages);
            entry.set_parts(shard.parts);
            entry.set_documents(shard.documents);
            entry.set_blocks(shard.blocks);
            entry.set_text_bytes(shard.text_bytes);
        }
    }

    fn decode_from(root: hello::Reader<'_>) -> Result<Self, MessageError> {
        let mut shards = Vec::new();
        for entry in root.get_shards()? {
            shards.push(ShardInfo {
                id: shard_id(entry.get_id()?)?,
                packages: entry.get_packages(),
                parts: entry.get_parts(),
                documents: entry.get_documents(),
                blocks: entry.get_blocks(),
                text_bytes: count(entry.get_text_bytes())?,
            });
        }
        Ok(Hello {
            protocol: root.get_protocol(),
            shards,
            updated: root.get_updated(),
            has_repositories: root.get_has_repositories(),
            semantics: root.get_semantics(),
            indexed_repositories: root.get_indexed_repositories(),
            has_views: root.get_has_views(),
            resumes: root.get_resumes(),
        })
    }
}

/// The PROGRESS frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks in planned shards.
    pub blocks_total: u64,
    /// Documents examined.
    pub documents: u64,
    /// Matches sent.
    pub matches: u64,
    /// Upper bound of the ranks of later matches.
    pub bound: f32,
    /// Grows while the search works, also within a document or block. A number not above the last
    /// proves nothing.
    pub steps: u64,
    /// True while the search waits for admission.
    pub is_queued: bool,
}

impl Default for Progress {
    /// Progress before any report.
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

    fn encode_to(&self, mut root: progress::Builder<'_>) {
        root.set_blocks_done(self.blocks_done);
        root.set_blocks_total(self.blocks_total);
        root.set_documents(self.documents);
        root.set_matches(self.matches);
        root.set_bound(self.bound);
        root.set_steps(self.steps);
        root.set_is_queued(self.is_queued);
    }

    fn decode_from(root: progress::Reader<'_>) -> Result<Self, MessageError> {
        let progress = Progress {
            blocks_done: root.get_blocks_done(),
            blocks_total: count(root.get_blocks_total())?,
            documents: count(root.get_documents())?,
            matches: count(root.get_matches())?,
            bound: root.get_bound(),
            steps: root.get_steps(),
            is_queued: root.get_is_queued(),
        };
        if progress.blocks_done > progress.blocks_total {
            return Err(MessageError::Impossible("number of blocks"));
        }
        if progress.bound.is_nan() {
            return Err(MessageError::Impossible("bound"));
        }
        Ok(progress)
    }
}

/// The SKIP frame: document with an abandoned search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Index in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    /// Document number.
    pub document: u32,
    /// Package directory.
    pub package: Vec<u8>,
    /// Path within it.
    pub path: Vec<u8>,
    /// The reason.
    pub reason: String,
}

impl Skip {
    pub(super) fn encode_to(&self, mut root: skip::Builder<'_>) {
        root.set_shard(self.shard);
        root.set_document(self.document);
        root.set_package(&self.package);
        root.set_path(&self.path);
        root.set_reason(&self.reason[..]);
    }

    pub(super) fn decode_from(root: skip::Reader<'_>) -> Result<Self, MessageError> {
        Ok(Skip {
            shard: root.get_shard(),
            document: root.get_document(),
            package: root.get_package()?.to_vec(),
            path: root.get_path()?.to_vec(),
            reason: text(root.get_reason()?)?,
        })
    }
}

/// Contribution of a shard to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardEnd {
    /// Index in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    /// Matches sent.
    pub matches: u64,
    /// Matches, sent or not, or documents with [`Want::Documents`](super::Want::Documents).
    pub found: u64,
    /// Documents examined.
    pub documents: u64,
    /// Documents with a match.
    pub matched_documents: u64,
    /// Blocks of the shard.
    pub blocks: u64,
    /// Blocks not ruled out by the index.
    pub candidates: u64,
    /// Candidates with a match.
    pub matched_blocks: u64,
    /// Bytes of text searched.
    pub verified_bytes: u64,
    /// CRC-32C over the keys of sent matches; see [`key_hash`](Self::key_hash).
    pub hash: u32,
    /// Documents given up, as many as SKIP frames.
    pub skipped: u64,
    /// Reason of an unfinished search, or empty.
    pub failure: String,
}

/// 1 KiB on the stack.
const KEYS_AT_ONCE: usize = 128;

impl ShardEnd {
    /// Extends `hash` by a match: document and line, each u32 little endian.
    pub fn key_hash(hash: u32, document: u32, line: u32) -> u32 {
        ShardEnd::keys_hash(hash, [(document, line)])
    }

    /// Extends `hash` by several matches. One call takes a tenth of the time of a call for each.
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

    pub(super) fn encode_to(&self, mut entry: shard_end::Builder<'_>) {
        entry.set_shard(self.shard);
        entry.set_matches(self.matches);
        entry.set_found(self.found);
        entry.set_documents(self.documents);
        entry.set_matched_documents(self.matched_documents);
        entry.set_blocks(self.blocks);
        entry.set_candidates(self.candidates);
        entry.set_matched_blocks(self.matched_blocks);
        entry.set_verified_bytes(self.verified_bytes);
        entry.set_hash(self.hash);
        entry.set_skipped(self.skipped);
        entry.set_failure(&self.failure[..]);
    }

    pub(super) fn decode_from(entry: shard_end::Reader<'_>) -> Result<Self, MessageError> {
        Ok(ShardEnd {
            shard: entry.get_shard(),
            matches: count(entry.get_matches())?,
            found: count(entry.get_found())?,
            documents: count(entry.get_documents())?,
            matched_documents: count(entry.get_matched_documents())?,
            blocks: count(entry.get_blocks())?,
            candidates: count(entry.get_candidates())?,
            matched_blocks: count(entry.get_matched_blocks())?,
            verified_bytes: count(entry.get_verified_bytes())?,
            hash: entry.get_hash(),
            skipped: count(entry.get_skipped())?,
            failure: text(entry.get_failure()?)?,
        })
    }
}

/// The END frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// All shards of the request.
    pub shards: Vec<ShardEnd>,
    /// Trigram query, for people.
    pub plan: String,
    /// Duration of each phase.
    pub phases: Phases,
    /// For an estimate: an entry for each pattern, in order.
    pub estimates: Vec<Estimate>,
}

/// Cost of a single pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Its trigram query, for people.
    pub plan: String,
    /// Blocks inside the filters kept by this pattern.
    pub candidates: u64,
}

/// Duration of each phase, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Compiling the pattern.
    pub plan_us: u64,
    /// Evaluating the trigram query on all shards.
    pub candidates_us: u64,
    /// Verifying candidates and sending matches.
    pub verify_us: u64,
}

impl End {
    fn words(&self) -> usize {
        let of_text = |text: &str| text.len() / 8 + 1;
        let shards = self.shards.iter().map(|it| 12 + of_text(&it.failure));
        let estimates = self.estimates.iter().map(|it| 4 + of_text(&it.plan));
        12 + of_text(&self.plan) + shards.sum::<usize>() + estimates.sum::<usize>()
    }

    fn encode_to(&self, mut root: end::Builder<'_>) {
        root.set_plan(&self.plan[..]);
        root.set_plan_us(self.phases.plan_us);
        root.set_candidates_us(self.phases.candidates_us);
        root.set_verify_us(self.phases.verify_us);
        let mut estimates = root.reborrow().init_estimates(length(self.estimates.len()));
        for (index, estimate) in (0..).zip(&self.estimates) {
            let mut entry = estimates.reborrow().get(index);
            entry.set_plan(&estimate.plan[..]);
            entry.set_candidates(estimate.candidates);
        }
        encode_records!(root.init_shards, self.shards);
    }

    fn decode_from(root: end::Reader<'_>) -> Result<Self, MessageError> {
        let mut shards = Vec::new();
        for entry in root.get_shards()? {
            shards.push(ShardEnd::decode_from(entry)?);
        }
        let mut estimates = Vec::new();
        for entry in root.get_estimates()? {
            estimates.push(Estimate {
                plan: text(entry.get_plan()?)?,
                candidates: count(entry.get_candidates())?,
            });
        }
        Ok(End {
            shards,
            estimates,
            plan: text(root.get_plan()?)?,
            phases: Phases {
                plan_us: count(root.get_plan_us())?,
                candidates_us: count(root.get_candidates_us())?,
                verify_us: count(root.get_verify_us())?,
            },
        })
    }
}

/// Kind of a failure. Each allows another reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Invalid query. A retry does not help.
    BadQuery,
    /// A shard of the request is no longer served.
    StaleShards,
    /// The backend has failed.
    Unavailable,
    /// Undecodable request.
    Protocol,
    /// Expensive search, not allowed by the request.
    Heavy,
    /// The deadline has passed.
    Deadline,
}

/// The ERROR frame: a request without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// Reason, for people.
    pub message: String,
    /// Bad query: offset of the mistake in the atom, in bytes.
    pub offset: Option<u32>,
    /// Bad query: index in [`Expr::atoms`](super::Expr::atoms); `None` if not a single one.
    pub atom: Option<u32>,
    /// Bad query: advice, or empty.
    pub hint: String,
    /// Heavy search: its candidate blocks.
    pub cost: u64,
}

/// Encoding of a missing number.
const NONE: u32 = u32::MAX;

impl Failure {
    /// Failure without a position in the query.
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

    fn encode_to(&self, mut root: failure::Builder<'_>) {
        root.set_kind(self.kind.into());
        root.set_message(&self.message[..]);
        root.set_offset(self.offset.unwrap_or(NONE));
        root.set_atom(self.atom.unwrap_or(NONE));
        root.set_hint(&self.hint[..]);
        root.set_cost(self.cost);
    }

    fn decode_from(root: failure::Reader<'_>) -> Result<Self, MessageError> {
        Ok(Failure {
            kind: root.get_kind()?.into(),
            message: text(root.get_message()?)?,
            offset: Some(root.get_offset()).filter(|&offset| offset != NONE),
            atom: Some(root.get_atom()).filter(|&atom| atom != NONE),
            hint: text(root.get_hint()?)?,
            cost: root.get_cost(),
        })
    }
}

/// The FILE frame, backend to frontend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReply {
    /// True if this backend has the document.
    pub found: bool,
    /// Offset of `text` in the document, in bytes.
    pub offset: u64,
    /// Line number of `text`; 0 if too far to count.
    pub first_line: u32,
    /// Bytes, with line ends.
    pub text: Vec<u8>,
    /// Lines of the whole document.
    pub total_lines: u32,
    /// Bytes of the whole document.
    pub total_bytes: u64,
    /// Language, or empty.
    pub language: String,
    /// BLAKE3 of the whole text; empty if not found.
    pub hash: Vec<u8>,
    /// Git repository: id of the commit that was read.
    pub commit: String,
    /// Short names of indexed revisions with this text here, as in a batch.
    pub revisions: Vec<String>,
    /// Not found: newest indexed revision with the path, or empty.
    pub newest: String,
    /// True for an unindexed revision, read from the repository.
    pub from_objects: bool,
    /// True for the repository's bytes, not decoded.
    pub original: bool,
    /// Encoding of a decoded text, such as `utf-16le`, or empty.
    pub decoded_from: String,
    /// Git LFS pointer: SHA-256 and size in bytes, or empty.
    pub lfs_pointer: String,
    /// Not found: reason for which a file is not sent, or empty.
    pub reason: String,
}

impl FileReply {
    fn encode_to(&self, mut root: file_reply::Builder<'_>) {
        root.set_found(self.found);
        root.set_offset(self.offset);
        root.set_first_line(self.first_line);
        root.set_text(&self.text);
        root.set_total_lines(self.total_lines);
        root.set_total_bytes(self.total_bytes);
        root.set_language(&self.language[..]);
        root.set_hash(&self.hash);
        root.set_commit(&self.commit[..]);
        root.set_newest(&self.newest[..]);
        root.set_from_objects(self.from_objects);
        root.set_original(self.original);
        root.set_decoded_from(&self.decoded_from[..]);
        root.set_lfs_pointer(&self.lfs_pointer[..]);
        root.set_reason(&self.reason[..]);
        encode_values!(root.init_revisions, self.revisions);
    }

    fn decode_from(root: file_reply::Reader<'_>) -> Result<Self, MessageError> {
        Ok(FileReply {
            found: root.get_found(),
            offset: root.get_offset(),
            first_line: root.get_first_line(),
            text: root.get_text()?.to_vec(),
            total_lines: root.get_total_lines(),
            total_bytes: root.get_total_bytes(),
            language: text(root.get_language()?)?,
            hash: root.get_hash()?.to_vec(),
            commit: text(root.get_commit()?)?,
            revisions: root
                .get_revisions()?
                .iter()
                .map(|name| text(name?))
                .collect::<Result<_, _>>()?,
            newest: text(root.get_newest()?)?,
            from_objects: root.get_from_objects(),
            original: root.get_original(),
            decoded_from: text(root.get_decoded_from()?)?,
            lfs_pointer: text(root.get_lfs_pointer()?)?,
            reason: text(root.get_reason()?)?,
        })
    }
}

/// Package, document, directory, or skipped file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListEntry {
    /// Directory name of the package.
    pub package: Vec<u8>,
    /// Path within the package, or empty. A directory ends with `/`.
    pub path: Vec<u8>,
    /// Documents.
    pub documents: u32,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Lines of their text.
    pub lines: u64,
    /// Document: language, empty when unknown.
    pub language: String,
    /// Document: BLAKE3 of its text.
    pub hash: Vec<u8>,
    /// Time of its shard, in seconds since 1970.
    pub indexed: u64,
    /// Skipped file: key of the reason.
    pub reason: String,
    /// Detail of the reason.
    pub detail: String,
    /// Package number in the shard, for [`ListKind::Shard`](super::ListKind::Shard).
    pub number: u32,
    /// For [`ListKind::Repositories`](super::ListKind::Repositories).
    pub repository: Option<IndexedRepository>,
    /// True for a git repository, for [`ListKind::Shard`](super::ListKind::Shard).
    pub is_repository: bool,
    /// For packages: true if no version is split from the name.
    pub has_own_name: bool,
}

/// The LIST frame, backend to frontend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListReply {
    /// Entries, in name order.
    pub entries: Vec<ListEntry>,
    /// True if more entries follow.
    pub more: bool,
}

impl ListReply {
    fn encode_to(&self, mut root: list_reply::Builder<'_>) {
        root.set_more(self.more);
        encode_records!(root.init_entries, self.entries);
    }

    fn decode_from(root: list_reply::Reader<'_>) -> Result<Self, MessageError> {
        let entries = root.get_entries()?.iter().map(ListEntry::decode_from);
        Ok(ListReply {
            entries: entries.collect::<Result<_, _>>()?,
            more: root.get_more(),
        })
    }
}

impl ListEntry {
    /// Package name: without a version, unless it is the directory's own.
    pub fn name(&self) -> &[u8] {
        name_of(&self.package, self.has_own_name || self.is_repository)
    }

    fn encode_to(&self, mut to: list_entry::Builder<'_>) {
        to.set_package(&self.package);
        to.set_path(&self.path);
        to.set_documents(self.documents);
        to.set_text_bytes(self.text_bytes);
        to.set_lines(self.lines);
        to.set_language(&self.language[..]);
        to.set_hash(&self.hash);
        to.set_indexed(self.indexed);
        to.set_reason(&self.reason[..]);
        to.set_detail(&self.detail[..]);
        to.set_number(self.number);
        to.set_is_repository(self.is_repository);
        to.set_has_own_name(self.has_own_name);
        if let Some(repository) = &self.repository {
            repository.encode_to(to.init_repository());
        }
    }

    fn decode_from(from: list_entry::Reader<'_>) -> Result<Self, MessageError> {
        Ok(ListEntry {
            package: from.get_package()?.to_vec(),
            path: from.get_path()?.to_vec(),
            documents: from.get_documents(),
            text_bytes: from.get_text_bytes(),
            lines: from.get_lines(),
            language: text(from.get_language()?)?,
            hash: from.get_hash()?.to_vec(),
            indexed: from.get_indexed(),
            reason: text(from.get_reason()?)?,
            detail: text(from.get_detail()?)?,
            number: from.get_number(),
            is_repository: from.get_is_repository(),
            has_own_name: from.get_has_own_name(),
            repository: if from.has_repository() {
                Some(IndexedRepository::decode_from(from.get_repository()?)?)
            } else {
                None
            },
        })
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

convert_enum!(
    FailureKind,
    failure::Kind: BadQuery, StaleShards, Unavailable, Protocol, Heavy, Deadline
);
