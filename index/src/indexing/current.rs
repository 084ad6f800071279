//! The current index, and its change into the next.
//!
//! **Invariant:** nothing named by the manifest is changed or removed before the next manifest is
//! in place.

mod names;
mod precise;
mod repositories;

use super::interface::{BuildError, Changes, Outcome, Progress, Report};
use super::pipeline::NewShards;
use crate::corpus::SkipReason;
use crate::directory::{self, ShardOpener};
use crate::file;
use crate::manifest::{Beside, Manifest, NamedFile, Options, PackageEntry, ShardEntry};
use crate::shard::{self, Shard};
use schema::message::Recorded;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

#[derive(Default)]
pub(super) struct CurrentIndex {
    pub(super) directory: PathBuf,
    /// `None` if it is not updated.
    pub(super) manifest: Option<Manifest>,
    options: Options,
    pub(super) shards: Vec<CurrentShard>,
    pub(super) before: HashSet<Vec<u8>>,
    /// Those in unopenable shards.
    pub(super) lost: HashSet<Vec<u8>>,
    /// Directory names that are package names despite a seeming version.
    own_names: HashSet<Vec<u8>>,
    /// For the next manifest.
    beside: Vec<Beside>,
    pub(super) recorded: (Recorded, Option<NamedFile>),
    precise: Option<NamedFile>,
    pub(super) report: Report,
}

pub(super) struct CurrentShard {
    pub(super) entry: ShardEntry,
    pub(super) shard: Arc<Shard>,
}

impl CurrentIndex {
    pub(super) fn empty(directory: &Path, options: Options) -> Self {
        CurrentIndex {
            directory: directory.to_owned(),
            options,
            ..CurrentIndex::default()
        }
    }

