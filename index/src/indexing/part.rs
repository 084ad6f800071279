//! Indexed parts of a package, and the documents an update keeps.
//!
//! **Invariant:** a document is kept if path, object, rank and language equal the source's; the
//! rest of the package is superseded, and missing items are read.

use super::mark::{ChangedMarks, InRevisions, Mark};
use crate::corpus::{File, SkipReason};
use crate::document::{self, Popularity, classify_as};
use crate::manifest::hex;
use crate::revisions::{ObjectId, RevisionTable, SUPERSEDED, TableEntry};
use crate::shard::{Document, PackageId, Shard, ShardError, SkippedFile};
use git::{Mailmap, SourceRepository};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

pub(super) struct OldShard {
    pub(super) index: usize,
    pub(super) shard: Arc<Shard>,
    pub(super) table: RevisionTable,
    pub(super) skipped: OnceLock<Vec<SkippedFile>>,
}

#[derive(Clone)]
pub(super) struct Part {
    pub(super) of: Arc<OldShard>,
    pub(super) id: PackageId,
}

pub(super) struct PartChange {
    /// Index among the current shards.
    pub(super) shard: usize,
    pub(super) package: PackageId,
    pub(super) marks: ChangedMarks,
    pub(super) is_live: bool,
}

pub(super) struct SourceItem {
    pub(super) path: Vec<u8>,
    pub(super) mark: Mark,
    pub(super) static_rank: f32,
    /// By `.gitattributes`.
    pub(super) language: Option<&'static str>,
    pub(super) content: ItemContent,
}

pub(super) enum ItemContent {
    File(File),
    /// Blob of a repository; `bytes` once known.
    Blob {
        repository: Arc<SourceRepository>,
        id: git::ObjectId,
        bytes: u64,
    },
    Commit {
        repository: Arc<SourceRepository>,
        people: Arc<Mailmap>,
        id: git::ObjectId,
    },
    /// No text.
    Skipped(SkipReason),
}

/// Estimate for a commit, with its changes: tasks are some thousand of them.
const COMMIT_BYTES: u64 = 8 << 10;

impl OldShard {
    fn skipped(&self) -> Result<&[SkippedFile], ShardError> {
        if self.skipped.get().is_none() {
            let files = self.shard.skipped()?;
            let _ = self.skipped.set(files);
        }
        Ok(self.skipped.get().map_or(&[], Vec::as_slice))
    }
}

impl SourceItem {
    pub(super) fn of_file(file: File, object: ObjectId, popularity: Popularity) -> SourceItem {
        SourceItem {
            path: file.path.clone(),
            mark: Mark {
                object,
                ..Mark::default()
            },
            static_rank: popularity.rank() + classify_as(&file.path, file.is_foreign).share(),
            language: file.language,
            content: ItemContent::File(file),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match &self.content {
            ItemContent::File(file) => file.bytes,
            ItemContent::Blob { bytes, .. } => *bytes,
            ItemContent::Commit { .. } => COMMIT_BYTES,
            ItemContent::Skipped(_) => 0,
        }
    }

    fn key(&self) -> (&[u8], ObjectId) {
        (&self.path, self.mark.object)
    }

    fn file(&self) -> Option<&File> {
        match &self.content {
            ItemContent::File(file) => Some(file),
            _ => None,
        }
    }

    fn is_document(&self, document: &Document<'_>, noted: Option<(&str, bool)>) -> bool {
        let is_skipped = matches!(self.content, ItemContent::Skipped(_));
        !is_skipped
            && self.static_rank.to_bits() == document.static_rank.to_bits()
            && document::is_current(document.path, noted, self.language)
    }

    /// Would be skipped again for this reason.
    fn is_skipped_for(&self, words: &str) -> bool {
        let reason = SkipReason::from_words(words);
        match &self.content {
            // An object may be readable now. A file was just found unreadable again.
            ItemContent::Skipped(SkipReason::Unreadable(_))
                if self.mark.object != ObjectId::NONE =>
            {
                false
            }
            ItemContent::File(_) => reason == Some(SkipReason::Binary),
            ItemContent::Skipped(own) => reason.as_ref() == Some(own),
            ItemContent::Commit { .. } => false,
            ItemContent::Blob { .. } => matches!(
                reason,
                Some(SkipReason::Binary | SkipReason::Lfs(_) | SkipReason::TooLarge(_))
            ),
        }
    }
}

/// Decides what `parts` keep, and removes it from `items`. `has_text` compares a file with a
/// document that has no stamp.
pub(super) fn keep(
    parts: &[Part],
    items: &mut Vec<SourceItem>,
    has_text: &dyn Fn(&File, &[u8; 32]) -> bool,
) -> Result<Vec<PartChange>, ShardError> {
    let mut wanted = Wanted::new(items);
    let mut changes = Vec::with_capacity(parts.len());
    for part in parts {
        changes.push(part.keep(&mut wanted, has_text)?);
    }
    let mut kept = std::mem::take(&mut wanted.is_kept).into_iter();
    items.retain(|_| !kept.next().unwrap_or_default());
    Ok(changes)
}

/// Decides which commits `parts` keep. Returns these too.
pub(super) fn keep_commits(
    parts: &[Part],
    wanted: &HashMap<ObjectId, InRevisions>,
) -> Result<(Vec<PartChange>, HashSet<ObjectId>), ShardError> {
    let (mut changes, mut kept) = (Vec::with_capacity(parts.len()), HashSet::new());
    for part in parts {
        let (change, own) = part.keep_commits(wanted, &kept)?;
        changes.push(change);
        kept.extend(own);
    }
    Ok((changes, kept))
}

struct Wanted<'a> {
    items: &'a [SourceItem],
    sorted: Vec<u32>,
    is_kept: Vec<bool>,
}

