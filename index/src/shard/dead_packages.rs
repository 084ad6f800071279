//! *Dead* packages of a shard: superseded by a later shard or removed. The manifest names them; the
//! file never changes.

use super::error::Result;
use super::live_set::{Counts, LiveSet};
use super::{DocId, PackageId, Shard};
use crate::format::Section;
use std::ops::Range;
use std::sync::Arc;

impl Shard {
    /// Shard without the ascending packages `dead`, sharing the open file and its
    /// verified pages.
    pub fn with_dead(&self, dead: Vec<u32>) -> Result<Shard> {
        let continued = self.live.continued.iter();
        let continued = continued.filter(|package| dead.binary_search(package).is_err());
        let continued = continued.copied().collect();
        self.with_names(dead, continued, Arc::clone(&self.own_names))
    }

    /// Shard with only the visible live packages. Candidates and counts do not depend
    /// on the others.
    pub fn view(&self, is_visible: impl Fn(PackageId) -> bool) -> Result<Shard> {
        let packages = (0..self.package_count()).map(PackageId);
        let dead: Vec<u32> = packages
            .filter(|&id| !self.is_live(id) || !is_visible(id))
            .map(|id| id.0)
            .collect();
        let mut live = if dead == self.live.dead {
            self.live.clone()
        } else {
            self.with_dead(dead)?.live
        };
        live.is_view = true;
        Ok(Shard {
            live,
            ..self.clone()
        })
    }

    /// Like [`with_dead`](Self::with_dead). Packages `continued` (ascending) have a part in an
    /// earlier shard and are not counted again; packages `own_names` (ascending) have unversioned
    /// names.
    pub(crate) fn with_names(
        &self,
        dead: Vec<u32>,
        continued: Vec<u32>,
        own_names: Arc<[u32]>,
    ) -> Result<Shard> {
        let is_ascending = dead.windows(2).all(|pair| pair[0] < pair[1]);
        let is_known = dead.last().is_none_or(|&last| last < self.package_count());
        if !is_ascending || !is_known {
            return Err(self.corrupt(Section::Packages, "the numbers of dead packages"));
        }
        let mut live = match &self.revisions {
            Some(revisions) => self.live_with(revisions, dead, continued)?,
            None if dead.is_empty() => LiveSet::all(&self.file.header),
            None => self.live_without(dead)?,
        };
        live.add_names(&own_names);
        Ok(Shard {
            live,
            own_names,
            ..self.clone()
        })
    }

    fn live_without(&self, dead: Vec<u32>) -> Result<LiveSet> {
        let mut live = LiveSet::without(self.file_id(), dead);
        let mut packages = Vec::new();
        for id in (0..self.package_count()).map(PackageId) {
            if live.is_live(id.0) {
                packages.push(self.package(id)?);
            }
        }
        live.texts = self.texts_of_packages(&packages)?;
        live.blocks = self.blocks_of_all(&live.texts)?;
        let counts = &mut live.counts;
        counts.packages = packages.len() as u32;
        counts.parts = counts.packages;
        for package in &packages {
            let documents = counts.documents.checked_add(package.documents);
            let bytes = counts
                .text_bytes
                .checked_add(self.package_text_bytes(package)?);
            let (Some(documents), Some(bytes)) = (documents, bytes) else {
                return Err(self.corrupt(Section::Packages, "documents of a package"));
            };
            (counts.documents, counts.text_bytes) = (documents, bytes);
        }
        for blocks in &live.blocks {
            let text = self.text_range(blocks.clone())?;
            counts.blocks += blocks.end - blocks.start;
            counts.unique_bytes += text.end - text.start;
        }
        self.intact()?;
        Ok(live)
    }

    /// Ids of the dead packages, ascending.
    pub fn dead(&self) -> &[u32] {
        &self.live.dead
    }

    /// Memory of the live set in bytes.
    pub fn live_bytes(&self) -> usize {
        let numbers = self.live.dead.len() + self.live.continued.len();
        let ranges = self.live.texts.len() + self.live.blocks.len();
        numbers * size_of::<u32>() + ranges * size_of::<Range<u32>>()
    }

    /// Live blocks: ascending, separate ranges.
    pub fn live_blocks(&self) -> &[Range<u32>] {
        &self.live.blocks
    }

    /// Iterates over live packages, best first.
    pub fn live_packages(&self) -> impl Iterator<Item = PackageId> {
        let packages = (0..self.package_count()).map(PackageId);
        packages.filter(|&package| self.is_live(package))
    }

    /// Tests if a package is live.
    pub fn is_live(&self, package: PackageId) -> bool {
        self.live.is_live(package.0)
    }

    /// Size of the live part.
    pub fn live_counts(&self) -> Counts {
        self.live.counts
    }

    /// Finds the document at `path` in a live package, in its default revision.
    pub fn find(&self, directory: &[u8], path: &[u8]) -> Result<Option<DocId>> {
        let found = self.find_all(directory, path)?;
        let is_default = |id: &DocId| self.revisions().is_none_or(|of| of.is_default(id.0));
        Ok(found.into_iter().find(is_default))
    }

    /// Finds the current documents at `path` in a live package, in any revision, one per text.
    pub fn find_all(&self, directory: &[u8], path: &[u8]) -> Result<Vec<DocId>> {
        let mut found = Vec::new();
        for package in self.live_packages() {
            let package = self.package(package)?;
            if package.directory != directory {
                continue;
            }
            for id in self.documents_of(&package)? {
                let is_indexed = self.revisions().is_none_or(|of| of.is_indexed(id.0));
                if is_indexed && self.document(id)?.path == path {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }
}
