//! A worker: reads the files and documents of tasks and makes segments of them.
//!
//! **Invariant:** a document of an older shard is written as its file would be: the same text, cut
//! by the same rule, with the same name and rank.

use super::error::BuildError;
use super::package::{InputPackage, Origin, ShardPackage, SkippedEntry};
use super::report::Progress;
use super::task::{Task, TaskItem, TaskSizes};
use crate::builder::{Segment, SegmentBuilder};
use crate::corpus::{self, CorpusError, File, ReadOutcome, Skipped, TextSink};
use crate::document::classify;
use crate::shard::{DocId, Shard, ShardError};
use crate::writer::{DocumentName, NO_TAG};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, mpsc};

/// A task's segment, and the list of what it was made of.
pub(super) struct FinishedTask {
    pub(super) number: u64,
    pub(super) shard: usize,
    pub(super) entries: Vec<SegmentEntry>,
    pub(super) segment: Segment,
}

/// What a segment was made of; its documents are in the order of the entries.
pub(super) enum SegmentEntry {
    Package { index: usize, signature: u64 },
    Document(DocumentName),
    Skipped(SkippedEntry),
}

/// Makes segments of tasks until there are no more, or one fails.
pub(super) fn work(
    packages: &[InputPackage],
    tasks: &Mutex<mpsc::Receiver<Task>>,
    finished: &mpsc::SyncSender<Result<FinishedTask, BuildError>>,
    sizes: &TaskSizes,
    directory: &Path,
    progress: &Progress,
) {
    let mut builder = SegmentBuilder::new(sizes.limits, directory);
    loop {
        let task = tasks.lock().map(|tasks| tasks.recv());
        let Ok(Ok(task)) = task else { return };
        let result = build_segment(packages, task, &mut builder, progress);
        let failed = result.is_err();
        if finished.send(result).is_err() || failed {
            return;
        }
    }
}

fn build_segment(
    packages: &[InputPackage],
    task: Task,
    builder: &mut SegmentBuilder,
    progress: &Progress,
) -> Result<FinishedTask, BuildError> {
    let mut package = task.package;
    let mut texts = ShardTexts::default();
    let mut entries = Vec::with_capacity(task.items.len());
    for item in task.items {
        let bytes = item.bytes();
        if matches!(item, TaskItem::File(_) | TaskItem::Document(..)) {
            progress.files.fetch_add(1, Ordering::Relaxed);
            progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        entries.push(match item {
            TaskItem::Package { index, signature } => {
                package = index;
                SegmentEntry::Package { index, signature }
            }
            TaskItem::Skipped(skipped) => SegmentEntry::Skipped(skipped),
            TaskItem::File(file) => read_file(&packages[package], &file, builder)?,
            TaskItem::Document(document, _) => texts.copy(&packages[package], document, builder)?,
        });
    }
    let segment = builder.finish().map_err(sink_error(&packages[package]))?;
    Ok(FinishedTask {
        number: task.number,
        shard: task.shard,
        entries,
        segment,
    })
}

fn sink_error(package: &InputPackage) -> impl Fn(io::Error) -> BuildError + Copy {
    |source| {
        let path = package.path().to_owned();
        BuildError::Corpus(CorpusError::Sink { path, source })
    }
}

/// Reads a file into the builder.
fn read_file(
    package: &InputPackage,
    file: &File,
    builder: &mut SegmentBuilder,
) -> Result<SegmentEntry, BuildError> {
    let Origin::Directory { source, .. } = &package.origin else {
        unreachable!("files are in packages of directories")
    };
    let sink_error = sink_error(package);
    let path = file.path.clone();
    match corpus::read(source, file, builder)? {
        ReadOutcome::Text { .. } => {
            builder.finish_document().map_err(sink_error)?;
            let static_rank = package.popularity.rank() + classify(&path).share();
            Ok(SegmentEntry::Document(DocumentName {
                path,
                static_rank,
                tag: NO_TAG,
            }))
        }
        ReadOutcome::Skipped(reason) => {
            builder.discard_document().map_err(sink_error)?;
            Ok(SegmentEntry::Skipped(Skipped { path, reason }.into()))
        }
    }
}

impl TextSink for SegmentBuilder {
    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        SegmentBuilder::text(self, bytes)
    }
}

/// Texts of older shards. Pages of a mapping count as memory in use until it is unmapped, and those
/// of a whole shard would exceed the limit. So a task maps shards for itself, and maps them again
/// after it has read much.
#[derive(Default)]
struct ShardTexts {
    open: Vec<Shard>,
    read_bytes: u64,
}

/// Bytes that are read of a mapping before it is unmapped.
const MAPPED_BYTES_MAX: u64 = 4 << 20;

/// Bytes of an older text that are given to the builder at once.
const PIECE_BYTES: u64 = 1 << 20;

impl ShardTexts {
    /// Copies a document's text to the builder.
    fn copy(
        &mut self,
        package: &InputPackage,
        document: DocId,
        builder: &mut SegmentBuilder,
    ) -> Result<SegmentEntry, BuildError> {
        let Origin::Shard(ShardPackage { shard, .. }) = &package.origin else {
            unreachable!("documents are in packages of shards")
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
            tag: NO_TAG,
        };
        shard.intact()?;
        Ok(SegmentEntry::Document(name))
    }

    /// Returns the shard at `path`, of which `bytes` are going to be read.
    fn shard(&mut self, path: &Path, bytes: u64) -> Result<&Shard, ShardError> {
        if self.read_bytes > MAPPED_BYTES_MAX {
            *self = ShardTexts::default();
        }
        self.read_bytes += bytes;
        let known = self.open.iter().position(|shard| shard.path() == path);
        if known.is_none() {
            self.open.push(Shard::open(path)?);
        }
        Ok(&self.open[known.unwrap_or(self.open.len() - 1)])
    }
}
