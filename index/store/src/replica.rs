//! Part of the current generation in an index directory, which a backend serves.
//!
//! The file `replica-ID` beside an ordinary index records the store and the generation. Files are
//! renamed after their hash is verified. Then the manifest is replaced.
//!
//! **Invariant:** all files of the manifest are complete.

mod download;

pub use download::FetchOptions;

use crate::error::{Result, StoreError};
use crate::generation::{self, Generation, Head, StoredFile};
use crate::groups::Groups;
use crate::objects::Objects;
use crate::publish::Transfer;
use crate::transition;
use download::PART;
use index::block::BLOCK_BYTES;
use index::directory::{self, IndexError, Lock};
use index::manifest::{Options, ShardEntry};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Followed by the store's id.
const STATE: &str = "replica-";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// 0 at first.
    pub generation: u64,
    pub shards: u64,
    pub bytes: u64,
    pub all_shards: u64,
    pub fetched_files: u64,
    pub fetched_bytes: u64,
    /// The manifest was replaced.
    pub is_changed: bool,
    /// Exactly the assigned shards are here. Otherwise shards wait for other nodes: sync again.
    pub is_settled: bool,
}

/// Assignment of shards to a node, in groups of shards with parts of one package.
pub trait Share {
    fn owns(&self, generation: &Generation, group: &[u8; 32]) -> bool;

    /// Returns whether another node has the group.
    fn is_ready(&self, generation: &Generation, group: &[u8; 32]) -> bool;
}

pub struct Replica {
    objects: Objects,
    directory: PathBuf,
    options: FetchOptions,
    _lock: Lock,
}

impl Replica {
    /// Opens a directory, or creates one without shards.
    pub fn open(objects: Objects, directory: &Path, options: FetchOptions) -> Result<Replica> {
        fs::create_dir_all(directory).map_err(StoreError::io(directory))?;
        let lock = Lock::take(directory)?;
        match directory::read_manifest(directory) {
            Ok(_) => {}
            Err(IndexError::NotAnIndex { .. }) => {
                let nothing = generation::no_shards(Options {
                    block_bytes: BLOCK_BYTES,
                    no_ignore: false,
                });
                let text = nothing.render();
                directory::write_manifest(directory, &text).map_err(StoreError::io(directory))?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Replica {
            objects,
            directory: directory.to_owned(),
            options,
            _lock: lock,
        })
    }

    /// Numbers of the generations here and of HEAD; 0 for none.
    pub fn generations(&self) -> Result<(u64, u64)> {
        let Some((head, _)) = Head::read(&self.objects)? else {
            return Ok((0, 0));
        };
        let known = self.state(&head.store)?;
        let here = known.map_or(0, |known| known.number);
        Ok((here, head.generation.number))
    }

    /// Downloads the assigned shards, or all without a `share`, and replaces the manifest, as far
    /// as other nodes are ready. With `accept_older`, HEAD may name an earlier generation.
    pub fn sync(
        &self,
        share: Option<&dyn Share>,
        accept_older: bool,
        progress: &Transfer,
    ) -> Result<Synced> {
        let Some((head, _)) = Head::read(&self.objects)? else {
            return Ok(Synced::default());
        };
        let known = self.state(&head.store)?;
        let seen = known.as_ref().map_or(0, |known| known.number);
        if head.generation.number < seen && !accept_older {
            return Err(StoreError::Older {
                store: self.objects.url(),
                head: head.generation.number,
                seen,
            });
        }
        let generation = Generation::read(&self.objects, &head.generation)?;
        let groups = Groups::of(&generation.manifest);
        let owns = |shard: &ShardEntry| {
            share.is_none_or(|it| it.owns(&generation, &groups.of_shard(&shard.id)))
        };
        let own: HashSet<[u8; 32]> = (generation.manifest.shards.iter())
            .filter(|shard| owns(shard))
            .map(|shard| shard.id)
            .collect();
        let owned = generation.part(&|shard| own.contains(&shard.id));
        let missing: Vec<(&String, &StoredFile)> = (owned.files.iter())
            .filter(|(name, file)| {
                let of_known = known.as_ref().and_then(|known| known.files.get(*name));
                let found = || fs::metadata(self.directory.join(name));
                // Bytes are checked when they are read.
                of_known != Some(file) || !found().is_ok_and(|found| found.len() == file.bytes)
            })
            .collect();
        let fetched_bytes = download::fetch(
            &self.objects,
            &self.directory,
            &self.options,
            &missing,
            progress,
        )?;
        let served = match &known {
            None => owned.clone(),
            Some(known) => {
                let is_ready = |shard: &ShardEntry| {
                    share.is_some_and(|it| it.is_ready(&generation, &groups.of_shard(&shard.id)))
                };
                let has = |shard: &ShardEntry| own.contains(&shard.id);
                let manifest =
                    transition::manifest(&known.manifest, &generation.manifest, &has, &is_ready);
                generation.with(manifest, known)
            }
        };
        let synced = Synced {
            generation: generation.number,
            shards: served.manifest.shards.len() as u64,
            bytes: served.bytes(),
            all_shards: generation.manifest.shards.len() as u64,
            fetched_files: missing.len() as u64,
            fetched_bytes,
            is_changed: known.as_ref() != Some(&served) || !missing.is_empty(),
            is_settled: served.manifest == owned.manifest,
        };
        if synced.is_changed {
            self.become_current(&head.store, &served)
                .map_err(StoreError::io(&self.directory))?;
        }
        Ok(synced)
    }

    /// Possibly without shards.
    pub fn has_generation(&self) -> Result<bool> {
        Ok(!self.stores()?.is_empty())
    }

    fn stores(&self) -> Result<Vec<String>> {
        let names = fs::read_dir(&self.directory).map_err(StoreError::io(&self.directory))?;
        let mut stores = Vec::new();
        for entry in names {
            let name = entry.map_err(StoreError::io(&self.directory))?.file_name();
            let store = name.to_str().and_then(|name| name.strip_prefix(STATE));
            let store = store.filter(|store| !index::file::is_temporary(store));
            stores.extend(store.map(str::to_owned));
        }
        Ok(stores)
    }

    pub fn shards(&self) -> Result<Vec<[u8; 32]>> {
        let manifest = directory::read_manifest(&self.directory)?;
        Ok(manifest.shards.iter().map(|shard| shard.id).collect())
    }

    /// Recorded generation. Fails if it is of another store.
    fn state(&self, store: &str) -> Result<Option<Generation>> {
        if self.stores()?.iter().any(|other| other != store) {
            return Err(StoreError::OtherStore(self.directory.clone()));
        }
        let path = self.directory.join(format!("{STATE}{store}"));
        match fs::read(&path) {
            // A damaged record is replaced.
            Ok(text) => Ok(Generation::parse(&path.display().to_string(), &text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Also removes unnamed files.
    fn become_current(&self, store: &str, wanted: &Generation) -> io::Result<()> {
        directory::write_manifest(&self.directory, &wanted.manifest.render())?;
        wanted.write(&self.directory, &format!("{STATE}{store}"))?;
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_file = directory::is_named(name) || name.ends_with(PART);
            if is_file && !wanted.files.contains_key(name) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
