//! Tasks: some megabytes of files that one worker makes a segment of.

use super::{BuildOptions, Error, MEMORY_BYTES_MIN, Package, Progress, walk_options};
use crate::builder::{Limits, Segment, SegmentBuilder};
use crate::corpus::{self, File, Outcome, Skipped, TextSink};
use crate::document::classify;
use crate::writer::DocumentName;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, mpsc};

/// Files of one shard, in order.
#[derive(Default)]
pub(super) struct Task {
    number: u64,
    /// Which shard its segment goes to.
    shard: usize,
    /// Of which package its first files are, until another one is named.
    package: usize,
    items: Vec<Item>,
}

enum Item {
    /// What follows is of this package.
    Package {
        index: usize,
        signature: u64,
    },
    File(File),
    Skipped(Skipped),
}

/// A task's segment, and what it was made of.
pub(super) struct Done {
    pub(super) number: u64,
    pub(super) shard: usize,
    pub(super) entries: Vec<Entry>,
    pub(super) segment: Segment,
}

/// What a segment was made of; its documents are in the order of the entries.
pub(super) enum Entry {
    Package { index: usize, signature: u64 },
    Document(DocumentName),
    Skipped(Skipped),
}

/// How large things may become.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Bytes of files in a task.
    task_bytes: u64,
    limits: Limits,
}

/// Files, packages and skipped entries in a task, at most: of empty files there is no end.
const TASK_ITEMS_MAX: usize = 1 << 15;

/// Bytes of files in a task, at most; more makes nothing faster.
const TASK_BYTES_MAX: usize = 16 << 20;

/// How often the text of a task is in memory, in one form or another: for each worker its text,
/// its pairs twice while they are sorted, and its runs; and what waits to be joined.
const COPIES: usize = 16;

impl Sizes {
    pub(super) fn of(options: &BuildOptions) -> Sizes {
        let memory = options.memory_bytes.max(MEMORY_BYTES_MIN);
        let task_bytes = (memory / (COPIES * options.jobs.max(1))).min(TASK_BYTES_MAX);
        let limits = Limits {
            block_bytes: options.options.block_bytes,
            text_bytes: 2 * task_bytes,
            // Source code has 0.38 distinct pairs a byte of text at 4 KiB blocks.
            pairs: task_bytes / 2,
        };
        Sizes {
            task_bytes: task_bytes as u64,
            limits,
        }
    }
}

/// Walks all packages and sends their files as tasks.
pub(super) fn hand_out(
    packages: &[Package],
    options: &BuildOptions,
    sizes: &Sizes,
    progress: &Progress,
    tasks: &mpsc::SyncSender<Task>,
) -> Result<(), Error> {
    let mut out = Outbox {
        task: Task::default(),
        bytes: 0,
        sizes,
        tasks,
        closed: false,
    };
    let mut shard_bytes = 0;
    for (index, package) in packages.iter().enumerate() {
        if out.closed {
            break;
        }
        let walk = corpus::walk(&package.source, &walk_options(options))?;
        let package_bytes: u64 = walk.files.iter().map(|file| file.bytes).sum();
        progress.packages_walked.fetch_add(1, Ordering::Relaxed);
        progress
            .bytes_walked
            .fetch_add(package_bytes, Ordering::Relaxed);
        if shard_bytes >= options.shard_bytes {
            out.send(out.task.shard + 1);
            shard_bytes = 0;
        }
        shard_bytes += package_bytes;
        let signature = corpus::signature(&walk);
        out.push(Item::Package { index, signature }, index);
        walk.skipped
            .into_iter()
            .for_each(|skipped| out.push(Item::Skipped(skipped), index));
        walk.files
            .into_iter()
            .for_each(|file| out.push(Item::File(file), index));
    }
    out.send(0);
    Ok(())
}

