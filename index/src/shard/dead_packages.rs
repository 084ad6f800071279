//! A shard without its *dead* packages: those that a later shard has in a newer form, or that were
//! removed from the index. The file never changes for this; the manifest names the dead packages.

use super::error::ShardError;
use super::live_set::{Counts, LiveSet};
use super::{DocId, Package, PackageId, Shard};
use crate::format::Section;
use std::ops::Range;

impl Shard {
    /// Returns the same shard without the packages `dead`, which must ascend; both share the open
    /// file and its checked pages.
    pub fn with_dead(&self, dead: Vec<u32>) -> Result<Shard, ShardError> {
        let is_ascending = dead.windows(2).all(|pair| pair[0] < pair[1]);
        let is_known = dead.last().is_none_or(|&last| last < self.package_count());
        if !is_ascending || !is_known {
            return Err(self.corrupt(Section::Packages, "the numbers of dead packages"));
        }
        let live = if dead.is_empty() {
            LiveSet::all(self.file.header())
        } else {
            self.live_without(dead)?
        };
        let file = self.file.clone();
        Ok(Shard { file, live })
    }

    fn live_without(&self, dead: Vec<u32>) -> Result<LiveSet, ShardError> {
        let out_of_order = || self.corrupt(Section::Packages, "order of packages");
        let mut live = LiveSet::without(self.file_id(), dead);
        let mut documents_end = 0;
        for package in (0..self.package_count()).map(PackageId) {
            if !live.is_live(package.0) {
                continue;
            }
            let package = self.package(package)?;
            let blocks = self.blocks_of(&package)?.unwrap_or_default();
            let Range { start, end } = package.documents;
            if start < documents_end {
                return Err(out_of_order());
            }
            documents_end = end;
            let text = self.text_range(blocks.clone())?;
            live.add(end - start, blocks, text.end - text.start)
                .ok_or_else(out_of_order)?;
        }
        self.intact()?;
        Ok(live)
    }

    /// Returns the blocks of a package; `None` when it has no documents.
    pub(super) fn blocks_of(
        &self,
        package: &Package<'_>,
    ) -> Result<Option<Range<u32>>, ShardError> {
        let Some(last) = package.documents.clone().next_back() else {
            return Ok(None);
        };
        let start = self.document(DocId(package.documents.start))?.blocks.start;
        let end = self.document(DocId(last))?.blocks.end;
        if start > end {
            return Err(self.corrupt(Section::Documents, "blocks of a package"));
        }
        Ok(Some(start..end))
    }

    /// Bytes of the text of a package's documents.
    pub fn package_text_bytes(&self, package: &Package<'_>) -> Result<u64, ShardError> {
        let Some(blocks) = self.blocks_of(package)? else {
            return Ok(0);
        };
        let text = self.text_range(blocks)?;
        Ok(text.end - text.start)
    }

    /// The ids of the dead packages, ascending.
    pub fn dead(&self) -> &[u32] {
        &self.live.dead
    }

    /// The live blocks: ascending ranges that do not touch.
    pub fn live_blocks(&self) -> &[Range<u32>] {
        &self.live.blocks
    }

    /// Iterates over the live packages, best first.
    pub fn live_packages(&self) -> impl Iterator<Item = PackageId> {
        let packages = (0..self.package_count()).map(PackageId);
        packages.filter(|&package| self.is_live(package))
    }

    /// Whether a package is live.
    pub fn is_live(&self, package: PackageId) -> bool {
        self.live.is_live(package.0)
    }

    /// The size of the live part.
    pub fn live_counts(&self) -> Counts {
        self.live.counts
    }

    /// Finds the document at `path` in the live package whose directory is `directory`.
    pub fn find(&self, directory: &[u8], path: &[u8]) -> Result<Option<DocId>, ShardError> {
        for package in self.live_packages() {
            let package = self.package(package)?;
            if package.directory != directory {
                continue;
            }
            for document in package.documents {
                if self.document(DocId(document))?.path == path {
                    return Ok(Some(DocId(document)));
                }
            }
        }
        Ok(None)
    }
}
