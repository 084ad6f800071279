//! Requests of a frontend: SEARCH, FILE and LIST.

use super::codec::MessageError;
use super::expr::{Expr, Pattern};
use super::record::{
    Read, encode_records, encode_values, frame_message, groups, read_from, record,
};
use crate::trawl_capnp::{
    TextOrder as CapnpTextOrder, Want as CapnpWant, excluded, file_request, list_request,
    resume_point, search, trace_context, visible_shard,
};
use capnp::struct_list;
use std::num::{NonZeroU64, NonZeroU128};
use std::sync::Arc;

/// Typed phrase, and its form with other quotes and parentheses.
pub const PHRASE_PATTERNS_MAX: usize = 2;

record! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Want: CapnpWant {
        #[default]
        Matches,
        /// First match of every document.
        Documents,
        Count,
        Estimate,
    }

    /// Order of lines in a [`TextBatch`](super::TextBatch).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum TextOrder: CapnpTextOrder {
        #[default]
        None,
        /// By rank, then by line, in runs.
        Ranked,
        Found,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Search: search {
        pub expr: Expr = [get_expr, record init_expr],
        /// Before and after each match.
        pub context_lines: u32 = [get_context_lines, set_context_lines],
        pub want: Want = [get_want, set_want],
        /// 0 means all.
        pub limit: u64 = [get_limit, set_limit],
        /// May stop at the limit. [`ShardEnd::found`](super::ShardEnd::found) may be too small, but
        /// its sum over all shards is not below the limit.
        pub uncounted: bool = [get_uncounted, set_uncounted],
        /// Not 0: [`limit`](Self::limit) counts documents by their best match, each with up to this
        /// many. Requires [`uncounted`](Self::uncounted); fails with
        /// [`FailureKind::BadQuery`](super::FailureKind::BadQuery) if not cheap.
        pub per_document: u32 = [get_per_document, set_per_document],
        /// Milliseconds from arrival to an ERROR; 0 means never.
        pub deadline_ms: u32 = [get_deadline_ms, set_deadline_ms],
        /// Allows an expensive search, else [`FailureKind::Heavy`](super::FailureKind::Heavy).
        pub heavy: bool = [get_heavy, set_heavy],
        /// Match paths alone, without lines.
        pub names: bool = [get_names, set_names],
        /// Packages with a newer build in other shards.
        pub excluded: Vec<Excluded> = [get_excluded, records init_excluded],
        /// Per shard, in the order of [`shards`](Self::shards). `None`: everything.
        pub visible: Option<Vec<VisibleShard>> = [visible],
        /// Another backend's answer, in the order of [`shards`](Self::shards), or empty.
        pub resume: Vec<ResumePoint> = [get_resume, some init_resume],
        /// Omits further ranges; ranks stay the same. Earlier backends send all.
        pub first_range: bool = [get_first_range, set_first_range],
        /// Order of lines: these patterns, best first, then lines with all patterns, then those
        /// with near ones. At most [`PHRASE_PATTERNS_MAX`].
        pub phrase: Vec<Pattern> =
            [get_phrase, records init_phrase, PHRASE_PATTERNS_MAX "number of patterns of a phrase"],
        /// Lines as text, without limit or context. Long lines, matches over several, and earlier
        /// backends still give a [`Batch`](super::Batch).
        pub text: TextOrder = [get_text, set_text],
        pub trace: Option<TraceContext> = [get_trace, optional init_trace],
        /// Answers use the index in this list.
        pub shards: Vec<[u8; 32]> = [get_shards, values init_shards],
    }
}

