//! Joins segments, in order, to new shards.

use super::task::{Done, Entry};
use super::{BuildOptions, MERGE_SHARE, Package};
use crate::manifest::{PackageEntry, ShardEntry};
use crate::writer::ShardWriter;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Shards written so far, and the one in progress.
pub(super) struct Joined<'a> {
    pub(super) directory: &'a Path,
    options: &'a BuildOptions,
    begun: Option<Begun>,
    written: Written,
}

/// A shard in progress.
struct Begun {
    number: usize,
    writer: ShardWriter,
    packages: Vec<PackageEntry>,
}

/// What has been written.
#[derive(Default)]
pub(super) struct Written {
    pub(super) shards: Vec<ShardEntry>,
    pub(super) packages: u64,
    pub(super) documents: u64,
    pub(super) text_bytes: u64,
    pub(super) file_bytes: u64,
    /// How much was left out, by the key of the reason; what an older shard had left out is not
    /// counted again.
    pub(super) skipped: BTreeMap<String, u64>,
}

impl<'a> Joined<'a> {
    pub(super) fn new(directory: &'a Path, options: &'a BuildOptions) -> Self {
        Joined {
            directory,
            options,
            begun: None,
            written: Written::default(),
        }
    }

    /// Joins the next segment.
    pub(super) fn join(&mut self, done: Done, packages: &[Package]) -> io::Result<()> {
        let in_progress = self.begun.as_ref().map(|begun| begun.number);
        if in_progress.is_some_and(|number| number != done.shard) {
            self.finish_shard()?;
        }
        let block_bytes = self.options.options.block_bytes;
        let begun = match &mut self.begun {
            Some(begun) => begun,
            none => none.insert(Begun {
                number: done.shard,
                writer: ShardWriter::create(self.directory, block_bytes)?,
                packages: Vec::new(),
            }),
        };
        let documents = done.segment.documents.clone();
        let base = begun.writer.segment(done.segment)?;
        let mut documents = documents.iter();
        for entry in done.entries {
            match entry {
                Entry::Package { index, signature } => {
                    begun.package(&packages[index], signature)?
                }
                Entry::Document(name) => {
                    let document = documents.next().expect("as many as were named");
                    begun.writer.document(&name, base, document)?;
                }
                Entry::Skipped(left_out) => {
                    if let Some(key) = left_out.key {
                        *self.written.skipped.entry(key.to_owned()).or_default() += 1;
                    }
                    begun.writer.skipped(&left_out.path, &left_out.reason);
                }
            }
        }
        Ok(())
    }

    /// Finishes the last shard.
    pub(super) fn finish(mut self) -> io::Result<Written> {
        self.finish_shard()?;
        Ok(self.written)
    }

    fn finish_shard(&mut self) -> io::Result<()> {
        let Some(begun) = self.begun.take() else {
            return Ok(());
        };
        let shard = begun
            .writer
            .finish(self.options.memory_bytes / MERGE_SHARE)?;
        self.written.packages += u64::from(shard.packages);
        self.written.documents += u64::from(shard.documents);
        self.written.text_bytes += shard.text_bytes;
        self.written.file_bytes += shard.file_bytes;
        self.written.shards.push(ShardEntry {
            id: shard.id,
            file: shard.name,
            packages: begun.packages,
        });
        Ok(())
    }
}

impl Begun {
    fn package(&mut self, package: &Package, signature: u64) -> io::Result<()> {
        let Package {
            name, popularity, ..
        } = package;
        self.packages.push(PackageEntry {
            signature,
            directory: name.clone(),
            is_dead: false,
        });
        self.writer.package(name, popularity.inst, popularity.rdep)
    }
}
