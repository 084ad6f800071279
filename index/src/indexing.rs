//! Builds an index directory from sources, or brings one up to date: walks, reads, cuts, sorts and
//! writes.
//!
//! One thread walks the packages, best first, passes over those that the index has as they are, and
//! hands out tasks of some megabytes of files; workers make a segment of each; the calling thread
//! joins the segments in the tasks' order to new shards. All queues are bounded, so what is in
//! memory is a few segments and the tables of one shard. No shard is changed: of a package that an
//! older shard has, the manifest says that it is dead. When small shards are many, or most of a
//! shard is dead, the same pipeline reads the packages of the older shards instead of directories,
//! and makes one new shard of them.
//! **Invariant:** the same files give the same bytes, whatever the number of workers, and whether
//! they come from directories or from older shards; an index that is there stays as it is until the
//! new one is complete.

mod fate;
mod joined;
mod merging;
mod present;
mod task;

use crate::block::BLOCK_BYTES;
use crate::corpus::{self, Source, Walk, WalkOptions};
use crate::directory::{self, Lock};
use crate::document::Popularity;
use crate::manifest::Options;
use crate::shard::{self, PackageId, Shard};
use fate::Fate;
use fnv::FnvHasher;
use joined::{Joined, Written};
use present::Present;
use schema::name::package_name;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::{fs, thread};
use task::{Done, Sizes, Task};

/// How an index is built.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// What decides what is in the index.
    pub options: Options,
    /// About how much memory may be used, in bytes; see [`MEMORY_BYTES_MIN`].
    pub memory_bytes: usize,
    /// Workers.
    pub jobs: usize,
    /// Bytes of text after which the next package goes to another shard.
    pub shard_bytes: u64,
    /// Popularity by package name, without version.
    pub popularity: HashMap<Vec<u8>, Popularity>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            options: Options {
                block_bytes: BLOCK_BYTES,
                no_ignore: false,
            },
            memory_bytes: MEMORY_BYTES,
            jobs: thread::available_parallelism().map_or(1, |jobs| jobs.get()),
            shard_bytes: SHARD_BYTES,
            popularity: HashMap::new(),
        }
    }
}

impl BuildOptions {
    fn walk_options(&self) -> WalkOptions {
        WalkOptions {
            no_ignore: self.options.no_ignore,
        }
    }
}

/// Memory that is used by default.
pub const MEMORY_BYTES: usize = 512 << 20;

/// Less memory than this cannot be had: the tables for sorting, the buffers, and a segment of the
/// smallest useful size.
pub const MEMORY_BYTES_MIN: usize = 64 << 20;

/// Text in a shard, by default: its tables, which are in memory while it is written, are a few
/// dozen megabytes then.
pub const SHARD_BYTES: u64 = 4 << 30;

/// How far a build is; to be looked at from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    /// Packages in all.
    pub packages: AtomicU64,
    /// Packages whose files are known.
    pub packages_walked: AtomicU64,
    /// Bytes of the files that are known so far.
    pub bytes_walked: AtomicU64,
    /// Files that have been read, those included that turned out to be left out.
    pub files: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
}

/// What an update does besides reading what has changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Packages to drop: names of directories, or names without version for all versions.
    pub remove: Vec<Vec<u8>>,
    /// Drop every package that is not among the sources.
    pub prune: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What happened to the index that was there.
    pub outcome: Outcome,
    /// Packages in the index.
    pub packages: u64,
    /// Documents in it.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Bytes of the index's files.
    pub file_bytes: u64,
    /// Shards.
    pub shards: u64,
    /// What was read from the sources.
    pub read: ReadStats,
    /// Packages that were in the index, were not read again, and still are in it.
    pub kept: u64,
    /// Packages that were in the index and are not any more: superseded, removed or pruned.
    pub dropped: u64,
    /// Packages that were moved from older shards to a new one.
    pub merged: u64,
    /// Bytes of all files that were written.
    pub written_bytes: u64,
}

/// What was read from the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Packages.
    pub packages: u64,
    /// Documents.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// What was left out: how many of each reason's key.
    pub skipped: BTreeMap<String, u64>,
}

