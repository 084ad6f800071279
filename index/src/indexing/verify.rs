//! Compares an index with its sources, byte by byte: the packages that count as unchanged by names,
//! sizes, times and inodes.
//!
//! It reads every file once and compares hashes; texts are not kept. What differs is reported and
//! its package is read again by the update that follows.

use super::current::CurrentIndex;
use super::error::BuildError;
use super::options::BuildOptions;
use super::package::{InputPackage, Origin};
use super::report::{DIFFERING_LISTED_MAX, Progress, Verified};
use super::task::is_unchanged;
use crate::corpus::{self, ReadOutcome, Source, TextSink};
use crate::shard::{PackageId, Shard};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::Ordering;

/// Compares those of `packages` that are unchanged. Returns the names of the directories that differ.
pub(super) fn verify(
    current: &CurrentIndex<'_>,
    packages: &[InputPackage],
    options: &BuildOptions,
    progress: &Progress,
    verified: &mut Verified,
) -> Result<HashSet<Vec<u8>>, BuildError> {
    let (mut differing, places) = (HashSet::new(), places(current)?);
    for package in packages {
        let Origin::Directory { source, .. } = &package.origin else {
            continue;
        };
        if !is_unchanged(package, options) {
            continue;
        }
        let Some(&(shard, id)) = places.get(&package.name) else {
            continue;
        };
        let mut indexed = documents(shard, id)?;
        let before = verified.differing;
        let walk = corpus::walk(source, options.options.no_ignore)?;
        for file in &walk.files {
            let hash = hash(source, file)?;
            verified.files += 1;
            progress.files.fetch_add(1, Ordering::Relaxed);
            progress.bytes.fetch_add(file.bytes, Ordering::Relaxed);
            if indexed.remove(&file.path) != hash {
                verified.note(&package.name, &file.path);
            }
        }
        let mut gone: Vec<_> = indexed.into_keys().collect();
        gone.sort_unstable();
        gone.iter()
            .for_each(|path| verified.note(&package.name, path));
        if verified.differing > before {
            differing.insert(package.name.clone());
        }
    }
    Ok(differing)
}

impl Verified {
    fn note(&mut self, package: &[u8], path: &[u8]) {
        self.differing += 1;
        if self.differing_listed.len() < DIFFERING_LISTED_MAX {
            let name = [package, b"/", path].concat();
            let name = String::from_utf8_lossy(&name).into_owned();
            self.differing_listed.push(name);
        }
    }
}

/// Returns where the live packages are, by the names of their directories.
fn places<'a>(
    current: &'a CurrentIndex<'_>,
) -> Result<HashMap<Vec<u8>, (&'a Shard, PackageId)>, BuildError> {
    let mut places = HashMap::new();
    for current in &current.shards {
        let shard: &Shard = &current.shard;
        for id in shard.live_packages() {
            places.insert(shard.package(id)?.directory.to_vec(), (shard, id));
        }
    }
    Ok(places)
}

/// Returns the hashes of a package's documents, by path.
fn documents(shard: &Shard, package: PackageId) -> Result<HashMap<Vec<u8>, [u8; 32]>, BuildError> {
    let mut documents = HashMap::new();
    for document in shard.documents_of(&shard.package(package)?)? {
        let document = shard.document(document)?;
        documents.insert(document.path.to_vec(), *document.hash);
    }
    shard.intact()?;
    Ok(documents)
}

/// Returns the hash of a file's text; `None` when it is not searchable.
fn hash(source: &Source, file: &corpus::File) -> Result<Option<[u8; 32]>, BuildError> {
    let mut sink = HashSink(blake3::Hasher::new());
    Ok(match corpus::read(source, file, &mut sink)? {
        ReadOutcome::Text { .. } => Some(*sink.0.finalize().as_bytes()),
        ReadOutcome::Skipped(_) => None,
    })
}

struct HashSink(blake3::Hasher);

impl TextSink for HashSink {
    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.update(bytes);
        Ok(())
    }
}
