//! Tasks: some megabytes of files, or of documents of older shards, that one worker makes a
//! segment of.
//!
//! **Invariant:** a document of an older shard is written as its file would be: the same text, cut
//! by the same rule, under the same name and rank.

use super::{
    BuildError, BuildOptions, MEMORY_BYTES_MIN, Older, Origin, Package, Progress, signature,
};
use crate::builder::{Limits, Segment, SegmentBuilder};
use crate::corpus::{self, File, ReadOutcome, Skipped, Source, TextSink, Walk};
use crate::document::classify;
use crate::shard::{self, DocId, Shard};
use crate::writer::DocumentName;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, mpsc};

/// Files and documents for one shard, in order.
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
    /// One of an older shard, and the bytes of its text.
    Document(DocId, u64),
    Skipped(LeftOut),
}

impl Item {
    fn bytes(&self) -> u64 {
        match self {
            Item::File(file) => file.bytes,
            Item::Document(_, bytes) => *bytes,
            Item::Package { .. } | Item::Skipped(_) => 0,
        }
    }
}

/// A file that is not searchable.
pub(super) struct LeftOut {
    pub(super) path: Vec<u8>,
    /// The reason in words.
    pub(super) reason: String,
    /// The reason's key, unless an older shard had left the file out.
    pub(super) key: Option<&'static str>,
}

impl From<Skipped> for LeftOut {
    fn from(Skipped { path, reason }: Skipped) -> Self {
        LeftOut {
            path,
            reason: reason.to_string(),
            key: Some(reason.key()),
        }
    }
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
    Skipped(LeftOut),
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

/// All that is in a package.
struct Contents {
    signature: u64,
    bytes: u64,
    items: Vec<Item>,
}

/// Looks at all packages and sends what is in them as tasks. A package that is as the index has it
/// is passed over.
pub(super) fn hand_out(
    packages: &[Package],
    options: &BuildOptions,
    sizes: &Sizes,
    progress: &Progress,
    tasks: &mpsc::SyncSender<Task>,
) -> Result<(), BuildError> {
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
        let contents = contents(package, options)?;
        progress.packages_walked.fetch_add(1, Ordering::Relaxed);
        let Some(contents) = contents else { continue };
        let Contents {
            signature,
            bytes,
            items,
        } = contents;
        progress.bytes_walked.fetch_add(bytes, Ordering::Relaxed);
        if shard_bytes >= options.shard_bytes {
            out.send(out.task.shard + 1);
            shard_bytes = 0;
        }
        shard_bytes += bytes;
        out.push(Item::Package { index, signature }, index);
        items.into_iter().for_each(|item| out.push(item, index));
    }
    out.send(0);
    Ok(())
}

/// Whether a package is as the index has it, as far as names, sizes and times of files tell.
pub(super) fn is_as_recorded(package: &Package, options: &BuildOptions) -> bool {
    matches!(contents(package, options), Ok(None))
}

/// What is in a package, unless it is as the index has it.
fn contents(package: &Package, options: &BuildOptions) -> Result<Option<Contents>, BuildError> {
    match &package.origin {
        Origin::Directory { source, recorded } => {
            let walk = corpus::walk(source, &options.walk_options())?;
            let signature = signature(&walk, package.popularity);
            Ok((*recorded != Some(signature)).then(|| of_directory(walk, signature)))
        }
        Origin::Shard(older) => of_shard(older).map(Some),
    }
}

fn of_directory(walk: Walk, signature: u64) -> Contents {
    let skipped = walk.skipped.into_iter();
    let skipped = skipped.map(|skipped| Item::Skipped(skipped.into()));
    Contents {
        signature,
        bytes: walk.files.iter().map(|file| file.bytes).sum(),
        items: skipped
            .chain(walk.files.into_iter().map(Item::File))
            .collect(),
    }
}

