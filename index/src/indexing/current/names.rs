//! Unversioned package names that look versioned; origins of indexed packages, and name conflicts
//! with new sources.

use super::CurrentIndex;
use super::repositories::package_of;
use crate::corpus::Source;
use crate::indexing::interface::{BuildError, Changes, Moved, Renamed, SourcePlace};
use crate::indexing::package::is_to_be_said;
use crate::indexing::update_plan::UpdatePlan;
use schema::message::{Recorded, RecordedSource, SourceKind};
use schema::name::{former_name, name_of};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// True if the index has versioned siblings of `directory`.
fn is_inside_each(recorded: &Recorded, directory: &Path) -> bool {
    let parent = directory.parent().map(|it| it.as_os_str().as_bytes());
    recorded.sources.iter().any(|source| {
        let is_each = source.kind == SourceKind::Directories && !source.no_versions;
        is_each && parent == Some(&source.location)
    })
}

impl CurrentIndex {
    pub(super) fn collect_own_names(&mut self) {
        let recorded = &self.recorded.0;
        let repositories = recorded.repositories.iter().map(|it| it.package.clone());
        let sources = recorded.sources.iter();
        let is_alone = |source: &&RecordedSource| {
            let path = Path::new(OsStr::from_bytes(&source.location));
            source.kind == SourceKind::Directory && !is_inside_each(recorded, path)
        };
        let directories = sources.filter(is_alone);
        let directories = directories.filter_map(package_of);
        let manifest = self.manifest.iter().flat_map(|manifest| manifest.live());
        let said = manifest.filter(|package| package.has_own_name);
        let said = said.map(|package| package.directory.clone());
        self.own_names = said.chain(repositories).chain(directories).collect();
    }

    /// Sources as indexed: a directory given alone may belong to an indexed parent.
    pub(in crate::indexing) fn as_built(
        &self,
        sources: &[Source],
        changes: &Changes,
    ) -> Vec<Source> {
        let is_given_with_others = |source: &Source| {
            changes
                .parents
                .iter()
                .any(|it| source.directory.parent() == Some(it))
        };
        let mut sources = sources.to_vec();
        for source in &mut sources {
            source.is_versioned |= !is_given_with_others(source)
                && is_inside_each(&self.recorded.0, &source.directory);
        }
        sources
    }

    pub(in crate::indexing) fn has_own_name(&self, directory: &[u8]) -> bool {
        self.own_names.contains(directory)
    }

    pub(in crate::indexing) fn name<'n>(&self, directory: &'n [u8]) -> &'n [u8] {
        name_of(directory, self.has_own_name(directory))
    }

    /// Named differently by an older program; ascending.
    pub(in crate::indexing) fn renamed(&self, plan: &UpdatePlan) -> Vec<Renamed> {
        let live = self.live().filter(|package| !package.has_own_name);
        let kept = live.filter(|package| !plan.is_dead(&package.directory));
        let is_own = |directory: &[u8]| plan.has_own_name(self, directory);
        let new = kept.filter(|it| is_to_be_said(&it.directory, is_own(&it.directory)));
        let renamed = new.map(|package| Renamed {
            directory: package.directory.clone(),
            before: former_name(&package.directory).to_vec(),
        });
        let renamed = renamed.filter(|it| it.before != it.directory);
        Vec::from_iter(renamed.collect::<BTreeSet<_>>())
    }

    /// Records unversioned names of live packages and reports new ones.
    pub(in crate::indexing) fn name_packages(&mut self, plan: &UpdatePlan) {
        self.report.renamed = self.renamed(plan);
        let live = self.live().map(|package| package.directory.clone());
        let own: HashSet<Vec<u8>> = live.filter(|it| plan.has_own_name(self, it)).collect();
        for shard in &mut self.shards {
            for package in &mut shard.entry.packages {
                let is_own = own.contains(&package.directory);
                package.has_own_name = is_to_be_said(&package.directory, is_own);
            }
        }
    }
}

impl SourcePlace {
    fn new(is_repository: bool, location: &[u8]) -> SourcePlace {
        SourcePlace {
            is_repository,
            location: location.to_vec(),
        }
    }

    fn directory(path: &Path) -> SourcePlace {
        SourcePlace::new(false, path.as_os_str().as_bytes())
    }

    fn path(&self) -> &Path {
        let location = &self.location[..];
        Path::new(OsStr::from_bytes(
            location.strip_suffix(b"/.git").unwrap_or(location),
        ))
    }

    fn is_there(&self) -> bool {
        !self.path().is_absolute() || self.path().exists()
    }
}

impl CurrentIndex {
    /// Returns moved packages, by name. Fails if the old place still exists (two sources would
    /// alternate under one name), unless `prune`.
    pub(in crate::indexing) fn moved(
        &self,
        sources: &[Source],
        changes: &Changes,
    ) -> Result<Vec<Moved>, BuildError> {
        let directories = sources.iter();
        let directories = directories.map(|it| (&it.name, SourcePlace::directory(&it.directory)));
        let repositories = changes.repositories.iter();
        let repositories = repositories.map(|it| (&it.name, SourcePlace::new(true, &it.location)));
        let mut moved = Vec::new();
        for (package, now) in directories.chain(repositories) {
            let before = self.places(package);
            let same = before.iter().find(|place| place.path() == now.path());
            let Some(first) = same.or(before.first()) else {
                continue;
            };
            if same.is_none() && !changes.prune && before.iter().any(SourcePlace::is_there) {
                return Err(BuildError::SameName {
                    package: String::from_utf8_lossy(package).into_owned(),
                    known: first.to_string(),
                    given: now.to_string(),
                });
            }
            if *first != now {
                moved.push(Moved {
                    package: package.clone(),
                    before: first.clone(),
                    now,
                });
            }
        }
        moved.sort_by(|a, b| a.package.cmp(&b.package));
        Ok(moved)
    }

    fn places(&self, package: &[u8]) -> Vec<SourcePlace> {
        let recorded = &self.recorded.0;
        if let Some(repository) = recorded.repository(package) {
            return vec![SourcePlace::new(true, &repository.location)];
        }
        if !self.before.contains(package) {
            return Vec::new();
        }
        let mut places = Vec::new();
        for source in &recorded.sources {
            let path = Path::new(OsStr::from_bytes(&source.location));
            let inside = path.join(OsStr::from_bytes(package));
            match source.kind {
                SourceKind::Directory if package_of(source).as_deref() == Some(package) => {
                    places.push(SourcePlace::directory(path));
                }
                SourceKind::Directories if inside.is_dir() => {
                    places.push(SourcePlace::directory(&inside));
                }
                _ => {}
            }
        }
        places
    }
}
