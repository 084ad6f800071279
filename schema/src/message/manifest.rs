//! Record of a finished result, written by a frontend beside its frames for use after a restart.

use super::codec::{
    MessageError, builder, encode_records, finish, frame_message, length, reader, text,
};
use super::document_kind::DocumentKind;
use super::reply::{Phases, ShardEnd, Skip};
use super::request::Search;
use crate::frame::Kind;
use crate::trawl_capnp::{facet, spool_facets, spool_manifest};
use capnp::{primitive_list, struct_list};

/// Version of a spool's files. Other versions are removed, and their queries rerun.
pub const SPOOL_VERSION: u32 = 4;

/// The MANIFEST frame: a complete result without its matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolManifest {
    /// Searched generation.
    pub generation: String,
    /// Query, without shards and deadline.
    pub search: Search,
    /// Bytes of each backend's file.
    pub frame_bytes: Vec<u64>,
    /// Pointers in the order files.
    pub pointers: u64,
    /// Records in the package file.
    pub packages: u32,
    /// Documents with a match.
    pub documents: u64,
    /// Sums over all shards.
    pub explain: ShardEnd,
    /// Searched shards.
    pub shards: u64,
    /// Trigram query, for people.
    pub plan: String,
    /// First documents given up.
    pub skipped: Vec<Skip>,
    /// Number of documents given up.
    pub skipped_count: u64,
    /// Wait for admission, in microseconds like all times below.
    pub queue_us: u64,
    /// From the first request to the last stream's end.
    pub stream_us: u64,
    /// Ordering of the matches.
    pub rank_us: u64,
    /// Phases of the slowest backend.
    pub phases: Phases,
    /// Finish, in seconds since 1970.
    pub finished: u64,
    /// Bytes of each order file.
    pub order_bytes: Vec<u64>,
    /// Bytes of the package file.
    pub packages_bytes: u64,
    /// Bytes of the facet file.
    pub facets_bytes: u64,
    /// Documents in the searched shards.
    pub shard_documents: u64,
    /// Pointers not folded.
    pub unique: u64,
    /// Bytes of the file of folded pointers; 0, like those below, without copies.
    pub folded_bytes: u64,
    /// Bytes of the file of copied documents.
    pub copies_bytes: u64,
    /// Bytes of the file of copy groups.
    pub copy_groups_bytes: u64,
    /// Bytes of the file of their frames.
    pub copy_frames_bytes: u64,
    /// Hash of the visibility shared by users of the result.
    pub scope: [u8; 16],
}

impl SpoolManifest {
    fn encode_to(&self, mut root: spool_manifest::Builder<'_>) {
        root.set_version(SPOOL_VERSION);
        root.set_generation(&self.generation[..]);
        self.search.encode_to(root.reborrow().init_search());
        let frames = length(self.frame_bytes.len());
        encode_numbers(&self.frame_bytes, root.reborrow().init_frame_bytes(frames));
        root.set_pointers(self.pointers);
        root.set_packages(self.packages);
        root.set_documents(self.documents);
        self.explain.encode_to(root.reborrow().init_explain());
        root.set_shards(self.shards);
        root.set_plan(&self.plan[..]);
        encode_records!(root.init_skipped, self.skipped);
        root.set_skipped_count(self.skipped_count);
        root.set_queue_us(self.queue_us);
        root.set_stream_us(self.stream_us);
        root.set_rank_us(self.rank_us);
        root.set_plan_us(self.phases.plan_us);
        root.set_candidates_us(self.phases.candidates_us);
        root.set_verify_us(self.phases.verify_us);
        root.set_finished(self.finished);
        let parts = length(self.order_bytes.len());
        encode_numbers(&self.order_bytes, root.reborrow().init_order_bytes(parts));
        root.set_packages_bytes(self.packages_bytes);
        root.set_facets_bytes(self.facets_bytes);
        root.set_shard_documents(self.shard_documents);
        root.set_unique(self.unique);
        root.set_folded_bytes(self.folded_bytes);
        root.set_copies_bytes(self.copies_bytes);
        root.set_copy_groups_bytes(self.copy_groups_bytes);
        root.set_copy_frames_bytes(self.copy_frames_bytes);
        root.set_scope(&self.scope);
    }

