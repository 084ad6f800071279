//! A shard with its table of revisions.
//!
//! **Invariant:** a text is live if it has a current document, in any revision, in a live package.
//! Counts are of default documents: those searched without a revision filter.

use super::error::{Result, ShardError};
use super::live_set::LiveSet;
use super::{DocId, PackageId, Shard, TextId};
use crate::filter::Filters;
use crate::posting::push_range;
use crate::revisions::{RevisionTable, Revisions};
use schema::message::Recorded;
use std::sync::Arc;

impl Shard {
    /// Revisions of the documents; without a table, all documents of live packages are current.
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

    /// Shard without a table, with all packages.
    pub(crate) fn without_revisions(&self) -> Shard {
        Shard {
            live: LiveSet::all(&self.file.header),
            revisions: None,
            best_first: Arc::default(),
            ..self.clone()
        }
    }

    /// Whether a directory name is unversioned: of a repository, or marked by the index.
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
        let mut counts = super::Counts {
            packages: parts - continued,
            parts,
            ..super::Counts::default()
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

    /// Tests if a document of a live package is out of reach.
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
