//! Decides which packages of an index an update keeps, drops or reads again, by names alone, before
//! anything is read.

use super::current::CurrentIndex;
use super::error::BuildError;
use super::options::Changes;
use super::report::Outcome;
use crate::corpus::Source;
use crate::manifest::Options;
use schema::name::package_name;
use std::collections::{HashMap, HashSet};

/// Which packages are given, and which are to be dropped. Sets hold names of directories.
pub(super) struct UpdatePlan {
    /// The sources.
    given: HashSet<Vec<u8>>,
    /// The sources, without versions.
    given_names: HashSet<Vec<u8>>,
    /// Packages to be removed.
    removed: HashSet<Vec<u8>>,
    prune: bool,
    /// The index was built with other options, so nothing of it can be kept.
    is_rebuild: bool,
}

const OTHER_OPTIONS: &str =
    "it was built with other options, so all of its packages must be read again";

const DAMAGED: &str = "a shard of it is damaged or missing, so its packages must be read again";

impl UpdatePlan {
    /// Fails when the update would lose packages that nobody asked to drop.
    pub(super) fn new(
        current: &CurrentIndex<'_>,
        sources: &[Source],
        changes: &Changes,
        options: Options,
    ) -> Result<UpdatePlan, BuildError> {
        let repositories = changes.repositories.iter().map(|source| &source.name);
        let given = sources.iter().map(|source| &source.name);
        let given: HashSet<_> = given.chain(repositories).cloned().collect();
        let name = |directory: &Vec<u8>| package_name(directory).to_vec();
        let plan = UpdatePlan {
            given_names: given.iter().map(name).collect(),
            given,
            removed: removed(current, &changes.remove)?,
            prune: changes.prune,
            is_rebuild: current.options().is_some_and(|before| before != options),
        };
        if let Some(both) = plan.removed.intersection(&plan.given).min() {
            return Err(BuildError::RemovedAndGiven { name: text(both) });
        }
        plan.check_given(current)?;
        Ok(plan)
    }

    fn check_given(&self, current: &CurrentIndex<'_>) -> Result<(), BuildError> {
        let (why, needed) = if self.is_rebuild {
            (OTHER_OPTIONS, &current.before)
        } else {
            (DAMAGED, &current.lost)
        };
        let is_missing = |directory: &&Vec<u8>| {
            let directory = directory.as_slice();
            !self.given.contains(directory) && !self.is_dropped(directory)
        };
        let mut packages: Vec<_> = needed.iter().filter(is_missing).collect();
        if packages.is_empty() {
            return Ok(());
        }
        packages.sort_unstable();
        Err(BuildError::NotGiven {
            path: current.directory.to_owned(),
            why,
            packages: packages.into_iter().map(|name| text(name)).collect(),
        })
    }

    /// Whether a package of the index will no longer be in it.
    fn is_dropped(&self, directory: &[u8]) -> bool {
        let is_superseded = || self.given_names.contains(package_name(directory));
        !self.given.contains(directory)
            && (self.prune || self.removed.contains(directory) || is_superseded())
    }

    /// Whether the index's copy of a package cannot be kept.
    pub(super) fn is_dead(&self, directory: &[u8]) -> bool {
        self.is_rebuild || self.is_dropped(directory)
    }

    /// Returns the signatures of the packages that can be kept, by the names of their directories.
    pub(super) fn recorded(&self, current: &CurrentIndex<'_>) -> HashMap<Vec<u8>, u64> {
        let kept = current
            .live()
            .filter(|package| !self.is_dead(&package.directory));
        kept.map(|package| (package.directory.clone(), package.signature))
            .collect()
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.is_rebuild {
            Outcome::Rebuilt
        } else {
            Outcome::Updated
        }
    }
}

/// Returns the packages that `names` mean: each is a directory's name, or a name without version
/// that means all its versions.
fn removed(current: &CurrentIndex<'_>, names: &[Vec<u8>]) -> Result<HashSet<Vec<u8>>, BuildError> {
    let mut removed = HashSet::new();
    for name in names {
        let is_meant =
            |directory: &&Vec<u8>| *directory == name || package_name(directory) == name.as_slice();
        let mut meant = current.before.iter().filter(is_meant).peekable();
        if meant.peek().is_none() {
            return Err(BuildError::UnknownPackage {
                name: text(name),
                nearest: nearest(current, name),
            });
        }
        removed.extend(meant.cloned());
    }
    Ok(removed)
}

/// Returns the name in the index that is most similar to `name`, if one is similar.
fn nearest(current: &CurrentIndex<'_>, name: &[u8]) -> Option<String> {
    let limit = (name.len() / 3).max(1);
    let name = text(name);
    let directories = current.before.iter().map(Vec::as_slice);
    let names = directories.flat_map(|directory| [directory, package_name(directory)].map(text));
    let distances = names.map(|other| (strsim::levenshtein(&name, &other), other));
    let (distance, nearest) = distances.min()?;
    (distance <= limit).then_some(nearest)
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