/// What happened to the index that was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// There was none, or it was to be replaced.
    #[default]
    Built,
    /// It was built with other options: all of it was read again.
    Rebuilt,
    /// It has a new manifest.
    Updated,
    /// There was nothing to do, and it is as it was.
    Unchanged,
}

/// Why an index could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A source's fault.
    #[error(transparent)]
    Corpus(#[from] corpus::CorpusError),
    /// The index directory's.
    #[error(transparent)]
    Directory(#[from] directory::IndexError),
    /// It cannot be written.
    #[error("{}: cannot be written", path.display())]
    Write {
        /// The index directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The manifest is of no use, so nobody knows what would be lost.
    #[error("{reason}; with --prune it is built anew from the given sources alone")]
    Unusable {
        /// Why it is of no use.
        reason: directory::IndexError,
    },
    /// A package that is to be removed is not there.
    #[error("no package `{name}` in the index{}", did_you_mean(nearest.as_deref()))]
    UnknownPackage {
        /// What it was called.
        name: String,
        /// The most similar name in the index, if one is similar.
        nearest: Option<String>,
    },
    /// A package is to be removed, and is among the sources.
    #[error(
        "package `{name}` is to be removed, and it is among the sources: leave out one of both"
    )]
    RemovedAndGiven {
        /// Its directory's name.
        name: String,
    },
    /// Packages must be read again and are not among the sources.
    #[error("{}: {why}, but not given are {}; name their directories too, or drop them with \
             --prune", path.display(), list(packages))]
    NotGiven {
        /// The index directory.
        path: PathBuf,
        /// Why they must be read again.
        why: &'static str,
        /// Their directories' names.
        packages: Vec<String>,
    },
}

