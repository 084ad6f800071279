//! The parts of repositories that an index has, what becomes of them, and what is recorded of sources.

use super::CurrentIndex;
use crate::directory;
use crate::indexing::error::BuildError;
use crate::indexing::mark::ChangedMarks;
use crate::indexing::options::{BuildOptions, Changes};
use crate::indexing::package::{
    InputPackage, Origin, RepositoryOutcome, RepositoryPackage, popularity_of,
};
use crate::indexing::part::{OldShard, Part, PartChange};
use crate::indexing::repository::RepositorySource;
use crate::shard::PackageId;
use schema::message::RecordedRepository;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts with their signatures, by package.
type PartsByPackage = HashMap<Vec<u8>, Vec<(Part, u64)>>;

impl CurrentIndex<'_> {
    /// Returns the repositories that are to be indexed, with what the index has of them.
    pub(in crate::indexing) fn repositories(
        &self,
        changes: &Changes,
        is_dead: impl Fn(&[u8]) -> bool,
        options: &BuildOptions,
    ) -> Result<Vec<InputPackage>, BuildError> {
        let mut parts = HashMap::new();
        if !changes.repositories.is_empty() {
            parts = self.parts()?;
        }
        let package = |source: &RepositorySource| {
            let parts = parts
                .remove(&source.name)
                .filter(|_| !is_dead(&source.name));
            let (parts, signatures): (Vec<Part>, Vec<u64>) = parts.into_iter().flatten().unzip();
            let first = signatures.first().copied();
            InputPackage {
                popularity: popularity_of(&source.name, &options.popularity),
                name: source.name.clone(),
                origin: Origin::Repository(Box::new(RepositoryPackage {
                    source: source.clone(),
                    parts,
                    recorded: first.filter(|first| signatures.iter().all(|it| it == first)),
                    outcome: Mutex::new(None),
                })),
            }
        };
        Ok(changes.repositories.iter().map(package).collect())
    }

    /// Returns the parts of live repositories with their signatures, by package.
    fn parts(&self) -> Result<PartsByPackage, BuildError> {
        let mut parts = PartsByPackage::new();
        for (index, current) in self.shards.iter().enumerate() {
            let Some(named) = &current.entry.revisions else {
                continue;
            };
            let table = directory::read_revisions(self.directory, named)?;
            let of = Arc::new(OldShard::new(index, Arc::clone(&current.shard), table));
            for (id, package) in (0..).zip(&current.entry.packages) {
                let is_repository = self.recorded.0.repository(&package.directory).is_some();
                if is_repository && !package.is_dead {
                    let part = Part {
                        of: Arc::clone(&of),
                        id: PackageId(id),
                    };
                    let parts = parts.entry(package.directory.clone()).or_default();
                    parts.push((part, package.signature));
                }
            }
        }
        Ok(parts)
    }

    /// Takes what became of repositories: the tables of older shards are written again, and records
    /// replaced. Returns the parts that are kept, by shard and package.
    pub(in crate::indexing) fn end_repositories(
        &mut self,
        packages: &[InputPackage],
        changes: &Changes,
        is_dead: impl Fn(&[u8]) -> bool,
    ) -> Result<HashSet<(usize, u32)>, BuildError> {
        let mut kept = HashSet::new();
        let mut marks: BTreeMap<usize, ChangedMarks> = BTreeMap::new();
        self.recorded
            .0
            .repositories
            .retain(|known| !is_dead(&known.package));
        for package in packages {
            let Origin::Repository(repository) = &package.origin else {
                self.forget(&package.name);
                continue;
            };
            let outcome = repository
                .outcome
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            match outcome {
                None => {}
                Some(RepositoryOutcome::Failed(reason)) => {
                    self.note_failure(&package.name, reason);
                }
                Some(RepositoryOutcome::Listed {
                    record,
                    signature,
                    changes,
                }) => {
                    for change in changes {
                        self.change_part(change, signature, &mut kept, &mut marks);
                    }
                    self.record(record);
                }
            }
        }
        for (shard, marks) in marks {
            self.rewrite_table(shard, &marks)?;
        }
        let sources = &mut self.recorded.0.sources;
        if changes.prune {
            sources.clear();
        }
        sources.retain(|known| {
            let is_same = |new: &schema::message::RecordedSource| new.location == known.location;
            !changes.recorded.iter().any(is_same)
        });
        sources.extend(changes.recorded.iter().cloned());
        sources.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(kept)
    }

    fn change_part(
        &mut self,
        change: PartChange,
        signature: u64,
        kept: &mut HashSet<(usize, u32)>,
        marks: &mut BTreeMap<usize, ChangedMarks>,
    ) {
        let package = change.package.0;
        let entry = &mut self.shards[change.shard].entry.packages[package as usize];
        entry.signature = signature;
        entry.is_dead |= !change.is_live;
        kept.insert((change.shard, package));
        let of_shard = marks.entry(change.shard).or_default();
        of_shard.documents.extend(change.marks.documents);
        of_shard.skipped.extend(change.marks.skipped);
    }

    fn rewrite_table(&mut self, shard: usize, marks: &ChangedMarks) -> Result<(), BuildError> {
        let entry = &mut self.shards[shard].entry;
        let Some(named) = &entry.revisions else {
            return Ok(());
        };
        let old = directory::read_revisions(self.directory, named)?;
        let new = marks.apply(&old);
        if new != old {
            let written = directory::write_revisions(self.directory, &new);
            let (named, bytes) = written.map_err(BuildError::write(self.directory))?;
            entry.revisions = Some(named);
            self.report.written_bytes += bytes;
        }
        Ok(())
    }

    /// Records a repository; the time stays if nothing else has changed.
    fn record(&mut self, record: RecordedRepository) {
        if !record.problem.is_empty() {
            let name = String::from_utf8_lossy(&record.package).into_owned();
            self.report.problems.push((name, record.problem.clone()));
        }
        let known = &mut self.recorded.0.repositories;
        match known.binary_search_by(|known| known.package.cmp(&record.package)) {
            Ok(at) => {
                let before = RecordedRepository {
                    indexed: record.indexed,
                    ..known[at].clone()
                };
                if before != record {
                    known[at] = record;
                }
            }
            Err(at) => known.insert(at, record),
        }
    }

    fn forget(&mut self, package: &[u8]) {
        self.recorded
            .0
            .repositories
            .retain(|known| known.package != package);
    }

    fn note_failure(&mut self, package: &[u8], reason: String) {
        let known = self.recorded.0.repositories.iter_mut();
        for known in known.filter(|known| known.package == package) {
            known.problem.clone_from(&reason);
        }
        let name = String::from_utf8_lossy(package).into_owned();
        self.report.problems.push((name, reason));
    }

    /// Writes the records, unless the file that is there has them.
    pub(super) fn write_recorded(&mut self) -> Result<(), BuildError> {
        let live: HashSet<Vec<u8>> = self.live().map(|it| it.directory.clone()).collect();
        let (recorded, file) = &mut self.recorded;
        recorded
            .repositories
            .retain(|known| live.contains(&known.package));
        if recorded.repositories.is_empty() && recorded.sources.is_empty() {
            *file = None;
            return Ok(());
        }
        let before = match &*file {
            Some(named) => Some(directory::read_recorded(self.directory, named)?),
            None => None,
        };
        if before.as_ref() != Some(recorded) {
            let written = directory::write_recorded(self.directory, recorded);
            let (named, bytes) = written.map_err(BuildError::write(self.directory))?;
            *file = Some(named);
            self.report.written_bytes += bytes;
        }
        Ok(())
    }
}
