//! Compares seemingly unchanged packages, or single files, with the index by hash. The update reads
//! differing files again.

use super::current::CurrentIndex;
use super::interface::{
    BuildError, BuildOptions, DIFFERING_LISTED_MAX, Progress, Suspects, Verified,
};
use super::package::{Differing, InputPackage, Origin};
use super::task::is_unchanged;
use crate::corpus::{self, File, Source};
use crate::shard::{PackageId, Shard};
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

/// Compares indexed suspects, or with `all` the files of all unchanged packages.
pub(super) fn compare(
    current: &CurrentIndex,
    packages: &[InputPackage],
    options: &BuildOptions,
    suspects: &Suspects,
    mut all: Option<(&Progress, &mut Verified)>,
) -> Result<Differing, BuildError> {
    let mut differing = Differing::new();
    if all.is_none() && suspects.is_empty() {
        return Ok(differing);
    }
    let places = places(current)?;
    for package in packages {
        let (Origin::Directory { source, .. }, Some(parts)) =
            (&package.origin, places.get(&package.name))
        else {
            continue;
        };
        let files = match &all {
            Some(_) if !is_unchanged(package, options) => continue,
            Some(_) => corpus::walk(source, options.options.no_ignore, options.jobs)?.files,
            None => suspects.files(source, options)?,
        };
        if all.is_none() && files.is_empty() {
            continue;
        }
        let (mut indexed, mut paths) = (documents(parts)?, HashSet::new());
        for file in files {
            let known = indexed.remove(&file.path);
            if all.is_none() && known.is_none() {
                continue;
            }
            let hash = corpus::hash(source, &file)?;
            if let Some((progress, verified)) = &mut all {
                verified.files += 1;
                progress.files.fetch_add(1, Ordering::Relaxed);
                progress.bytes.fetch_add(file.bytes, Ordering::Relaxed);
            }
            if known != hash {
                paths.insert(file.path);
            }
        }
        if let Some((_, verified)) = &mut all {
            paths.extend(indexed.into_keys());
            let mut sorted: Vec<_> = paths.iter().collect();
            sorted.sort_unstable();
            sorted
                .iter()
                .for_each(|path| verified.note(&package.name, path));
        }
        differing.extend((!paths.is_empty()).then(|| (package.name.clone(), paths)));
    }
    Ok(differing)
}

impl Suspects {
    fn is_empty(&self) -> bool {
        self.modified_from_ns.is_none() && self.paths.is_empty()
    }

    fn files(&self, source: &Source, options: &BuildOptions) -> Result<Vec<File>, BuildError> {
        let named = self.paths.iter().filter_map(|path| {
            let path = path.strip_prefix(&source.directory).ok()?;
            Some(File {
                path: path.as_os_str().as_bytes().to_vec(),
                ..File::default()
            })
        });
        let mut files: Vec<File> = named.collect();
        if let Some(from) = self.modified_from_ns {
            let walk = corpus::walk(source, options.options.no_ignore, options.jobs)?;
            let is_recent = |file: &File| file.modified_ns >= from || file.changed_ns >= from;
            files.extend(walk.files.into_iter().filter(is_recent));
        }
        Ok(files)
    }
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

type Places<'a> = HashMap<Vec<u8>, Vec<(&'a Shard, PackageId)>>;

fn places(current: &CurrentIndex) -> Result<Places<'_>, BuildError> {
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

fn documents(parts: &[(&Shard, PackageId)]) -> Result<HashMap<Vec<u8>, [u8; 32]>, BuildError> {
    let mut documents = HashMap::new();
    for (shard, package) in parts {
        for id in shard.documents_of(&shard.package(*package)?)? {
            if shard.revisions().is_some_and(|of| !of.is_indexed(id.0)) {
                continue;
            }
            let document = shard.document(id)?;
            documents.insert(document.path.to_vec(), *document.hash);
        }
        shard.intact()?;
    }
    Ok(documents)
}