impl<'a> Wanted<'a> {
    fn new(items: &'a [SourceItem]) -> Wanted<'a> {
        let mut sorted: Vec<u32> = (0..items.len() as u32).collect();
        sorted.sort_by(|&a, &b| items[a as usize].key().cmp(&items[b as usize].key()));
        Wanted {
            items,
            sorted,
            is_kept: vec![false; items.len()],
        }
    }

    fn take(
        &mut self,
        path: &[u8],
        is_equal: impl Fn(&SourceItem) -> bool,
    ) -> Option<&'a SourceItem> {
        let items = self.items;
        let first = self
            .sorted
            .partition_point(|&item| items[item as usize].path.as_slice() < path);
        let same_path = self.sorted[first..].iter().map(|&item| item as usize);
        let mut same_path = same_path.take_while(|&item| items[item].path == path);
        let found = same_path.find(|&item| !self.is_kept[item] && is_equal(&items[item]))?;
        self.is_kept[found] = true;
        Some(&items[found])
    }
}

impl Part {
    fn keep_commits(
        &self,
        wanted: &HashMap<ObjectId, InRevisions>,
        earlier: &HashSet<ObjectId>,
    ) -> Result<(PartChange, HashSet<ObjectId>), ShardError> {
        let OldShard { shard, table, .. } = &*self.of;
        let (mut marks, mut kept) = (ChangedMarks::default(), HashSet::new());
        let mut note = |entry: u32, is_read: bool| {
            let object = table.entries[entry as usize].object;
            let revisions = wanted.get(&object);
            let revisions = revisions.filter(|_| is_read && !earlier.contains(&object));
            if revisions.is_some() {
                kept.insert(object);
            }
            let revisions = revisions.cloned().unwrap_or(InRevisions::Superseded);
            marks.insert(entry, Mark { revisions, object });
        };
        for id in shard.documents_of(&shard.package(self.id)?)? {
            note(id.0, true);
        }
        let skipped = self.of.skipped()?.iter();
        for file in skipped.filter(|file| file.package == self.id) {
            // A commit that could not be read is tried again.
            let object = table.entries[file.entry as usize].object;
            note(file.entry, file.path != hex(object.as_bytes()).as_bytes());
        }
        shard.intact()?;
        let change = PartChange {
            shard: self.of.index,
            package: self.id,
            marks,
            is_live: !kept.is_empty(),
        };
        Ok((change, kept))
    }

    fn keep(
        &self,
        wanted: &mut Wanted<'_>,
        has_text: &dyn Fn(&File, &[u8; 32]) -> bool,
    ) -> Result<PartChange, ShardError> {
        let OldShard { shard, table, .. } = &*self.of;
        let mut change = PartChange {
            shard: self.of.index,
            package: self.id,
            marks: ChangedMarks::default(),
            is_live: false,
        };
        let mut note = |entry, object, item: Option<&SourceItem>| {
            change.is_live |= item.is_some();
            let superseded = || Mark {
                revisions: InRevisions::Superseded,
                object,
            };
            let mark = item.map_or_else(superseded, |item| item.mark.clone());
            change.marks.insert(entry, mark);
        };
        for id in shard.documents_of(&shard.package(self.id)?)? {
            let document = shard.document(id)?;
            let TableEntry { set, object } = table.entries[id.0 as usize];
            if set == SUPERSEDED && object == ObjectId::NONE {
                continue;
            }
            let noted = shard.noted_language(id)?;
            let item = if object == ObjectId::NONE {
                wanted.take(document.path, |item| {
                    let file = item.file().filter(|_| item.is_document(&document, noted));
                    file.is_some_and(|file| has_text(file, document.hash))
                })
            } else {
                wanted.take(document.path, |item| {
                    item.mark.object == object && item.is_document(&document, noted)
                })
            };
            note(id.0, object, item);
        }
        let skipped = self.of.skipped()?.iter();
        for file in skipped.filter(|file| file.package == self.id) {
            let object = table.entries[file.entry as usize].object;
            let words = &file.reason;
            let item = wanted.take(&file.path, |item| {
                item.mark.object == object && item.is_skipped_for(words)
            });
            note(file.entry, object, item);
        }
        shard.intact()?;
        Ok(change)
    }
}
