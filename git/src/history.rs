//! Walks commits from the youngest, as `git log`: by committer's time, then by order of discovery.

use crate::commit::committed_seconds;
use crate::error::{Result, unreadable};
use crate::objects::Objects;
use gix::ObjectId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Commits found, but not returned.
pub(crate) struct History<'o, 'r> {
    objects: &'o Objects<'r>,
    waiting: BinaryHeap<(i64, Reverse<u64>, ObjectId)>,
    seen: HashSet<ObjectId>,
    found: u64,
}

impl<'o, 'r> History<'o, 'r> {
    pub(crate) fn new(objects: &'o Objects<'r>) -> History<'o, 'r> {
        History {
            objects,
            waiting: BinaryHeap::new(),
            seen: HashSet::new(),
            found: 0,
        }
    }

    pub(crate) fn add(&mut self, id: ObjectId, named_by: &str) -> Result<()> {
        if !self.seen.insert(id) {
            return Ok(());
        }
        let object = self.objects.get(id, named_by)?;
        if object.kind != gix::objs::Kind::Commit {
            return Err(unreadable!(
                "{named_by} names {} {id} where a commit belongs: run git fsck",
                object.kind
            ));
        }
        let seconds = committed_seconds(&id, &object.data);
        self.waiting.push((seconds, Reverse(self.found), id));
        self.found += 1;
        Ok(())
    }

    /// Takes the youngest commit, without adding its parents.
    pub(crate) fn next(&mut self) -> Result<Option<gix::Object<'r>>> {
        let Some((_, _, id)) = self.waiting.pop() else {
            return Ok(None);
        };
        self.objects.get(id, "the history").map(Some)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }
}
