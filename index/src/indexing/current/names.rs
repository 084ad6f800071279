//! Unversioned package names that look versioned.

use super::CurrentIndex;
use crate::corpus::Source;
use crate::indexing::options::Changes;
use crate::indexing::package::is_to_be_said;
use crate::indexing::report::Renamed;
use crate::indexing::update_plan::UpdatePlan;
use schema::message::{Recorded, RecordedSource, SourceKind};
use schema::name::{former_name, name_of};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether the index was built from versioned siblings of `directory`.
fn is_inside_each(recorded: &Recorded, directory: &Path) -> bool {
    let parent = directory.parent().map(|it| it.as_os_str().as_bytes());
    recorded.sources.iter().any(|source| {
        let is_each = source.kind == SourceKind::Directories && !source.no_versions;
        is_each && parent == Some(&source.location)
    })
}

impl CurrentIndex<'_> {
    /// Collects unversioned names: from the manifest, repositories, and directories given alone.
    pub(super) fn collect_own_names(&mut self) {
        let recorded = &self.recorded.0;
        let repositories = recorded.repositories.iter().map(|it| it.package.clone());
        let sources = recorded.sources.iter();
        let is_alone = |source: &&RecordedSource| {
            let path = Path::new(OsStr::from_bytes(&source.location));
            source.kind == SourceKind::Directory && !is_inside_each(recorded, path)
        };
        let directories = sources.filter(is_alone);
        let directories = directories.filter_map(super::repositories::package_of);
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
            (changes.parents.iter()).any(|it| source.directory.parent() == Some(it))
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

    /// Packages that an older program named differently, ascending.
    pub(in crate::indexing) fn renamed(&self, plan: &UpdatePlan) -> Vec<Renamed> {
        let live = self.live().filter(|package| !package.has_own_name);
        let kept = live.filter(|package| !plan.is_dead(&package.directory));
        let is_own = |directory: &[u8]| plan.has_own_name(self, directory);
        let new = kept.filter(|it| is_to_be_said(&it.directory, is_own(&it.directory)));
        let directories: HashSet<&Vec<u8>> = new.map(|package| &package.directory).collect();
        let mut renamed: Vec<Renamed> = (directories.into_iter())
            .map(|directory| Renamed {
                directory: directory.clone(),
                before: former_name(directory).to_vec(),
            })
            .filter(|it| it.before != it.directory)
            .collect();
        renamed.sort();
        renamed
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