/// Progress of another backend; only the rest is sent. [`ShardEnd`](super::ShardEnd) covers both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumePoint {
    pub shard: u32,
    pub matches: u64,
    pub documents: u64,
    /// [`ShardEnd::keys_hash`](super::ShardEnd::keys_hash) of the matches.
    pub hash: u32,
    /// Document and line of the last match.
    pub last: Option<(u32, u32)>,
    pub skipped: u64,
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

    fn decode_from(from: resume_point::Reader<'_>) -> Result<ResumePoint, MessageError> {
        let (matches, skipped) = (from.get_matches(), from.get_skipped());
        Ok(ResumePoint {
            shard: from.get_shard(),
            matches,
            documents: from.get_documents(),
            hash: from.get_hash(),
            last: (matches > 0).then(|| (from.get_document(), from.get_line())),
            skipped,
            last_skipped: (skipped > 0).then(|| from.get_skipped_document()),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    pub trace: NonZeroU128,
    pub span: NonZeroU64,
    pub is_sampled: bool,
}

impl TraceContext {
    fn encode_to(self, mut to: trace_context::Builder<'_>) {
        to.set_trace_high((self.trace.get() >> 64) as u64);
        to.set_trace_low(self.trace.get() as u64);
        to.set_span(self.span.get());
        to.set_sampled(self.is_sampled);
    }
}

impl Read<capnp::Result<trace_context::Reader<'_>>> for Option<TraceContext> {
    /// `None` if an id is 0.
    fn read(from: capnp::Result<trace_context::Reader<'_>>) -> Result<Self, MessageError> {
        let from = from?;
        let trace = u128::from(from.get_trace_high()) << 64 | u128::from(from.get_trace_low());
        let ids = NonZeroU128::new(trace).zip(NonZeroU64::new(from.get_span()));
        Ok(ids.map(|(trace, span)| TraceContext {
            trace,
            span,
            is_sampled: from.get_sampled(),
        }))
    }
}

record! {
    /// Packages to be ignored.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Excluded: excluded {
        pub shard: u32 = [get_shard, set_shard],
        /// Numbers in the shard, ascending.
        pub packages: Vec<u32> = [get_packages, numbers set_packages],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct VisibleShard: visible_shard {
        pub shard: [u8; 32] = [get_shard, set_shard],
        /// Bitmap of package numbers, lowest bit first; invisible past its end.
        pub packages: Arc<[u8]> = [get_packages, set_packages],
        /// Replaces a bitmap of ones.
        pub is_all: bool = [get_all, set_all],
    }
}

impl VisibleShard {
    pub fn sees(&self, number: u32) -> bool {
        let byte = self.packages.get(number as usize / 8);
        self.is_all || byte.is_some_and(|byte| byte >> (number % 8) & 1 == 1)
    }
}

/// `None` if unrestricted. A list without the mark restricts, too.
fn visible(
    is_restricted: bool,
    from: capnp::Result<struct_list::Reader<'_, visible_shard::Owned>>,
) -> Result<Option<Vec<VisibleShard>>, MessageError> {
    let from = from?;
    let is_restricted = is_restricted || !from.is_empty();
    is_restricted.then(|| Read::read(Ok(from))).transpose()
}

groups! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FileRange: file_request {
        /// Whole lines, from 1.
        Lines = init_lines {
            first: u32 = [get_first, set_first],
            count: u32 = [get_count, set_count],
        },
        Bytes = init_bytes {
            offset: u64 = [get_offset, set_offset],
            count: u64 = [get_count, set_count],
        },
    }
}

record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FileRequest: file_request {
        pub package: Vec<u8> = [get_package, set_package],
        pub path: Vec<u8> = [get_path, set_path],
        pub range: FileRange = [union],
        /// Full or short name, or at least 7 digits of a commit id. Empty for the default.
        pub revision: String = [get_revision, set_revision],
        /// `None`: everything.
        pub visible: Option<Vec<VisibleShard>> = [visible],
        pub source: FileSource = [get_source, set_source],
        /// Also send definitions of the whole document.
        pub definitions: bool = [get_definitions, set_definitions],
        /// Only definitions around one of these lines, ascending; empty for all.
        pub inside: Vec<u32> = [get_inside, numbers set_inside],
        /// Not 0: also send the symbol at this line, from 1, and column, in bytes.
        pub symbol_line: u32 = [get_symbol_line, set_symbol_line],
        pub symbol_column: u32 = [get_symbol_column, set_symbol_column],
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FileSource: file_request::Source {
        /// The index; for an unindexed revision text of the repository.
        #[default]
        Text,
        /// The index; for a file without text the repository's bytes.
        TextOrOriginal,
        /// The repository's bytes, if readable, else the index. May name an unindexed repository.
        Original,
    }
}

impl FileRequest {
    pub fn new(package: &[u8], path: &[u8], revision: &str, range: FileRange) -> FileRequest {
        FileRequest {
            package: package.to_vec(),
            path: path.to_vec(),
            range,
            revision: revision.to_owned(),
            visible: None,
            source: FileSource::Text,
            definitions: false,
            inside: Vec::new(),
            symbol_line: 0,
            symbol_column: 0,
        }
    }
}

record! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ListKind: list_request::Kind {
        /// By directory prefix; only those named `package`, if given.
        Packages,
        /// Content of a directory: the prefix, empty or ending with `/`.
        Children,
        /// Skipped files of the package, or of all, with the path prefix, or a skipped directory
        /// above it.
        Skipped,
        /// Packages of the shard with id `package`: name, number, documents and time.
        Shard,
        /// Git repositories by directory prefix, with the index's records.
        Repositories,
        /// Places of the symbol `package`, in the package `prefix` if given.
        SymbolDefinitions,
        SymbolUses,
        /// Hashes from `prefix` of texts with resolved symbols.
        Resolved,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ListRequest: list_request {
        pub kind: ListKind = [get_kind, set_kind],
        /// Directory or name of the package.
        pub package: Vec<u8> = [get_package, set_package],
        pub prefix: Vec<u8> = [get_prefix, set_prefix],
        /// Only later names: a package's directory, a child's path, or directory, `/` and path of a
        /// skipped file.
        pub after: Vec<u8> = [get_after, set_after],
        pub count: u32 = [get_count, set_count],
        /// Revision of children; empty for the default.
        pub revision: String = [get_revision, set_revision],
        /// `None`: everything.
        pub visible: Option<Vec<VisibleShard>> = [visible],
    }
}

impl ListRequest {
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
}

read_from!(ResumePoint: resume_point);
frame_message!(Search: Search, FileRequest: File, ListRequest: List);
