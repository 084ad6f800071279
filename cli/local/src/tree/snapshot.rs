//! Index of a tree at one time.

use super::text::{self, TEXT_BYTES_MAX, TEXTS_BYTES_MAX};
use crate::fields::Fields;
use crate::watch::{absolute, split};
use ignore::gitignore::Gitignore;
use index::corpus::SkipReason;
use index::directory::{Index, IndexError, read_manifest};
use index::filter::Filters;
use index::format::Section;
use index::manifest::Manifest;
use index::plan::DocumentQuery;
use index::shard::{DocId, Shard, ShardError};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Names of files that ripgrep reads in each directory that it enters.
const IGNORE_FILES: [&[u8]; 3] = [b".gitignore", b".ignore", b".rgignore"];

pub(super) struct Snapshot {
    pub(super) manifest: Manifest,
    shards: Vec<Arc<Shard>>,
}

/// Files whose text in the index is missing, or differs from what ripgrep searches.
#[derive(Default)]
pub(super) struct Exceptions {
    /// Paths that may always match, and ignore files with a mistake, which is reported.
    pub(super) open: HashSet<Vec<u8>>,
    pub(super) links: Vec<Vec<u8>>,
    /// Binary and decoded files with the bytes that ripgrep searches, as fields.
    pub(super) texts: Fields,
}

impl Snapshot {
    pub(super) fn open(directory: &Path) -> Result<Snapshot, IndexError> {
        let index = Index::open(directory)?;
        Ok(Snapshot {
            shards: index.shards,
            manifest: index.manifest,
        })
    }

    /// Opens an index with the documents that later ones supersede: for more candidates, without a
    /// look at each document.
    pub(super) fn open_with_superseded(directory: &Path) -> Result<Snapshot, IndexError> {
        let manifest = read_manifest(directory)?;
        let shards = manifest.shards.iter().map(|entry| {
            let path = directory.join(&entry.file);
            let shard = Shard::open(&path)?;
            match shard.file_id() == entry.id {
                true => Ok(Arc::new(shard)),
                false => Err(IndexError::Swapped(path)),
            }
        });
        Ok(Snapshot {
            shards: shards.collect::<Result<_, _>>()?,
            manifest,
        })
    }

    pub(super) fn files(&self) -> u64 {
        let counts = self.shards.iter().map(|shard| shard.live_counts());
        counts.map(|counts| u64::from(counts.documents)).sum()
    }

    /// Name that no other index has.
    pub(super) fn name(&self) -> String {
        blake3::Hash::from(self.hash()).to_hex().to_string()
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        blake3::hash(self.manifest.render().as_bytes()).into()
    }

    pub(super) fn exceptions(&self, root: &Path) -> Result<Exceptions, ShardError> {
        let mut exceptions = Exceptions::default();
        for shard in &self.shards {
            for file in shard.skipped()? {
                let reason = SkipReason::from_words(&file.reason);
                if reason == Some(SkipReason::Symlink) && !is_ignore_file(&file.path) {
                    exceptions.links.push(file.path);
                } else if reason == Some(SkipReason::Binary) {
                    exceptions.add(root, &file.path);
                } else {
                    exceptions.open.insert(file.path);
                }
            }
            let has_decoded = shard.section_bytes(Section::Decoded) > 0;
            for id in (0..shard.document_count()).map(DocId) {
                let (path, _) = shard.path_and_rank(id)?;
                if is_ignore_file(path) && Gitignore::new(absolute(root, path)).1.is_some() {
                    exceptions.open.insert(path.to_vec());
                } else if has_decoded && shard.decoded_from(id)?.is_some() {
                    exceptions.add(root, path);
                }
            }
            shard.intact()?;
        }
        Ok(exceptions)
    }

    /// Passes the paths of candidates, until `add` returns false. Returns the last result of `add`.
    pub(super) fn each_candidate(
        &self,
        query: &DocumentQuery,
        mut add: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, ShardError> {
        let filters = Filters::default();
        for shard in &self.shards {
            let found = shard.document_candidates(query, &[], &filters, &|| false)?;
            let documents = found.into_iter().flat_map(|found| found.documents);
            for id in documents.flatten() {
                if !add(shard.path_and_rank(DocId(id))?.0) {
                    return Ok(false);
                }
            }
            shard.intact()?;
        }
        Ok(true)
    }
}

impl Exceptions {
    fn add(&mut self, root: &Path, path: &[u8]) {
        let found = text::searched(&absolute(root, path), TEXT_BYTES_MAX)
            .ok()
            .flatten();
        let room = TEXTS_BYTES_MAX.saturating_sub(self.texts.0.len());
        match found.filter(|text| text.len() <= room) {
            Some(text) => {
                self.texts.bytes(path);
                self.texts.bytes(&text);
            }
            None => drop(self.open.insert(path.to_vec())),
        }
    }
}

pub(super) fn is_ignore_file(path: &[u8]) -> bool {
    IGNORE_FILES.contains(&split(path).1)
}