/// Collects items to tasks of the right size.
struct Outbox<'a> {
    task: Task,
    bytes: u64,
    sizes: &'a Sizes,
    tasks: &'a mpsc::SyncSender<Task>,
    /// Nobody takes tasks any more: the build has failed, and its error is on its way.
    closed: bool,
}

impl Outbox<'_> {
    fn push(&mut self, item: Item, package: usize) {
        let bytes = if let Item::File(file) = &item {
            file.bytes
        } else {
            0
        };
        if self.bytes + bytes > self.sizes.task_bytes || self.task.items.len() >= TASK_ITEMS_MAX {
            self.send(self.task.shard);
        }
        if self.task.items.is_empty() {
            self.task.package = package;
        }
        self.bytes += bytes;
        self.task.items.push(item);
    }

    /// Sends the task in progress, if it has any items, and begins one for `shard`.
    fn send(&mut self, shard: usize) {
        let number = self.task.number + u64::from(!self.task.items.is_empty());
        let next = Task {
            number,
            shard,
            ..Task::default()
        };
        let task = std::mem::replace(&mut self.task, next);
        self.bytes = 0;
        if !task.items.is_empty() {
            self.closed |= self.tasks.send(task).is_err();
        }
    }
}

/// A worker: makes segments of tasks until there are no more.
pub(super) fn work(
    packages: &[Package],
    tasks: &Mutex<mpsc::Receiver<Task>>,
    done: &mpsc::SyncSender<Result<Done, Error>>,
    sizes: &Sizes,
    directory: &Path,
    progress: &Progress,
) {
    let mut builder = SegmentBuilder::new(sizes.limits, directory);
    loop {
        let task = tasks.lock().map(|tasks| tasks.recv());
        let Ok(Ok(task)) = task else { return };
        let result = make(packages, task, &mut builder, progress);
        let failed = result.is_err();
        if done.send(result).is_err() || failed {
            return;
        }
    }
}

fn make(
    packages: &[Package],
    task: Task,
    builder: &mut SegmentBuilder,
    progress: &Progress,
) -> Result<Done, Error> {
    let mut package = task.package;
    let mut entries = Vec::with_capacity(task.items.len());
    for item in task.items {
        entries.push(match item {
            Item::Package { index, signature } => {
                package = index;
                Entry::Package { index, signature }
            }
            Item::Skipped(skipped) => Entry::Skipped(skipped),
            Item::File(file) => {
                let entry = read(&packages[package], &file, builder)?;
                progress.files.fetch_add(1, Ordering::Relaxed);
                progress.bytes.fetch_add(file.bytes, Ordering::Relaxed);
                entry
            }
        });
    }
    let segment = builder.finish().map_err(|source| {
        let path = packages[package].source.directory.clone();
        Error::Corpus(corpus::Error::Sink { path, source })
    })?;
    Ok(Done {
        number: task.number,
        shard: task.shard,
        entries,
        segment,
    })
}

/// Reads a file to the builder.
fn read(package: &Package, file: &File, builder: &mut SegmentBuilder) -> Result<Entry, Error> {
    let sink_error = |source| {
        let path = package.source.directory.clone();
        Error::Corpus(corpus::Error::Sink { path, source })
    };
    match corpus::read(&package.source, file, &mut Sink(builder))? {
        Outcome::Text { .. } => {
            builder.finish_document().map_err(sink_error)?;
            let static_rank = package.popularity.rank() + classify(&file.path).share();
            Ok(Entry::Document(DocumentName {
                path: file.path.clone(),
                static_rank,
            }))
        }
        Outcome::Skipped(reason) => {
            builder.discard_document().map_err(sink_error)?;
            Ok(Entry::Skipped(Skipped {
                path: file.path.clone(),
                reason,
            }))
        }
    }
}

/// Gives a file's text to the builder.
struct Sink<'a>(&'a mut SegmentBuilder);

impl TextSink for Sink<'_> {
    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.text(bytes)
    }
}
