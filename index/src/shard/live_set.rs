//! Live packages and blocks of a shard, as ascending, nonempty, separate ranges. Plain data: reads
//! no shard.

use crate::format::Header;
use crate::posting::push_range;
use crate::revisions::Revisions;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub packages: u32,
    /// Including packages counted in an earlier shard.
    pub parts: u32,
    /// Their documents; with a table of revisions, default ones only.
    pub documents: u32,
    /// In any revision.
    pub blocks: u32,
    /// Bytes of the documents: each text counts once per document.
    pub text_bytes: u64,
    pub unique_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LiveSet {
    /// Unique among live sets of all shards.
    pub(super) id: [u8; 32],
    pub(super) dead: Vec<u32>,
    /// Live packages continued from an earlier shard, ascending; not counted again.
    pub(super) continued: Vec<u32>,
    /// Texts with a live document: ascending, separate ranges.
    pub(super) texts: Vec<Range<u32>>,
    pub(super) blocks: Vec<Range<u32>>,
    pub(super) counts: Counts,
    /// Candidates must not depend on dead packages.
    pub(super) is_view: bool,
}

impl LiveSet {
    pub(super) fn all(header: &Header) -> LiveSet {
        let mut live = LiveSet {
            id: header.id,
            counts: Counts {
                packages: header.packages.get(),
                parts: header.packages.get(),
                documents: header.documents.get(),
                blocks: header.blocks.get(),
                text_bytes: header.text_bytes.get(),
                unique_bytes: header.content_bytes.get(),
            },
            ..LiveSet::default()
        };
        let _ = push_range(&mut live.texts, 0..header.texts.get());
        let _ = push_range(&mut live.blocks, 0..header.blocks.get());
        live
    }

    pub(super) fn without(file_id: [u8; 32], dead: Vec<u32>) -> LiveSet {
        LiveSet {
            id: hash(&[&file_id, &encoded(&dead)]),
            dead,
            ..LiveSet::default()
        }
    }

    pub(super) fn with_revisions(
        file_id: [u8; 32],
        dead: Vec<u32>,
        continued: Vec<u32>,
        revisions: &Revisions,
    ) -> LiveSet {
        let length = |packages: &[u32]| (packages.len() as u64).to_le_bytes();
        let id = hash(&[
            b"with revisions",
            &file_id,
            &length(&dead),
            &encoded(&dead),
            &length(&continued),
            &encoded(&continued),
            &revisions.table,
            &revisions.records,
        ]);
        LiveSet {
            id,
            dead,
            continued,
            ..LiveSet::default()
        }
    }

    /// Adds names, which package filters see, to the id.
    pub(super) fn add_names(&mut self, own_names: &[u32]) {
        if !own_names.is_empty() {
            self.id = hash(&[b"with own names", &self.id, &encoded(own_names)]);
        }
    }

    pub(super) fn is_live(&self, package: u32) -> bool {
        self.dead.binary_search(&package).is_err()
    }
}

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

fn encoded(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().copied().flat_map(u32::to_le_bytes).collect()
}
