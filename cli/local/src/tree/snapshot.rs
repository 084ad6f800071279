//! Index of a tree at one time.

use crate::watch::absolute;
use ignore::gitignore::Gitignore;
use index::corpus::SkipReason;
use index::directory::{Index, IndexError};
use index::filter::Filters;
use index::format::Section;
use index::manifest::Manifest;
use index::plan::DocumentQuery;
use index::shard::{DocId, Shard, ShardError};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Names of files that ripgrep reads in each directory that it enters.
const IGNORE_FILES: [&[u8]; 3] = [b".gitignore", b".ignore", b".rgignore"];

/// Bytes of a binary file that are read to find its first NUL.
const HEAD_BYTES: usize = 64;

/// Marks of UTF-8 and UTF-16: such a file is decoded first.
const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];

pub(super) struct Snapshot {
    pub(super) manifest: Manifest,
    shards: Vec<Arc<Shard>>,
    /// Paths that may always match: files and directories without a text in the index, decoded
    /// texts, links, what notifications do not cover, and ignore files with a mistake, which is
    /// reported.
    pub(super) open: HashSet<Vec<u8>>,
    /// Binary files with the number of bytes before the first NUL. ripgrep searches only these.
    pub(super) binary: Vec<(Vec<u8>, usize)>,
    pub(super) files: u64,
}

impl Snapshot {
    /// Opens the index of a tree; shards of `before` stay open.
    pub(super) fn open(
        root: &Path,
        directory: &Path,
        before: Option<&Snapshot>,
        uncovered: HashSet<Vec<u8>>,
    ) -> Result<Snapshot, IndexError> {
        let before = before.map_or(&[][..], |before| &before.shards);
        let mut snapshot = Snapshot::open_shards(directory, before)?;
        snapshot.open = uncovered;
        for shard in &snapshot.shards {
            for file in shard.skipped()? {
                let is_binary = SkipReason::from_words(&file.reason) == Some(SkipReason::Binary);
                match head(&absolute(root, &file.path)).filter(|_| is_binary) {
                    Some(bytes) => snapshot.binary.push((file.path, bytes)),
                    None => drop(snapshot.open.insert(file.path)),
                }
            }
            let has_decoded = shard.section_bytes(Section::Decoded) > 0;
            for id in (0..shard.document_count()).map(DocId) {
                let (path, _) = shard.path_and_rank(id)?;
                let name = path.rsplit(|&byte| byte == b'/').next();
                let is_ignore_file = name.is_some_and(|name| IGNORE_FILES.contains(&name));
                let has_mistake =
                    is_ignore_file && Gitignore::new(absolute(root, path)).1.is_some();
                if has_mistake || (has_decoded && shard.decoded_from(id)?.is_some()) {
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
            binary: Vec::new(),
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

/// Bytes before the first NUL of a file; `None` if it has none near its begin, or a mark.
fn head(path: &Path) -> Option<usize> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    if MARKS.iter().any(|mark| head.starts_with(mark)) {
        return None;
    }
    head.iter().position(|&byte| byte == 0)
}
