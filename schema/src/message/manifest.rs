//! Record of a finished result, written by a frontend beside its frames for use after a restart.

use super::codec::MessageError;
use super::document_kind::DocumentKind;
use super::record::{Read, encode_records, frame_message, read_from, record};
use super::reply::{Phases, ShardEnd, Skip, count};
use super::request::Search;
use crate::trawl_capnp::{facet, spool_facets, spool_manifest};

/// Version of a spool's files. Other versions are removed, and their queries rerun.
pub const SPOOL_VERSION: u32 = 5;

record! {
    /// The MANIFEST frame: a complete result without its matches.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SpoolManifest: spool_manifest = SPOOL_VERSION {
        pub generation: String = [get_generation, set_generation],
        /// Query, without shards and deadline.
        pub search: Search = [get_search, record init_search],
        pub frame_bytes: Vec<u64> = [get_frame_bytes, numbers set_frame_bytes],
        pub pointers: u64 = [get_pointers, set_pointers],
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
        pub shard_documents: u64 = [get_shard_documents, set_shard_documents],
        /// Pointers not folded.
        pub unique: u64 = [get_unique, set_unique],
        /// Bytes of the file of folded pointers; 0, like those below, without copies.
        pub folded_bytes: u64 = [get_folded_bytes, set_folded_bytes],
        pub copies_bytes: u64 = [get_copies_bytes, set_copies_bytes],
        pub copy_groups_bytes: u64 = [get_copy_groups_bytes, set_copy_groups_bytes],
        pub copy_frames_bytes: u64 = [get_copy_frames_bytes, set_copy_frames_bytes],
        /// Hash of the visibility shared by users of the result.
        pub scope: [u8; 16] = [get_scope, set_scope],
    }
}

/// Shared value, and its number of matches.
pub type Facet = (Vec<u8>, u64);

trait EncodeTo {
    fn encode_to(&self, to: facet::Builder<'_>);
}

impl EncodeTo for Facet {
    fn encode_to(&self, mut to: facet::Builder<'_>) {
        to.set_name(&self.0);
        to.set_count(self.1);
    }
}

impl Read<facet::Reader<'_>> for Facet {
    fn read(from: facet::Reader<'_>) -> Result<Self, MessageError> {
        Ok((from.get_name()?.to_vec(), from.get_count()))
    }
}

/// Kinds of symbols, as many as bits of [`LineView::kinds`](super::LineView::kinds).
pub const SYMBOL_KINDS_MAX: usize = 32;

impl<const N: usize, L: IntoIterator<Item = u64>> Read<capnp::Result<L>> for [u64; N] {
    fn read(list: capnp::Result<L>) -> Result<Self, MessageError> {
        let kinds: Vec<u64> = list?.into_iter().collect();
        let kinds = kinds.try_into();
        kinds.map_err(|_| MessageError::Impossible("number of kinds"))
    }
}

record! {
    /// Facets of a finished result, in their own MANIFEST frame.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SpoolFacets: spool_facets {
        /// Empty when unknown.
        pub languages: Vec<Facet> = [get_languages, records init_languages],
        /// By first directory, empty if none.
        pub directories: Vec<Facet> = [get_directories, records init_directories],
        /// Matches in directories not listed.
        pub other_directories: u64 = [get_other_directories, set_other_directories],
        /// Matches by document kind, in the order of [`DocumentKind::ALL`].
        pub kinds: [u64; DocumentKind::ALL.len()] = [get_kinds, numbers set_kinds],
        pub symbols: [u64; SYMBOL_KINDS_MAX] = [get_symbols, numbers set_symbols],
    }
}

frame_message!(SpoolManifest: Manifest, SpoolFacets: Manifest);
