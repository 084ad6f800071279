//! Requests of a frontend: SEARCH, FILE and LIST.

use super::codec::{
    MessageError, builder, convert_enum, encode_records, encode_values, finish, frame_message,
    length, reader, text,
};
use super::expr::{Expr, Pattern};
use super::trace_context::TraceContext;
use crate::frame::Kind;
use crate::trawl_capnp::{
    TextOrder as CapnpTextOrder, Want as CapnpWant, file_request, list_request, resume_point,
    search, visible_shard,
};
use capnp::struct_list;
use std::sync::Arc;

/// Patterns of a phrase: as typed, and with other quotes and parentheses.
pub const PHRASE_PATTERNS_MAX: usize = 2;

/// Kind of answer to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// Every matching line.
    #[default]
    Matches,
    /// First match of every document.
    Documents,
    /// Number of matches.
    Count,
    /// Cost of the search, without running it.
    Estimate,
}

/// Order of lines sent as text ([`TextBatch`](super::TextBatch)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextOrder {
    /// No text.
    #[default]
    None,
    /// By rank, then by line, in runs.
    Ranked,
    /// By line. Ranks are not computed.
    Found,
}

/// The SEARCH frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Expression of the query.
    pub expr: Expr,
    /// Lines sent before and after each match.
    pub context_lines: u32,
    /// Shards to search. Answers name one by its index here.
    pub shards: Vec<[u8; 32]>,
    /// Kind of answer.
    pub want: Want,
    /// Best matches to send; 0 means all.
    pub limit: u64,
    /// Matches beyond the limit need not be found. [`ShardEnd::found`](super::ShardEnd::found) may
    /// be too small, but the sum over all shards is not below the limit.
    pub uncounted: bool,
    /// Not 0: [`limit`](Self::limit) counts documents, each as good as its best match, with at most
    /// this many matches. Requires [`uncounted`](Self::uncounted). Fails with
    /// [`FailureKind::BadQuery`](super::FailureKind::BadQuery) if not cheap.
    pub per_document: u32,
    /// Milliseconds from arrival to an ERROR; 0 means never.
    pub deadline_ms: u32,
    /// Without it, an expensive search fails with
    /// [`FailureKind::Heavy`](super::FailureKind::Heavy).
    pub heavy: bool,
    /// Match paths alone; no lines are sent.
    pub names: bool,
    /// Packages with a newer build in other shards.
    pub excluded: Vec<Excluded>,
    /// Visible part per shard, in the order of [`shards`](Self::shards). `None`: everything.
    pub visible: Option<Vec<VisibleShard>>,
    /// Answer of another backend per shard, in the order of [`shards`](Self::shards), or empty.
    pub resume: Vec<ResumePoint>,
    /// Parent span of the backend's trace.
    pub trace: Option<TraceContext>,
    /// Only first ranges are wanted; ranks stay the same. Earlier backends send all.
    pub first_range: bool,
    /// Patterns of the first lines, best first. Then come lines with all patterns, then those with
    /// near ones. At most [`PHRASE_PATTERNS_MAX`].
    pub phrase: Vec<Pattern>,
    /// Lines as text, without limit or context. Earlier backends still send
    /// [`Batch`](super::Batch)es, and every backend does for long lines and matches over several.
    pub text: TextOrder,
}

/// Another backend's answer so far; only the rest is sent. [`ShardEnd`](super::ShardEnd) covers
/// both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// Shard number in the answer.
    pub shard: u32,
    /// Matches sent.
    pub matches: u64,
    /// Documents with a match.
    pub documents: u64,
    /// [`ShardEnd::keys_hash`](super::ShardEnd::keys_hash) of the matches.
    pub hash: u32,
    /// Document and line of the last match.
    pub last: Option<(u32, u32)>,
    /// Skipped documents that were named.
    pub skipped: u64,
    /// Last of them.
    pub last_skipped: Option<u32>,
}

