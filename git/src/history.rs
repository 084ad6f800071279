//! Walks commits from the youngest, as `git log`: by committer's time, then by order of discovery.
//! Counts them as `git rev-list --count old..new`: walks both histories together, until the rest is
//! old and older than all counted. A commit younger than its child, by a wrong clock, may raise the
//! number.

use crate::commit::committed_seconds;
use crate::error::{Result, unreadable};
use crate::objects::Objects;
use gix::ObjectId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

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

    /// Returns false if it was found before.
    pub(crate) fn add(&mut self, id: ObjectId, named_by: &str) -> Result<bool> {
        if !self.seen.insert(id) {
            return Ok(false);
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
        Ok(true)
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

pub(crate) fn count_between(
    objects: &Objects<'_>,
    old: ObjectId,
    new: ObjectId,
    count_max: u32,
) -> Result<u32> {
    let mut walk = Walk {
        objects,
        waiting: BinaryHeap::new(),
        reached: HashMap::new(),
        new_waiting: 0,
        new_passed: 0,
        oldest_new: i64::MAX,
    };
    walk.reach(old, true)?;
    walk.reach(new, false)?;
    while walk.new_passed < count_max && walk.goes_on() {
        walk.pass()?;
    }
    Ok(walk.new_passed)
}

struct Reached {
    /// Reachable from the old one.
    is_old: bool,
    is_passed: bool,
}

struct Walk<'o, 'r> {
    objects: &'o Objects<'r>,
    waiting: BinaryHeap<(i64, ObjectId)>,
    reached: HashMap<ObjectId, Reached>,
    /// Waiting and passed commits of the new history alone.
    new_waiting: u32,
    new_passed: u32,
    oldest_new: i64,
}

impl Walk<'_, '_> {
    /// True if a waiting commit can change the number.
    fn goes_on(&self) -> bool {
        let next = self.waiting.peek();
        next.is_some_and(|(seconds, _)| self.new_waiting > 0 || *seconds >= self.oldest_new)
    }

    fn pass(&mut self) -> Result<()> {
        let Some((seconds, id)) = self.waiting.pop() else {
            return Ok(());
        };
        let commit = self.reached.get_mut(&id).expect("it was reached");
        let is_old = commit.is_old;
        if !commit.is_passed && !is_old {
            self.new_waiting -= 1;
            self.new_passed += 1;
            self.oldest_new = self.oldest_new.min(seconds);
        }
        commit.is_passed = true;
        let object = self.objects.get(id, "the history")?;
        for parent in self.objects.parents(&object) {
            self.reach(parent, is_old)?;
        }
        Ok(())
    }

    fn reach(&mut self, id: ObjectId, is_old: bool) -> Result<()> {
        if let Some(commit) = self.reached.get_mut(&id) {
            if commit.is_old || !is_old {
                return Ok(());
            }
            commit.is_old = true;
            if !commit.is_passed {
                self.new_waiting -= 1;
                return Ok(());
            }
            // Its parents are old too.
            self.new_passed -= 1;
        } else {
            let is_passed = false;
            self.reached.insert(id, Reached { is_old, is_passed });
            self.new_waiting += u32::from(!is_old);
        }
        let object = self.objects.get(id, "the history")?;
        let seconds = committed_seconds(&id, &object.data);
        self.waiting.push((seconds, id));
        Ok(())
    }
}
