//! Joins segments, in order, to new shards.

use super::options::BuildOptions;
use super::package::InputPackage;
use super::report::ReadStats;
use super::worker::{FinishedTask, SegmentEntry};
use crate::manifest::{PackageEntry, ShardEntry};
use crate::writer::ShardWriter;
use std::io;
use std::path::Path;

/// Part of the memory that the buffers of a merge may take: one in so many bytes.
const MERGE_SHARE: usize = 8;

/// The shards written so far, and the one in progress.
pub(super) struct ShardAssembly<'a> {
    pub(super) directory: &'a Path,
    options: &'a BuildOptions,
    in_progress: Option<ShardInProgress>,
    written: NewShards,
}

struct ShardInProgress {
    number: usize,
    writer: ShardWriter,
    packages: Vec<PackageEntry>,
}

/// The shards that have been written, and the sums over them.
#[derive(Default)]
pub(super) struct NewShards {
    pub(super) shards: Vec<ShardEntry>,
    /// `skipped` is without the files that an older shard had already skipped.
    pub(super) stats: ReadStats,
    pub(super) file_bytes: u64,
}

impl NewShards {
    /// Iterates over the packages that have been written.
    pub(super) fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(ShardEntry::live)
    }
}

impl<'a> ShardAssembly<'a> {
    pub(super) fn new(directory: &'a Path, options: &'a BuildOptions) -> Self {
        ShardAssembly {
            directory,
            options,
            in_progress: None,
            written: NewShards::default(),
        }
    }

    /// Joins the next segment.
    pub(super) fn join(
        &mut self,
        finished: FinishedTask,
        packages: &[InputPackage],
    ) -> io::Result<()> {
        let current = self.in_progress.as_ref().map(|shard| shard.number);
        if current.is_some_and(|number| number != finished.shard) {
            self.finish_shard()?;
        }
        let block_bytes = self.options.options.block_bytes;
        let shard = match &mut self.in_progress {
            Some(shard) => shard,
            none => none.insert(ShardInProgress {
                number: finished.shard,
                writer: ShardWriter::create(self.directory, block_bytes)?,
                packages: Vec::new(),
            }),
        };
        let documents = finished.segment.documents.clone();
        let base = shard.writer.segment(finished.segment)?;
        let mut documents = documents.iter();
        for entry in finished.entries {
            match entry {
                SegmentEntry::Package { index, signature } => {
                    shard.package(&packages[index], signature)?
                }
                SegmentEntry::Document(name) => {
                    let document = documents.next().expect("one for each entry");
                    shard.writer.document(&name, base, document)?;
                }
                SegmentEntry::Skipped(skipped) => {
                    if let Some(key) = skipped.key {
                        *self
                            .written
                            .stats
                            .skipped
                            .entry(key.to_owned())
                            .or_default() += 1;
                    }
                    shard.writer.skipped(&skipped.path, &skipped.reason);
                }
            }
        }
        Ok(())
    }

    /// Finishes the last shard.
    pub(super) fn finish(mut self) -> io::Result<NewShards> {
        self.finish_shard()?;
        Ok(self.written)
    }

    fn finish_shard(&mut self) -> io::Result<()> {
        let Some(ended) = self.in_progress.take() else {
            return Ok(());
        };
        let shard = (ended.writer).finish(self.options.memory_bytes / MERGE_SHARE)?;
        let stats = &mut self.written.stats;
        stats.packages += u64::from(shard.packages);
        stats.documents += u64::from(shard.documents);
        stats.text_bytes += shard.text_bytes;
        self.written.file_bytes += shard.file_bytes;
        self.written.shards.push(ShardEntry {
            id: shard.id,
            file: shard.name,
            packages: ended.packages,
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
        });
        let popularity = package.popularity;
        (self.writer).package(&package.name, popularity.inst, popularity.rdep)
    }
}
