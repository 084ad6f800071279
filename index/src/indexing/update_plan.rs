//! Decides by names alone which packages an update keeps, drops or rereads.
//!
//! **Invariant:** a package is dropped only if removed by name, pruned, or replaced as another
//! version of a given one.

use super::current::{CurrentIndex, sorted};
use super::interface::{BuildError, Changes, Outcome};
use crate::corpus::Source;
use crate::manifest::Options;
use schema::name::package_name;
use std::collections::{HashMap, HashSet};

/// Given and dropped packages, by directory name.
pub(super) struct UpdatePlan {
    /// Sources, and whether they are unversioned.
    given: HashMap<Vec<u8>, bool>,
    removed: HashSet<Vec<u8>>,
    /// Indexed versions of given packages, with the given one.
    other_versions: HashMap<Vec<u8>, Vec<u8>>,
    replace_versions: bool,
    prune: bool,
    /// Built with other options: nothing can be kept.
    is_rebuild: bool,
}

const OTHER_OPTIONS: &str =
    "it was built with other options, so all of its packages must be read again";

const DAMAGED: &str = "a shard of it is damaged or missing, so its packages must be read again";

impl UpdatePlan {
    /// Fails if packages would be lost without request.
    pub(super) fn new(
        current: &CurrentIndex,
        sources: &[Source],
        changes: &Changes,
        options: Options,
    ) -> Result<UpdatePlan, BuildError> {
        let repositories = changes.repositories.iter();
        let repositories = repositories.map(|source| (source.name.clone(), true));
        let given = sources.iter();
        let given = given.map(|source| (source.name.clone(), !source.is_versioned));
        let given: HashMap<_, _> = given.chain(repositories).collect();
        let plan = UpdatePlan {
            other_versions: other_versions(current, &given),
            given,
            removed: removed(current, &changes.remove)?,
            replace_versions: changes.replace_versions,
            prune: changes.prune,
            is_rebuild: current.options().is_some_and(|before| before != options),
        };
        let is_given = |name: &&Vec<u8>| plan.given.contains_key(*name);
        if let Some(both) = plan.removed.iter().filter(is_given).min() {
            return Err(BuildError::RemovedAndGiven { name: text(both) });
        }
        plan.check_given(current)?;
        Ok(plan)
    }

    fn check_given(&self, current: &CurrentIndex) -> Result<(), BuildError> {
        let (why, needed) = if self.is_rebuild {
            (OTHER_OPTIONS, &current.before)
        } else {
            (DAMAGED, &current.lost)
        };
        let is_missing = |directory: &&Vec<u8>| {
            let directory = directory.as_slice();
            !self.given.contains_key(directory) && !self.is_dropped(directory)
        };
        let mut packages: Vec<_> = needed.iter().filter(is_missing).collect();
        if packages.is_empty() {
            return Ok(());
        }
        packages.sort_unstable();
        Err(BuildError::NotGiven {
            path: current.directory.clone(),
            why,
            packages: packages.into_iter().map(|name| text(name)).collect(),
        })
    }

    fn is_dropped(&self, directory: &[u8]) -> bool {
        let is_replaced = || self.replace_versions && self.other_versions.contains_key(directory);
        !self.given.contains_key(directory)
            && (self.prune || self.removed.contains(directory) || is_replaced())
    }

    pub(super) fn is_dead(&self, directory: &[u8]) -> bool {
        self.is_rebuild || self.is_dropped(directory)
    }

    /// Packages kept beside another given version, ascending.
    pub(super) fn kept_versions(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let known = self.other_versions.iter();
        let kept = known.filter(|(other, _)| !self.is_dropped(other));
        let kept = kept.map(|(other, given)| (other.clone(), given.clone()));
        let mut kept: Vec<_> = kept.collect();
        kept.sort();
        kept
    }

    /// Ascending.
    pub(super) fn new_packages(&self, current: &CurrentIndex) -> Vec<Vec<u8>> {
        let given = self.given.keys();
        sorted(given.filter(|name| !current.before.contains(*name)))
    }

    /// Ascending.
    pub(super) fn dropped(&self, current: &CurrentIndex) -> Vec<Vec<u8>> {
        let before = current.before.iter();
        sorted(before.filter(|name| self.is_dropped(name)))
    }

    /// True for an unversioned directory name, as given or else as indexed.
    pub(super) fn has_own_name(&self, current: &CurrentIndex, directory: &[u8]) -> bool {
        let given = self.given.get(directory).copied();
        given.unwrap_or_else(|| current.has_own_name(directory))
    }

    /// Of packages that can be kept.
    pub(super) fn recorded(&self, current: &CurrentIndex) -> HashMap<Vec<u8>, u64> {
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

/// Indexed versions of given packages that are not given themselves.
fn other_versions(
    current: &CurrentIndex,
    given: &HashMap<Vec<u8>, bool>,
) -> HashMap<Vec<u8>, Vec<u8>> {
    let versioned = given.iter().filter(|(_, is_own)| !**is_own);
    let mut by_name: HashMap<&[u8], &Vec<u8>> = HashMap::new();
    for (directory, _) in versioned {
        let newest = by_name.entry(package_name(directory)).or_insert(directory);
        *newest = directory.max(*newest);
    }
    let others = current.before.iter();
    let others = others.filter(|it| !given.contains_key(*it) && !current.has_own_name(it));
    let others =
        others.filter_map(|it| Some((it.clone(), by_name.get(package_name(it))?.to_vec())));
    others.collect()
}

/// Resolves directory names, and names that mean all versions.
fn removed(current: &CurrentIndex, names: &[Vec<u8>]) -> Result<HashSet<Vec<u8>>, BuildError> {
    let mut removed = HashSet::new();
    for name in names {
        let is_meant =
            |directory: &&Vec<u8>| *directory == name || current.name(directory) == name.as_slice();
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

fn nearest(current: &CurrentIndex, name: &[u8]) -> Option<String> {
    let limit = (name.len() / 3).max(1);
    let name = text(name);
    let directories = current.before.iter().map(Vec::as_slice);
    let names = directories.flat_map(|directory| [directory, current.name(directory)].map(text));
    let distances = names.map(|other| (strsim::levenshtein(&name, &other), other));
    let (distance, nearest) = distances.min()?;
    (distance <= limit).then_some(nearest)
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
