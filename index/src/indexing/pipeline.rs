//! Pipeline: one thread lists packages and hands out tasks, workers make segments, the calling
//! thread joins them to shards in task order.
//!
//! **Invariant:** unjoined tasks are bounded by the number of workers, which bounds memory; the
//! result does not depend on that number.

use super::interface::{BuildError, BuildOptions, Progress, ReadStats};
use super::mark::ShardMarks;
use super::package::{InputPackage, SegmentEntry, SkippedEntry, is_to_be_said};
use super::task::{Task, TaskSizes, hand_out};
use super::worker::{FinishedTask, TextBuffers, lock, work};
use crate::corpus::SkipReason;
use crate::directory;
use crate::manifest::{PackageEntry, ShardEntry};
use crate::revisions::ObjectId;
use crate::writer::ShardWriter;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// Reciprocal share of memory for merge buffers.
const MERGE_SHARE: usize = 8;

/// Unjoined tasks per worker: one queued, one in work, two finished that wait for an earlier one.
/// Unbounded, one slow file let 100 MB of segments pile up.
const TASKS_AHEAD: usize = 4;

/// Signature of a partly unreadable package.
const UNSETTLED: u64 = 0;

pub(super) fn write(
    packages: &[InputPackage],
    directory: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<NewShards, BuildError> {
    let count = packages.len() as u64;
    progress.packages.fetch_add(count, Ordering::Relaxed);
    let mut assembly = ShardAssembly {
        directory,
        options,
        in_progress: None,
        written: NewShards::default(),
    };
    let sizes = TaskSizes::of(options);
    let jobs = options.jobs.max(1);
    let (task_sender, tasks) = mpsc::sync_channel::<Task>(1);
    let (finished_sender, finished) = mpsc::sync_channel::<Result<FinishedTask, BuildError>>(jobs);
    let (joined, places) = mpsc::channel();
    (0..TASKS_AHEAD * jobs).for_each(|_| {
        let _ = joined.send(());
    });
    // Only the workers own the receiver: their end ends `hand_out`.
    let tasks = Arc::new(Mutex::new(tasks));
    let large = Mutex::new(());
    let buffers = TextBuffers::default();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (tasks, finished) = (tasks.clone(), finished_sender.clone());
            let (large, buffers) = (&large, &buffers);
            scope.spawn(move || {
                work(
                    packages, &tasks, buffers, &finished, &sizes, large, directory, progress,
                );
            });
        }
        drop(tasks);
        scope.spawn(move || {
            if let Err(error) = hand_out(packages, options, &sizes, progress, &places, &task_sender)
            {
                // Fails if the build has failed already.
                let _ = finished_sender.send(Err(error));
            }
        });
        join_in_order(finished, joined, packages, &buffers, &mut assembly)
    })?;
    assembly
        .finish_shard()
        .map_err(BuildError::write(directory))?;
    Ok(assembly.written)
}

/// Joins segments in task order; each joined one permits another task.
fn join_in_order(
    finished: mpsc::Receiver<Result<FinishedTask, BuildError>>,
    joined: mpsc::Sender<()>,
    packages: &[InputPackage],
    buffers: &TextBuffers,
    assembly: &mut ShardAssembly<'_>,
) -> Result<(), BuildError> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for result in finished {
        let result = result?;
        waiting.insert(result.number, result);
        while let Some(result) = waiting.remove(&next) {
            let joined_text = assembly.join(result, packages);
            let text = joined_text.map_err(BuildError::write(assembly.directory))?;
            next += 1;
            let mut free = lock(buffers);
            if free.len() < assembly.options.jobs.max(1) {
                free.push(text);
            }
            // Fails once everything is handed out.
            let _ = joined.send(());
        }
    }
    Ok(())
}

struct ShardAssembly<'a> {
    directory: &'a Path,
    options: &'a BuildOptions,
    in_progress: Option<ShardInProgress>,
    written: NewShards,
}

struct ShardInProgress {
    number: usize,
    writer: ShardWriter,
    marks: ShardMarks,
    packages: Vec<PackageEntry>,
    is_history: bool,
}

