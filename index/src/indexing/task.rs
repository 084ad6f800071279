//! Tasks: some megabytes of files, or of documents of older shards, for one worker and one segment.
//! Reads no text.

use super::history;
use super::interface::{BuildError, BuildOptions, MEMORY_BYTES_MIN, Progress};
use super::mark::{InRevisions, Mark, OldSets};
use super::package::{InputPackage, Listed, ListedRepository, Origin, ShardPackage, SkippedEntry};
use super::part::{self, ItemContent, PartChange, SourceItem};
use super::repository::{self, RepositorySource};
use crate::builder::Limits;
use crate::codec::ContentCodec;
use crate::corpus::{self, File, Walk};
use crate::document::Popularity;
use crate::revisions::ObjectId;
use crate::shard::{DocId, Document};
use fnv::FnvHasher;
use std::cmp::{Ordering, Reverse};
use std::hash::Hasher;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;

#[derive(Default)]
pub(super) struct Task {
    pub(super) number: u64,
    /// Index of the new shard.
    pub(super) shard: usize,
    /// Package of the first items, up to the next `TaskItem::Package`.
    pub(super) package: usize,
    pub(super) items: Vec<TaskItem>,
}

pub(super) enum TaskItem {
    /// Of the items that follow.
    Package {
        index: usize,
        signature: u64,
    },
    Source(SourceItem),
    /// Document of an older shard: part of the package, document, text bytes, mark.
    Document(usize, DocId, u64, Mark),
    Skipped(SkippedEntry),
}

