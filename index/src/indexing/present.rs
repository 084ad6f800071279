//! The index that is there, and how it becomes the next one.
//!
//! **Invariant:** nothing that the manifest names is changed or removed before the next manifest is
//! in place.

use super::fate::Fate;
use super::joined::Written;
use super::{BuildError, Outcome, ReadStats, Report, write_error};
use crate::directory::{self, MANIFEST, open_shard};
use crate::file::{self, AtomicFile};
use crate::manifest::{Manifest, Options, PackageEntry, ShardEntry};
use crate::shard::{self, Shard};
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// What an index consists of.
pub(super) struct Present<'a> {
    pub(super) directory: &'a Path,
    /// The manifest that is in place, if there is one that is to be updated.
    manifest: Option<Manifest>,
    /// Those of the next one.
    options: Options,
    pub(super) shards: Vec<Held>,
    /// The packages of that manifest.
    before: HashSet<Vec<u8>>,
    /// Those of them that were in shards which cannot be opened.
    lost: HashSet<Vec<u8>>,
    pub(super) report: Report,
}

/// A shard of the index.
pub(super) struct Held {
    pub(super) entry: ShardEntry,
    pub(super) shard: Arc<Shard>,
}

impl<'a> Present<'a> {
    /// An index without anything.
    pub(super) fn none(directory: &'a Path, options: Options) -> Self {
        Present {
            directory,
            manifest: None,
            options,
            shards: Vec::new(),
            before: HashSet::new(),
            lost: HashSet::new(),
            report: Report::default(),
        }
    }

    /// The index in `directory`, if there is one. With `prune`, one whose manifest is of no use is
    /// as good as none.
    pub(super) fn open(
        directory: &'a Path,
        options: Options,
        prune: bool,
    ) -> Result<Self, BuildError> {
        let mut present = Present::none(directory, options);
        present.manifest = match directory::read_manifest(directory) {
            Ok(manifest) => Some(manifest),
            Err(directory::IndexError::NotAnIndex { .. }) => None,
            Err(directory::IndexError::Manifest { .. }) if prune => None,
            Err(reason @ directory::IndexError::Manifest { .. }) => {
                return Err(BuildError::Unusable { reason });
            }
            Err(error) => return Err(error.into()),
        };
        for entry in present
            .manifest
            .clone()
            .into_iter()
            .flat_map(|old| old.shards)
        {
            present.hold(entry)?;
        }
        Ok(present)
    }

