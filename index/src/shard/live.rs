//! What of a shard counts: all of it, or all but the packages that are *dead*, because a later
//! shard has them anew or they were removed. The file never changes for it.

use super::{DocId, Package, PackageId, Shard, ShardError, ranges};
use crate::format::Section;
use std::ops::Range;

/// How much of a shard counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packages.
    pub packages: u32,
    /// Documents.
    pub documents: u32,
    /// Blocks.
    pub blocks: u32,
    /// Bytes of text.
    pub text_bytes: u64,
}

/// The live part of a shard.
#[derive(Clone, Debug)]
pub(super) struct Live {
    /// Tells this part of the shard from any other, and from other shards.
    pub(super) id: [u8; 32],
    /// Dead packages, ascending.
    pub(super) dead: Vec<u32>,
    /// Live blocks: ascending, not empty, with something dead between any two.
    pub(super) blocks: Vec<Range<u32>>,
    pub(super) counts: Counts,
}

impl Live {
    /// All of a shard.
    pub(super) fn whole(id: [u8; 32], counts: Counts) -> Live {
        Live {
            id,
            dead: Vec::new(),
            blocks: Some(0..counts.blocks)
                .filter(|range| !range.is_empty())
                .into_iter()
                .collect(),
            counts,
        }
    }

    /// Adds a package with its blocks; `None`: they lie before those that are there.
    fn add(&mut self, package: &Package<'_>, blocks: Range<u32>, text_bytes: u64) -> Option<()> {
        self.counts.packages += 1;
        self.counts.documents += package.documents.end - package.documents.start;
        self.counts.blocks += blocks.end - blocks.start;
        self.counts.text_bytes += text_bytes;
        ranges::push(&mut self.blocks, blocks)
    }
}

impl Shard {
    /// The same shard without the packages `dead`, which must ascend; the file is open once.
    pub fn with_dead(&self, dead: Vec<u32>) -> Result<Shard, ShardError> {
        let ascends = dead.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends
            || dead
                .last()
                .is_some_and(|&last| last >= self.package_count())
        {
            return Err(self.corrupt(Section::Packages, "the numbers of dead packages"));
        }
        let live = match dead.is_empty() {
            true => Live::whole(self.file_id(), super::counts(&self.header)),
            false => self.live_without(dead)?,
        };
        Ok(Shard {
            path: self.path.clone(),
            bytes: self.bytes.clone(),
            header: self.header.clone(),
            pages: self.pages.clone(),
            live,
        })
    }

    fn live_without(&self, dead: Vec<u32>) -> Result<Live, ShardError> {
        let mut id = blake3::Hasher::new();
        id.update(&self.file_id());
        dead.iter().for_each(|package| {
            id.update(&package.to_le_bytes());
        });
        let mut live = Live::whole(*id.finalize().as_bytes(), Counts::default());
        live.dead = dead;
        let out_of_order = || self.corrupt(Section::Packages, "order of packages");
        let mut documents_end = 0;
        for package in (0..self.package_count()).map(PackageId) {
            if live.dead.binary_search(&package.0).is_ok() {
                continue;
            }
            let package = self.package(package)?;
            let blocks = self.blocks_of(&package)?.unwrap_or_default();
            if package.documents.start < documents_end {
                return Err(out_of_order());
            }
            documents_end = package.documents.end;
            let text = self.text_range(blocks.clone())?;
            live.add(&package, blocks, text.end - text.start)
                .ok_or_else(out_of_order)?;
        }
        self.intact()?;
        Ok(live)
    }

    /// The blocks of a package that has documents.
    pub(super) fn blocks_of(
        &self,
        package: &Package<'_>,
    ) -> Result<Option<Range<u32>>, ShardError> {
        let Some(last) = package.documents.clone().next_back() else {
            return Ok(None);
        };
        let start = self.document(DocId(package.documents.start))?.blocks.start;
        let end = self.document(DocId(last))?.blocks.end;
        match start <= end {
            true => Ok(Some(start..end)),
            false => Err(self.corrupt(Section::Documents, "blocks of a package")),
        }
    }

    /// The numbers of the packages that do not count, ascending.
    pub fn dead(&self) -> &[u32] {
        &self.live.dead
    }

    /// The blocks that count, ascending.
    pub fn live_blocks(&self) -> &[Range<u32>] {
        &self.live.blocks
    }

    /// The packages that count, best first.
    pub fn live_packages(&self) -> impl Iterator<Item = PackageId> {
        let packages = (0..self.package_count()).map(PackageId);
        packages.filter(|&package| self.is_live(package))
    }

    /// Whether a package counts.
    pub fn is_live(&self, package: PackageId) -> bool {
        self.live.dead.binary_search(&package.0).is_err()
    }

    /// How much of it counts.
    pub fn live_counts(&self) -> Counts {
        self.live.counts
    }
}