impl TaskItem {
    pub(super) fn bytes(&self) -> u64 {
        match self {
            TaskItem::Source(item) => item.bytes(),
            TaskItem::Document(_, _, bytes, _) => *bytes,
            TaskItem::Package { .. } | TaskItem::Skipped(_) => 0,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct TaskSizes {
    task_bytes: u64,
    task_items: usize,
    shard_tables: u64,
    pub(super) limits: Limits,
    pub(super) blob_bytes: usize,
}

const BLOBS_SHARE: usize = 16;

/// Items in a task: empty files would never fill it.
const TASK_ITEMS_MAX: usize = 1 << 15;

/// Memory per item in a task and its segment, without text.
const ITEM_BYTES: usize = 512;

/// Larger tasks are no faster.
const TASK_BYTES_MAX: usize = 16 << 20;

/// Copies of a task's text per worker: text, pairs, sorted runs, waiting segments.
const COPIES: usize = 16;

/// Reciprocal share of memory for merge buffers and tables. Without it, 5.8 GB of text exceeded 512
/// MiB by 2 %.
const RESERVED_SHARE: usize = 8;

/// Memory independent of the segment size: program file, write buffers, first tables, allocator.
/// Without it, a 64 MiB limit was exceeded by 7 MiB.
const FIXED_BYTES: usize = 26 << 20;

/// Trigram set and file reading.
const WORKER_BYTES: usize = 4 << 20;

/// Memory of a text encoder: dictionary training and a batch of texts. Without it, a 64 MiB limit
/// was exceeded by 13 MiB more.
const ENCODER_BYTES: usize = 14 << 20;

/// Reciprocal of the least share of memory for segments.
const SEGMENTS_SHARE_MIN: usize = 4;

/// Eighths of the memory for tables. A 4 GiB shard of source code takes 170 MB, so by default its
/// size ends it. Without this bound, 11.6 GB of text took 290 MB at a limit of 64 MiB.
const SHARD_TABLES_EIGHTHS: u64 = 3;

/// Average table memory per file: 176 bytes for text, document, tag and hash entry; the path;
/// trigram lists.
const FILE_TABLE_BYTES: u64 = 300;

/// Reciprocal share of text: block entries, checksums, sorted-run buffers, dictionary.
const TEXT_TABLE_SHARE: u64 = 64;

impl TaskSizes {
    pub(super) fn of(options: &BuildOptions) -> TaskSizes {
        let memory = options.memory_bytes.max(MEMORY_BYTES_MIN);
        let jobs = options.jobs.max(1);
        let encoder = match options.codec() {
            ContentCodec::Raw => 0,
            ContentCodec::Zstd => ENCODER_BYTES,
        };
        let fixed = FIXED_BYTES + jobs * WORKER_BYTES + encoder;
        let memory = memory
            .saturating_sub(fixed)
            .max(memory / SEGMENTS_SHARE_MIN);
        let memory = memory - memory / RESERVED_SHARE;
        let task_bytes = (memory / (COPIES * jobs)).min(TASK_BYTES_MAX);
        let limits = Limits {
            block_bytes: options.options.block_bytes,
            text_bytes: 2 * task_bytes,
            // Source code: 0.38 distinct pairs per byte at 4 KiB blocks.
            pairs: task_bytes / 2,
        };
        TaskSizes {
            task_bytes: task_bytes as u64,
            task_items: (task_bytes / ITEM_BYTES).min(TASK_ITEMS_MAX),
            shard_tables: shard_tables(options),
            limits,
            blob_bytes: memory / BLOBS_SHARE / jobs,
        }
    }
}

pub(super) fn shard_tables(options: &BuildOptions) -> u64 {
    options.memory_bytes.max(MEMORY_BYTES_MIN) as u64 / 8 * SHARD_TABLES_EIGHTHS
}

pub(super) fn table_bytes(files: u64, bytes: u64) -> u64 {
    files * FILE_TABLE_BYTES + bytes / TEXT_TABLE_SHARE
}

/// Lists all packages and sends their contents as tasks, one of `places` each. Unchanged packages
/// are left out.
pub(super) fn hand_out(
    packages: &[InputPackage],
    options: &BuildOptions,
    sizes: &TaskSizes,
    progress: &Progress,
    places: &mpsc::Receiver<()>,
    tasks: &mpsc::SyncSender<Task>,
) -> Result<(), BuildError> {
    let mut out = TaskSender {
        task: Task::default(),
        bytes: 0,
        sizes,
        places,
        tasks,
        closed: false,
    };
    let (mut shard_bytes, mut shard_tables) = (0, 0);
    let mut in_histories = false;
    for (index, package) in packages.iter().enumerate() {
        if out.closed {
            break;
        }
        let contents = changed_contents(package, options)?;
        progress.packages_walked.fetch_add(1, Relaxed);
        let Some(contents) = contents else { continue };
        let (bytes, signature) = (contents.bytes, contents.signature);
        progress.bytes_walked.fetch_add(bytes, Relaxed);
        let tables = table_bytes(contents.files, bytes);
        let is_too_large = shard_tables > 0 && shard_tables + tables > sizes.shard_tables;
        let is_other = package.is_history() != in_histories;
        in_histories = package.is_history();
        if shard_bytes >= options.shard_bytes || is_too_large || is_other {
            out.send(out.task.shard + 1);
            (shard_bytes, shard_tables) = (0, 0);
        }
        shard_bytes += bytes;
        shard_tables += tables;
        out.push(TaskItem::Package { index, signature }, index);
        contents.items.for_each(|item| out.push(item, index));
    }
    out.send(0);
    Ok(())
}

/// Whether names, sizes and times equal the recorded ones.
pub(super) fn is_unchanged(package: &InputPackage, options: &BuildOptions) -> bool {
    matches!(changed_contents(package, options), Ok(None))
}

struct Contents {
    signature: u64,
    bytes: u64,
    files: u64,
    /// Lazy: an item takes more memory than its source.
    items: Box<dyn Iterator<Item = TaskItem>>,
}

fn changed_contents(
    package: &InputPackage,
    options: &BuildOptions,
) -> Result<Option<Contents>, BuildError> {
    let popularity = package.popularity;
    match &package.origin {
        Origin::Directory { source, differing } => {
            let mut walk = corpus::walk(source, options.options.no_ignore, options.jobs)?;
            let signature = signature(&walk, popularity);
            if package.recorded == Some(signature) && differing.is_empty() {
                return Ok(None);
            }
            corpus::set_attributes(source, &mut walk.files);
            if package.parts.is_empty() {
                return Ok(Some(directory_contents(walk, signature, popularity)));
            }
            let mut items = source_items(walk, popularity);
            let is_differing = |item: &mut SourceItem| differing.contains(&item.path);
            let read: Vec<SourceItem> = items.extract_if(.., is_differing).collect();
            let has_text = |file: &File, hash: &[u8; 32]| matches!(corpus::hash(source, file), Ok(Some(found)) if found == *hash);
            let changes = part::keep(&package.parts, &mut items, &has_text)?;
            items.extend(read);
            Ok(missing_contents(package, items, signature, changes, None))
        }
        Origin::Repository(source) => repository_contents(package, source, options),
        Origin::History(source) => history_contents(package, source, options),
        Origin::Shards(parts) => shard_contents(parts).map(Some),
    }
}

fn signature(walk: &Walk, popularity: Popularity) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(&corpus::signature(walk).to_le_bytes());
    hasher.write(&popularity.inst.to_bits().to_le_bytes());
    hasher.write(&popularity.rdep.to_bits().to_le_bytes());
    hasher.finish()
}

fn directory_contents(walk: Walk, signature: u64, popularity: Popularity) -> Contents {
    let bytes = walk.files.iter().map(|file| file.bytes).sum();
    let files = (walk.skipped.len() + walk.files.len()) as u64;
    let skipped = walk.skipped.into_iter();
    let skipped = skipped.map(|skipped| TaskItem::Skipped(skipped.into()));
    let item = move |file| SourceItem::of_file(file, ObjectId::NONE, popularity);
    let read = walk.files.into_iter().map(item).map(TaskItem::Source);
    Contents {
        signature,
        bytes,
        files,
        items: Box::new(skipped.chain(read)),
    }
}

/// Reads no file.
fn source_items(walk: Walk, popularity: Popularity) -> Vec<SourceItem> {
    let skipped = walk.skipped.into_iter().map(|skipped| SourceItem {
        path: skipped.path,
        mark: Mark::default(),
        static_rank: 0.0,
        language: None,
        content: ItemContent::Skipped(skipped.reason),
    });
    let files = walk.files.into_iter().map(|file| {
        let object = corpus::stamp(&file);
        SourceItem::of_file(file, object, popularity)
    });
    skipped.chain(files).collect()
}

/// Notes the changes of a package's parts. Returns the missing `items`, if any are to be written.
fn missing_contents(
    package: &InputPackage,
    items: Vec<SourceItem>,
    signature: u64,
    changes: Vec<PartChange>,
    repository: Option<ListedRepository>,
) -> Option<Contents> {
    let is_kept = changes.iter().any(|change| change.is_live);
    let _ = package.listed.set(Listed {
        signature,
        changes,
        repository: repository.map(Ok),
    });
    (!is_kept || !items.is_empty()).then(|| Contents {
        signature,
        bytes: items.iter().map(SourceItem::bytes).sum(),
        files: items.len() as u64,
        items: Box::new(items.into_iter().map(TaskItem::Source)),
    })
}

fn repository_contents(
    package: &InputPackage,
    source: &RepositorySource,
    options: &BuildOptions,
) -> Result<Option<Contents>, BuildError> {
    let opened = source.open(package.popularity, options.memory_bytes, options.jobs);
    let listed = opened.and_then(|open| {
        let signature = open.signature();
        let is_changed = package.recorded != Some(signature);
        let items = is_changed.then(|| open.items()).transpose()?;
        let repository = (source.record(&open), open.selection.missing);
        Ok((repository, signature, items))
    });
    let unread = match listed {
        Ok((repository, signature, Some(mut items))) => {
            let changes = part::keep(&package.parts, &mut items, &|_, _| false)?;
            repository::measure(&mut items);
            let repository = Some(repository);
            return Ok(missing_contents(
                package, items, signature, changes, repository,
            ));
        }
        Ok((repository, signature, None)) => Listed {
            signature,
            repository: Some(Ok(repository)),
            ..Listed::default()
        },
        Err(error) => Listed {
            repository: Some(Err(error.to_string())),
            ..Listed::default()
        },
    };
    let _ = package.listed.set(unread);
    Ok(None)
}

fn history_contents(
    package: &InputPackage,
    source: &RepositorySource,
    options: &BuildOptions,
) -> Result<Option<Contents>, BuildError> {
    // The files of the repository report its problems.
    let Ok(open) = source.open(package.popularity, options.memory_bytes, options.jobs) else {
        return Ok(None);
    };
    let mut hasher = FnvHasher::default();
    hasher.write(&open.signature().to_le_bytes());
    let since = source.history.and_then(|it| it.since);
    hasher.write(&since.unwrap_or(i64::MIN).to_le_bytes());
    let signature = hasher.finish();
    if package.recorded == Some(signature) {
        return Ok(None);
    }
    let (items, changes) = history::changes(package, source, &open)?;
    if items.is_empty() && changes.is_empty() {
        return Ok(None);
    }
    Ok(missing_contents(package, items, signature, changes, None))
}

/// Lists documents that are current or in a revision.
fn shard_contents(parts: &[ShardPackage]) -> Result<Contents, BuildError> {
    let (mut items, mut all_bytes) = (Vec::new(), 0);
    let mut found = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        items.extend(part.skipped.iter().cloned().map(TaskItem::Skipped));
        let mut sets = OldSets::default();
        let shard = &part.shard;
        for id in shard.documents_of(&shard.package(part.id)?)? {
            let mark = match &part.table {
                Some(table) => sets.mark(table, table.entries[id.0 as usize]),
                None => Mark::default(),
            };
            if mark.revisions != InRevisions::Superseded {
                found.push((number, shard.document(id)?, mark));
            }
        }
    }
    if parts[0].shard.is_history() {
        // Documents of a commit stay together, later ones first.
        found.sort_by_key(|(part, document, _)| (Reverse(*part), document.id));
    } else {
        // Shards order them by text, sources in this order.
        found.sort_by(best_first);
    }
    for (number, document, mark) in found {
        let text = parts[number].shard.text_range(document.blocks)?;
        let bytes = text.end - text.start;
        items.push(TaskItem::Document(number, document.id, bytes, mark));
        all_bytes += bytes;
    }
    for part in parts {
        part.shard.intact()?;
    }
    Ok(Contents {
        signature: parts[0].signature,
        bytes: all_bytes,
        files: items.len() as u64,
        items: Box::new(items.into_iter()),
    })
}

type Found<'s> = (usize, Document<'s>, Mark);

