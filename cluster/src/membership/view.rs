//! What becomes of the map of nodes when a source lists them.
//!
//! Nodes join at once. One that a list lacks stays in the map, *absent*, for [`Absence::max`]: a frontend notices by itself
//! whether it answers. After that it is removed, unless the map is *frozen*:
//! - more than half of the nodes are absent, which says more about the source than about them, or
//! - without the node a shard would have no replica, or the map no node.
//!
//! A node that was draining when it was last listed is removed at once, if its shards have other replicas. A frozen map
//! thaws when the nodes come back; those that do not are absent from then on. An operator who wants them gone starts the
//! process with a view that accepts the first list.
//!
//! **Invariant**: whatever the source says, no node that did not announce it leaves within that time, and none with
//! the last replica of a shard ever does. There is no clock, file or socket in here.

use super::{Member, NODES_MAX};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

/// How long frontends keep a node that is absent.
pub const ABSENT_MAX: Duration = Duration::from_secs(60);

/// When a node that is absent is removed.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    /// How long it may be absent.
    pub max: Duration,
    /// Whether one that has said that it leaves is removed at once.
    pub ends_if_draining: bool,
}

impl Default for Absence {
    /// That of frontends.
    fn default() -> Self {
        Absence {
            max: ABSENT_MAX,
            ends_if_draining: true,
        }
    }
}

/// What the process knows of the shards that nodes have.
pub trait Holdings {
    /// Whether a shard would have no replica without these nodes.
    fn would_lose(&self, nodes: &BTreeSet<&str>) -> bool;
}

/// Nobody knows which node has which shard.
#[derive(Clone, Copy, Debug)]
pub struct NoHoldings;

impl Holdings for NoHoldings {
    fn would_lose(&self, _: &BTreeSet<&str>) -> bool {
        false
    }
}

/// Why nodes that are absent are not removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frozen {
    /// More than half of the nodes vanished.
    MostVanished {
        /// Nodes that are absent.
        absent: usize,
        /// Nodes of the map.
        nodes: usize,
    },
    /// These absent nodes have the last replica of a shard, or are the last nodes.
    LastReplicas(Vec<String>),
}

impl fmt::Display for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frozen::MostVanished { absent, nodes } => {
                write!(f, "{absent} of {nodes} nodes vanished")
            }
            Frozen::LastReplicas(nodes) => {
                write!(
                    f,
                    "shards would have no replica without {}",
                    nodes.join(", ")
                )
            }
        }
    }
}

/// The nodes that a process goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMap {
    /// Ascending by name, with those that are absent.
    pub members: Vec<Member>,
    /// The names of those that the last list lacked.
    pub absent: BTreeSet<String>,
    /// Why none is removed.
    pub frozen: Option<Frozen>,
    /// Whether a source has listed nodes since the process began.
    pub is_confirmed: bool,
}

/// A list that cannot be believed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ListError {
    /// It is too long.
    #[error("{0} nodes are more than {NODES_MAX}")]
    TooMany(usize),
}

/// The state machine.
#[derive(Debug)]
pub struct View {
    known: BTreeMap<String, Known>,
    frozen: Option<Frozen>,
    is_confirmed: bool,
    /// Whether the next list that is not empty replaces the map.
    accepts: bool,
    absence: Absence,
}

#[derive(Debug)]
struct Known {
    member: Member,
    absent_since: Option<Instant>,
}

impl Known {
    /// Whether it may be removed: it was away for long enough, or has said that it leaves.
    fn is_gone(&self, now: Instant, absence: Absence) -> bool {
        let has_left = absence.ends_if_draining && self.member.draining;
        self.absent_since
            .is_some_and(|since| has_left || now.saturating_duration_since(since) >= absence.max)
    }
}

impl View {
    /// A view that begins with the map of an earlier process. With `accepts` the first list that is not empty replaces
    /// it.
    pub fn new(kept: Vec<Member>, accepts: bool, absence: Absence) -> View {
        let known = |member: Member| {
            let absent_since = None;
            (
                member.name.clone(),
                Known {
                    member,
                    absent_since,
                },
            )
        };
        View {
            known: kept.into_iter().take(NODES_MAX).map(known).collect(),
            frozen: None,
            is_confirmed: false,
            accepts,
            absence,
        }
    }

    /// Takes a whole list of the source. Members that are malformed were left out.
    pub fn on_list(
        &mut self,
        list: Vec<Member>,
        now: Instant,
        holdings: &dyn Holdings,
    ) -> Result<(), ListError> {
        if list.len() > NODES_MAX {
            return Err(ListError::TooMany(list.len()));
        }
        if self.accepts && !list.is_empty() {
            self.accepts = false;
            self.known.clear();
        }
        self.is_confirmed |= !list.is_empty();
        let mut listed: BTreeMap<String, Member> = BTreeMap::new();
        for member in list {
            // Of two nodes with one name the first is taken.
            listed.entry(member.name.clone()).or_insert(member);
        }
        for (name, known) in &mut self.known {
            if !listed.contains_key(name) {
                known.absent_since.get_or_insert(now);
            }
        }
        for (name, member) in listed {
            // While absent nodes are kept, there may be more than a list may have.
            if self.known.len() < NODES_MAX || self.known.contains_key(&name) {
                let absent_since = None;
                self.known.insert(
                    name,
                    Known {
                        member,
                        absent_since,
                    },
                );
            }
        }
        self.settle(now, holdings);
        Ok(())
    }

    /// Takes the time.
    pub fn on_time(&mut self, now: Instant, holdings: &dyn Holdings) {
        self.settle(now, holdings);
    }

    /// The map.
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

    /// Removes nodes that are gone, or freezes.
    fn settle(&mut self, now: Instant, holdings: &dyn Holdings) {
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
            self.absent_from(now);
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
            if without.len() == self.known.len() || holdings.would_lose(&without) {
                without.remove(&**name);
                kept.push(name.clone());
            }
        }
        for name in without {
            self.known.remove(name);
        }
        self.frozen = (!kept.is_empty()).then_some(Frozen::LastReplicas(kept));
    }

    /// Counts the time of those that are absent from now on.
    fn absent_from(&mut self, now: Instant) {
        let known = self.known.values_mut();
        for known in known.filter(|known| known.absent_since.is_some()) {
            known.absent_since = Some(now);
        }
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
