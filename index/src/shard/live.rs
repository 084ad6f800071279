//! Live part of a shard: without *dead* packages, superseded by a later shard or removed, which the
//! manifest names; with a table of revisions, only current documents. The file never changes.
//!
//! **Invariant:** a text is live if it has a current document, in any revision, in a live package.
//! Counts are of default documents: those searched without a revision filter.

use super::error::{Result, ShardError};
use super::live_set::{Counts, LiveSet};
use super::{DocId, PackageId, Shard, TextId};
use crate::filter::Filters;
use crate::format::Section;
use crate::posting::push_range;
use crate::revisions::{RevisionTable, Revisions};
use schema::message::Recorded;
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
        let is_hidden = |id: &PackageId| !self.is_live(*id) || !is_visible(*id);
        let dead: Vec<u32> = packages.filter(is_hidden).map(|id| id.0).collect();
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

    /// Ascending.
    pub fn dead(&self) -> &[u32] {
        &self.live.dead
    }

    pub fn live_bytes(&self) -> usize {
        let numbers = self.live.dead.len() + self.live.continued.len();
        let ranges = self.live.texts.len() + self.live.blocks.len();
        numbers * size_of::<u32>() + ranges * size_of::<Range<u32>>()
    }

    /// Ascending, separate ranges.
    pub fn live_blocks(&self) -> &[Range<u32>] {
        &self.live.blocks
    }

    /// Best first.
    pub fn live_packages(&self) -> impl Iterator<Item = PackageId> {
        let packages = (0..self.package_count()).map(PackageId);
        packages.filter(|&package| self.is_live(package))
    }

    pub fn is_live(&self, package: PackageId) -> bool {
        self.live.is_live(package.0)
    }

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
            let candidates = self.documents_with_path(path)?;
            let is_candidate = |id: &DocId| {
                candidates.as_ref().is_none_or(|ranges| {
                    let next = ranges.partition_point(|range| range.end <= id.0);
                    ranges.get(next).is_some_and(|range| range.start <= id.0)
                })
            };
            let documents = self.documents_of(&package)?.into_iter();
            for id in documents.filter(is_candidate) {
                let is_indexed = self.revisions().is_none_or(|of| of.is_indexed(id.0));
                if is_indexed && self.document(id)?.path == path {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }

    /// Without a table, all documents of live packages are current.
    pub fn revisions(&self) -> Option<&Revisions> {
        self.revisions.as_deref()
    }

    /// Shard with a table (hash of its file: `hash`) and records. Packages `dead`
    /// (ascending) need no record.
    pub fn with_revisions(
        &self,
        table: RevisionTable,
        hash: [u8; 32],
        recorded: &Recorded,
        dead: Vec<u32>,
    ) -> Result<Shard> {
        let wrong = |reason| ShardError::Revisions {
            path: self.path().to_owned(),
            reason,
        };
        let documents = (0..self.document_count()).map(|id| Ok(self.package_of(DocId(id))?.0));
        let mut of_entries = documents.collect::<Result<Vec<_>>>()?;
        of_entries.extend(self.skipped_packages()?);
        if table.shard != self.file_id()
            || table.documents != self.document_count()
            || table.entries.len() != of_entries.len()
        {
            return Err(wrong("it belongs to another shard"));
        }
        let packages = self.directories_without(&dead)?;
        let revisions = Revisions::new(table, hash, recorded, &packages, &of_entries);
        let revisions = revisions.map_err(|error| wrong(error.what))?;
        self.intact()?;
        Shard {
            revisions: Some(Arc::new(revisions)),
            ..self.without_revisions()
        }
        .with_dead(dead)
    }

    /// Directory of each package; `None` if dead.
    fn directories_without(&self, dead: &[u32]) -> Result<Vec<Option<&[u8]>>> {
        let packages = (0..self.package_count()).map(|id| {
            let directory = self.package(PackageId(id))?.directory;
            Ok(dead.binary_search(&id).is_err().then_some(directory))
        });
        packages.collect()
    }

    /// Shard if its table was joined with equal records of live packages.
    pub(crate) fn with_records(&self, recorded: &Recorded, dead: &[u32]) -> Result<Option<Shard>> {
        let digest = Revisions::digest(recorded, &self.directories_without(dead)?);
        self.intact()?;
        let same = self.revisions().filter(|it| it.records == digest);
        Ok(same.map(|_| self.clone()))
    }

    pub(crate) fn without_revisions(&self) -> Shard {
        Shard {
            live: LiveSet::all(&self.file.header),
            revisions: None,
            best_first: Arc::default(),
            ..self.clone()
        }
    }

    /// True for an unversioned directory name: of a repository, or marked by the index.
    pub(super) fn has_own_name(&self, id: PackageId) -> bool {
        let is_repository = |of: &Arc<Revisions>| of.is_repository(id.0);
        self.own_names.binary_search(&id.0).is_ok()
            || self.revisions.as_ref().is_some_and(is_repository)
    }

    /// Packages with unversioned names that look versioned, ascending.
    pub(crate) fn own_names(&self) -> &[u32] {
        &self.own_names
    }

    pub(super) fn live_with(
        &self,
        revisions: &Revisions,
        dead: Vec<u32>,
        continued: Vec<u32>,
    ) -> Result<LiveSet> {
        let mut live = LiveSet::with_revisions(self.file_id(), dead, continued, revisions);
        let packages = (0..self.package_count()).filter(|&package| live.is_live(package));
        let parts = packages.count() as u32;
        let is_counted = |package: &u32| live.is_live(*package);
        let continued = live.continued.iter().copied().filter(is_counted).count() as u32;
        let mut counts = Counts {
            packages: parts - continued,
            parts,
            ..Counts::default()
        };
        for id in (0..self.text_count()).map(TextId) {
            let text = self.text_entry(id)?;
            let (mut is_live, mut default) = (false, 0_u32);
            for document in text.documents.clone() {
                if revisions.is_indexed(document)
                    && live.is_live(self.package_of(DocId(document))?.0)
                {
                    is_live = true;
                    default += u32::from(revisions.is_default(document));
                }
            }
            if !is_live {
                continue;
            }
            let out_of_order = || self.inconsistent("order of texts");
            push_range(&mut live.texts, id.0..id.0 + 1).ok_or_else(out_of_order)?;
            push_range(&mut live.blocks, text.blocks.clone()).ok_or_else(out_of_order)?;
            let bytes = self.text_range(text.blocks.clone())?;
            let bytes = bytes.end - bytes.start;
            counts.blocks += text.blocks.len() as u32;
            counts.unique_bytes += bytes;
            counts.documents += default;
            counts.text_bytes += u64::from(default) * bytes;
        }
        live.counts = counts;
        self.intact()?;
        Ok(live)
    }

    /// Tests if a query may reach a document of a live package: default ones, or all current.
    pub fn is_in_reach(&self, filters: &Filters, document: DocId) -> bool {
        let Some(revisions) = &self.revisions else {
            return true;
        };
        if filters.all_revisions {
            revisions.is_indexed(document.0)
        } else {
            revisions.is_default(document.0)
        }
    }

    pub(super) fn has_out_of_reach(&self, filters: &Filters) -> bool {
        let is_all = |revisions: &Arc<Revisions>| {
            if filters.all_revisions {
                revisions.is_all_indexed
            } else {
                revisions.is_all_default
            }
        };
        self.revisions
            .as_ref()
            .is_some_and(|revisions| !is_all(revisions))
    }

    pub(crate) fn skipped_packages(&self) -> Result<Vec<u32>> {
        let entries = self.skipped_entries()?;
        entries.map(|entry| Ok(entry?.0.0)).collect()
    }
}
