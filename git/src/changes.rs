//! Files that a commit changed against its first parent.
//!
//! Moves are removals and additions. The list is that of `git show --no-renames --name-status`, but
//! merges compare with the first parent.

use crate::error::Result;
use crate::objects::Objects;
use gix::ObjectId;
use gix::objs::tree::EntryMode;
use schema::message::{Change, ChangeKind, ChangeList};
use std::collections::BTreeMap;

/// Compared tree entries. Beyond it the list is marked incomplete.
const ENTRIES_MAX: usize = 200_000;

const DEPTH_MAX: usize = 128;

pub(crate) fn changes(
    objects: &Objects<'_>,
    commit: &gix::Object<'_>,
    count_max: usize,
) -> Result<ChangeList> {
    let before = match objects.parents(commit).first() {
        None => None,
        Some(parent) => Some(objects.tree(&objects.parent(commit, *parent)?)?),
    };
    let mut comparison = Comparison {
        objects,
        count_max,
        entries: 0,
        found: ChangeList {
            commit: commit.id.to_string(),
            ..ChangeList::default()
        },
    };
    let after = Some(objects.tree(commit)?);
    comparison.directory((before, after), &mut Vec::new(), 0)?;
    let mut found = comparison.found;
    found
        .changes
        .sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

type Entry = (EntryMode, ObjectId);

struct Comparison<'o, 'r> {
    objects: &'o Objects<'r>,
    count_max: usize,
    entries: usize,
    found: ChangeList,
}

impl Comparison<'_, '_> {
    fn directory(
        &mut self,
        (before, after): (Option<ObjectId>, Option<ObjectId>),
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if before == after || self.found.more {
            return Ok(());
        }
        if self.entries > ENTRIES_MAX || depth > DEPTH_MAX {
            self.found.more = true;
            return Ok(());
        }
        let (before, mut after) = (self.read(before)?, self.read(after)?);
        let mut pairs = BTreeMap::new();
        for (name, entry) in before {
            let other = after.remove(&name);
            if other != Some(entry) {
                pairs.insert(name, (Some(entry), other));
            }
        }
        pairs.extend(
            after
                .into_iter()
                .map(|(name, entry)| (name, (None, Some(entry)))),
        );
        let length = path.len();
        for (name, pair) in pairs {
            path.extend_from_slice(&name);
            self.entry(pair, path, depth)?;
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        (before, after): (Option<Entry>, Option<Entry>),
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        let tree = |entry: Option<Entry>| entry.filter(|(mode, _)| mode.is_tree()).map(|it| it.1);
        let file = |entry: Option<Entry>| entry.filter(|(mode, _)| !mode.is_tree());
        let kind = match (file(before), file(after)) {
            (None, None) => None,
            (Some(_), None) => Some(ChangeKind::Removed),
            (None, Some(_)) => Some(ChangeKind::Added),
            (Some(_), Some(_)) => Some(ChangeKind::Modified),
        };
        if let Some(kind) = kind {
            if self.found.changes.len() >= self.count_max {
                self.found.more = true;
                return Ok(());
            }
            let path = path.clone();
            self.found.changes.push(Change { path, kind });
        }
        let trees = (tree(before), tree(after));
        path.push(b'/');
        self.directory(trees, path, depth + 1)
    }

    fn read(&mut self, tree: Option<ObjectId>) -> Result<BTreeMap<Vec<u8>, Entry>> {
        let mut read = BTreeMap::new();
        if let Some(tree) = tree {
            self.objects.children(tree, |name, mode, id| {
                read.insert(name.to_vec(), (mode, id));
                true
            })?;
        }
        self.entries += read.len();
        Ok(read)
    }
}