    fn decode_from(root: spool_manifest::Reader<'_>) -> Result<Self, MessageError> {
        if root.get_version() != SPOOL_VERSION {
            return Err(MessageError::Impossible("version"));
        }
        Ok(SpoolManifest {
            generation: text(root.get_generation()?)?,
            search: Search::decode_from(root.get_search()?)?,
            frame_bytes: root.get_frame_bytes()?.iter().collect(),
            pointers: root.get_pointers(),
            packages: root.get_packages(),
            documents: root.get_documents(),
            explain: ShardEnd::decode_from(root.get_explain()?)?,
            shards: root.get_shards(),
            plan: text(root.get_plan()?)?,
            skipped: root
                .get_skipped()?
                .iter()
                .map(Skip::decode_from)
                .collect::<Result<_, _>>()?,
            skipped_count: root.get_skipped_count(),
            queue_us: root.get_queue_us(),
            stream_us: root.get_stream_us(),
            rank_us: root.get_rank_us(),
            phases: Phases {
                plan_us: root.get_plan_us(),
                candidates_us: root.get_candidates_us(),
                verify_us: root.get_verify_us(),
            },
            finished: root.get_finished(),
            order_bytes: root.get_order_bytes()?.iter().collect(),
            packages_bytes: root.get_packages_bytes(),
            facets_bytes: root.get_facets_bytes(),
            shard_documents: root.get_shard_documents(),
            unique: root.get_unique(),
            folded_bytes: root.get_folded_bytes(),
            copies_bytes: root.get_copies_bytes(),
            copy_groups_bytes: root.get_copy_groups_bytes(),
            copy_frames_bytes: root.get_copy_frames_bytes(),
            scope: scope(root.get_scope()?)?,
        })
    }
}

fn encode_numbers(numbers: &[u64], mut list: primitive_list::Builder<'_, u64>) {
    for (index, &each) in (0..).zip(numbers) {
        list.set(index, each);
    }
}

/// Shared value, and its number of matches.
pub type Facet = (Vec<u8>, u64);

/// Facets of a finished result, in their own MANIFEST frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolFacets {
    /// Matches by language, empty when unknown.
    pub languages: Vec<Facet>,
    /// Matches by first directory, empty if none.
    pub directories: Vec<Facet>,
    /// Matches in directories not listed.
    pub other_directories: u64,
    /// Matches by document kind, in the order of [`DocumentKind::ALL`].
    pub kinds: [u64; DocumentKind::ALL.len()],
}

impl SpoolFacets {
    fn encode_to(&self, mut root: spool_facets::Builder<'_>) {
        encode_facets(
            &self.languages,
            root.reborrow().init_languages(length(self.languages.len())),
        );
        let directories = root.reborrow();
        encode_facets(
            &self.directories,
            directories.init_directories(length(self.directories.len())),
        );
        root.set_other_directories(self.other_directories);
        encode_numbers(&self.kinds, root.init_kinds(length(self.kinds.len())));
    }

    fn decode_from(root: spool_facets::Reader<'_>) -> Result<Self, MessageError> {
        Ok(SpoolFacets {
            languages: decode_facets(root.get_languages()?)?,
            directories: decode_facets(root.get_directories()?)?,
            other_directories: root.get_other_directories(),
            kinds: decode_kinds(root.get_kinds()?)?,
        })
    }
}

fn encode_facets(facets: &[Facet], mut list: struct_list::Builder<'_, facet::Owned>) {
    for (index, (name, count)) in (0..).zip(facets) {
        let mut entry = list.reborrow().get(index);
        entry.set_name(name);
        entry.set_count(*count);
    }
}

fn decode_facets(list: struct_list::Reader<'_, facet::Owned>) -> Result<Vec<Facet>, MessageError> {
    let facet = |entry: facet::Reader<'_>| Ok((entry.get_name()?.to_vec(), entry.get_count()));
    list.iter().map(facet).collect()
}

fn decode_kinds(
    list: primitive_list::Reader<'_, u64>,
) -> Result<[u64; DocumentKind::ALL.len()], MessageError> {
    let kinds: Vec<u64> = list.iter().collect();
    let kinds = kinds.try_into();
    kinds.map_err(|_| MessageError::Impossible("number of kinds"))
}

/// Decodes a scope hash; that of everything is omitted.
fn scope(bytes: &[u8]) -> Result<[u8; 16], MessageError> {
    if bytes.is_empty() {
        return Ok([0; 16]);
    }
    let hash = bytes.try_into();
    hash.map_err(|_| MessageError::Impossible("hash of a scope"))
}

frame_message!(SpoolManifest: Manifest, SpoolFacets: Manifest);
