//! Packages to index: origin and order.

use super::mark::Mark;
use super::part::{Part, PartChange};
use super::repository::RepositorySource;
use crate::corpus::{Skipped, Source};
use crate::document::Popularity;
use crate::revisions::RevisionTable;
use crate::shard::{PackageId, Shard};
use crate::writer::DocumentName;
use schema::message::RecordedRepository;
use schema::name::{former_name, name_of, package_name};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(super) struct InputPackage {
    pub(super) name: Vec<u8>,
    /// The directory name is the package name despite a seeming version.
    pub(super) has_own_name: bool,
    pub(super) popularity: Popularity,
    pub(super) origin: Origin,
    /// Indexed signature.
    pub(super) recorded: Option<u64>,
    /// Indexed parts, if single documents are to be replaced.
    pub(super) parts: Vec<Part>,
    /// Set with `parts`.
    pub(super) listed: OnceLock<Listed>,
}

/// Paths of differing files, by directory name.
pub(super) type Differing = HashMap<Vec<u8>, HashSet<Vec<u8>>>;

pub(super) enum Origin {
    Directory {
        source: Source,
        /// Files read regardless of their times.
        differing: HashSet<Vec<u8>>,
    },
    Repository(Box<RepositorySource>),
    History(Box<RepositorySource>),
    Shards(Vec<ShardPackage>),
}

#[derive(Default)]
pub(super) struct Listed {
    pub(super) signature: u64,
    pub(super) changes: Vec<PartChange>,
    /// Record of a repository, and its patterns without a match, with the reason. `Err`:
    /// unreadable; its indexed content stays.
    pub(super) repository: Option<Result<ListedRepository, String>>,
}

pub(super) type ListedRepository = (RecordedRepository, Vec<(String, String)>);

pub(super) struct ShardPackage {
    pub(super) shard: Arc<Shard>,
    pub(super) id: PackageId,
    pub(super) signature: u64,
    pub(super) table: Option<Arc<RevisionTable>>,
    pub(super) skipped: Vec<SkippedEntry>,
}

/// Documents are in entry order.
pub(super) enum SegmentEntry {
    Package { index: usize, signature: u64 },
    Document(DocumentName, Mark),
    Skipped(SkippedEntry),
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
    pub(super) fn new(
        name: Vec<u8>,
        has_own_name: bool,
        popularity: Popularity,
        origin: Origin,
    ) -> InputPackage {
        InputPackage {
            name,
            has_own_name,
            popularity,
            origin,
            recorded: None,
            parts: Vec::new(),
            listed: OnceLock::new(),
        }
    }

    pub(super) fn is_history(&self) -> bool {
        match &self.origin {
            Origin::History(_) => true,
            Origin::Shards(parts) => parts[0].shard.is_history(),
            Origin::Directory { .. } | Origin::Repository(_) => false,
        }
    }

    pub(super) fn path(&self) -> &Path {
        match &self.origin {
            Origin::Directory { source, .. } => &source.directory,
            Origin::Repository(source) | Origin::History(source) => &source.path,
            Origin::Shards(parts) => parts[0].shard.path(),
        }
    }
}

/// Returns packages best first. `recorded`: indexed signatures by directory name.
pub(super) fn best_first(
    sources: Vec<Source>,
    known: &HashMap<Vec<u8>, Popularity>,
    recorded: &HashMap<Vec<u8>, u64>,
) -> Vec<InputPackage> {
    let package = |source: Source| {
        let name = source.name.clone();
        let popularity = popularity_of(name_of(&name, !source.is_versioned), known);
        InputPackage {
            recorded: recorded.get(&name).copied(),
            ..InputPackage::new(
                name,
                !source.is_versioned,
                popularity,
                Origin::Directory {
                    source,
                    differing: HashSet::new(),
                },
            )
        }
    };
    let mut packages: Vec<_> = sources.into_iter().map(package).collect();
    sort(&mut packages);
    packages
}

pub(super) fn of_repository(
    source: RepositorySource,
    known: &HashMap<Vec<u8>, Popularity>,
) -> Vec<InputPackage> {
    let (name, popularity) = (source.name.clone(), popularity_of(&source.name, known));
    let package = |origin| InputPackage::new(name.clone(), true, popularity, origin);
    let history = source.history.map(|_| Box::new(source.clone()));
    let history = history.map(|source| package(Origin::History(source)));
    let files = package(Origin::Repository(Box::new(source)));
    [files].into_iter().chain(history).collect()
}

/// Makes an update read the differing files.
pub(super) fn distrust(packages: &mut [InputPackage], mut of: Differing) {
    for package in packages {
        if let Origin::Directory { differing, .. } = &mut package.origin {
            *differing = of.remove(&package.name).unwrap_or_default();
        }
    }
}

fn popularity_of(name: &[u8], known: &HashMap<Vec<u8>, Popularity>) -> Popularity {
    known.get(name).copied().unwrap_or_default()
}

/// True for a name without version that looks versioned to this or an older program.
pub(super) fn is_to_be_said(directory: &[u8], has_own_name: bool) -> bool {
    if package_name(directory) == directory {
        former_name(directory) != directory
    } else {
        has_own_name
    }
}

pub(super) fn sort(packages: &mut [InputPackage]) {
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        let by_rank = by_rank.then_with(|| a.name.cmp(&b.name));
        a.is_history().cmp(&b.is_history()).then(by_rank)
    });
}
