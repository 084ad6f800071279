//! Record of a finished result, written by a frontend beside its frames for use after a restart.

use super::codec::{MessageError, length};
use super::document_kind::DocumentKind;
use super::record::{encode_records, frame_message, read_from, record};
use super::reply::{Phases, ShardEnd, Skip};
use super::request::Search;
use crate::trawl_capnp::{facet, spool_facets, spool_manifest};
use capnp::{primitive_list, struct_list};

/// Version of a spool's files. Other versions are removed, and their queries rerun.
pub const SPOOL_VERSION: u32 = 4;

record! {
    /// The MANIFEST frame: a complete result without its matches.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SpoolManifest: spool_manifest = SPOOL_VERSION {
        pub generation: String = [get_generation, set_generation],
        /// Query, without shards and deadline.
        pub search: Search = [get_search, record init_search],
        pub frame_bytes: Vec<u64> = [get_frame_bytes, numbers set_frame_bytes],
        /// Pointers in the order files.
        pub pointers: u64 = [get_pointers, set_pointers],
        /// Records in the package file.
        pub packages: u32 = [get_packages, set_packages],
        pub documents: u64 = [get_documents, set_documents],
        /// Sums over all shards.
        pub explain: ShardEnd = [get_explain, record init_explain],
        pub shards: u64 = [get_shards, set_shards],
        pub plan: String = [get_plan, set_plan],
        /// First documents given up.
        pub skipped: Vec<Skip> = [get_skipped, records init_skipped],
        pub skipped_count: u64 = [get_skipped_count, set_skipped_count],
        /// Wait for admission, in microseconds like all times below.
        pub queue_us: u64 = [get_queue_us, set_queue_us],
        /// From the first request to the last stream's end.
        pub stream_us: u64 = [get_stream_us, set_stream_us],
        pub rank_us: u64 = [get_rank_us, set_rank_us],
        /// Phases of the slowest backend.
        pub phases: Phases = [phases],
        /// Finish, in seconds since 1970.
        pub finished: u64 = [get_finished, set_finished],
        pub order_bytes: Vec<u64> = [get_order_bytes, numbers set_order_bytes],
        pub packages_bytes: u64 = [get_packages_bytes, set_packages_bytes],
        pub facets_bytes: u64 = [get_facets_bytes, set_facets_bytes],
        /// Documents in the searched shards.
        pub shard_documents: u64 = [get_shard_documents, set_shard_documents],
        /// Pointers not folded.
        pub unique: u64 = [get_unique, set_unique],
        /// Bytes of the file of folded pointers; 0, like those below, without copies.
        pub folded_bytes: u64 = [get_folded_bytes, set_folded_bytes],
        pub copies_bytes: u64 = [get_copies_bytes, set_copies_bytes],
        pub copy_groups_bytes: u64 = [get_copy_groups_bytes, set_copy_groups_bytes],
        /// Bytes of the file of their frames.
        pub copy_frames_bytes: u64 = [get_copy_frames_bytes, set_copy_frames_bytes],
        /// Hash of the visibility shared by users of the result.
        pub scope: [u8; 16] = [get_scope, set_scope],
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

frame_message!(SpoolManifest: Manifest, SpoolFacets: Manifest);