    fn hold(&mut self, entry: ShardEntry) -> Result<(), BuildError> {
        let directories: Vec<_> = entry
            .live()
            .map(|package| package.directory.clone())
            .collect();
        self.before.extend(directories.iter().cloned());
        match open_shard(self.directory, &entry, &[]) {
            Ok(shard) => self.shards.push(Held { entry, shard }),
            Err(error) if is_damage(&error) => self.lost.extend(directories),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Removes what an interrupted build has left.
    pub(super) fn remove_leftovers(&self) -> Result<(), BuildError> {
        self.remove_others(&self.manifest)
    }

    /// The options of the index that was there.
    pub(super) fn options(&self) -> Option<Options> {
        self.manifest.as_ref().map(|manifest| manifest.options)
    }

    /// The packages of the index that was there.
    pub(super) fn before(&self) -> &HashSet<Vec<u8>> {
        &self.before
    }

    /// Those of them that cannot be had any more.
    pub(super) fn lost(&self) -> &HashSet<Vec<u8>> {
        &self.lost
    }

    /// The packages that count.
    pub(super) fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(|held| held.entry.live())
    }

    /// Makes dead what is to go and what has been read again, and drops shards without anything
    /// else.
    pub(super) fn bury(&mut self, fate: &Fate, written: &Written) -> Result<(), BuildError> {
        if self.manifest.is_some() {
            self.report.outcome = fate.outcome();
        }
        let read: HashSet<_> = written.live().map(|package| &package.directory).collect();
        for held in &mut self.shards {
            for package in &mut held.entry.packages {
                package.is_dead |=
                    read.contains(&package.directory) || fate.is_dead(&package.directory);
            }
        }
        self.shards
            .retain(|held| held.entry.live().next().is_some());
        for held in &mut self.shards {
            let dead = held.entry.dead();
            if dead != held.shard.dead() {
                held.shard = Arc::new(held.shard.with_dead(dead)?);
            }
        }
        Ok(())
    }

    /// Adds shards of what has been read.
    pub(super) fn add_read(&mut self, written: Written) -> Result<(), BuildError> {
        let before = self.live().count() as u64;
        self.report.kept = before;
        self.report.read = ReadStats {
            packages: written.packages,
            documents: written.documents,
            text_bytes: written.text_bytes,
            skipped: written.skipped,
        };
        self.add(written.shards, written.file_bytes)
    }

    /// Adds new shards.
    pub(super) fn add(
        &mut self,
        shards: Vec<ShardEntry>,
        file_bytes: u64,
    ) -> Result<(), BuildError> {
        self.report.written_bytes += file_bytes;
        for entry in shards {
            let shard = open_shard(self.directory, &entry, &[])?;
            self.shards.push(Held { entry, shard });
        }
        Ok(())
    }

    /// Puts the next manifest in place, if it is another one, and removes what it does not name.
    pub(super) fn publish(mut self) -> Result<Report, BuildError> {
        let manifest = Some(Manifest {
            options: self.options,
            shards: self.shards.iter().map(|held| held.entry.clone()).collect(),
        });
        let text = manifest.as_ref().map(Manifest::render).unwrap_or_default();
        // What was lost has been read again: who has the damaged shard open must hear of the new one,
        // though it may have the same name.
        if manifest == self.manifest && self.lost.is_empty() {
            self.report.outcome = Outcome::Unchanged;
        } else {
            replace_manifest(self.directory, &text).map_err(write_error(self.directory))?;
            self.report.written_bytes += text.len() as u64;
        }
        self.remove_others(&manifest)?;
        self.sum_up(text.len() as u64);
        Ok(self.report)
    }

    fn sum_up(&mut self, manifest_bytes: u64) {
        let live: HashSet<_> = self.live().map(|package| &package.directory).collect();
        let dropped = self.before.iter().filter(|name| !live.contains(name));
        let dropped = dropped.count() as u64;
        let report = &mut self.report;
        report.dropped = dropped;
        report.shards = self.shards.len() as u64;
        report.file_bytes = manifest_bytes;
        for Held { shard, .. } in &self.shards {
            let counts = shard.live_counts();
            report.packages += u64::from(counts.packages);
            report.documents += u64::from(counts.documents);
            report.text_bytes += counts.text_bytes;
            report.file_bytes += shard.file_bytes();
        }
    }

    /// Removes shards that `manifest` does not name, and what an interrupted build has left.
    pub(super) fn remove_others(&self, manifest: &Option<Manifest>) -> Result<(), BuildError> {
        remove_others(self.directory, manifest).map_err(write_error(self.directory))
    }
}

impl Written {
    /// The packages that have been written.
    fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(ShardEntry::live)
    }
}

/// Whether only reading the packages again can help.
fn is_damage(error: &directory::IndexError) -> bool {
    match error {
        directory::IndexError::Swapped { .. } => true,
        directory::IndexError::Shard(shard::ShardError::Io { source, .. }) => {
            source.kind() == io::ErrorKind::NotFound
        }
        directory::IndexError::Shard(error) => !matches!(error, shard::ShardError::Newer { .. }),
        _ => false,
    }
}

fn replace_manifest(directory: &Path, text: &str) -> io::Result<()> {
    let file = AtomicFile::create(directory, MANIFEST)?;
    let mut out = file.file();
    out.write_all(text.as_bytes())?;
    file.rename(MANIFEST)
}

fn remove_others(directory: &Path, manifest: &Option<Manifest>) -> io::Result<()> {
    let shards = manifest.iter().flat_map(|manifest| &manifest.shards);
    let named: HashSet<&str> = shards.map(|shard| &*shard.file).collect();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if file::is_temporary(name) || (name.ends_with(".shard") && !named.contains(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
