//! A package to be indexed: where it is read from, and its place among the others.

use crate::corpus::{Skipped, Source};
use crate::document::Popularity;
use crate::shard::{PackageId, Shard};
use crate::writer::NO_TAG;
use schema::name::package_name;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A package to be written to a new shard.
pub(super) struct InputPackage {
    /// Its directory's name.
    pub(super) name: Vec<u8>,
    pub(super) popularity: Popularity,
    pub(super) origin: Origin,
}

/// Where a package is read from.
pub(super) enum Origin {
    Directory {
        source: Source,
        /// The signature of the package as the index has it.
        recorded: Option<u64>,
    },
    Shard(ShardPackage),
}

/// A package that is copied from an older shard.
pub(super) struct ShardPackage {
    pub(super) shard: Arc<Shard>,
    pub(super) id: PackageId,
    /// Its signature in the manifest.
    pub(super) signature: u64,
    pub(super) skipped: Vec<SkippedEntry>,
}

/// A file that is not searchable.
#[derive(Clone)]
pub(super) struct SkippedEntry {
    pub(super) path: Vec<u8>,
    /// The reason in words.
    pub(super) reason: String,
    /// The reason's key; `None` when an older shard had already skipped the file.
    pub(super) key: Option<&'static str>,
    /// As that of a document, [`DocumentName::tag`](crate::writer::DocumentName).
    pub(super) tag: u32,
}

impl From<Skipped> for SkippedEntry {
    fn from(Skipped { path, reason }: Skipped) -> Self {
        SkippedEntry {
            path,
            reason: reason.to_string(),
            key: Some(reason.key()),
            tag: NO_TAG,
        }
    }
}

impl InputPackage {
    /// The path that errors name.
    pub(super) fn path(&self) -> &Path {
        match &self.origin {
            Origin::Directory { source, .. } => &source.directory,
            Origin::Shard(package) => package.shard.path(),
        }
    }
}

/// Returns the packages of `sources`, best first. `recorded` has the signatures of packages in the
/// index, by the names of their directories.
pub(super) fn best_first(
    sources: Vec<Source>,
    known: &HashMap<Vec<u8>, Popularity>,
    recorded: &HashMap<Vec<u8>, u64>,
) -> Vec<InputPackage> {
    let popularity = |name: &[u8]| known.get(package_name(name)).copied();
    let package = |source: Source| InputPackage {
        popularity: popularity(&source.name).unwrap_or_default(),
        name: source.name.clone(),
        origin: Origin::Directory {
            recorded: recorded.get(&source.name).copied(),
            source,
        },
    };
    let mut packages: Vec<_> = sources.into_iter().map(package).collect();
    sort(&mut packages);
    packages
}

/// Sorts packages best first: their order in a shard.
pub(super) fn sort(packages: &mut [InputPackage]) {
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        by_rank.then_with(|| a.name.cmp(&b.name))
    });
}