fn best_first((_, a, a_mark): &Found<'_>, (_, b, b_mark): &Found<'_>) -> Ordering {
    let by_rank = b.static_rank.total_cmp(&a.static_rank);
    by_rank.then_with(|| (a.path, a_mark.object).cmp(&(b.path, b_mark.object)))
}

struct TaskSender<'a> {
    task: Task,
    bytes: u64,
    sizes: &'a TaskSizes,
    /// One entry per task that may be sent.
    places: &'a mpsc::Receiver<()>,
    tasks: &'a mpsc::SyncSender<Task>,
    /// The build has failed; its error follows.
    closed: bool,
}

impl TaskSender<'_> {
    fn push(&mut self, item: TaskItem, package: usize) {
        let bytes = item.bytes();
        if self.bytes + bytes > self.sizes.task_bytes
            || self.task.items.len() >= self.sizes.task_items
        {
            self.send(self.task.shard);
        }
        if self.task.items.is_empty() {
            self.task.package = package;
        }
        self.bytes += bytes;
        self.task.items.push(item);
    }

    /// Sends the task in progress, if any, and begins one for `shard`.
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
            self.closed |= self.places.recv().is_err() || self.tasks.send(task).is_err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::package::best_first;
    use std::collections::{BTreeMap, HashMap};
    use std::fs;

    /// Tasks of packages with these numbers of files, up to `places`.
    fn tasks(packages: &[usize], sizes: &TaskSizes, places: usize) -> Vec<Task> {
        let there = tempfile::tempdir().expect("a directory");
        let paths = packages.iter().enumerate().map(|(number, &files)| {
            let path = there.path().join(format!("p{number}_1"));
            fs::create_dir(&path).expect("a new directory");
            for file in 0..files {
                fs::write(path.join(format!("{file}.c")), "x;y\n").expect("a new file");
            }
            path
        });
        let paths: Vec<_> = paths.collect();
        let sources = corpus::sources(&paths, false).expect("they exist");
        let packages = best_first(sources, &HashMap::new(), &HashMap::new());
        let (joined, free) = mpsc::channel();
        (0..places).for_each(|_| joined.send(()).expect("it is received"));
        drop(joined);
        let (sender, tasks) = mpsc::sync_channel(places);
        let (options, progress) = (BuildOptions::default(), Progress::default());
        hand_out(&packages, &options, sizes, &progress, &free, &sender).expect("they can be read");
        drop(sender);
        tasks.into_iter().collect()
    }

    fn files_by_shard(packages: &[usize], sizes: &TaskSizes) -> Vec<usize> {
        let mut files = BTreeMap::new();
        for task in tasks(packages, sizes, 20) {
            let of_task = task.items.iter().filter(|item| item.bytes() > 0).count();
            *files.entry(task.shard).or_default() += of_task;
        }
        files.into_values().collect()
    }

    #[test]
    fn a_shard_ends_before_its_tables_exceed_their_memory() {
        let mut sizes = TaskSizes::of(&BuildOptions::default());
        assert_eq!(files_by_shard(&[3, 3, 3], &sizes), [9]);
        sizes.shard_tables = table_bytes(7, 28);
        assert_eq!(files_by_shard(&[3, 3, 3, 3, 1], &sizes), [6, 7]);
        // A package is never split.
        assert_eq!(files_by_shard(&[1, 20, 1, 2], &sizes), [1, 20, 3]);
    }

    #[test]
    fn small_files_make_small_tasks() {
        let mut sizes = TaskSizes::of(&BuildOptions::default());
        sizes.task_items = 7;
        let tasks = tasks(&[40], &sizes, 20);
        let items: Vec<usize> = tasks.iter().map(|task| task.items.len()).collect();
        assert_eq!(items, [7, 7, 7, 7, 7, 6]);
    }

    #[test]
    fn no_more_tasks_are_handed_out_than_there_are_places() {
        let mut sizes = TaskSizes::of(&BuildOptions::default());
        sizes.task_items = 1;
        let numbers = tasks(&[9, 9], &sizes, 5)
            .into_iter()
            .map(|task| task.number);
        assert!(numbers.eq(0..5));
    }

    #[test]
    fn the_default_memory_ends_no_shard_of_source_code() {
        let options = BuildOptions::default();
        let files = options.shard_bytes / (14 << 10);
        let tables = table_bytes(files, options.shard_bytes);
        assert!(tables < shard_tables(&options), "{tables}");
        let least = BuildOptions {
            memory_bytes: MEMORY_BYTES_MIN,
            ..options
        };
        assert_eq!(shard_tables(&least), 24 << 20);
    }
}
