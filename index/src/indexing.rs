//! Builds or updates an index directory.
//!
//! An update compares the sources with the index (`current`, `update_plan`), writes changed
//! packages (`pipeline`), merges shards (`merging`) and replaces the manifest. Shards never change:
//! superseded packages are marked dead. Merging runs the same pipeline on older shards.
//! **Invariant:** the same files give the same bytes, for any number of workers, from directories
//! or shards; the old index stays valid until the new one is complete.

mod current;
mod history;
mod interface;
mod mark;
mod merging;
mod package;
mod part;
mod pipeline;
mod repository;
mod task;
mod update_plan;
mod verify;
mod worker;

pub use interface::{
    BuildError, BuildOptions, Changes, DIFFERING_LISTED_MAX, MEMORY_BYTES, MEMORY_BYTES_MIN, Moved,
    Outcome, Progress, ReadStats, Renamed, Report, SHARD_BYTES, SourcePlace, Suspects, Unmatched,
    Verified,
};
pub use repository::{HistorySource, RepositorySource};

use crate::corpus::Source;
use crate::directory::{self, IndexError, Lock};
use current::CurrentIndex;
use package::best_first;
use std::collections::HashMap;
use std::path::Path;
use std::sync::PoisonError;
use std::{fs, io, mem};
use update_plan::UpdatePlan;

/// Replaces an existing index in `out`.
pub fn build(
    sources: Vec<Source>,
    out: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Report, BuildError> {
    let _lock = begin(out)?;
    let mut current = CurrentIndex::empty(out, options.options);
    current.remove_others(&directory::read_manifest(out).ok())?;
    let packages = best_first(sources, &options.popularity, &HashMap::new());
    current.add_read(pipeline::write(&packages, out, options, progress)?)?;
    current.publish(progress)
}

/// Updates or builds the index in `out`. Packages and versions not given stay unless `changes` drop
/// them. Other options cause a rebuild.
pub fn update(
    sources: Vec<Source>,
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Report, BuildError> {
    let mut options = options_for(&sources, changes, out, options)?;
    let _lock = begin(out)?;
    let mut current = CurrentIndex::open(out, options.options, changes.prune)?;
    let sources = current.as_built(&sources, changes);
    let imports = current.imports(&sources, changes)?;
    // An index keeps the codec of its last run without recording it.
    let newest = current.shards.last().map(|it| it.shard.codec());
    options.content = options.content.or(newest);
    current.remove_others(&current.manifest)?;
    current.replace_beside(changes);
    let mut verified = changes.verify.then(|| Verified {
        damaged_shards: current.verify_shards(),
        ..Verified::default()
    });
    let plan = UpdatePlan::new(&current, &sources, changes, options.options)?;
    current.report.moved = current.moved(&sources, changes)?;
    current.report.kept_versions = plan.kept_versions();
    current.name_packages(&plan);
    let recorded = plan.recorded(&current);
    let mut packages = best_first(sources, &options.popularity, &recorded);
    let all = verified.as_mut().map(|verified| (progress, verified));
    let differing = verify::compare(&current, &packages, &options, &changes.suspects, all)?;
    current.report.verified = verified;
    package::distrust(&mut packages, differing);
    let is_dead = |directory: &[u8]| plan.is_dead(directory);
    for source in current.with_histories(&changes.repositories) {
        packages.extend(package::of_repository(source, &options.popularity));
    }
    current.add_parts(&mut packages, is_dead)?;
    package::sort(&mut packages);
    let written = pipeline::write(&packages, out, &options, progress)?;
    let kept = current.end_repositories(packages, changes, is_dead)?;
    current.mark_dead(plan.outcome(), &written, &kept, is_dead)?;
    current.add_read(written)?;
    let problems = &mut current.report.problems;
    if current.manifest.is_none() && current.shards.is_empty() && !problems.is_empty() {
        return Err(BuildError::NothingRead(mem::take(problems)));
    }
    merging::merge(&mut current, &options, progress)?;
    current.import(imports)?;
    current.publish(progress)
}

/// Computes by names alone what [`update`] would do: new, dropped, kept, moved and renamed
/// packages.
pub fn preview(
    sources: &[Source],
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<Report, BuildError> {
    let options = options_for(sources, changes, out, options)?;
    let current = CurrentIndex::open(out, options.options, changes.prune)?;
    let sources = &current.as_built(sources, changes)[..];
    let plan = UpdatePlan::new(&current, sources, changes, options.options)?;
    Ok(Report {
        new: plan.new_packages(&current),
        dropped: plan.dropped(&current),
        moved: current.moved(sources, changes)?,
        kept_versions: plan.kept_versions(),
        renamed: current.renamed(&plan),
        ..Report::default()
    })
}

fn options_for(
    sources: &[Source],
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<BuildOptions, BuildError> {
    let mut options = options.clone();
    if sources.is_empty() {
        match directory::read_manifest(out) {
            // Packages that stay keep their options.
            Ok(before) if changes.repositories.is_empty() => options.options = before.options,
            // Does not concern repositories.
            Ok(before) => options.options.no_ignore = before.options.no_ignore,
            Err(IndexError::NotAnIndex { .. }) if !changes.repositories.is_empty() => {}
            // Dropping packages needs an index.
            Err(error) => return Err(error.into()),
        }
    }
    Ok(options)
}

/// Cleans up after a build of another thread and blocks its publication; the caller then exits.
/// Returns whether there is an index, old or new.
pub fn abandon(out: &Path, progress: &Progress) -> io::Result<bool> {
    let publishing = progress.publishing.lock();
    // Never released.
    mem::forget(publishing.unwrap_or_else(PoisonError::into_inner));
    match directory::read_manifest(out) {
        Ok(manifest) => current::remove_others(out, &Some(manifest)).map(|()| true),
        Err(IndexError::NotAnIndex { .. }) => {
            current::remove_others(out, &None)?;
            directory::remove_empty(out)?;
            Ok(false)
        }
        // Its files are unknown.
        Err(_) => Ok(true),
    }
}

/// Needs no write access; an unreadable index is not current.
pub fn is_current(
    sources: Vec<Source>,
    changes: &Changes,
    directory: &Path,
    options: &BuildOptions,
) -> bool {
    let Ok(current) = CurrentIndex::open(directory, options.options, false) else {
        return false;
    };
    let sources = current.as_built(&sources, changes);
    let Ok(plan) = UpdatePlan::new(&current, &sources, changes, options.options) else {
        return false;
    };
    let recorded = plan.recorded(&current);
    let packages = best_first(sources, &options.popularity, &recorded);
    recorded.len() == current.before.len()
        && current.renamed(&plan).is_empty()
        && packages
            .iter()
            .all(|package| task::is_unchanged(package, options))
}

fn begin(out: &Path) -> Result<Lock, BuildError> {
    fs::create_dir_all(out).map_err(BuildError::write(out))?;
    Ok(Lock::take(out)?)
}

#[cfg(test)]
mod tests;