impl From<shard::ShardError> for BuildError {
    fn from(error: shard::ShardError) -> Self {
        BuildError::Directory(error.into())
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

/// Names in a message, at most; more help nobody.
const LISTED_MAX: usize = 10;

fn list(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED_MAX);
    let listed = names[..names.len() - more].join(", ");
    match more {
        0 => listed,
        _ => format!("{listed} and {more} more"),
    }
}

/// Builds the index of `sources` in `out`, which is created; what was there before is replaced.
pub fn build(
    sources: Vec<Source>,
    out: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Report, BuildError> {
    let _lock = begin(out)?;
    let mut present = Present::none(out, options.options);
    present.remove_others(&directory::read_manifest(out).ok())?;
    let packages = best_first(sources, &options.popularity, &HashMap::new());
    present.add_read(write(&packages, out, options, progress)?)?;
    present.publish()
}

/// Brings the index in `out` up to date, and builds it when there is none: reads the `sources` that
/// are not in it as they are now, drops what it has in another version than the one that is given,
/// and keeps what is not given. Built with other options it is replaced.
pub fn update(
    sources: Vec<Source>,
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Report, BuildError> {
    let mut options = options.clone();
    if sources.is_empty() {
        // There must be something to drop from, and what is kept stays as it is.
        options.options = directory::read_manifest(out)?.options;
    }
    let _lock = begin(out)?;
    let mut present = Present::open(out, options.options, changes.prune)?;
    present.remove_leftovers()?;
    let fate = Fate::new(&present, &sources, changes, options.options)?;
    let packages = best_first(sources, &options.popularity, &fate.recorded(&present));
    let written = write(&packages, out, &options, progress)?;
    present.bury(&fate, &written)?;
    present.add_read(written)?;
    merging::merge(&mut present, &options, progress)?;
    present.publish()
}

/// Whether [`update`] would find nothing to do; needs no right to write. An index that cannot be
/// read is not current.
pub fn is_current(
    sources: Vec<Source>,
    changes: &Changes,
    directory: &Path,
    options: &BuildOptions,
) -> bool {
    let Ok(present) = Present::open(directory, options.options, false) else {
        return false;
    };
    let Ok(fate) = Fate::new(&present, &sources, changes, options.options) else {
        return false;
    };
    let recorded = fate.recorded(&present);
    let packages = best_first(sources, &options.popularity, &recorded);
    recorded.len() == present.before().len()
        && packages
            .iter()
            .all(|package| task::is_as_recorded(package, options))
}

/// Creates the directory and takes its lock.
fn begin(out: &Path) -> Result<Lock, BuildError> {
    fs::create_dir_all(out).map_err(write_error(out))?;
    Ok(Lock::take(out)?)
}

fn write_error(out: &Path) -> impl Fn(io::Error) -> BuildError + Copy {
    |source| BuildError::Write {
        path: out.to_owned(),
        source,
    }
}

/// A package to be written, and how well known it is.
struct Package {
    name: Vec<u8>,
    popularity: Popularity,
    origin: Origin,
}

/// Where a package is read from.
enum Origin {
    Directory {
        source: Source,
        /// The signature of what the index has of it.
        recorded: Option<u64>,
    },
    Shard(Older),
}

/// A package of an older shard.
struct Older {
    shard: Arc<Shard>,
    id: PackageId,
    /// What the manifest has.
    signature: u64,
    /// Path and reason of what was left out of it.
    skipped: Vec<(Vec<u8>, String)>,
}

/// `recorded` has signatures of packages, by the names of their directories.
fn best_first(
    sources: Vec<Source>,
    known: &HashMap<Vec<u8>, Popularity>,
    recorded: &HashMap<Vec<u8>, u64>,
) -> Vec<Package> {
    let package = |source: Source| Package {
        popularity: known
            .get(package_name(&source.name))
            .copied()
            .unwrap_or_default(),
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

/// Best first: the order of packages in a shard.
fn sort(packages: &mut [Package]) {
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        by_rank.then_with(|| a.name.cmp(&b.name))
    });
}

/// Tells whether a package has changed since it was read.
fn signature(walk: &Walk, popularity: Popularity) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(&corpus::signature(walk).to_le_bytes());
    hasher.write(&popularity.inst.to_bits().to_le_bytes());
    hasher.write(&popularity.rdep.to_bits().to_le_bytes());
    hasher.finish()
}

/// Writes packages to new shards, those excepted that are as they are recorded.
fn write(
    packages: &[Package],
    directory: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Written, BuildError> {
    let count = packages.len() as u64;
    progress.packages.fetch_add(count, Ordering::Relaxed);
    let mut joined = Joined::new(directory, options);
    run_pipeline(packages, options, progress, &mut joined)?;
    joined.finish().map_err(write_error(directory))
}

fn run_pipeline(
    packages: &[Package],
    options: &BuildOptions,
    progress: &Progress,
    joined: &mut Joined<'_>,
) -> Result<(), BuildError> {
    let sizes = Sizes::of(options);
    let jobs = options.jobs.max(1);
    let (task_sender, tasks) = mpsc::sync_channel::<Task>(1);
    let (done_sender, done) = mpsc::sync_channel::<Result<Done, BuildError>>(jobs);
    // Only the workers own the receiver: when they have ended, early or not, so does the walker.
    let tasks = Arc::new(Mutex::new(tasks));
    let directory = joined.directory;
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (tasks, done) = (tasks.clone(), done_sender.clone());
            scope.spawn(move || task::work(packages, &tasks, &done, &sizes, directory, progress));
        }
        drop(tasks);
        scope.spawn(move || {
            let walked = task::hand_out(packages, options, &sizes, progress, &task_sender);
            if let Err(error) = walked {
                // Nobody receives it when the build has failed already.
                let _ = done_sender.send(Err(error));
            }
        });
        join_in_order(done, packages, joined)
    })
}

/// Takes segments as they come and joins them in the order of their tasks. What waits for its
/// turn is bounded by the number of workers: each has one task at a time.
fn join_in_order(
    done: mpsc::Receiver<Result<Done, BuildError>>,
    packages: &[Package],
    joined: &mut Joined<'_>,
) -> Result<(), BuildError> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for result in done {
        let result = result?;
        waiting.insert(result.number, result);
        while let Some(result) = waiting.remove(&next) {
            let joining = joined.join(result, packages);
            joining.map_err(write_error(joined.directory))?;
            next += 1;
        }
    }
    Ok(())
}

/// Of the memory, what the buffers of a merge may take.
const MERGE_SHARE: usize = 8;

#[cfg(test)]
mod tests;
