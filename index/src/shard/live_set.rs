//! Live packages and blocks of a shard, as ascending, nonempty, separate ranges. Plain data: reads
//! no shard.

use super::layout::Layout;
use crate::revisions::Revisions;
use std::ops::Range;

/// Size of the live part of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live packages.
    pub packages: u32,
    /// Including packages counted in an earlier shard.
    pub parts: u32,
    /// Their documents; with a table of revisions, default ones only.
    pub documents: u32,
    /// Blocks of their texts, in any revision.
    pub blocks: u32,
    /// Bytes of the documents: each text counts once per document.
    pub text_bytes: u64,
    /// Bytes of the texts.
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
    /// Their blocks, likewise.
    pub(super) blocks: Vec<Range<u32>>,
    pub(super) counts: Counts,
    /// Candidates must not depend on dead packages.
    pub(super) is_view: bool,
}

impl LiveSet {
    pub(super) fn all(layout: &Layout) -> LiveSet {
        let mut live = LiveSet {
            id: layout.id,
            counts: Counts {
                packages: layout.packages,
                parts: layout.packages,
                documents: layout.documents,
                blocks: layout.blocks,
                text_bytes: layout.text_bytes,
                unique_bytes: layout.content_bytes,
            },
            ..LiveSet::default()
        };
        let _ = push_range(&mut live.texts, 0..layout.texts);
        let _ = push_range(&mut live.blocks, 0..layout.blocks);
        live
    }

    /// Empty set of a shard without `dead`.
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

    /// Empty set of a shard with a table of revisions.
    pub(super) fn with_revisions(
        file_id: [u8; 32],
        dead: Vec<u32>,
        continued: Vec<u32>,
        revisions: &Revisions,
    ) -> LiveSet {
        let mut id = blake3::Hasher::new();
        id.update(b"with revisions").update(&file_id);
        for packages in [&dead, &continued] {
            id.update(&(packages.len() as u64).to_le_bytes());
            for package in packages {
                id.update(&package.to_le_bytes());
            }
        }
        id.update(&revisions.table()).update(&revisions.records());
        LiveSet {
            id: *id.finalize().as_bytes(),
            dead,
            continued,
            ..LiveSet::default()
        }
    }

    /// Adds names, which package filters see, to the id.
    pub(super) fn add_names(&mut self, own_names: &[u32]) {
        if own_names.is_empty() {
            return;
        }
        let mut id = blake3::Hasher::new();
        id.update(b"with own names").update(&self.id);
        for package in own_names {
            id.update(&package.to_le_bytes());
        }
        self.id = *id.finalize().as_bytes();
    }

    pub(super) fn is_live(&self, package: u32) -> bool {
        self.dead.binary_search(&package).is_err()
    }
}

/// Appends a range, joining adjacent and dropping empty ones; `None` on overlap.
pub(super) fn push_range(ranges: &mut Vec<Range<u32>>, range: Range<u32>) -> Option<()> {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if range.start < last.end => return None,
        Some(last) if range.start == last.end => last.end = range.end,
        _ => ranges.push(range),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_touching_ranges_and_rejects_overlap() {
        let mut ranges = Vec::new();
        for range in [2..4, 4..5, 9..9, 7..8] {
            assert_eq!(push_range(&mut ranges, range), Some(()));
        }
        assert_eq!(ranges, [2..5, 7..8]);
        assert_eq!(push_range(&mut ranges, 6..9), None);
        assert_eq!(push_range(&mut ranges, 0..0), Some(()));
        assert_eq!(ranges, [2..5, 7..8]);
    }
}
