//! Indexed parts of repositories, their changes, and the records of sources.

use super::{CurrentIndex, CurrentShard};
use crate::directory;
use crate::indexing::interface::{BuildError, Changes, Unmatched};
use crate::indexing::mark::{ChangedMarks, changed_table, plain_table};
use crate::indexing::package::{InputPackage, Origin};
use crate::indexing::part::{OldShard, Part, PartChange};
use crate::indexing::repository::HistorySource;
use crate::indexing::repository::RepositorySource;
use crate::revisions::RevisionTable;
use crate::shard::PackageId;
use schema::message::{RecordedRepository, RecordedSource, SourceKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(super) fn package_of(source: &RecordedSource) -> Option<Vec<u8>> {
    let path = Path::new(OsStr::from_bytes(&source.location));
    match source.kind {
        SourceKind::Directory => Some(path.file_name()?.as_bytes().to_vec()),
        SourceKind::Repository => git::repository_name(path),
        SourceKind::Directories | SourceKind::Repositories => None,
    }
}

/// Documents from which changed files of a directory are replaced singly. Smaller packages are
/// rewritten: fast, and with fewer files.
const BY_DOCUMENT_MIN: u64 = 1_000;

type PartsByPackage = HashMap<(Vec<u8>, bool), Vec<(Part, u64)>>;

#[derive(Default)]
struct PatternMatches {
    /// Matched in some repository.
    found: HashSet<String>,
    unmatched: BTreeMap<String, Unmatched>,
}

impl PatternMatches {
    fn add(&mut self, source: &RepositorySource, missing: Vec<(String, String)>) {
        let has = |pattern: &&String| !missing.iter().any(|(missing, _)| missing == *pattern);
        self.found
            .extend(source.patterns.iter().filter(has).cloned());
        for (pattern, reason) in missing {
            let unmatched = self.unmatched.entry(pattern.clone());
            let unmatched = unmatched.or_insert_with(|| Unmatched {
                pattern,
                repositories: Vec::new(),
                reason,
                is_everywhere: true,
            });
            unmatched.repositories.push(source.name.clone());
        }
    }

    fn unmatched(mut self) -> Vec<Unmatched> {
        for (pattern, unmatched) in &mut self.unmatched {
            unmatched.repositories.sort();
            unmatched.is_everywhere = !self.found.contains(pattern);
        }
        self.unmatched.into_values().collect()
    }
}

impl CurrentIndex {
    pub(in crate::indexing) fn with_histories(
        &self,
        sources: &[RepositorySource],
    ) -> Vec<RepositorySource> {
        let of_source = |source: &RepositorySource| {
            let known = self.recorded.0.repository(&source.name);
            let known = known
                .filter(|known| known.history)
                .map(|known| HistorySource {
                    since: Some(known.since).filter(|&since| since > i64::MIN),
                });
            RepositorySource {
                history: source.history.or(known),
                ..source.clone()
            }
        };
        sources.iter().map(of_source).collect()
    }

    /// Adds the indexed parts of repositories and large directories, so that single documents are
    /// replaced.
    pub(in crate::indexing) fn add_parts(
        &self,
        packages: &mut [InputPackage],
        is_dead: impl Fn(&[u8]) -> bool,
    ) -> Result<(), BuildError> {
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        for package in packages.iter() {
            let is_repository = self.recorded.0.repository(&package.name).is_some();
            let least = match package.origin {
                Origin::Repository(_) | Origin::History(_) if is_repository => BY_DOCUMENT_MIN,
                Origin::Directory { .. } if package.recorded.is_some() && !is_repository => 0,
                _ => continue,
            };
            counts.insert(&package.name, least);
        }
        for current in &self.shards {
            for (id, entry) in (0..).zip(&current.entry.packages) {
                if let Some(count) = counts.get_mut(&*entry.directory).filter(|_| !entry.is_dead) {
                    *count += u64::from(current.shard.package(PackageId(id))?.documents);
                }
            }
        }
        let is_large = |name: &[u8]| counts.get(name).is_some_and(|it| *it >= BY_DOCUMENT_MIN);
        let mut found = self.parts(is_large)?;
        for package in packages {
            let found = found.remove(&(package.name.clone(), package.is_history()));
            let found = found.filter(|_| !is_dead(&package.name));
            let (parts, signatures): (Vec<Part>, Vec<u64>) = found.into_iter().flatten().unzip();
            package.parts = parts;
            if let Origin::Repository(_) | Origin::History(_) = package.origin {
                let first = signatures.first().copied();
                package.recorded = first.filter(|first| signatures.iter().all(|it| it == first));
            }
        }
        Ok(())
    }

    fn parts(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Result<PartsByPackage, BuildError> {
        let mut parts = PartsByPackage::new();
        for (index, current) in self.shards.iter().enumerate() {
            let numbered = (0..).zip(&current.entry.packages);
            let wanted = numbered.filter(|(_, it)| !it.is_dead && is_wanted(&it.directory));
            let wanted: Vec<_> = wanted.collect();
            if wanted.is_empty() {
                continue;
            }
            let of = Arc::new(OldShard {
                index,
                shard: Arc::clone(&current.shard),
                table: self.table(index)?,
                skipped: OnceLock::new(),
            });
            for (id, package) in wanted {
                let part = Part {
                    of: Arc::clone(&of),
                    id: PackageId(id),
                };
                let key = (package.directory.clone(), current.entry.is_history);
                let parts = parts.entry(key).or_default();
                parts.push((part, package.signature));
            }
        }
        Ok(parts)
    }

    /// By default everything is current.
    fn table(&self, shard: usize) -> Result<RevisionTable, BuildError> {
        let CurrentShard { entry, shard } = &self.shards[shard];
        Ok(match &entry.revisions {
            Some(named) => directory::read_revisions(&self.directory, named)?,
            None => {
                let skipped = shard.skipped_packages()?.len();
                plain_table(shard.file_id(), shard.document_count(), skipped)
            }
        })
    }

    /// Rewrites tables of older shards and replaces records. Returns the kept parts by shard and
    /// package.
    pub(in crate::indexing) fn end_repositories(
        &mut self,
        packages: Vec<InputPackage>,
        changes: &Changes,
        is_dead: impl Fn(&[u8]) -> bool,
    ) -> Result<HashSet<(usize, u32)>, BuildError> {
        let mut kept = HashSet::new();
        let mut matches = PatternMatches::default();
        let mut marks: BTreeMap<usize, ChangedMarks> = BTreeMap::new();
        self.recorded
            .0
            .repositories
            .retain(|known| !is_dead(&known.package));
        for package in packages {
            let listed = package.listed.into_inner().unwrap_or_default();
            for change in listed.changes {
                self.change_part(change, listed.signature, &mut kept, &mut marks);
            }
            match (&package.origin, listed.repository) {
                (Origin::Repository(source), Some(Ok((record, missing)))) => {
                    matches.add(source, missing);
                    self.record(record);
                }
                (_, Some(Err(reason))) => self.note_failure(&package.name, reason),
                (Origin::Directory { .. }, _) => {
                    let repositories = &mut self.recorded.0.repositories;
                    repositories.retain(|known| known.package != package.name);
                }
                _ => {}
            }
        }
        self.report.unmatched = matches.unmatched();
        for (shard, marks) in marks {
            self.rewrite_table(shard, &marks)?;
        }
        let sources = &mut self.recorded.0.sources;
        if changes.prune {
            sources.clear();
        }
        let moved = &self.report.moved;
        let is_left = |known: &RecordedSource| {
            let mut from = moved
                .iter()
                .filter(|it| it.before.location == known.location);
            from.any(|it| it.now.location != known.location)
        };
        sources.retain(|known| {
            let is_same = |new: &RecordedSource| new.location == known.location;
            !changes.recorded.iter().any(is_same)
                && !is_left(known)
                && !package_of(known).is_some_and(|it| is_dead(&it))
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
        of_shard.extend(change.marks);
    }

    fn rewrite_table(&mut self, shard: usize, marks: &ChangedMarks) -> Result<(), BuildError> {
        let old = self.table(shard)?;
        let new = changed_table(&old, marks);
        let entry = &mut self.shards[shard].entry;
        if new != old || entry.revisions.is_none() {
            let written = directory::write_revisions(&self.directory, &new);
            let (named, bytes) = written.map_err(BuildError::write(&self.directory))?;
            entry.revisions = Some(named);
            self.report.written_bytes += bytes;
        }
        Ok(())
    }

    /// Records a repository; keeps the time if unchanged.
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

    fn note_failure(&mut self, package: &[u8], reason: String) {
        let known = self.recorded.0.repositories.iter_mut();
        for known in known.filter(|known| known.package == package) {
            known.problem.clone_from(&reason);
        }
        let name = String::from_utf8_lossy(package).into_owned();
        self.report.problems.push((name, reason));
    }

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
            Some(named) => Some(directory::read_recorded(&self.directory, named)?),
            None => None,
        };
        if before.as_ref() != Some(recorded) {
            let written = directory::write_recorded(&self.directory, recorded);
            let (named, bytes) = written.map_err(BuildError::write(&self.directory))?;
            *file = Some(named);
            self.report.written_bytes += bytes;
        }
        Ok(())
    }
}
