//! Derives the map of nodes from lists. No clock, file or socket.
//!
//! Nodes join at once. An unlisted node stays, *absent*, for [`Absence::max`]: frontends notice by
//! themselves if it answers. Then it is removed, unless the map is *frozen*:
//! - more than half of the nodes are absent, so the source is probably wrong, or
//! - a shard would have no replica, or the map no node.
//!
//! A node last listed as draining is removed at once if its shards have other replicas. A frozen
//! map thaws when nodes come back; the absence of others restarts. An operator drops them with a
//! view that accepts the first list.
//!
//! **Invariant**: whatever is listed, no node leaves unannounced within that time, and none with
//! the last replica of a shard ever.

use super::{Member, NODES_MAX};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Absence that frontends tolerate.
pub const ABSENT_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub struct Absence {
    pub max: Duration,
    /// Removes announced leavers at once.
    pub ends_if_draining: bool,
}

impl Default for Absence {
    fn default() -> Self {
        Absence {
            max: ABSENT_MAX,
            ends_if_draining: true,
        }
    }
}

/// Tests if a shard would have no replica without these nodes.
pub type WouldLose<'a> = &'a dyn Fn(&BTreeSet<&str>) -> bool;

#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Frozen {
    #[error("{absent} of {nodes} nodes vanished")]
    MostVanished { absent: usize, nodes: usize },
    /// Nodes with the last replica of a shard, or the last ones.
    #[error("shards would have no replica without {}", .0.join(", "))]
    LastReplicas(Vec<String>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMap {
    /// By name, including absent ones.
    pub members: Vec<Member>,
    /// Names not in the last list.
    pub absent: BTreeSet<String>,
    pub frozen: Option<Frozen>,
    /// Nodes were listed since the start.
    pub is_confirmed: bool,
}

/// A list is too long to be plausible.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0} nodes are more than {NODES_MAX}")]
pub struct TooManyNodes(usize);

#[derive(Debug)]
pub struct View {
    known: BTreeMap<String, Known>,
    frozen: Option<Frozen>,
    is_confirmed: bool,
    /// The next nonempty list replaces the map.
    accepts: bool,
    absence: Absence,
}

#[derive(Debug)]
struct Known {
    member: Member,
    absent_since: Option<Instant>,
}

impl Known {
    fn listed(member: Member) -> Known {
        Known {
            member,
            absent_since: None,
        }
    }

    /// Long absent, or an announced leaver.
    fn is_gone(&self, now: Instant, absence: Absence) -> bool {
        let has_left = absence.ends_if_draining && self.member.draining;
        self.absent_since
            .is_some_and(|since| has_left || now.saturating_duration_since(since) >= absence.max)
    }
}

impl View {
    /// `accepts`: the first nonempty list replaces the map.
    pub fn new(kept: Vec<Member>, accepts: bool, absence: Absence) -> View {
        let known = |member: Member| (member.name.clone(), Known::listed(member));
        View {
            known: kept.into_iter().take(NODES_MAX).map(known).collect(),
            frozen: None,
            is_confirmed: false,
            accepts,
            absence,
        }
    }

    pub fn on_list(
        &mut self,
        list: Vec<Member>,
        now: Instant,
        would_lose: WouldLose<'_>,
    ) -> Result<(), TooManyNodes> {
        if list.len() > NODES_MAX {
            return Err(TooManyNodes(list.len()));
        }
        if self.accepts && !list.is_empty() {
            self.accepts = false;
            self.known.clear();
        }
        self.is_confirmed |= !list.is_empty();
        let mut listed: BTreeMap<String, Member> = BTreeMap::new();
        for member in list {
            // The first of one name counts.
            listed.entry(member.name.clone()).or_insert(member);
        }
        for (name, known) in &mut self.known {
            if !listed.contains_key(name) {
                known.absent_since.get_or_insert(now);
            }
        }
        for (name, member) in listed {
            // Absent nodes count too.
            if self.known.len() < NODES_MAX || self.known.contains_key(&name) {
                self.known.insert(name, Known::listed(member));
            }
        }
        self.on_time(now, would_lose);
        Ok(())
    }

    pub fn map(&self) -> NodeMap {
        let known = self.known.values();
        let absent = known.clone().filter(|known| known.absent_since.is_some());
        NodeMap {
            members: known.map(|known| known.member.clone()).collect(),
            absent: absent.map(|known| known.member.name.clone()).collect(),
            frozen: self.frozen.clone(),
            is_confirmed: self.is_confirmed,
        }
    }

    pub fn on_time(&mut self, now: Instant, would_lose: WouldLose<'_>) {
        let vanished = self
            .known
            .values()
            .filter(|it| it.absent_since.is_some() && !it.member.draining);
        let (absent, nodes) = (vanished.count(), self.known.len());
        if absent * 2 > nodes {
            self.frozen = Some(Frozen::MostVanished { absent, nodes });
            return;
        }
        if let Some(Frozen::MostVanished { .. }) = self.frozen.take() {
            // Their absence restarts.
            let since = self.known.values_mut().map(|known| &mut known.absent_since);
            since.for_each(|since| *since = since.map(|_| now));
        }
        let gone = self
            .known
            .values()
            .filter(|known| known.is_gone(now, self.absence));
        let gone: Vec<String> = gone.map(|known| known.member.name.clone()).collect();
        let mut kept = Vec::new();
        let mut without: BTreeSet<&str> = BTreeSet::new();
        for name in &gone {
            without.insert(name);
            if without.len() == self.known.len() || would_lose(&without) {
                without.remove(&**name);
                kept.push(name.clone());
            }
        }
        for name in without {
            self.known.remove(name);
        }
        self.frozen = (!kept.is_empty()).then_some(Frozen::LastReplicas(kept));
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
