//! Lists the files of several commits: each path and object once, with the set of its commits.
//!
//! Directories at one path are read together, and shared ones once, so twenty tags cost their
//! differences. **Invariant:** trees are walked without recursion, and repeating trees end at a
//! bound. Unreadable directories are listed as such.

use crate::error::{LookupError, Result, refused, unreadable};
use crate::repository::Repository;
use crate::tree::{Hazard, TreeEntryKind, hazard};
use gix::ObjectId;
use gix::objs::tree::EntryKind;
use gix::objs::{Kind, TreeRefIter};
use std::collections::HashMap;

/// About 500 MB of memory. A small tree can repeat to any number.
const FILES_MAX: usize = 4_000_000;

const DIRECTORIES_MAX: u64 = 20_000_000;

const DEPTH_MAX: usize = 100_000;

const PATH_BYTES_MAX: usize = 1 << 20;

/// Entries of open directories, from the root down.
const OPEN_ENTRIES_MAX: usize = 4_000_000;

#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Files in directory order, with links and submodules.
    pub files: Vec<SourceFile>,
    pub damaged: Vec<DamagedDirectory>,
    /// Commit numbers, ascending, in the order given.
    pub sets: Vec<Vec<u32>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// With slashes.
    pub path: Vec<u8>,
    /// Kind; executables count as files.
    pub kind: TreeEntryKind,
    /// Blob id; a submodule's commit.
    pub id: ObjectId,
    /// Unusual property of the path.
    pub hazard: Option<Hazard>,
    /// Number of its set of commits.
    pub revisions: u32,
}

/// Directory with unknown files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedDirectory {
    /// With slashes.
    pub path: Vec<u8>,
    pub id: ObjectId,
    pub reason: String,
    /// Number of its set of commits.
    pub revisions: u32,
}

impl SourceFile {
    pub(crate) fn is_named(&self, name: &[u8]) -> bool {
        self.kind == TreeEntryKind::File
            && self.path.rsplit(|byte| *byte == b'/').next() == Some(name)
    }
}

pub(crate) fn list(repository: &Repository, trees: &[String]) -> Result<Files> {
    let mut walk = Walk {
        repository,
        sets: SetPool::default(),
        found: Files::default(),
        open: Vec::new(),
        path: Vec::new(),
        open_entries: 0,
        directories: 0,
    };
    let mut roots: Vec<(ObjectId, Vec<u32>)> = Vec::new();
    let mut places: HashMap<ObjectId, usize> = HashMap::new();
    for (number, tree) in (0..).zip(trees) {
        let id = ObjectId::from_hex(tree.as_bytes());
        let id = id.map_err(|_| refused!("{tree:?} is no id of a tree"))?;
        let place = *places.entry(id).or_insert(roots.len());
        if place == roots.len() {
            roots.push((id, Vec::new()));
        }
        roots[place].1.push(number);
    }
    let roots = roots
        .into_iter()
        .map(|(id, set)| (id, walk.sets.number(set)));
    let roots: Vec<_> = roots.collect();
    for (id, _) in &roots {
        walk.read(*id)?;
    }
    walk.enter(roots)?;
    while walk.step()? {}
    let mut found = walk.found;
    found.sets = walk.sets.sets;
    Ok(found)
}

/// Tree, and the set of its commits.
type Place = (ObjectId, u32);

struct Entry {
    name: Vec<u8>,
    kind: EntryKind,
    id: ObjectId,
    revisions: u32,
}

struct Open {
    /// Ascending by name, taken from the end.
    entries: Vec<Entry>,
    /// Bytes of its path, with the slash.
    prefix: usize,
    count: usize,
}

struct Walk<'r> {
    repository: &'r Repository,
    sets: SetPool,
    found: Files,
    open: Vec<Open>,
    path: Vec<u8>,
    open_entries: usize,
    directories: u64,
}

