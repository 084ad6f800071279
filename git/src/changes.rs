//! Files that differ between two commits, by path, with renames.
//!
//! The list is that of `git diff --name-status -M`, but files are renamed once.

use crate::error::Result;
use crate::objects::Objects;
use crate::renames::{self, Entry, Pair};
use gix::ObjectId;
use gix::objs::tree::EntryKind;
use schema::message::{Change, ChangeList};
use std::collections::BTreeMap;

/// Compared tree entries. Beyond it the list is marked incomplete.
const ENTRIES_MAX: usize = 200_000;

const DEPTH_MAX: usize = 128;

/// Differences among which renames are found.
const PAIRS_MAX: usize = 20_000;

/// Lists files at or below `path`. Without `since`, the first parent is compared.
pub(crate) fn changes(
    objects: &Objects<'_>,
    (since, commit): (Option<&gix::Object<'_>>, &gix::Object<'_>),
    path: &[&[u8]],
    count_max: usize,
) -> Result<ChangeList> {
    let parent = match (since, objects.parents(commit).first()) {
        (None, Some(parent)) => Some(objects.parent(commit, *parent)?),
        _ => None,
    };
    let since = since.or(parent.as_ref());
    let before = since.map(|since| objects.tree(since)).transpose()?;
    let after = objects.tree(commit)?;
    let mut comparison = Comparison {
        objects,
        entries: 0,
        found: Vec::new(),
        more: false,
    };
    comparison.below((before, after), path)?;
    let path = path.join(&b'/');
    let mut changes: Vec<Change> = renames::joined(objects, comparison.found)
        .into_iter()
        .filter(|pair| {
            let was = pair.was.as_ref();
            is_within(&pair.path, &path) || was.is_some_and(|was| is_within(was, &path))
        })
        .map(Pair::change)
        .collect();
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    let more = comparison.more || changes.len() > count_max;
    changes.truncate(count_max);
    Ok(ChangeList {
        commit: commit.id.to_string(),
        since: since.map_or(String::new(), |since| since.id.to_string()),
        changes,
        more,
    })
}

fn is_within(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}

struct Comparison<'o, 'r> {
    objects: &'o Objects<'r>,
    entries: usize,
    found: Vec<Pair>,
    more: bool,
}

impl Comparison<'_, '_> {
    /// A file in both trees is compared alone. Another may be renamed, so all are compared.
    fn below(
        &mut self,
        (before, after): (Option<ObjectId>, ObjectId),
        path: &[&[u8]],
    ) -> Result<()> {
        if let [directory @ .., name] = path {
            let (old, new) = (
                self.at(before, directory)?,
                self.at(Some(after), directory)?,
            );
            let child = |tree: Option<ObjectId>| match tree {
                None => Ok(None),
                Some(tree) => self.objects.child(tree, name),
            };
            let pair = (child(old)?, child(new)?);
            let is_file = |entry: Option<Entry>| entry.is_some_and(|(mode, _)| !mode.is_tree());
            if is_file(pair.0) && is_file(pair.1) {
                return match pair.0 == pair.1 {
                    true => Ok(()),
                    false => self.entry(pair, &mut path.join(&b'/'), 0),
                };
            }
        }
        self.directory((before, Some(after)), &mut Vec::new(), 0)
    }

    fn at(&self, tree: Option<ObjectId>, path: &[&[u8]]) -> Result<Option<ObjectId>> {
        let Some(tree) = tree else { return Ok(None) };
        let found = self.objects.entry(tree, path)?;
        let is_tree = |mode| mode == 0 || mode == EntryKind::Tree as u16;
        Ok(found.filter(|(mode, _)| is_tree(*mode)).map(|(_, id)| id))
    }

    fn directory(
        &mut self,
        (before, after): (Option<ObjectId>, Option<ObjectId>),
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if before == after || self.more {
            return Ok(());
        }
        if self.entries > ENTRIES_MAX || depth > DEPTH_MAX {
            self.more = true;
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
        let (old, new) = (file(before), file(after));
        if old.is_some() || new.is_some() {
            if self.found.len() >= PAIRS_MAX {
                self.more = true;
                return Ok(());
            }
            self.found.push(Pair {
                path: path.clone(),
                was: None,
                before: old,
                after: new,
            });
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
