//! Builds an index directory from sources: walks, reads, cuts, sorts and writes.
//!
//! One thread walks the packages, best first, and hands out tasks of some megabytes of files;
//! workers make a segment of each; the calling thread joins the segments in the tasks' order. All
//! queues are bounded, so what is in memory is a few segments and the tables of one shard.
//! **Invariant:** the same files give the same bytes, whatever the number of workers; an index
//! that is there stays as it is until the new one is complete.

mod task;

use crate::block::BLOCK_BYTES;
use crate::corpus::{self, Source, WalkOptions};
use crate::directory::{self, Lock, MANIFEST};
use crate::document::split_version;
use crate::file::{self, AtomicFile};
use crate::manifest::{Manifest, Options, PackageEntry, ShardEntry};
use crate::writer::{ShardWriter, Written};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::{fs, thread};
use task::{Done, Entry, Sizes, Task};

/// How well known a package is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Popularity {
    /// Share of installations.
    pub inst: f32,
    /// Share of reverse dependencies.
    pub rdep: f32,
}

impl Popularity {
    /// What it adds to the static rank of the package's documents; the weights are Debian Code
    /// Search's.
    pub fn rank(self) -> f32 {
        0.3840 * self.inst + 0.3427 * self.rdep
    }
}

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

/// What was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
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
    /// What was left out: how many of each reason's key.
    pub skipped: BTreeMap<String, u64>,
}

