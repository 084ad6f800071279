//! Histories of repositories as packages: a document for each commit, and one for each file that it
//! changed.
//!
//! **Invariant:** the documents of a commit follow each other, its own first, and are kept or
//! superseded together.

use super::interface::BuildError;
use super::mark::{InRevisions, Mark, NameList};
use super::package::{InputPackage, SegmentEntry, SkippedEntry};
use super::part::{self, ItemContent, PartChange, SourceItem};
use super::repository::{OpenRepository, RepositorySource};
use crate::builder::SegmentBuilder;
use crate::change::{Change, FileChange};
use crate::corpus::{self, SkipReason, Skipped};
use crate::document::Class;
use crate::revisions::ObjectId;
use crate::writer::DocumentName;
use git::{BlobCache, ChangedFile, HistoryList, LookupError, Mailmap, SourceRepository, Unchanged};
use schema::message::Commit;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

pub(super) type HistoryChanges = (Vec<SourceItem>, Vec<PartChange>);

pub(super) fn changes(
    package: &InputPackage,
    source: &RepositorySource,
    open: &OpenRepository,
) -> Result<HistoryChanges, BuildError> {
    let since = source.history.and_then(|it| it.since);
    let listed = list(open, since).map_err(|error| BuildError::History {
        package: String::from_utf8_lossy(&package.name).into_owned(),
        reason: error.to_string(),
    })?;
    let sets = sets(open, &listed);
    let commits = listed.commits.iter().map(|(id, set)| (object(*id), *set));
    let wanted: HashMap<ObjectId, InRevisions> = commits
        .map(|(id, set)| (id, sets[set as usize].clone()))
        .collect();
    let (changes, kept) = part::keep_commits(&package.parts, &wanted)?;
    let item = |id: git::ObjectId, set: u32, content| SourceItem {
        path: id.to_string().into_bytes(),
        mark: Mark {
            revisions: sets[set as usize].clone(),
            object: object(id),
        },
        static_rank: package.popularity.rank() + Class::Source.share(),
        language: None,
        content,
    };
    let people = people(open);
    let damaged = listed.damaged.iter().map(|(id, set, reason)| {
        let reason = SkipReason::Unreadable(reason.clone());
        item(*id, *set, ItemContent::Skipped(reason))
    });
    let new = listed.commits.iter();
    let new = new.filter(|(id, _)| !kept.contains(&object(*id)));
    let new = new.map(|&(id, set)| {
        let commit = ItemContent::Commit {
            repository: Arc::clone(open.repository()),
            people: Arc::clone(&people),
            id,
        };
        item(id, set, commit)
    });
    Ok((damaged.chain(new).collect(), changes))
}

fn list(open: &OpenRepository, since: Option<i64>) -> Result<HistoryList, LookupError> {
    let revisions = open.selection.revisions.iter();
    let tips = revisions.map(|it| git::ObjectId::from_hex(it.commit.id.as_bytes()));
    let tips: Vec<git::ObjectId> = tips.filter_map(Result::ok).collect();
    open.repository().history(&tips, since)
}

fn people(open: &OpenRepository) -> Arc<Mailmap> {
    let default = &open.selection.revisions[open.selection.default];
    let id = git::ObjectId::from_hex(default.commit.id.as_bytes());
    id.map_or_else(|_| Arc::default(), |id| open.repository().mailmap(id))
}

fn sets(open: &OpenRepository, listed: &HistoryList) -> Vec<InRevisions> {
    let name = |&index: &u32| open.selection.revisions[index as usize].name.clone();
    let sets = listed.sets.iter();
    let sets = sets.map(|set| InRevisions::Named(NameList::new(set.iter().map(name).collect())));
    sets.collect()
}

fn object(id: git::ObjectId) -> ObjectId {
    ObjectId::new(id.as_bytes()).unwrap_or(ObjectId::NONE)
}

pub(super) struct CommitReader<'a> {
    pub(super) package: &'a [u8],
    pub(super) repository: &'a SourceRepository,
    pub(super) people: &'a Mailmap,
    pub(super) builder: &'a mut SegmentBuilder,
    pub(super) cache: &'a mut BlobCache,
    pub(super) entries: &'a mut Vec<SegmentEntry>,
}

impl CommitReader<'_> {
    pub(super) fn read(
        &mut self,
        id: git::ObjectId,
        mark: &Mark,
        static_rank: f32,
    ) -> io::Result<()> {
        let path = id.to_string().into_bytes();
        let found = match self.repository.changed_files(id, self.people, self.cache) {
            Ok(found) => found,
            Err(error) => {
                let reason = SkipReason::Unreadable(error.to_string());
                self.skipped(path, reason, mark);
                return Ok(());
            }
        };
        let Commit {
            author, committer, ..
        } = found.commit;
        let facts = Change::Commit { author, committer };
        self.document((path, mark, static_rank), &found.message, &facts)?;
        let mut back = 1;
        for file in found.files {
            back += u32::from(self.file(file, back, mark, static_rank)?);
        }
        Ok(())
    }

    fn file(
        &mut self,
        file: ChangedFile,
        back: u32,
        mark: &Mark,
        static_rank: f32,
    ) -> io::Result<bool> {
        let compared = match corpus::check_length(&file.path) {
            Ok(()) => self.repository.hunks(&file, self.cache),
            Err(reason) => Err(Unchanged::Unreadable(reason)),
        };
        match compared {
            Ok(found) => {
                let facts = Change::File(FileChange {
                    back,
                    former: file.former.unwrap_or_default(),
                    hunks: found.hunks,
                });
                self.document((file.path, mark, static_rank), &found.text, &facts)?;
                Ok(true)
            }
            Err(reason) => {
                self.skipped(file.path, skip_reason(reason), mark);
                Ok(false)
            }
        }
    }

    fn document(
        &mut self,
        (path, mark, static_rank): (Vec<u8>, &Mark, f32),
        text: &[u8],
        facts: &Change,
    ) -> io::Result<()> {
        self.builder.write_all(text)?;
        let salt = salt(self.package, mark.object, &path);
        self.builder.finish_change(facts.encode(), &salt)?;
        let name = DocumentName {
            path,
            static_rank,
            encoding: None,
            language: None,
        };
        self.entries
            .push(SegmentEntry::Document(name, mark.clone()));
        Ok(())
    }

    fn skipped(&mut self, path: Vec<u8>, reason: SkipReason, mark: &Mark) {
        let skipped = SkippedEntry {
            mark: mark.clone(),
            ..SkippedEntry::from(Skipped { path, reason })
        };
        self.entries.push(SegmentEntry::Skipped(skipped));
    }
}

pub(super) fn salt(package: &[u8], commit: ObjectId, path: &[u8]) -> Vec<u8> {
    [package, b"\0", commit.as_bytes(), path].concat()
}

fn skip_reason(reason: Unchanged) -> SkipReason {
    match reason {
        Unchanged::Binary => SkipReason::Binary,
        Unchanged::TooLarge(bytes) => SkipReason::TooLarge(format!(
            "{bytes} bytes, more than half of {} (CHANGE_BYTES_MAX)",
            git::CHANGE_BYTES_MAX
        )),
        Unchanged::Unreadable(error) => SkipReason::Unreadable(error),
    }
}
