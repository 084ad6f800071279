//! Index of a tree at one time.

use index::directory::{Index, IndexError};
use index::filter::Filters;
use index::format::Section;
use index::manifest::Manifest;
use index::plan::DocumentQuery;
use index::shard::{DocId, Shard, ShardError};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Names of files that ripgrep reads in each directory that it enters. A mistake in one of them is
/// reported, so their directories are entered always.
const IGNORE_FILES: [&[u8]; 3] = [b".gitignore", b".ignore", b".rgignore"];

pub(super) struct Snapshot {
    pub(super) manifest: Manifest,
    shards: Vec<Arc<Shard>>,
    /// Paths that may always match: files and directories without a text in the index, decoded
    /// texts, ignore files, links, and what notifications do not cover.
    pub(super) open: HashSet<Vec<u8>>,
    pub(super) files: u64,
}

impl Snapshot {
    /// Opens an index; shards of `before` stay open.
    pub(super) fn open(
        directory: &Path,
        before: Option<&Snapshot>,
        uncovered: HashSet<Vec<u8>>,
    ) -> Result<Snapshot, IndexError> {
        let before = before.map_or(&[][..], |before| &before.shards);
        let mut snapshot = Snapshot::open_shards(directory, before)?;
        snapshot.open = uncovered;
        for shard in &snapshot.shards {
            let skipped = shard.skipped()?.into_iter();
            snapshot.open.extend(skipped.map(|file| file.path));
            let has_decoded = shard.section_bytes(Section::Decoded) > 0;
            for id in (0..shard.document_count()).map(DocId) {
                let (path, _) = shard.path_and_rank(id)?;
                let name = path.rsplit(|&byte| byte == b'/').next();
                let is_ignore_file = name.is_some_and(|name| IGNORE_FILES.contains(&name));
                if is_ignore_file || (has_decoded && shard.decoded_from(id)?.is_some()) {
                    snapshot.open.insert(path.to_vec());
                }
            }
            shard.intact()?;
        }
        Ok(snapshot)
    }

    /// Opens an index without the open paths.
    pub(super) fn open_shards(
        directory: &Path,
        before: &[Arc<Shard>],
    ) -> Result<Snapshot, IndexError> {
        let index = Index::reopen(directory, before)?;
        let counts = index.shards.iter().map(|shard| shard.live_counts());
        Ok(Snapshot {
            files: counts.map(|counts| u64::from(counts.documents)).sum(),
            open: HashSet::new(),
            shards: index.shards,
            manifest: index.manifest,
        })
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
