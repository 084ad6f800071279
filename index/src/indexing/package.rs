//! Packages to index: origin and order.

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

/// Package to write to a new shard.
pub(super) struct InputPackage {
    pub(super) name: Vec<u8>,
    /// The directory name is the package name despite a seeming version.
    pub(super) has_own_name: bool,
    pub(super) popularity: Popularity,
    pub(super) origin: Origin,
}

/// Paths of differing files, by directory name.
pub(super) type Differing = HashMap<Vec<u8>, HashSet<Vec<u8>>>;

pub(super) enum Origin {
    Directory {
        source: Source,
        /// Indexed signature.
        recorded: Option<u64>,
        /// Indexed parts, if single documents are to be replaced.
        parts: Vec<Part>,
        /// Files read regardless of their times.
        differing: HashSet<Vec<u8>>,
        /// Changes of the parts, once listed.
        outcome: Mutex<Option<(u64, Vec<PartChange>)>>,
    },
    Repository(Box<RepositoryPackage>),
    /// Parts in older shards.
    Shards(Vec<ShardPackage>),
}

pub(super) struct RepositoryPackage {
    pub(super) source: RepositorySource,
    /// Indexed parts.
    pub(super) parts: Vec<Part>,
    /// Indexed signature.
    pub(super) recorded: Option<u64>,
    /// Set once listed.
    pub(super) outcome: Mutex<Option<RepositoryOutcome>>,
}

pub(super) enum RepositoryOutcome {
    /// Unreadable; its indexed content stays.
    Failed(String),
    Listed {
        record: RecordedRepository,
        signature: u64,
        changes: Vec<PartChange>,
        /// Patterns without a match, with the reason.
        missing: Vec<(String, String)>,
    },
}

pub(super) struct ShardPackage {
    pub(super) shard: Arc<Shard>,
    pub(super) id: PackageId,
    pub(super) signature: u64,
    pub(super) table: Option<Arc<RevisionTable>>,
    pub(super) skipped: Vec<SkippedEntry>,
}

#[derive(Clone)]
pub(super) struct SkippedEntry {
    pub(super) path: Vec<u8>,
    /// In words.
    pub(super) reason: String,
    /// `None` if an older shard skipped the file.
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
    pub(super) fn path(&self) -> &Path {
        match &self.origin {
            Origin::Directory { source, .. } => &source.directory,
            Origin::Repository(repository) => &repository.source.path,
            Origin::Shards(parts) => parts[0].shard.path(),
        }
    }
}

impl RepositoryPackage {
    pub(super) fn end(&self, outcome: RepositoryOutcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}

/// Returns packages best first. `recorded`: indexed signatures by directory name.
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

/// Makes an update read the differing files.
pub(super) fn distrust(packages: &mut [InputPackage], mut of: Differing) {
    for package in packages {
        if let Origin::Directory { differing, .. } = &mut package.origin {
            *differing = of.remove(&package.name).unwrap_or_default();
        }
    }
}

pub(super) fn popularity_of(name: &[u8], known: &HashMap<Vec<u8>, Popularity>) -> Popularity {
    known.get(name).copied().unwrap_or_default()
}

/// Whether the manifest must record that a name is unversioned: it looks versioned to this or an
/// older program.
pub(super) fn is_to_be_said(directory: &[u8], has_own_name: bool) -> bool {
    if package_name(directory) == directory {
        former_name(directory) != directory
    } else {
        has_own_name
    }
}

/// Best first, the order in a shard.
pub(super) fn sort(packages: &mut [InputPackage]) {
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        by_rank.then_with(|| a.name.cmp(&b.name))
    });
}