/// Why an index could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A source's fault.
    #[error(transparent)]
    Corpus(#[from] corpus::Error),
    /// The index directory's.
    #[error(transparent)]
    Directory(#[from] directory::Error),
    /// It cannot be written.
    #[error("{}: cannot be written", path.display())]
    Write {
        /// The index directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Builds the index of `sources` in `out`, which is created; what was there before is replaced.
pub fn build(
    sources: Vec<Source>,
    out: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<Report, Error> {
    let write_error = |source| Error::Write {
        path: out.to_owned(),
        source,
    };
    fs::create_dir_all(out).map_err(write_error)?;
    let _lock = Lock::take(out)?;
    remove_others(out, &directory::read_manifest(out).ok()).map_err(write_error)?;
    progress
        .packages
        .store(sources.len() as u64, Ordering::Relaxed);
    let sources = best_first(sources, &options.popularity);
    let mut joined = Joined::new(out, options);
    run_pipeline(&sources, options, progress, &mut joined)?;
    joined.publish().map_err(write_error)
}

/// Whether the index in `directory` is what a build of `sources` would give, as far as names,
/// sizes and times of files tell.
pub fn is_current(sources: &[Source], directory: &Path, options: &BuildOptions) -> bool {
    let Ok(manifest) = directory::read_manifest(directory) else {
        return false;
    };
    let built: HashMap<&[u8], u64> = manifest
        .packages
        .iter()
        .map(|package| (&package.directory[..], package.signature))
        .collect();
    manifest.options == options.options
        && built.len() == sources.len()
        && sources.iter().all(|source| {
            let walk = corpus::walk(source, &walk_options(options));
            walk.is_ok_and(|walk| built.get(&source.name[..]) == Some(&corpus::signature(&walk)))
        })
}

fn walk_options(options: &BuildOptions) -> WalkOptions {
    WalkOptions {
        no_ignore: options.options.no_ignore,
    }
}

/// A source and how well known it is.
struct Package {
    source: Source,
    popularity: Popularity,
}

fn best_first(sources: Vec<Source>, known: &HashMap<Vec<u8>, Popularity>) -> Arc<[Package]> {
    let mut packages: Vec<Package> = sources
        .into_iter()
        .map(|source| {
            let name = split_version(&source.name).0;
            let popularity = known.get(name).copied().unwrap_or_default();
            Package { source, popularity }
        })
        .collect();
    packages.sort_by(|a, b| {
        let by_rank = b.popularity.rank().total_cmp(&a.popularity.rank());
        by_rank.then_with(|| a.source.name.cmp(&b.source.name))
    });
    packages.into()
}

fn run_pipeline(
    packages: &[Package],
    options: &BuildOptions,
    progress: &Progress,
    joined: &mut Joined<'_>,
) -> Result<(), Error> {
    let sizes = Sizes::of(options);
    let jobs = options.jobs.max(1);
    let (task_sender, tasks) = mpsc::sync_channel::<Task>(1);
    let (done_sender, done) = mpsc::sync_channel::<Result<Done, Error>>(jobs);
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
    done: mpsc::Receiver<Result<Done, Error>>,
    packages: &[Package],
    joined: &mut Joined<'_>,
) -> Result<(), Error> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for result in done {
        let result = result?;
        waiting.insert(result.number, result);
        while let Some(result) = waiting.remove(&next) {
            joined
                .join(result, packages)
                .map_err(|source| Error::Write {
                    path: joined.directory.to_owned(),
                    source,
                })?;
            next += 1;
        }
    }
    Ok(())
}

/// Shards written so far, and the one in progress.
struct Joined<'a> {
    directory: &'a Path,
    options: &'a BuildOptions,
    writer: Option<(usize, ShardWriter)>,
    written: Vec<Written>,
    manifest_packages: Vec<PackageEntry>,
    skipped: BTreeMap<String, u64>,
}

impl<'a> Joined<'a> {
    fn new(directory: &'a Path, options: &'a BuildOptions) -> Self {
        Joined {
            directory,
            options,
            writer: None,
            written: Vec::new(),
            manifest_packages: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    fn join(&mut self, done: Done, packages: &[Package]) -> io::Result<()> {
        if self
            .writer
            .as_ref()
            .is_some_and(|(shard, _)| *shard != done.shard)
        {
            self.finish_shard()?;
        }
        let block_bytes = self.options.options.block_bytes;
        let (_, writer) = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert((
                done.shard,
                ShardWriter::create(self.directory, block_bytes)?,
            )),
        };
        let documents = done.segment.documents.clone();
        let base = writer.segment(done.segment)?;
        let mut documents = documents.iter();
        for entry in done.entries {
            match entry {
                Entry::Package { index, signature } => {
                    let Package { source, popularity } = &packages[index];
                    writer.package(&source.name, popularity.inst, popularity.rdep)?;
                    let directory = source.name.clone();
                    self.manifest_packages.push(PackageEntry {
                        signature,
                        directory,
                    });
                }
                Entry::Document(name) => {
                    let document = documents.next().expect("as many as were named");
                    writer.document(&name, base, document)?;
                }
                Entry::Skipped(skipped) => {
                    *self
                        .skipped
                        .entry(skipped.reason.key().to_owned())
                        .or_default() += 1;
                    writer.skipped(&skipped.path, &skipped.reason.to_string());
                }
            }
        }
        Ok(())
    }

    fn finish_shard(&mut self) -> io::Result<()> {
        if let Some((_, writer)) = self.writer.take() {
            self.written
                .push(writer.finish(self.options.memory_bytes / MERGE_SHARE)?);
        }
        Ok(())
    }

    /// Puts the new manifest in place and removes what it does not name.
    fn publish(mut self) -> io::Result<Report> {
        self.finish_shard()?;
        let manifest = Manifest {
            options: self.options.options,
            shards: self
                .written
                .iter()
                .map(|shard| ShardEntry {
                    id: shard.id,
                    file: shard.name.clone(),
                })
                .collect(),
            packages: self.manifest_packages,
        };
        let file = AtomicFile::create(self.directory, MANIFEST)?;
        let text = manifest.render();
        let mut out = file.file();
        out.write_all(text.as_bytes())?;
        file.rename(MANIFEST)?;
        remove_others(self.directory, &Some(manifest))?;
        let sum = |field: fn(&Written) -> u64| self.written.iter().map(field).sum();
        Ok(Report {
            packages: sum(|shard| u64::from(shard.packages)),
            documents: sum(|shard| u64::from(shard.documents)),
            text_bytes: sum(|shard| shard.text_bytes),
            file_bytes: sum(|shard| shard.file_bytes) + text.len() as u64,
            shards: self.written.len() as u64,
            skipped: self.skipped,
        })
    }
}

/// Of the memory, what the buffers of a merge may take.
const MERGE_SHARE: usize = 8;

/// Removes shards that the manifest does not name, and what an interrupted build has left.
fn remove_others(directory: &Path, manifest: &Option<Manifest>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let named = manifest
            .iter()
            .flat_map(|manifest| &manifest.shards)
            .any(|shard| shard.file == name);
        if file::is_temporary(name) || (name.ends_with(".shard") && !named) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