    /// With `prune`, an unusable manifest counts as none.
    pub(super) fn open(
        directory: &Path,
        options: Options,
        prune: bool,
    ) -> Result<Self, BuildError> {
        let mut current = CurrentIndex::empty(directory, options);
        current.manifest = match directory::read_manifest(directory) {
            Ok(manifest) => Some(manifest),
            Err(directory::IndexError::NotAnIndex { .. }) => None,
            Err(directory::IndexError::Manifest { .. }) if prune => None,
            Err(reason @ directory::IndexError::Manifest { .. }) => {
                return Err(BuildError::Unusable(reason));
            }
            Err(error) => return Err(error.into()),
        };
        let file = current
            .manifest
            .as_ref()
            .and_then(|manifest| manifest.recorded.clone());
        if let Some(file) = file {
            current.recorded = (directory::read_recorded(directory, &file)?, Some(file));
        }
        let manifest = current.manifest.as_ref();
        current.precise = manifest.and_then(|manifest| manifest.precise.clone());
        current.collect_own_names();
        let shards = current.manifest.iter().flat_map(|old| old.shards.clone());
        for entry in shards.collect::<Vec<_>>() {
            let directories = entry.live().map(|package| package.directory.clone());
            let directories: Vec<_> = directories.collect();
            current.before.extend(directories.iter().cloned());
            match ShardOpener::new(directory, &current.recorded.0).open(&entry, &[]) {
                Ok(shard) => current.shards.push(CurrentShard { entry, shard }),
                Err(error) if is_damage(&error) => current.lost.extend(directories),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(current)
    }

    /// Replaces entries beside packages of the given directories; with `prune`, all.
    pub(super) fn replace_beside(&mut self, changes: &Changes) {
        let known = self.manifest.iter().flat_map(|manifest| &manifest.beside);
        let is_kept = |it: &&Beside| {
            let path = Path::new(OsStr::from_bytes(&it.path));
            let is_of = |parent: &PathBuf| path.starts_with(parent);
            !changes.prune && !changes.parents.iter().any(is_of)
        };
        self.beside = known.filter(is_kept).cloned().collect();
        self.beside.extend(changes.beside.iter().cloned());
        self.beside.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Damaged ones become lost. Returns their number.
    pub(super) fn verify_shards(&mut self) -> u64 {
        let lost = &mut self.lost;
        self.shards.retain(|current| {
            let is_intact = current.shard.verify().is_ok();
            if !is_intact {
                let directories = current.entry.live();
                lost.extend(directories.map(|package| package.directory.clone()));
            }
            is_intact
        });
        let named = self.manifest.iter().flat_map(|manifest| &manifest.shards);
        (named.count() - self.shards.len()) as u64
    }

    pub(super) fn options(&self) -> Option<Options> {
        self.manifest.as_ref().map(|manifest| manifest.options)
    }

    pub(super) fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(|shard| shard.entry.live())
    }

    /// Marks packages dead that were rewritten or satisfy `is_dead`; drops shards without live
    /// packages.
    pub(super) fn mark_dead(
        &mut self,
        outcome: Outcome,
        written: &NewShards,
        kept: &HashSet<(usize, u32)>,
        is_dead: impl Fn(&[u8]) -> bool,
    ) -> Result<(), BuildError> {
        if self.manifest.is_some() {
            self.report.outcome = outcome;
        }
        let read: HashSet<_> = (written.shards.iter())
            .flat_map(|shard| shard.live().map(|it| (&it.directory, shard.is_history)))
            .collect();
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let is_history = shard.entry.is_history;
            let has_history = |directory: &[u8]| {
                let known = self.recorded.0.repository(directory);
                known.is_some_and(|known| known.history)
            };
            for (id, package) in (0..).zip(&mut shard.entry.packages) {
                let is_read = read.contains(&(&package.directory, is_history))
                    && !kept.contains(&(number, id));
                let is_left = is_history && !has_history(&package.directory);
                package.is_dead |= is_read || is_left || is_dead(&package.directory);
            }
        }
        self.shards
            .retain(|shard| shard.entry.live().next().is_some());
        self.reopen()
    }

    /// Applies the current entries; open files stay open.
    fn reopen(&mut self) -> Result<(), BuildError> {
        let mut opener = ShardOpener::new(&self.directory, &self.recorded.0);
        for shard in &mut self.shards {
            shard.shard = opener.open(&shard.entry, std::slice::from_ref(&shard.shard))?;
        }
        Ok(())
    }

    pub(super) fn add_read(&mut self, written: NewShards) -> Result<(), BuildError> {
        let read: HashSet<_> = written.live().map(|package| &package.directory).collect();
        let kept: HashSet<_> = self.live().map(|package| &package.directory).collect();
        self.report.kept = kept.difference(&read).count() as u64;
        self.report.read = written.stats;
        self.add(written.shards, written.file_bytes)
    }

    pub(super) fn add(
        &mut self,
        shards: Vec<ShardEntry>,
        file_bytes: u64,
    ) -> Result<(), BuildError> {
        self.report.written_bytes += file_bytes;
        for entry in shards {
            let mut opener = ShardOpener::new(&self.directory, &self.recorded.0);
            let shard = opener.open(&entry, &[])?;
            self.shards.push(CurrentShard { entry, shard });
        }
        self.reopen()
    }

    /// Writes the next manifest unless unchanged, and removes unnamed files.
    pub(super) fn publish(mut self, progress: &Progress) -> Result<Report, BuildError> {
        let _publishing = progress
            .publishing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.write_recorded()?;
        let manifest = Some(Manifest {
            options: self.options,
            shards: self.shards.iter().map(|it| it.entry.as_parsed()).collect(),
            beside: self.beside.clone(),
            recorded: self.recorded.1.clone(),
            precise: self.precise.clone(),
        });
        let text = manifest.as_ref().map(Manifest::render).unwrap_or_default();
        let content = |of: &Option<Manifest>| {
            of.clone().map(|it| Manifest {
                recorded: None,
                ..it
            })
        };
        // A rewritten lost shard may have the old name; replacing the manifest makes readers of the
        // damaged one notice.
        let has_lost = !self.lost.is_empty();
        if content(&manifest) == content(&self.manifest) && !has_lost {
            self.report.outcome = Outcome::Unchanged;
        }
        if manifest != self.manifest || has_lost {
            directory::write_manifest(&self.directory, &text)
                .map_err(BuildError::write(&self.directory))?;
            self.report.written_bytes += text.len() as u64;
        }
        self.remove_others(&manifest)?;
        self.sum_up(text.len() as u64);
        Ok(self.report)
    }

    fn sum_up(&mut self, manifest_bytes: u64) {
        let live: HashSet<_> = self.live().map(|package| &package.directory).collect();
        let packages = live.len() as u64;
        let before = self.before.iter();
        self.report.dropped = sorted(before.filter(|name| !live.contains(name)));
        let report = &mut self.report;
        report.shards = self.shards.len() as u64;
        report.packages = packages;
        report.file_bytes = manifest_bytes;
        for beside in &self.beside {
            let reason = SkipReason::from_words(&beside.reason);
            let key = reason.map_or("beside", |reason| reason.key());
            *report.beside.entry(key.to_owned()).or_default() += 1;
        }
        for CurrentShard { shard, .. } in &self.shards {
            let counts = shard.live_counts();
            if !shard.is_history() {
                report.documents += u64::from(counts.documents);
                report.text_bytes += counts.text_bytes;
            }
            report.unique_bytes += counts.unique_bytes;
            report.file_bytes += shard.file_bytes();
            report.outdated += u64::from(!shard.has_symbols());
        }
    }

    pub(super) fn remove_others(&self, manifest: &Option<Manifest>) -> Result<(), BuildError> {
        remove_others(&self.directory, manifest).map_err(BuildError::write(&self.directory))
    }
}

fn is_damage(error: &directory::IndexError) -> bool {
    match error {
        directory::IndexError::Swapped { .. } | directory::IndexError::Damaged { .. } => true,
        directory::IndexError::Shard(shard::ShardError::Io { source, .. }) => {
            source.kind() == io::ErrorKind::NotFound
        }
        directory::IndexError::Shard(error) => !matches!(error, shard::ShardError::Newer { .. }),
        _ => false,
    }
}

pub(super) fn sorted<'a>(names: impl Iterator<Item = &'a Vec<u8>>) -> Vec<Vec<u8>> {
    let mut sorted: Vec<Vec<u8>> = names.cloned().collect();
    sorted.sort();
    sorted
}

pub(super) fn remove_others(directory: &Path, manifest: &Option<Manifest>) -> io::Result<()> {
    let named: HashSet<&str> = manifest.iter().flat_map(Manifest::files).collect();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if file::is_temporary(name) || (directory::is_named(name) && !named.contains(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
