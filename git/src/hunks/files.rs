//! Files that a commit changed against all its parents, by ids alone.
//!
//! A directory or file that equals one parent's is no change of the commit: a merge has only what
//! it changed itself.

use crate::error::{Result, refused, unreadable};
use crate::objects::Objects;
use gix::ObjectId;
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use std::cmp::Ordering;

const ENTRIES_MAX: usize = 4_000_000;

const DEPTH_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) mode: EntryMode,
    pub(crate) id: ObjectId,
}

impl FileVersion {
    pub(crate) fn is_submodule(self) -> bool {
        self.mode.kind() == EntryKind::Commit
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: Vec<u8>,
    pub former: Option<Vec<u8>>,
    pub(crate) before: Vec<Option<FileVersion>>,
    pub(crate) after: Option<FileVersion>,
}

impl ChangedFile {
    pub(crate) fn only_before(&self) -> Option<FileVersion> {
        self.before.first().copied().flatten()
    }
}

pub(crate) fn changed(
    objects: &Objects<'_>,
    before: Vec<Option<ObjectId>>,
    after: ObjectId,
) -> Result<Vec<ChangedFile>> {
    let mut walk = Walk {
        objects,
        found: Vec::new(),
        entries: 0,
    };
    walk.directory(&before, Some(after), &mut Vec::new(), 0)?;
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.found)
}

struct Walk<'o, 'r> {
    objects: &'o Objects<'r>,
    found: Vec<ChangedFile>,
    entries: usize,
}

/// Name, and true for a directory. Trees are sorted by the name, with a slash behind a directory's.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key<'t>(&'t [u8], bool);

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let common = self.0.len().min(other.0.len());
        let rest = |key: &Self| key.0.get(common).copied().or(key.1.then_some(b'/'));
        let by_name = self.0[..common].cmp(&other.0[..common]);
        let by_name = by_name.then_with(|| rest(self).cmp(&rest(other)));
        by_name.then_with(|| (self.0.len(), self.1).cmp(&(other.0.len(), other.1)))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

type Entries<'t> = Vec<(Key<'t>, FileVersion)>;

fn find(entries: &Entries<'_>, key: Key<'_>) -> Option<FileVersion> {
    let at = entries.binary_search_by_key(&key, |(key, _)| *key).ok()?;
    Some(entries[at].1)
}

impl<'r> Walk<'_, 'r> {
    fn directory(
        &mut self,
        before: &[Option<ObjectId>],
        after: Option<ObjectId>,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if before.contains(&after) {
            return Ok(());
        }
        if depth > DEPTH_MAX {
            return Err(refused!(
                "more than {DEPTH_MAX} directories inside each other"
            ));
        }
        let trees = before.iter().chain([&after]).map(|tree| self.read(*tree));
        let trees: Vec<Option<gix::Object<'r>>> = trees.collect::<Result<_>>()?;
        let entries = trees.iter().map(|tree| self.entries(tree.as_ref()));
        let mut before: Vec<Entries<'_>> = entries.collect::<Result<_>>()?;
        let after = before.pop().unwrap_or_default();
        self.entries += after.len() + before.iter().map(Vec::len).sum::<usize>();
        if self.entries > ENTRIES_MAX {
            return Err(refused!("more than {ENTRIES_MAX} entries of directories"));
        }
        for key in differing(&before[0], &after) {
            let length = path.len();
            path.extend_from_slice(key.0);
            let versions: Vec<_> = before.iter().map(|entries| find(entries, key)).collect();
            self.entry(versions, find(&after, key), key, path, depth)?;
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        before: Vec<Option<FileVersion>>,
        after: Option<FileVersion>,
        key: Key<'_>,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<()> {
        if before.contains(&after) {
            return Ok(());
        }
        if !key.1 {
            self.found.push(ChangedFile {
                path: path.clone(),
                former: None,
                before,
                after,
            });
            return Ok(());
        }
        let trees: Vec<_> = before.iter().map(|it| it.map(|it| it.id)).collect();
        path.push(b'/');
        self.directory(&trees, after.map(|it| it.id), path, depth + 1)
    }

    fn read(&self, tree: Option<ObjectId>) -> Result<Option<gix::Object<'r>>> {
        tree.map(|tree| self.objects.get(tree, "a tree"))
            .transpose()
    }

    fn entries<'t>(&self, tree: Option<&'t gix::Object<'r>>) -> Result<Entries<'t>> {
        let Some(tree) = tree else {
            return Ok(Entries::new());
        };
        let entries = TreeRefIter::from_bytes(&tree.data, tree.id.kind()).map(|entry| {
            let entry =
                entry.map_err(|_| unreadable!("tree {} is damaged: run git fsck", tree.id))?;
            let version = FileVersion {
                mode: entry.mode,
                id: entry.oid.to_owned(),
            };
            Ok((Key(entry.filename, entry.mode.is_tree()), version))
        });
        let mut entries: Entries<'t> = entries.collect::<Result<_>>()?;
        // Damaged trees may be in no order.
        entries.sort_by_key(|(key, _)| *key);
        entries.dedup_by_key(|(key, _)| *key);
        Ok(entries)
    }
}

fn differing<'t>(before: &Entries<'t>, after: &Entries<'t>) -> Vec<Key<'t>> {
    let (mut left, mut right) = (before.iter().peekable(), after.iter().peekable());
    let mut found = Vec::new();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.0.cmp(&other.0),
        };
        let one = left.next_if(|_| order.is_le());
        let other = right.next_if(|_| order.is_ge());
        if one != other {
            found.extend(one.or(other).map(|(key, _)| *key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_trees() {
        let sorted = [
            Key(b"a", false),
            Key(b"a.c", false),
            Key(b"a", true),
            Key(b"a0", false),
            Key(b"b", true),
        ];
        assert!(sorted.is_sorted());
    }
}