impl ResumePoint {
    fn encode_to(&self, mut to: resume_point::Builder<'_>) {
        let (document, line) = self.last.unwrap_or_default();
        to.set_shard(self.shard);
        to.set_matches(self.matches);
        to.set_documents(self.documents);
        to.set_hash(self.hash);
        to.set_document(document);
        to.set_line(line);
        to.set_skipped(self.skipped);
        to.set_skipped_document(self.last_skipped.unwrap_or_default());
    }

    fn decode_from(from: resume_point::Reader<'_>) -> ResumePoint {
        let (matches, skipped) = (from.get_matches(), from.get_skipped());
        ResumePoint {
            shard: from.get_shard(),
            matches,
            documents: from.get_documents(),
            hash: from.get_hash(),
            last: (matches > 0).then(|| (from.get_document(), from.get_line())),
            skipped,
            last_skipped: (skipped > 0).then(|| from.get_skipped_document()),
        }
    }
}

/// Packages of a shard that count as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// Index in [`Search::shards`].
    pub shard: u32,
    /// Package numbers in the shard, ascending.
    pub packages: Vec<u32>,
}

/// Packages of a shard visible to a caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleShard {
    /// Shard id.
    pub shard: [u8; 32],
    /// Bitmap of package numbers, lowest bit first. Numbers past its end are invisible.
    pub packages: Arc<[u8]>,
    /// All packages are visible, without a bitmap.
    pub is_all: bool,
}

impl VisibleShard {
    /// True if the package with this number is visible.
    pub fn sees(&self, number: u32) -> bool {
        let byte = self.packages.get(number as usize / 8);
        self.is_all || byte.is_some_and(|byte| byte >> (number % 8) & 1 == 1)
    }

    fn encode_all(all: &[VisibleShard], mut to: struct_list::Builder<'_, visible_shard::Owned>) {
        for (index, each) in (0..).zip(all) {
            let mut entry = to.reborrow().get(index);
            entry.set_shard(&each.shard);
            entry.set_packages(&each.packages);
            entry.set_all(each.is_all);
        }
    }

    /// `None` if unrestricted. A list without the mark restricts, too.
    fn decode_all(
        is_restricted: bool,
        from: struct_list::Reader<'_, visible_shard::Owned>,
    ) -> Result<Option<Vec<VisibleShard>>, MessageError> {
        if !is_restricted && from.is_empty() {
            return Ok(None);
        }
        let decode = |entry: visible_shard::Reader<'_>| {
            Ok(VisibleShard {
                shard: shard_id(entry.get_shard()?)?,
                packages: entry.get_packages()?.into(),
                is_all: entry.get_all(),
            })
        };
        from.iter().map(decode).collect::<Result<_, _>>().map(Some)
    }
}

impl Search {
    pub(super) fn encode_to(&self, mut root: search::Builder<'_>) {
        self.expr.encode(root.reborrow().init_expr());
        root.set_context_lines(self.context_lines);
        root.set_want(self.want.into());
        root.set_limit(self.limit);
        root.set_uncounted(self.uncounted);
        root.set_per_document(self.per_document);
        root.set_deadline_ms(self.deadline_ms);
        root.set_heavy(self.heavy);
        root.set_names(self.names);
        root.set_first_range(self.first_range);
        root.set_text(self.text.into());
        let mut excluded = root.reborrow().init_excluded(length(self.excluded.len()));
        for (index, each) in (0..).zip(&self.excluded) {
            let mut entry = excluded.reborrow().get(index);
            entry.set_shard(each.shard);
            let mut packages = entry.init_packages(length(each.packages.len()));
            for (index, &package) in (0..).zip(&each.packages) {
                packages.set(index, package);
            }
        }
        root.set_restricted(self.visible.is_some());
        let visible = self.visible.as_deref().unwrap_or_default();
        let list = root.reborrow().init_visible(length(visible.len()));
        VisibleShard::encode_all(visible, list);
        if !self.resume.is_empty() {
            encode_records!(root.init_resume, self.resume);
        }
        let mut phrase = root.reborrow().init_phrase(length(self.phrase.len()));
        for (index, pattern) in (0..).zip(&self.phrase) {
            pattern.encode(phrase.reborrow().get(index));
        }
        if let Some(trace) = &self.trace {
            trace.encode_to(root.reborrow().init_trace());
        }
        encode_values!(root.init_shards, self.shards);
    }

