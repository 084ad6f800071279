//! Which packages and blocks of a shard are live. Plain data: it does not read the shard.

use super::ranges;
use crate::format::Header;
use std::ops::Range;

/// The size of the live part of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live packages.
    pub packages: u32,
    /// Their documents.
    pub documents: u32,
    /// The documents' blocks.
    pub blocks: u32,
    /// Bytes of the documents' text.
    pub text_bytes: u64,
}

/// The live part of a shard.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveSet {
    /// Differs between any two live sets, of one shard or of several.
    pub(super) id: [u8; 32],
    /// Ids of the dead packages, ascending.
    pub(super) dead: Vec<u32>,
    /// Live blocks: ascending ranges, none empty, never two that touch.
    pub(super) blocks: Vec<Range<u32>>,
    pub(super) counts: Counts,
}

impl LiveSet {
    /// All of the shard that has this header.
    pub(super) fn all(header: &Header) -> LiveSet {
        let mut live = LiveSet {
            id: header.id,
            counts: Counts {
                packages: header.packages.get(),
                documents: header.documents.get(),
                blocks: header.blocks.get(),
                text_bytes: header.text_bytes.get(),
            },
            ..LiveSet::default()
        };
        let _ = ranges::push(&mut live.blocks, 0..live.counts.blocks);
        live
    }

    /// No package yet, of the shard `file_id` without the packages `dead`.
    pub(super) fn without(file_id: [u8; 32], dead: Vec<u32>) -> LiveSet {
        let mut id = blake3::Hasher::new();
        id.update(&file_id);
        for package in &dead {
            id.update(&package.to_le_bytes());
        }
        LiveSet {
            id: *id.finalize().as_bytes(),
            dead,
            ..LiveSet::default()
        }
    }

    /// Adds a package of so many documents; `None` when its blocks precede those of an earlier one.
    pub(super) fn add(
        &mut self,
        documents: u32,
        blocks: Range<u32>,
        text_bytes: u64,
    ) -> Option<()> {
        self.counts.packages += 1;
        self.counts.documents += documents;
        self.counts.blocks += blocks.end - blocks.start;
        self.counts.text_bytes += text_bytes;
        ranges::push(&mut self.blocks, blocks)
    }

    pub(super) fn is_live(&self, package: u32) -> bool {
        self.dead.binary_search(&package).is_err()
    }
}
