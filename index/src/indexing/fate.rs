//! What becomes of the packages that are in an index: by names alone, before anything is read.

use super::present::Present;
use super::{BuildError, Changes, Outcome};
use crate::corpus::Source;
use crate::manifest::Options;
use schema::name::package_name;
use std::collections::{HashMap, HashSet};

/// What is given, and what is to go.
pub(super) struct Fate {
    /// Directories' names of the sources.
    given: HashSet<Vec<u8>>,
    /// The same without versions.
    given_names: HashSet<Vec<u8>>,
    /// Directories' names of packages to be removed.
    removed: HashSet<Vec<u8>>,
    prune: bool,
    /// Nothing of the index can be kept.
    is_anew: bool,
}

/// Why all packages must be read again.
const OTHER_OPTIONS: &str =
    "it was built with other options, so all of its packages must be read again";

/// Why some must be.
const DAMAGED: &str = "a shard of it is damaged or missing, so its packages must be read again";

impl Fate {
    /// Checks that nothing would be lost that nobody wants to lose.
    pub(super) fn new(
        present: &Present<'_>,
        sources: &[Source],
        changes: &Changes,
        options: Options,
    ) -> Result<Fate, BuildError> {
        let given: HashSet<_> = sources.iter().map(|source| source.name.clone()).collect();
        let name = |directory: &Vec<u8>| package_name(directory).to_vec();
        let fate = Fate {
            given_names: given.iter().map(name).collect(),
            given,
            removed: removed(present, &changes.remove)?,
            prune: changes.prune,
            is_anew: present.options().is_some_and(|before| before != options),
        };
        if let Some(both) = fate.removed.intersection(&fate.given).min() {
            return Err(BuildError::RemovedAndGiven { name: words(both) });
        }
        fate.check_given(present)?;
        Ok(fate)
    }

    fn check_given(&self, present: &Present<'_>) -> Result<(), BuildError> {
        let (why, needed) = match self.is_anew {
            true => (OTHER_OPTIONS, present.before()),
            false => (DAMAGED, present.lost()),
        };
        let is_missing = |directory: &&Vec<u8>| {
            let directory = directory.as_slice();
            !self.given.contains(directory) && !self.is_dropped(directory)
        };
        let mut packages: Vec<_> = needed.iter().filter(is_missing).collect();
        packages.sort_unstable();
        match packages.is_empty() {
            true => Ok(()),
            false => Err(BuildError::NotGiven {
                path: present.directory.to_owned(),
                why,
                packages: packages.into_iter().map(|name| words(name)).collect(),
            }),
        }
    }

    /// Whether a package of the index is to be in it no more.
    fn is_dropped(&self, directory: &[u8]) -> bool {
        let is_superseded = || self.given_names.contains(package_name(directory));
        !self.given.contains(directory)
            && (self.prune || self.removed.contains(directory) || is_superseded())
    }

    /// Whether what the index has of a package can not be kept.
    pub(super) fn is_dead(&self, directory: &[u8]) -> bool {
        self.is_anew || self.is_dropped(directory)
    }

    /// The signatures of what can be kept, by the names of directories.
    pub(super) fn recorded(&self, present: &Present<'_>) -> HashMap<Vec<u8>, u64> {
        let kept = present
            .live()
            .filter(|package| !self.is_dead(&package.directory));
        kept.map(|package| (package.directory.clone(), package.signature))
            .collect()
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.is_anew {
            true => Outcome::Rebuilt,
            false => Outcome::Updated,
        }
    }
}

/// The packages that `names` mean: of a directory, or of all that have a name.
fn removed(present: &Present<'_>, names: &[Vec<u8>]) -> Result<HashSet<Vec<u8>>, BuildError> {
    let mut removed = HashSet::new();
    for name in names {
        let is_meant =
            |directory: &&Vec<u8>| *directory == name || package_name(directory) == name.as_slice();
        let mut meant = present.before().iter().filter(is_meant).peekable();
        if meant.peek().is_none() {
            return Err(BuildError::UnknownPackage {
                name: words(name),
                nearest: nearest(present, name),
            });
        }
        removed.extend(meant.cloned());
    }
    Ok(removed)
}

/// The name in the index that is most similar to `name`, if one is.
fn nearest(present: &Present<'_>, name: &[u8]) -> Option<String> {
    let limit = (name.len() / 3).max(1);
    let name = words(name);
    let directories = present.before().iter().map(Vec::as_slice);
    let names = directories.flat_map(|directory| [directory, package_name(directory)].map(words));
    let distances = names.map(|other| (strsim::levenshtein(&name, &other), other));
    let (distance, nearest) = distances.min()?;
    (distance <= limit).then_some(nearest)
}

fn words(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
