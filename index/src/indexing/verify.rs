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
use crate::corpus;
use crate::shard::{PackageId, Shard};
use std::collections::{HashMap, HashSet};
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
        let Some(parts) = places.get(&package.name) else {
            continue;
        };
        let mut indexed = HashMap::new();
        for &(shard, id) in parts {
            indexed.extend(documents(shard, id)?);
        }
        let before = verified.differing;
        let walk = corpus::walk(source, options.options.no_ignore)?;
        for file in &walk.files {
            let hash = corpus::hash(source, file)?;
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

/// Where a package is: in one shard or more.
type Places<'a> = HashMap<Vec<u8>, Vec<(&'a Shard, PackageId)>>;

/// Returns where the live packages are, by the names of their directories.
fn places<'a>(current: &'a CurrentIndex<'_>) -> Result<Places<'a>, BuildError> {
    let mut places = Places::new();
    for current in &current.shards {
        let shard: &Shard = &current.shard;
        for id in shard.live_packages() {
            let name = shard.package(id)?.directory.to_vec();
            places.entry(name).or_default().push((shard, id));
        }
    }
    Ok(places)
}

/// Returns the hashes of a package's current documents, by path.
fn documents(shard: &Shard, package: PackageId) -> Result<HashMap<Vec<u8>, [u8; 32]>, BuildError> {
    let mut documents = HashMap::new();
    for id in shard.documents_of(&shard.package(package)?)? {
        if shard.revisions().is_some_and(|of| !of.is_indexed(id.0)) {
            continue;
        }
        let document = shard.document(id)?;
        documents.insert(document.path.to_vec(), *document.hash);
    }
    shard.intact()?;
    Ok(documents)
}
