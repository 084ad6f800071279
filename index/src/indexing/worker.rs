//! Worker: makes segments from tasks.
//!
//! **Invariant:** a document of an older shard is written as its file would be: same text, blocks,
//! name and rank.

use super::history::{self, CommitReader};
use super::interface::{BuildError, Progress};
use super::mark::Mark;
use super::package::{InputPackage, Origin, SegmentEntry, ShardPackage, SkippedEntry};
use super::part::{ItemContent, SourceItem};
use super::repository::too_large;
use super::task::{Task, TaskItem, TaskSizes};
use crate::builder::{Segment, SegmentBuilder};
use crate::corpus::{self, CorpusError, ReadOutcome, SkipReason, Skipped};
use crate::document::{self, NotedLanguage};
use crate::shard::{DocId, Shard, ShardError, TextCache};
use crate::writer::DocumentName;
use git::BlobCache;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

pub(super) struct FinishedTask {
    pub(super) number: u64,
    pub(super) shard: usize,
    pub(super) entries: Vec<SegmentEntry>,
    pub(super) segment: Segment,
}

/// Text buffers for reuse, at most one per worker.
pub(super) type TextBuffers = Mutex<Vec<Vec<u8>>>;

pub(super) fn lock(buffers: &TextBuffers) -> MutexGuard<'_, Vec<Vec<u8>>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[allow(clippy::too_many_arguments)]
pub(super) fn work(
    packages: &[InputPackage],
    tasks: &Mutex<mpsc::Receiver<Task>>,
    buffers: &TextBuffers,
    finished: &mpsc::SyncSender<Result<FinishedTask, BuildError>>,
    sizes: &TaskSizes,
    large: &Mutex<()>,
    directory: &Path,
    progress: &Progress,
) {
    let mut builder = SegmentBuilder::new(sizes.limits, directory);
    let mut cache = BlobCache::new(sizes.blob_bytes);
    loop {
        let task = tasks.lock().map(|tasks| tasks.recv());
        let Ok(Ok(task)) = task else { return };
        if let Some(buffer) = lock(buffers).pop() {
            builder.reuse(buffer);
        }
        let result = build_segment(packages, task, &mut builder, &mut cache, large, progress);
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
    cache: &mut BlobCache,
    large: &Mutex<()>,
    progress: &Progress,
) -> Result<FinishedTask, BuildError> {
    let mut package = task.package;
    let mut texts = ShardTexts::default();
    let mut entries = Vec::with_capacity(task.items.len());
    for item in task.items {
        let bytes = item.bytes();
        if !matches!(item, TaskItem::Package { .. } | TaskItem::Skipped(_)) {
            progress.files.fetch_add(1, Ordering::Relaxed);
            progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        entries.push(match item {
            TaskItem::Package { index, signature } => {
                package = index;
                SegmentEntry::Package { index, signature }
            }
            TaskItem::Skipped(skipped) => SegmentEntry::Skipped(skipped),
            TaskItem::Source(SourceItem {
                content:
                    ItemContent::Commit {
                        repository,
                        people,
                        id,
                    },
                mark,
                static_rank,
                ..
            }) => {
                let mut reader = CommitReader {
                    package: &packages[package].name,
                    repository: &repository,
                    people: &people,
                    builder,
                    cache,
                    entries: &mut entries,
                };
                let read = reader.read(id, &mark, static_rank);
                read.map_err(sink_error(&packages[package]))?;
                continue;
            }
            TaskItem::Source(item) => read_item(&packages[package], item, builder, large)?,
            TaskItem::Document(part, document, _, mark) => {
                let name = texts.copy(&packages[package], (part, document), &mark, builder)?;
                SegmentEntry::Document(name, mark)
            }
        });
    }
    Ok(FinishedTask {
        number: task.number,
        shard: task.shard,
        entries,
        segment: builder.finish(),
    })
}

fn sink_error(package: &InputPackage) -> impl Fn(io::Error) -> BuildError + Copy {
    |source| {
        let path = package.path().to_owned();
        BuildError::Corpus(CorpusError::Sink { path, source })
    }
}

/// Bytes of blobs read concurrently: git decodes objects whole.
const BLOB_BYTES_AT_ONCE: u64 = 16 << 20;

/// Returns the reason if the item is skipped.
fn read_item(
    package: &InputPackage,
    item: SourceItem,
    builder: &mut SegmentBuilder,
    large: &Mutex<()>,
) -> Result<SegmentEntry, BuildError> {
    let sink_error = sink_error(package);
    let outcome = match item.content {
        ItemContent::Skipped(reason) => ReadOutcome::Skipped(reason),
        ItemContent::Commit { .. } => unreachable!("commits are read before"),
        ItemContent::File(file) => match &package.origin {
            Origin::Directory { source, .. } => corpus::read(source, &file, builder)?,
            _ => unreachable!("files are in packages of directories"),
        },
        ItemContent::Blob {
            repository,
            id,
            bytes,
        } => {
            let is_large = bytes > BLOB_BYTES_AT_ONCE;
            let _alone = is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
            let read = repository.blob(id, git::BLOB_BYTES_MAX, |content| match content {
                Ok(bytes) => read_blob(bytes, builder),
                Err(bytes) => Ok(ReadOutcome::Skipped(too_large(bytes))),
            });
            match read {
                Ok(outcome) => outcome.map_err(sink_error)?,
                Err(error) => ReadOutcome::Skipped(SkipReason::Unreadable(error.to_string())),
            }
        }
    };
    let (path, mark) = (item.path, item.mark);
    match outcome {
        ReadOutcome::Text { encoding, .. } => {
            let language = document::noted(&path, builder.head(), item.language);
            let lexed = document::language_of(&path, language.as_ref());
            builder.finish_document(lexed).map_err(sink_error)?;
            let name = DocumentName {
                path,
                static_rank: item.static_rank,
                encoding,
                language,
            };
            Ok(SegmentEntry::Document(name, mark))
        }
        ReadOutcome::Skipped(reason) => {
            builder.discard_document().map_err(sink_error)?;
            let skipped = SkippedEntry::from(Skipped { path, reason });
            Ok(SegmentEntry::Skipped(SkippedEntry { mark, ..skipped }))
        }
    }
}

/// Passes a blob to the builder, except Git LFS pointers.
fn read_blob(bytes: &[u8], builder: &mut SegmentBuilder) -> io::Result<ReadOutcome> {
    if let Some((id, size)) = git::lfs_pointer(bytes) {
        let detail = format!("{size} bytes, sha256 {id}");
        return Ok(ReadOutcome::Skipped(SkipReason::Lfs(detail)));
    }
    corpus::read_bytes(bytes, builder)
}

/// Texts of older shards. Mapped pages count as memory in use until unmapped, so each task maps
/// shards itself, and again after reading much.
#[derive(Default)]
struct ShardTexts {
    open: Vec<Shard>,
    read_bytes: u64,
    cache: Rc<TextCache>,
}

/// Bytes read before a mapping is dropped.
const MAPPED_BYTES_MAX: u64 = 4 << 20;

const PIECE_BYTES: u64 = 1 << 20;

impl ShardTexts {
    fn copy(
        &mut self,
        package: &InputPackage,
        (part, document): (usize, DocId),
        mark: &Mark,
        builder: &mut SegmentBuilder,
    ) -> Result<DocumentName, BuildError> {
        let Origin::Shards(parts) = &package.origin else {
            unreachable!("documents are in packages of shards")
        };
        let ShardPackage { shard, .. } = &parts[part];
        let encoding = shard.decoded_from(document)?;
        let noted = shard.noted_language(document)?;
        let noted = noted.map(|(name, is_given)| NotedLanguage {
            name: name.to_owned(),
            is_given,
        });
        let document = shard.document(document)?;
        let mut text = shard.text_range(document.blocks)?;
        while !text.is_empty() {
            let piece = text.start..text.end.min(text.start + PIECE_BYTES);
            text.start = piece.end;
            let cache = Rc::clone(&self.cache);
            let mapped = self.shard(shard.path(), piece.end - piece.start)?;
            let copied = builder.write_all(&mapped.text(piece, &cache)?);
            copied.map_err(sink_error(package))?;
            mapped.intact()?;
        }
        if shard.is_history() {
            let facts = shard.change_bytes(document.text)?.to_vec();
            let salt = history::salt(&package.name, mark.object, document.path);
            let finished = builder.finish_change(facts, &salt);
            finished.map_err(sink_error(package))?;
            shard.intact()?;
            return Ok(DocumentName {
                path: document.path.to_vec(),
                static_rank: document.static_rank,
                encoding: None,
                language: None,
            });
        }
        // Older programs noted none.
        let detected = || document::noted(document.path, builder.head(), None);
        let language = noted.or_else(detected);
        let lexed = document::language_of(document.path, language.as_ref());
        let finished = builder.finish_document(lexed);
        finished.map_err(sink_error(package))?;
        let name = DocumentName {
            path: document.path.to_vec(),
            static_rank: document.static_rank,
            encoding,
            language,
        };
        shard.intact()?;
        Ok(name)
    }

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