fn of_shard(older: &Older) -> Result<Contents, BuildError> {
    let left_out = |(path, reason): &(Vec<u8>, String)| {
        Item::Skipped(LeftOut {
            path: path.clone(),
            reason: reason.clone(),
            key: None,
        })
    };
    let mut contents = Contents {
        signature: older.signature,
        bytes: 0,
        items: older.skipped.iter().map(left_out).collect(),
    };
    let shard = &older.shard;
    for document in shard.package(older.id)?.documents {
        let document = shard.document(DocId(document))?;
        let text = shard.text_range(document.blocks)?;
        let bytes = text.end - text.start;
        contents.items.push(Item::Document(document.id, bytes));
        contents.bytes += bytes;
    }
    shard.intact()?;
    Ok(contents)
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
        let bytes = item.bytes();
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
    done: &mpsc::SyncSender<Result<Done, BuildError>>,
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
) -> Result<Done, BuildError> {
    let mut package = task.package;
    let mut older = OlderTexts::default();
    let mut entries = Vec::with_capacity(task.items.len());
    for item in task.items {
        let bytes = item.bytes();
        if matches!(item, Item::File(_) | Item::Document(..)) {
            progress.files.fetch_add(1, Ordering::Relaxed);
            progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        entries.push(match item {
            Item::Package { index, signature } => {
                package = index;
                Entry::Package { index, signature }
            }
            Item::Skipped(left_out) => Entry::Skipped(left_out),
            Item::File(file) => read(&packages[package], &file, builder)?,
            Item::Document(document, _) => older.copy(&packages[package], document, builder)?,
        });
    }
    let segment = builder.finish().map_err(sink_error(&packages[package]))?;
    Ok(Done {
        number: task.number,
        shard: task.shard,
        entries,
        segment,
    })
}

fn sink_error(package: &Package) -> impl Fn(io::Error) -> BuildError + Copy {
    |source| {
        let path = package.place().to_owned();
        BuildError::Corpus(corpus::CorpusError::Sink { path, source })
    }
}

/// Reads a file to the builder.
fn read(package: &Package, file: &File, builder: &mut SegmentBuilder) -> Result<Entry, BuildError> {
    let sink_error = sink_error(package);
    match corpus::read(package.source(), file, &mut Sink(builder))? {
        ReadOutcome::Text { .. } => {
            builder.finish_document().map_err(sink_error)?;
            let static_rank = package.popularity.rank() + classify(&file.path).share();
            Ok(Entry::Document(DocumentName {
                path: file.path.clone(),
                static_rank,
            }))
        }
        ReadOutcome::Skipped(reason) => {
            builder.discard_document().map_err(sink_error)?;
            let path = file.path.clone();
            Ok(Entry::Skipped(Skipped { path, reason }.into()))
        }
    }
}

/// Texts of older shards. Pages of a mapping count as memory in use until it is gone, and those of a
/// whole shard would be more than may be used: so shards are mapped for a task alone, and again
/// when much has been read.
#[derive(Default)]
struct OlderTexts {
    open: Vec<Shard>,
    read_bytes: u64,
}

/// Bytes that are read of a mapping before it is given up.
const MAPPED_BYTES_MAX: u64 = 4 << 20;

/// Bytes of an older text that are given to the builder at once.
const PIECE_BYTES: u64 = 1 << 20;

impl OlderTexts {
    /// Gives a document's text to the builder.
    fn copy(
        &mut self,
        package: &Package,
        document: DocId,
        builder: &mut SegmentBuilder,
    ) -> Result<Entry, BuildError> {
        let Origin::Shard(Older { shard, .. }) = &package.origin else {
            unreachable!("documents are of packages of shards")
        };
        let document = shard.document(document)?;
        let mut text = shard.text_range(document.blocks)?;
        while !text.is_empty() {
            let piece = text.start..text.end.min(text.start + PIECE_BYTES);
            text.start = piece.end;
            let mapped = self.shard(shard.path(), piece.end - piece.start)?;
            let copied = builder.text(mapped.text(piece)?);
            copied.map_err(sink_error(package))?;
            mapped.intact()?;
        }
        builder.finish_document().map_err(sink_error(package))?;
        let name = DocumentName {
            path: document.path.to_vec(),
            static_rank: document.static_rank,
        };
        shard.intact()?;
        Ok(Entry::Document(name))
    }

    /// The shard at `path`, of which `bytes` are going to be read.
    fn shard(&mut self, path: &Path, bytes: u64) -> Result<&Shard, shard::ShardError> {
        if self.read_bytes > MAPPED_BYTES_MAX {
            *self = OlderTexts::default();
        }
        self.read_bytes += bytes;
        let known = self.open.iter().position(|shard| shard.path() == path);
        let index = match known {
            Some(index) => index,
            None => {
                self.open.push(Shard::open(path)?);
                self.open.len() - 1
            }
        };
        Ok(&self.open[index])
    }
}

impl Package {
    /// The directory that its files are in.
    fn source(&self) -> &Source {
        match &self.origin {
            Origin::Directory { source, .. } => source,
            Origin::Shard(_) => unreachable!("files are of packages of directories"),
        }
    }

    /// What errors name.
    fn place(&self) -> &Path {
        match &self.origin {
            Origin::Directory { source, .. } => &source.directory,
            Origin::Shard(older) => older.shard.path(),
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
