//! A package to be indexed: where it is read from, and its place among the others.

use super::mark::Mark;
use super::part::{Part, PartChange};
use super::repository::RepositorySource;
use crate::corpus::{Skipped, Source};
use crate::document::Popularity;
use crate::revisions::RevisionTable;
use crate::shard::{PackageId, Shard};
use schema::message::RecordedRepository;
use schema::name::{former_name, name_of, package_name};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A package to be written to a new shard.
pub(super) struct InputPackage {
    /// Its directory's name.
    pub(super) name: Vec<u8>,
    /// Whether that is its name, although it may look as if it had a version.
    pub(super) has_own_name: bool,
    pub(super) popularity: Popularity,
    pub(super) origin: Origin,
}

/// The paths of files that differ, by the names of their packages' directories.
pub(super) type Differing = HashMap<Vec<u8>, HashSet<Vec<u8>>>;

/// Where a package is read from.
pub(super) enum Origin {
    Directory {
        source: Source,
        /// The signature of the package as the index has it.
        recorded: Option<u64>,
        /// What the index has of it, if single documents of it are to be replaced.
        parts: Vec<Part>,
        /// Files that are read whatever their times tell.
        differing: HashSet<Vec<u8>>,
        /// What became of the parts, once it has been listed.
        outcome: Mutex<Option<(u64, Vec<PartChange>)>>,
    },
    Repository(Box<RepositoryPackage>),
    /// Parts that older shards have.
    Shards(Vec<ShardPackage>),
}

/// A package that is a git repository.
pub(super) struct RepositoryPackage {
    pub(super) source: RepositorySource,
    /// What the index has of it.
    pub(super) parts: Vec<Part>,
    /// The signature of the package as the index has it.
    pub(super) recorded: Option<u64>,
    /// What became of it, once it has been listed.
    pub(super) outcome: Mutex<Option<RepositoryOutcome>>,
}

/// What became of a repository.
pub(super) enum RepositoryOutcome {
    /// It could not be read, for this reason. What the index has of it stays.
    Failed(String),
    /// It was read, or had not changed.
    Listed {
        record: RecordedRepository,
        signature: u64,
        changes: Vec<PartChange>,
        /// Patterns that chose nothing, with the reason.
        missing: Vec<(String, String)>,
    },
}

/// A package, or a part of one, that is copied from an older shard.
pub(super) struct ShardPackage {
    pub(super) shard: Arc<Shard>,
    pub(super) id: PackageId,
    /// Its signature in the manifest.
    pub(super) signature: u64,
    /// Its table, if it has one.
    pub(super) table: Option<Arc<RevisionTable>>,
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
    pub(super) mark: Mark,
}

impl From<Skipped> for SkippedEntry {
    fn from(Skipped { path, reason }: Skipped) -> Self {
        SkippedEntry {
            path,
            reason: reason.to_string(),
            key: Some(reason.key()),
            mark: Mark::default(),
        }
    }
}

impl InputPackage {
    /// The path that errors name.
    pub(super) fn path(&self) -> &Path {
        match &self.origin {
            Origin::Directory { source, .. } => &source.directory,
            Origin::Repository(repository) => &repository.source.path,
            Origin::Shards(parts) => parts[0].shard.path(),
        }
    }
}

impl RepositoryPackage {
    /// Records what became of the repository.
    pub(super) fn end(&self, outcome: RepositoryOutcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}

/// Returns the packages of `sources`, best first. `recorded` has the signatures of packages in the
/// index, by the names of their directories.
pub(super) fn best_first(
    sources: Vec<Source>,
    known: &HashMap<Vec<u8>, Popularity>,
    recorded: &HashMap<Vec<u8>, u64>,
) -> Vec<InputPackage> {
    let package = |source: Source| InputPackage {
        popularity: popularity_of(name_of(&source.name, !source.is_versioned), known),
        name: source.name.clone(),
        has_own_name: !source.is_versioned,
        origin: Origin::Directory {
            recorded: recorded.get(&source.name).copied(),
            source,
            parts: Vec::new(),
            differing: HashSet::new(),
            outcome: Mutex::new(None),
        },
    };
    let mut packages: Vec<_> = sources.into_iter().map(package).collect();
    sort(&mut packages);
    packages
}

/// Makes an update read the files that differ.
pub(super) fn distrust(packages: &mut [InputPackage], mut of: Differing) {
    for package in packages {
        if let Origin::Directory { differing, .. } = &mut package.origin {
            *differing = of.remove(&package.name).unwrap_or_default();
        }
    }
}

/// Returns the popularity of a package, by its name.
pub(super) fn popularity_of(name: &[u8], known: &HashMap<Vec<u8>, Popularity>) -> Popularity {
    known.get(name).copied().unwrap_or_default()
}

/// Whether the manifest must say of a name that it is its own: it looks otherwise, to this program or to
/// those before it.
pub(super) fn is_to_be_said(directory: &[u8], has_own_name: bool) -> bool {
    if package_name(directory) == directory {
        former_name(directory) != directory
    } else {
        has_own_name
    }
}

/// Sorts packages best first: their order in a shard.
pub(super) fn sort(packages: &mut [InputPackage]) {
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        by_rank.then_with(|| a.name.cmp(&b.name))
    });
}
