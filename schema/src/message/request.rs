//! Requests of a frontend: SEARCH, FILE and LIST.

use super::codec::{
    MessageError, builder, convert_enum, finish, frame_message, length, reader, text,
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

/// Patterns of a phrase: as it was typed, and with other quotes and parentheses.
pub const PHRASE_PATTERNS_MAX: usize = 2;

/// The kind of answer to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// Every matching line.
    #[default]
    Matches,
    /// The first match of every document.
    Documents,
    /// The number of matches.
    Count,
    /// The cost of the search, which is not run.
    Estimate,
}

/// Whether lines are sent as text ([`TextBatch`](super::TextBatch)), and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextOrder {
    /// They are not.
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
    /// The expression of the query.
    pub expr: Expr,
    /// Lines sent before and after each match.
    pub context_lines: u32,
    /// Ids of the shards to search. Answers name a shard by its index in this list.
    pub shards: Vec<[u8; 32]>,
    /// The kind of answer.
    pub want: Want,
    /// Number of matches to send, the best ones in the total order; 0 means all.
    pub limit: u64,
    /// With a limit: matches beyond it need not be found. So [`ShardEnd::found`](super::ShardEnd::found) may be too
    /// small, but in all shards together not below the limit.
    pub uncounted: bool,
    /// Not 0: [`limit`](Self::limit) counts documents, which are as good as their best match. At most so many matches of
    /// each are sent, one of them with its best score. Only with [`uncounted`](Self::uncounted). It is answered with the ERROR
    /// [`FailureKind::BadQuery`](super::FailureKind::BadQuery) if it takes more than little work.
    pub per_document: u32,
    /// Milliseconds after the arrival of the request at which it ends with an ERROR; 0 means never.
    pub deadline_ms: u32,
    /// Run the search whatever it costs. Otherwise an expensive search is answered with the ERROR
    /// [`FailureKind::Heavy`](super::FailureKind::Heavy).
    pub heavy: bool,
    /// A document matches by its path alone; no lines are sent.
    pub names: bool,
    /// Packages that are not searched, because other shards have them in a newer build.
    pub excluded: Vec<Excluded>,
    /// What is visible of each shard, in the order of [`shards`](Self::shards). `None`: everything.
    pub visible: Option<Vec<VisibleShard>>,
    /// How far another backend has answered for each shard, in the order of [`shards`](Self::shards). Empty if none has.
    pub resume: Vec<ResumePoint>,
    /// The place in a trace below which the backend records what it does.
    pub trace: Option<TraceContext>,
    /// Only the first range of each match is wanted. An earlier backend sends all of them. Everything else is the same,
    /// ranks too.
    pub first_range: bool,
    /// Patterns of the lines that come first, the best one first. If there is one, lines with all
    /// patterns of the expression come next, then those with these near each other. At most
    /// [`PHRASE_PATTERNS_MAX`].
    pub phrase: Vec<Pattern>,
    /// Whether lines are wanted as text. Then there is neither a limit nor context. An earlier backend sends
    /// [`Batch`](super::Batch)es all the same, and each backend sends them for long lines and for matches over several.
    pub text: TextOrder,
}

/// How far another backend has answered for a shard. The backend sends only what comes after that. Its
/// [`ShardEnd`](super::ShardEnd) has the counts and the hash of both answers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// The answer names the shard by this number.
    pub shard: u32,
    /// Matches that were sent.
    pub matches: u64,
    /// Documents with a match.
    pub documents: u64,
    /// [`ShardEnd::keys_hash`](super::ShardEnd::keys_hash) of the matches.
    pub hash: u32,
    /// Document and line of the last match.
    pub last: Option<(u32, u32)>,
    /// Skipped documents that were named.
    pub skipped: u64,
    /// The last of them.
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

/// Packages of a shard that are not searched, as if the shard did not have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// Index of the shard in [`Search::shards`].
    pub shard: u32,
    /// Numbers of packages in the shard, ascending.
    pub packages: Vec<u32>,
}