#[derive(Default)]
pub(super) struct NewShards {
    pub(super) shards: Vec<ShardEntry>,
    /// `skipped` excludes files that an older shard skipped.
    pub(super) stats: ReadStats,
    pub(super) file_bytes: u64,
}

impl NewShards {
    pub(super) fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(ShardEntry::live)
    }
}

impl ShardAssembly<'_> {
    fn join(&mut self, finished: FinishedTask, packages: &[InputPackage]) -> io::Result<Vec<u8>> {
        let current = self.in_progress.as_ref().map(|shard| shard.number);
        if current.is_some_and(|number| number != finished.shard) {
            self.finish_shard()?;
        }
        let block_bytes = self.options.options.block_bytes;
        let (codec, jobs) = (self.options.codec(), self.options.jobs);
        let is_history = finished.entries.iter().any(|entry| match entry {
            SegmentEntry::Package { index, .. } => packages[*index].is_history(),
            _ => false,
        });
        let shard = match &mut self.in_progress {
            Some(shard) => shard,
            none => none.insert(ShardInProgress {
                number: finished.shard,
                writer: ShardWriter::create(self.directory, block_bytes, codec, jobs, is_history)?,
                marks: ShardMarks::default(),
                packages: Vec::new(),
                is_history,
            }),
        };
        let mut texts = shard.writer.segment(&finished.segment)?.into_iter();
        for entry in finished.entries {
            match entry {
                SegmentEntry::Package { index, signature } => {
                    shard.package(&packages[index], signature)?
                }
                SegmentEntry::Document(name, mark) => {
                    let text = texts.next().expect("one for each entry");
                    let tag = shard.marks.tag(mark);
                    shard.writer.document(&name, text, tag)?;
                }
                SegmentEntry::Skipped(skipped) => {
                    if let Some(key) = skipped.key {
                        let counts = &mut self.written.stats.skipped;
                        *counts.entry(key.to_owned()).or_default() += 1;
                    }
                    shard.skipped(skipped);
                }
            }
        }
        Ok(finished.segment.text)
    }

    fn finish_shard(&mut self) -> io::Result<()> {
        let Some(ended) = self.in_progress.take() else {
            return Ok(());
        };
        let shard = ended
            .writer
            .finish(self.options.memory_bytes / MERGE_SHARE)?;
        let (header, stats) = (shard.header, &mut self.written.stats);
        if ended.is_history {
            stats.history_documents += u64::from(header.documents.get());
        } else {
            stats.packages += u64::from(header.packages.get());
            stats.documents += u64::from(header.documents.get());
        }
        stats.text_bytes += header.text_bytes.get();
        stats.unique_bytes += header.content_bytes.get();
        self.written.file_bytes += header.file_bytes.get();
        let documents = header.documents.get();
        let table = ended.marks.table(header.id, documents, &shard.tags);
        let written = table.map(|table| directory::write_revisions(self.directory, &table));
        let revisions = written.transpose()?.map(|(file, bytes)| {
            self.written.file_bytes += bytes;
            file
        });
        self.written.shards.push(ShardEntry {
            id: header.id,
            file: shard.name,
            packages: ended.packages,
            revisions,
            is_history: ended.is_history,
        });
        Ok(())
    }
}

impl ShardInProgress {
    fn package(&mut self, package: &InputPackage, signature: u64) -> io::Result<()> {
        self.packages.push(PackageEntry {
            signature,
            directory: package.name.clone(),
            is_dead: false,
            has_own_name: is_to_be_said(&package.name, package.has_own_name),
        });
        self.writer.package(&package.name, package.popularity)
    }

    fn skipped(&mut self, skipped: SkippedEntry) {
        let is_unreadable = skipped.key == Some(SkipReason::Unreadable(String::new()).key());
        if is_unreadable && skipped.mark.object != ObjectId::NONE {
            // An object may become readable without any ref changing.
            let package = self.packages.last_mut();
            package.expect("it precedes its files").signature = UNSETTLED;
        }
        let tag = self.marks.tag(skipped.mark);
        self.writer.skipped(&skipped.path, &skipped.reason, tag);
    }
}