    pub(super) fn decode_from(root: search::Reader<'_>) -> Result<Self, MessageError> {
        let mut excluded = Vec::new();
        for entry in root.get_excluded()? {
            excluded.push(Excluded {
                shard: entry.get_shard(),
                packages: entry.get_packages()?.iter().collect(),
            });
        }
        let phrase = root.get_phrase()?;
        if phrase.len() as usize > PHRASE_PATTERNS_MAX {
            return Err(MessageError::Impossible("number of patterns of a phrase"));
        }
        Ok(Search {
            phrase: phrase
                .iter()
                .map(Pattern::decode)
                .collect::<Result<_, _>>()?,
            excluded,
            visible: VisibleShard::decode_all(root.get_restricted(), root.get_visible()?)?,
            expr: Expr::decode(root.get_expr()?)?,
            context_lines: root.get_context_lines(),
            shards: root
                .get_shards()?
                .iter()
                .map(|id| shard_id(id?))
                .collect::<Result<_, _>>()?,
            want: root.get_want()?.into(),
            limit: root.get_limit(),
            uncounted: root.get_uncounted(),
            per_document: root.get_per_document(),
            deadline_ms: root.get_deadline_ms(),
            heavy: root.get_heavy(),
            names: root.get_names(),
            resume: root
                .get_resume()?
                .iter()
                .map(ResumePoint::decode_from)
                .collect(),
            trace: TraceContext::decode_from(root.get_trace()?),
            first_range: root.get_first_range(),
            text: root.get_text()?.into(),
        })
    }
}

pub(super) fn shard_id(bytes: &[u8]) -> Result<[u8; 32], MessageError> {
    bytes
        .try_into()
        .map_err(|_| MessageError::Impossible("shard id"))
}

/// Part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRange {
    /// `count` whole lines from `first`; lines count from 1.
    Lines {
        /// First line.
        first: u32,
        /// Lines, at most.
        count: u32,
    },
    /// `count` bytes from `offset`.
    Bytes {
        /// First byte.
        offset: u64,
        /// Bytes, at most.
        count: u64,
    },
}

/// The FILE frame, frontend to backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// Directory name of the package.
    pub package: Vec<u8>,
    /// Path within it.
    pub path: Vec<u8>,
    /// Part to return.
    pub range: FileRange,
    /// Full or short name, or at least 7 digits of a commit id. Empty for the default.
    pub revision: String,
    /// Shards and their visible parts. `None`: everything.
    pub visible: Option<Vec<VisibleShard>>,
    /// Source of the bytes.
    pub source: FileSource,
}

/// Source of a file's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSource {
    /// The index; for an unindexed revision text of the repository.
    #[default]
    Text,
    /// The index; for a file without text the repository's bytes.
    TextOrOriginal,
    /// The repository's bytes, if readable, else the index. May name an unindexed repository.
    Original,
}

impl FileRequest {
    /// Request for text, without restrictions.
    pub fn new(package: &[u8], path: &[u8], revision: &str, range: FileRange) -> FileRequest {
        FileRequest {
            package: package.to_vec(),
            path: path.to_vec(),
            range,
            revision: revision.to_owned(),
            visible: None,
            source: FileSource::Text,
        }
    }

    fn encode_to(&self, mut root: file_request::Builder<'_>) {
        root.set_package(&self.package);
        root.set_path(&self.path);
        root.set_revision(&self.revision[..]);
        root.set_source(self.source.into());
        root.set_restricted(self.visible.is_some());
        let visible = self.visible.as_deref().unwrap_or_default();
        let list = root.reborrow().init_visible(length(visible.len()));
        VisibleShard::encode_all(visible, list);
        match self.range {
            FileRange::Lines { first, count } => {
                let mut lines = root.init_lines();
                lines.set_first(first);
                lines.set_count(count);
            }
            FileRange::Bytes { offset, count } => {
                let mut bytes = root.init_bytes();
                bytes.set_offset(offset);
                bytes.set_count(count);
            }
        }
    }

