//! Reads commits, tags, trees and histories of one repository.
//!
//! **Invariant:** a look-up reads a bounded number of bounded objects. Replace refs are followed
//! once (by gix). As in git, grafts and shallow boundaries change the parents of navigation.

use crate::error::{Result, refused, unreadable};
use crate::expression::Peel;
use gix::ObjectId;
use gix::objs::tree::EntryMode;
use gix::objs::{CommitRefIter, Kind, TagRefIter, TreeRefIter};
use std::cell::Cell;
use std::collections::HashMap;

/// `HEAD~100000000` of a longer history is refused.
const READS_MAX: u64 = 1_000_000;

const TAG_CHAIN_MAX: usize = 64;

/// Replaced parents of commits, from `info/grafts`.
pub(crate) type Grafts = HashMap<ObjectId, Vec<ObjectId>>;

pub(crate) struct Objects<'r> {
    repo: &'r gix::Repository,
    grafts: &'r Grafts,
    shallow: Option<gix::shallow::Commits>,
    reads: Cell<u64>,
}

impl<'r> Objects<'r> {
    pub(crate) fn new(repo: &'r gix::Repository, grafts: &'r Grafts) -> Result<Objects<'r>> {
        let damaged = |_| unreadable!("the file `shallow` of the repository is damaged");
        let shallow = repo.shallow_commits().map_err(damaged)?;
        Ok(Objects {
            repo,
            grafts,
            shallow,
            reads: Cell::new(0),
        })
    }

    pub(crate) fn find(&self, id: ObjectId) -> Result<Option<gix::Object<'r>>> {
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() > READS_MAX {
            return Err(refused!(
                "the answer is more than {READS_MAX} commits away: ask from a nearer one"
            ));
        }
        self.repo.try_find_object(id).map_err(|error| {
            let reason = first_line(&error);
            unreadable!("object {id} cannot be read ({reason}): run git fsck")
        })
    }

    /// Reads an object named by another or a reference.
    pub(crate) fn get(&self, id: ObjectId, named_by: &str) -> Result<gix::Object<'r>> {
        self.find(id)?.ok_or_else(|| {
            unreadable!(
                "{named_by} names object {id}, which the repository does not have: run git fsck"
            )
        })
    }

    /// Follows tags, and commits to trees; `None` if `peel` is never reached.
    pub(crate) fn peel(
        &self,
        object: gix::Object<'r>,
        peel: Peel,
    ) -> Result<Option<gix::Object<'r>>> {
        let mut object = object;
        for _ in 0..TAG_CHAIN_MAX {
            let is_there = match peel {
                Peel::Object => true,
                Peel::Untagged => object.kind != Kind::Tag,
                Peel::Commit => object.kind == Kind::Commit,
                Peel::Tag => object.kind == Kind::Tag,
                Peel::Tree => object.kind == Kind::Tree,
                Peel::Blob => object.kind == Kind::Blob,
            };
            if is_there {
                return Ok(Some(object));
            }
            let Some(next) = self.behind(&object, peel)? else {
                return Ok(None);
            };
            object = self.get(next, &format!("{} {}", object.kind, object.id))?;
        }
        let id = object.id;
        Err(unreadable!(
            "tag {id} is one of more than {TAG_CHAIN_MAX} that lead to each other"
        ))
    }

    fn behind(&self, object: &gix::Object<'r>, peel: Peel) -> Result<Option<ObjectId>> {
        let hash = object.id.kind();
        let next = match object.kind {
            Kind::Tag => TagRefIter::from_bytes(&object.data, hash).target_id(),
            Kind::Commit if peel != Peel::Commit => {
                CommitRefIter::from_bytes(&object.data, hash).tree_id()
            }
            _ => return Ok(None),
        };
        let damaged = |_| unreadable!("{} {} is damaged: run git fsck", object.kind, object.id);
        next.map(Some).map_err(damaged)
    }

    /// Peels to a commit; `None` for other objects.
    pub(crate) fn commit(&self, id: ObjectId) -> Result<Option<gix::Object<'r>>> {
        match self.find(id)? {
            Some(object) => self.peel(object, Peel::Commit),
            None => Ok(None),
        }
    }

    pub(crate) fn parents(&self, commit: &gix::Object<'r>) -> Vec<ObjectId> {
        let is_boundary = (self.shallow.as_ref())
            .is_some_and(|commits| commits.iter().any(|known| *known == commit.id));
        if is_boundary {
            return Vec::new();
        }
        if let Some(parents) = self.grafts.get(&commit.id) {
            return parents.clone();
        }
        let decoded = CommitRefIter::from_bytes(&commit.data, commit.id.kind());
        decoded.parent_ids().collect()
    }

    pub(crate) fn parent(&self, commit: &gix::Object<'r>, id: ObjectId) -> Result<gix::Object<'r>> {
        self.get(id, &format!("commit {}", commit.id))
    }

    pub(crate) fn entry(&self, tree: ObjectId, path: &[&[u8]]) -> Result<Option<(u16, ObjectId)>> {
        let mut id = tree;
        for (depth, name) in path.iter().enumerate() {
            match self.child(id, name)? {
                None => return Ok(None),
                Some((mode, entry)) if depth + 1 == path.len() => {
                    return Ok(Some((mode.kind() as u16, entry)));
                }
                Some((mode, _)) if !mode.is_tree() => return Ok(None),
                Some((_, entry)) => id = entry,
            }
        }
        Ok(Some((0, id)))
    }

    pub(crate) fn child(
        &self,
        tree: ObjectId,
        name: &[u8],
    ) -> Result<Option<(EntryMode, ObjectId)>> {
        let mut found = None;
        self.children(tree, |child, mode, id| {
            if child == name {
                found = Some((mode, id));
            }
            found.is_none()
        })?;
        Ok(found)
    }

    /// Stops once `take` returns false.
    pub(crate) fn children(
        &self,
        tree: ObjectId,
        mut take: impl FnMut(&[u8], EntryMode, ObjectId) -> bool,
    ) -> Result<()> {
        let object = self.get(tree, "a tree")?;
        for entry in TreeRefIter::from_bytes(&object.data, object.id.kind()) {
            let damaged = |_| unreadable!("tree {tree} is damaged: run git fsck");
            let entry = entry.map_err(damaged)?;
            if !take(entry.filename, entry.mode, entry.oid.to_owned()) {
                break;
            }
        }
        Ok(())
    }

    /// Bytes of an object; `None` if its header is unreadable.
    pub(crate) fn size(&self, id: ObjectId) -> Option<u64> {
        let header = self.repo.try_find_header(id).ok().flatten();
        header.map(|header| header.size())
    }

    pub(crate) fn text(&self, id: ObjectId, bytes_max: u64) -> Result<Option<Vec<u8>>> {
        if self.size(id).is_some_and(|size| size > bytes_max) {
            return Ok(None);
        }
        let object = self.get(id, "a tree")?;
        if object.kind != Kind::Blob {
            let kind = object.kind;
            return Err(unreadable!(
                "a tree names {kind} {id} as a file: run git fsck"
            ));
        }
        Ok(Some(object.detach().data))
    }

    pub(crate) fn tree(&self, commit: &gix::Object<'r>) -> Result<ObjectId> {
        let tree = self.behind(commit, Peel::Tree)?;
        tree.ok_or_else(|| unreadable!("{} has no tree", commit.id))
    }
}

/// First line of a gix error. Later ones can repeat bytes of the file.
fn first_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.chars().take(200).collect()
}