impl Walk<'_> {
    /// False at the end.
    fn step(&mut self) -> Result<bool> {
        let Some(open) = self.open.last_mut() else {
            return Ok(false);
        };
        self.path.truncate(open.prefix);
        let Some(entry) = open.entries.pop() else {
            self.open_entries -= open.count;
            self.open.pop();
            return Ok(true);
        };
        self.path.extend_from_slice(&entry.name);
        let kind = match entry.kind {
            EntryKind::Tree => {
                // Trees of one name are adjacent.
                let mut places = vec![(entry.id, entry.revisions)];
                while let Some(next) = open
                    .entries
                    .pop_if(|next| next.kind == EntryKind::Tree && next.name == entry.name)
                {
                    places.push((next.id, next.revisions));
                }
                self.path.push(b'/');
                return self.enter(places).map(|()| true);
            }
            EntryKind::Blob | EntryKind::BlobExecutable => TreeEntryKind::File,
            EntryKind::Link => TreeEntryKind::Link,
            EntryKind::Commit => TreeEntryKind::Submodule,
        };
        if self.found.files.len() >= FILES_MAX {
            return Err(refused!(
                "the chosen revisions have more than {FILES_MAX} different files: choose fewer"
            ));
        }
        self.found.files.push(SourceFile {
            hazard: hazard(&self.path),
            path: self.path.clone(),
            kind,
            id: entry.id,
            revisions: entry.revisions,
        });
        Ok(true)
    }

    fn enter(&mut self, places: Vec<Place>) -> Result<()> {
        let mut trees = Vec::with_capacity(places.len());
        for (id, revisions) in places {
            match self.read(id) {
                Ok(entries) => trees.push((entries, revisions)),
                Err(LookupError::Unreadable { reason }) => {
                    let path = self.path.strip_suffix(b"/").unwrap_or_default().to_vec();
                    self.found.damaged.push(DamagedDirectory {
                        path,
                        id,
                        reason,
                        revisions,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        let entries = self.sets.join(trees);
        self.open_entries += entries.len();
        let is_too_deep = self.open.len() >= DEPTH_MAX || self.path.len() > PATH_BYTES_MAX;
        if is_too_deep || self.open_entries > OPEN_ENTRIES_MAX {
            return Err(refused!(
                "the files lie too deep: more than {DEPTH_MAX} directories in each other, a path of more \
                 than {PATH_BYTES_MAX} bytes, or more than {OPEN_ENTRIES_MAX} entries in directories above"
            ));
        }
        self.open.push(Open {
            count: entries.len(),
            entries,
            prefix: self.path.len(),
        });
        Ok(())
    }

    fn read(&mut self, tree: ObjectId) -> Result<Vec<Entry>> {
        self.directories += 1;
        if self.directories > DIRECTORIES_MAX {
            return Err(refused!(
                "the chosen revisions have more than {DIRECTORIES_MAX} different directories: choose fewer"
            ));
        }
        self.repository.look_up(|session| {
            let object = session.objects.get(tree, "a commit or a tree")?;
            let damaged = || unreadable!("tree {tree} is damaged: run git fsck");
            if object.kind != Kind::Tree {
                return Err(damaged());
            }
            let entries = TreeRefIter::from_bytes(&object.data, tree.kind()).map(|entry| {
                let entry = entry.map_err(|_| damaged())?;
                let kind = match entry.mode.kind() {
                    EntryKind::BlobExecutable => EntryKind::Blob,
                    kind => kind,
                };
                Ok(Entry {
                    name: entry.filename.to_vec(),
                    kind,
                    id: entry.oid.to_owned(),
                    revisions: 0,
                })
            });
            entries.collect()
        })
    }
}

#[derive(Default)]
struct SetPool {
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl SetPool {
    fn number(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }

    /// Joins entries of trees at one path: descending, equal ones once.
    fn join(&mut self, mut trees: Vec<(Vec<Entry>, u32)>) -> Vec<Entry> {
        if trees.len() == 1
            && let Some((mut entries, revisions)) = trees.pop()
        {
            for entry in &mut entries {
                entry.revisions = revisions;
            }
            entries.sort_by(|a, b| entry_order(b, a));
            entries.dedup_by(|a, b| entry_order(a, b).is_eq());
            return entries;
        }
        let of_tree: Vec<u32> = trees.iter().map(|(_, revisions)| *revisions).collect();
        // `revisions` is the tree's number until equal entries are joined.
        let mut all = Vec::with_capacity(trees.iter().map(|(entries, _)| entries.len()).sum());
        for (number, (entries, _)) in (0..).zip(trees) {
            all.extend(entries.into_iter().map(|entry| Entry {
                revisions: number,
                ..entry
            }));
        }
        all.sort_by(|a, b| entry_order(b, a).then(a.revisions.cmp(&b.revisions)));
        let mut unions: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut joined: Vec<Entry> = Vec::new();
        let mut rest = all.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut members = vec![first.revisions];
            while let Some(next) = rest.next_if(|next| entry_order(next, &first).is_eq()) {
                if members.last() != Some(&next.revisions) {
                    members.push(next.revisions);
                }
            }
            let known = unions.get(&members).copied();
            let revisions = known.unwrap_or_else(|| {
                let sets = members.iter().map(|&tree| of_tree[tree as usize]);
                let number = self.union(sets);
                unions.insert(members, number);
                number
            });
            joined.push(Entry { revisions, ..first });
        }
        joined
    }

    fn union(&mut self, sets: impl Iterator<Item = u32>) -> u32 {
        let mut union: Vec<u32> = Vec::new();
        for set in sets {
            union.extend_from_slice(&self.sets[set as usize]);
        }
        union.sort_unstable();
        union.dedup();
        self.number(union)
    }
}

fn entry_order(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    let key = |entry: &Entry| (entry.kind as u16, entry.id);
    a.name.cmp(&b.name).then_with(|| key(a).cmp(&key(b)))
}