    fn decode_from(root: file_request::Reader<'_>) -> Result<Self, MessageError> {
        let range = match root.which()? {
            file_request::Lines(lines) => FileRange::Lines {
                first: lines.get_first(),
                count: lines.get_count(),
            },
            file_request::Bytes(bytes) => FileRange::Bytes {
                offset: bytes.get_offset(),
                count: bytes.get_count(),
            },
        };
        Ok(FileRequest {
            package: root.get_package()?.to_vec(),
            path: root.get_path()?.to_vec(),
            range,
            revision: text(root.get_revision()?)?,
            visible: VisibleShard::decode_all(root.get_restricted(), root.get_visible()?)?,
            source: root.get_source()?.into(),
        })
    }
}

/// Kind of a LIST request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Packages by directory prefix; with a package given, only those of its name.
    Packages,
    /// Content of a directory: the prefix, empty or ending with `/`.
    Children,
    /// Skipped files of the package, or of all, with the path prefix, or a skipped directory above
    /// it.
    Skipped,
    /// Packages of the shard with id `package`: name, number, documents and time.
    Shard,
    /// Git repositories by directory prefix, with the index's records.
    Repositories,
}

/// The LIST frame, frontend to backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// Kind of the list.
    pub kind: ListKind,
    /// Directory or name of the package.
    pub package: Vec<u8>,
    /// Prefix of the names.
    pub prefix: Vec<u8>,
    /// Only later names: a package's directory, a child's path, or directory, `/` and path of a
    /// skipped file.
    pub after: Vec<u8>,
    /// Entries, at most.
    pub count: u32,
    /// Revision of children, as in [`FileRequest`]. Empty for the default.
    pub revision: String,
    /// Shards and their visible parts. `None`: everything.
    pub visible: Option<Vec<VisibleShard>>,
}

impl ListRequest {
    /// Request for the first entries, without restrictions.
    pub fn new(kind: ListKind, package: &[u8], prefix: &[u8], count: u32) -> ListRequest {
        ListRequest {
            kind,
            package: package.to_vec(),
            prefix: prefix.to_vec(),
            after: Vec::new(),
            count,
            revision: String::new(),
            visible: None,
        }
    }

    fn encode_to(&self, mut root: list_request::Builder<'_>) {
        root.set_kind(self.kind.into());
        root.set_package(&self.package);
        root.set_prefix(&self.prefix);
        root.set_after(&self.after);
        root.set_count(self.count);
        root.set_revision(&self.revision[..]);
        root.set_restricted(self.visible.is_some());
        let visible = self.visible.as_deref().unwrap_or_default();
        let list = root.init_visible(length(visible.len()));
        VisibleShard::encode_all(visible, list);
    }

    fn decode_from(root: list_request::Reader<'_>) -> Result<Self, MessageError> {
        Ok(ListRequest {
            kind: root.get_kind()?.into(),
            package: root.get_package()?.to_vec(),
            prefix: root.get_prefix()?.to_vec(),
            after: root.get_after()?.to_vec(),
            count: root.get_count(),
            revision: text(root.get_revision()?)?,
            visible: VisibleShard::decode_all(root.get_restricted(), root.get_visible()?)?,
        })
    }
}

frame_message!(Search: Search, FileRequest: File, ListRequest: List);
convert_enum!(Want, CapnpWant: Matches, Documents, Count, Estimate);
convert_enum!(TextOrder, CapnpTextOrder: None, Ranked, Found);
convert_enum!(
    FileSource,
    file_request::Source: Text, TextOrOriginal, Original
);
convert_enum!(
    ListKind,
    list_request::Kind: Packages, Children, Skipped, Shard, Repositories
);