/// The packages of a shard that a caller may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleShard {
    /// The shard's id.
    pub shard: [u8; 32],
    /// A bitmap over the numbers of packages, from the lowest bit of the first byte on. A number behind its
    /// end is not visible.
    pub packages: Arc<[u8]>,
    /// Whether all packages are visible, without a bitmap.
    pub is_all: bool,
}

impl VisibleShard {
    /// Whether the package with this number is visible.
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

    /// Returns `None` if the request is not restricted. A list without the mark restricts it, too.
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
            let mut points = root.reborrow().init_resume(length(self.resume.len()));
            for (index, point) in (0..).zip(&self.resume) {
                point.encode_to(points.reborrow().get(index));
            }
        }
        let mut phrase = root.reborrow().init_phrase(length(self.phrase.len()));
        for (index, pattern) in (0..).zip(&self.phrase) {
            pattern.encode(phrase.reborrow().get(index));
        }
        if let Some(trace) = &self.trace {
            trace.encode_to(root.reborrow().init_trace());
        }
        let mut shards = root.init_shards(length(self.shards.len()));
        for (index, id) in (0..).zip(&self.shards) {
            shards.set(index, id);
        }
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

/// Decodes a shard's id, which has 32 bytes.
pub(super) fn shard_id(bytes: &[u8]) -> Result<[u8; 32], MessageError> {
    bytes
        .try_into()
        .map_err(|_| MessageError::Impossible("shard id"))
}

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRange {
    /// `count` whole lines from line `first` on; lines count from 1.
    Lines {
        /// The first line's number.
        first: u32,
        /// Number of lines, at most.
        count: u32,
    },
    /// `count` bytes from byte `offset` on.
    Bytes {
        /// The first byte.
        offset: u64,
        /// Number of bytes, at most.
        count: u64,
    },
}

/// The FILE frame, frontend to backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// The package, as its directory was named.
    pub package: Vec<u8>,
    /// The document's path within the package.
    pub path: Vec<u8>,
    /// The part to return.
    pub range: FileRange,
    /// The revision to read: a name, in full or short, or the beginning of a commit id of at least 7
    /// digits. Empty for the default one.
    pub revision: String,
    /// The only shards that are read, and what is visible of each. `None`: all of all.
    pub visible: Option<Vec<VisibleShard>>,
    /// Where the bytes come from.
    pub source: FileSource,
}

/// Where the bytes of a file come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSource {
    /// The index; for a revision that is not indexed the repository, as the text that the index would have.
    #[default]
    Text,
    /// The index; for a file without a text in it the repository, as it has the bytes.
    TextOrOriginal,
    /// The repository, as it has the bytes; the index if the repository cannot be read. The request may also name
    /// a repository that is not indexed.
    Original,
}

impl FileRequest {
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

/// What a LIST request lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// The packages whose directory begins with the prefix; when a package is given, only those with
    /// that name.
    Packages,
    /// The content of a directory of the package. The prefix is its path: empty, or ending with `/`.
    Children,
    /// The skipped files of the package, or of all packages when none is given, whose path begins with
    /// the prefix or is a directory above it.
    Skipped,
    /// The packages of a shard, whose id is in place of the package: only name, number, documents and time
    /// of each.
    Shard,
    /// The packages that are git repositories and whose directory begins with `prefix`, with what the index recorded
    /// of them.
    Repositories,
}

/// The LIST frame, frontend to backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// What to list.
    pub kind: ListKind,
    /// The package, by its directory or by its name.
    pub package: Vec<u8>,
    /// The prefix of the names.
    pub prefix: Vec<u8>,
    /// Only names after this one. The name is the directory of a package, the path of a child, or
    /// directory, `/` and path of a skipped file.
    pub after: Vec<u8>,
    /// Number of entries, at most.
    pub count: u32,
    /// The revision of which children are listed, named as in [`FileRequest`]. Empty for the default one.
    pub revision: String,
    /// The only shards that are listed, and what is visible of each. `None`: all of all.
    pub visible: Option<Vec<VisibleShard>>,
}

impl ListRequest {
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
