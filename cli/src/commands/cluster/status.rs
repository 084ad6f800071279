//! Computes `trawl cluster status` from status objects in the store and the node list.
//!
//! A status counts only while the node announces the same shards. Ages use the store's clock, so
//! skewed local clocks do not matter.

use super::ask::Answers;
use crate::placing::Placing;
use crate::units;
use ::cluster::membership::Member;
use ::store::{
    Generation, GenerationId, Group, NodeStatus, Objects, ServedShards, StoreError, groups,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

/// Nodes report every minute. Later, unqueried ones count as not serving.
const SILENT_MAX: Duration = Duration::from_secs(180);

/// Unlisted nodes are shown for this long.
const GONE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Serialize)]
pub(super) struct ClusterStatus {
    pub(super) store: String,
    pub(super) generation: u64,
    pub(super) published_seconds_ago: Option<u64>,
    pub(super) replicas: u8,
    pub(super) shards: u64,
    pub(super) bytes: u64,
    /// Sorted by zone and name, unlisted ones last.
    pub(super) nodes: Vec<NodeRow>,
    pub(super) zones: Vec<ZoneRow>,
    /// Number of shards by number of serving nodes.
    pub(super) shards_by_replicas: BTreeMap<u64, u64>,
    /// Shards with too few serving nodes.
    pub(super) under_replicated: u64,
    pub(super) under_replicated_bytes: u64,
    /// Assigned but not served, counted per node.
    pub(super) missing_shards: u64,
    pub(super) missing_bytes: u64,
    /// Served but not assigned, counted per node.
    pub(super) extra_shards: u64,
    pub(super) warnings: Vec<String>,
}

#[derive(Default, Serialize)]
pub(super) struct NodeRow {
    pub(super) node: String,
    pub(super) address: String,
    pub(super) zone: String,
    pub(super) weight: u32,
    pub(super) state: &'static str,
    /// Newest complete generation; `None` without a status.
    pub(super) generation: Option<u64>,
    /// Age of the first missing generation.
    pub(super) lag_seconds: Option<u64>,
    pub(super) shards: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) fetching_bytes: Option<u64>,
    pub(super) fetching_of_bytes: Option<u64>,
    pub(super) assigned_shards: u64,
    pub(super) assigned_bytes: u64,
    /// Assigned but not served.
    pub(super) missing_shards: u64,
    pub(super) missing_bytes: u64,
    /// Kept until the new owners serve them.
    pub(super) extra_shards: u64,
    pub(super) seconds_ago: Option<u64>,
    /// `None` if it answered or was not queried.
    pub(super) error: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ZoneRow {
    pub(super) zone: String,
    pub(super) nodes: u64,
    pub(super) shards: u64,
}

impl ClusterStatus {
    pub(super) fn read(
        objects: &Objects,
        members: &[Member],
        answers: &Answers,
    ) -> Result<ClusterStatus, StoreError> {
        let all = Shards::read(objects)?;
        let placing = Placing::new(members);
        let reader = Reader {
            assigned: all.placed(&placing, all.generation.replicas),
            // Read-only access has no clock of the store.
            now: objects.now().unwrap_or_else(|_| SystemTime::now()),
            written: ::store::written(objects)?,
            objects,
            all: &all,
            placing: &placing,
            answers,
        };
        let mut members: Vec<&Member> = members.iter().collect();
        members.sort_by(|a, b| (&a.zone, &a.name).cmp(&(&b.zone, &b.name)));
        let mut nodes = Vec::new();
        let mut held = Held::default();
        for member in &members {
            nodes.push(reader.node(member, &mut held)?);
        }
        let mut warnings = warnings(&members, &placing, all.generation.replicas);
        let lost = (nodes.iter()).filter_map(|node| Some((&node.node, node.error.as_ref()?)));
        warnings.extend(lost.map(|(node, error)| {
            format!("{node} does not answer, so its shards are not counted: {error}")
        }));
        for gone in reader.gone(&members)? {
            warnings.push(format!(
                "{} is not listed; it was seen {} ago with {}. Other nodes take over its shards when it has been away for as \
                 long as their --lost-after says",
                gone.node,
                units::age(gone.seconds_ago.unwrap_or(0)),
                units::plural(gone.shards.unwrap_or(0), "shard")
            ));
            nodes.push(gone);
        }
        Ok(reader.summary(nodes, &held, warnings))
    }

    pub(super) fn is_settled(&self) -> bool {
        let is_done = |node: &NodeRow| matches!(node.state, "ready" | "empty" | "gone");
        self.under_replicated == 0 && self.nodes.iter().all(is_done)
    }
}

#[derive(Default)]
struct Held {
    /// Number of serving nodes by group.
    nodes: BTreeMap<[u8; 32], u64>,
    /// Number of nodes, and served groups, by zone.
    zones: BTreeMap<String, (u64, BTreeSet<[u8; 32]>)>,
}

struct Reader<'a> {
    objects: &'a Objects,
    all: &'a Shards,
    placing: &'a Placing,
    assigned: BTreeMap<String, Vec<&'a Group>>,
    now: SystemTime,
    written: Vec<(GenerationId, SystemTime)>,
    answers: &'a Answers,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Belief {
    Believed,
    /// The node was not queried, and has no recent status.
    Silent,
    Down,
    /// The status is of another process, or about to change.
    Outdated,
}

impl Reader<'_> {
    fn belief(&self, node: &str, said: Option<&NodeStatus>, ago: Option<Duration>) -> Belief {
        match self.answers.get(node) {
            Some(Err(_)) => Belief::Down,
            Some(Ok(announced)) if said.is_some_and(|said| !announced.is_said(said)) => {
                Belief::Outdated
            }
            None if ago.is_some_and(|ago| ago > SILENT_MAX) => Belief::Silent,
            _ => Belief::Believed,
        }
    }

    fn ago(&self, when: SystemTime) -> Duration {
        self.now.duration_since(when).unwrap_or_default()
    }

    fn is_current(&self, said: &NodeStatus) -> bool {
        said.generation == self.all.generation.number && said.map == self.placing.hash()
    }

    fn served(&self, node: &str, said: &NodeStatus) -> Result<BTreeSet<[u8; 32]>, StoreError> {
        let served = ServedShards::of(self.objects, node)?;
        // Older versions list no shards, or the list predates the status.
        let served = served.filter(|served| served.count() as u64 == said.shards);
        let Some(served) = served else {
            let owned = self.assigned.get(node).filter(|_| self.is_current(said));
            return Ok(owned.into_iter().flatten().map(|group| group.id).collect());
        };
        let is_served = |group: &&Group| group.shards.iter().all(|id| served.contains(id));
        let groups = self.all.groups.iter().filter(is_served);
        Ok(groups.map(|group| group.id).collect())
    }

    fn node(&self, member: &Member, held: &mut Held) -> Result<NodeRow, StoreError> {
        let said = NodeStatus::of(self.objects, &member.name)?;
        let ago = said.as_ref().map(|(_, when)| self.ago(*when));
        let said = said.map(|(said, _)| said);
        let belief = self.belief(&member.name, said.as_ref(), ago);
        let served = match &said {
            Some(said) => self.served(&member.name, said)?,
            None => BTreeSet::new(),
        };
        if belief == Belief::Believed {
            let (nodes, zone) = held.zones.entry(member.zone.clone()).or_default();
            *nodes += 1;
            zone.extend(&served);
            for id in &served {
                *held.nodes.entry(*id).or_default() += 1;
            }
        }
        let own = self.assigned.get(&member.name).cloned().unwrap_or_default();
        let mut missing = own.clone();
        missing.retain(|group| !served.contains(&group.id));
        let own_served = shards(&own) - shards(&missing);
        let of = |value: fn(&NodeStatus) -> u64| said.as_ref().map(value);
        let extra = of(|said| said.shards).map_or(0, |shards| shards.saturating_sub(own_served));
        Ok(NodeRow {
            node: member.name.clone(),
            address: member.address.clone(),
            zone: member.zone.clone(),
            weight: member.weight,
            state: self.state(member, said.as_ref(), belief, extra),
            generation: of(|said| said.generation),
            lag_seconds: said.as_ref().and_then(|said| self.lag(said.generation)),
            shards: of(|said| said.shards),
            bytes: of(|said| said.bytes),
            fetching_bytes: of(|said| said.fetching),
            fetching_of_bytes: of(|said| said.fetching_of),
            assigned_shards: shards(&own),
            assigned_bytes: bytes(&own),
            missing_shards: shards(&missing),
            missing_bytes: bytes(&missing),
            extra_shards: extra,
            seconds_ago: ago.map(|ago| ago.as_secs()),
            error: (self.answers.get(&member.name))
                .and_then(|answer| answer.as_ref().err().cloned()),
        })
    }

    fn state(
        &self,
        member: &Member,
        said: Option<&NodeStatus>,
        belief: Belief,
        extra: u64,
    ) -> &'static str {
        match said {
            _ if member.weight == 0 && extra == 0 => "empty",
            _ if belief == Belief::Down => "down",
            _ if member.weight == 0 => "draining",
            None => "new",
            Some(_) if belief == Belief::Silent => "silent",
            Some(said) if belief == Belief::Outdated && said.fetching == 0 => "outdated",
            Some(said) if said.fetching > 0 => "fetching",
            Some(said) if said.generation != self.all.generation.number => "behind",
            Some(said) if !self.is_current(said) => "waiting",
            Some(_) if extra > 0 => "handing over",
            Some(_) => "ready",
        }
    }

    /// Age of the next generation.
    fn lag(&self, generation: u64) -> Option<u64> {
        let current = self.all.generation.number;
        let mut written = self.written.iter();
        let is_missing = |number: u64| number > generation && number <= current;
        let (_, when) = written.find(|(id, _)| is_missing(id.number))?;
        Some(self.ago(*when).as_secs())
    }

    /// Unlisted nodes that had shards.
    fn gone(&self, listed: &[&Member]) -> Result<Vec<NodeRow>, StoreError> {
        let listed: BTreeSet<&str> = listed.iter().map(|member| &*member.name).collect();
        let mut gone = Vec::new();
        for (node, when) in NodeStatus::nodes(self.objects)? {
            let ago = self.ago(when);
            if listed.contains(&*node) || ago > GONE_MAX {
                continue;
            }
            let said = NodeStatus::of(self.objects, &node)?;
            let Some((said, _)) = said.filter(|(said, _)| said.shards > 0) else {
                continue;
            };
            gone.push(NodeRow {
                node,
                state: "gone",
                generation: Some(said.generation),
                shards: Some(said.shards),
                bytes: Some(said.bytes),
                seconds_ago: Some(ago.as_secs()),
                ..NodeRow::default()
            });
        }
        Ok(gone)
    }

    fn summary(&self, nodes: Vec<NodeRow>, held: &Held, warnings: Vec<String>) -> ClusterStatus {
        let generation = &self.all.generation;
        let mut by_replicas: BTreeMap<u64, u64> = BTreeMap::new();
        let mut too_few = Vec::new();
        for group in &self.all.groups {
            let replicas = held.nodes.get(&group.id).copied().unwrap_or(0);
            *by_replicas.entry(replicas).or_default() += group.shards.len() as u64;
            if replicas < u64::from(generation.replicas) {
                too_few.push(group);
            }
        }
        let zone = |zone: &String, nodes: u64, held: &BTreeSet<[u8; 32]>| {
            let mut groups: Vec<&Group> = self.all.groups.iter().collect();
            groups.retain(|group| held.contains(&group.id));
            ZoneRow {
                zone: zone.clone(),
                nodes,
                shards: shards(&groups),
            }
        };
        let published = (self.written.iter()).find(|(id, _)| id.number == generation.number);
        ClusterStatus {
            store: self.objects.url(),
            generation: generation.number,
            published_seconds_ago: published.map(|(_, when)| self.ago(*when).as_secs()),
            replicas: generation.replicas,
            shards: by_replicas.values().sum(),
            bytes: generation.bytes(),
            zones: (held.zones.iter())
                .map(|(name, (nodes, groups))| zone(name, *nodes, groups))
                .collect(),
            under_replicated: shards(&too_few),
            under_replicated_bytes: bytes(&too_few),
            shards_by_replicas: by_replicas,
            missing_shards: nodes.iter().map(|node| node.missing_shards).sum(),
            missing_bytes: nodes.iter().map(|node| node.missing_bytes).sum(),
            extra_shards: nodes.iter().map(|node| node.extra_shards).sum(),
            warnings,
            nodes,
        }
    }
}

fn warnings(members: &[&Member], placing: &Placing, replicas: u8) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut by_zone: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in placing.nodes() {
        by_zone.entry(&node.zone).or_default().push(&node.name);
    }
    let count = placing.nodes().len();
    if count < usize::from(replicas) {
        warnings.push(format!(
            "each shard needs {replicas} replicas, but only {} can hold them",
            units::plural(count as u64, "node")
        ));
    } else if replicas > 1 && by_zone.len() == 1 && !by_zone.contains_key("") {
        warnings.push("all nodes are in one zone, so all replicas can be lost at once".to_owned());
    }
    if by_zone.len() > 1
        && let Some(unzoned) = by_zone.get("")
    {
        warnings.push(format!(
            "without a zone, which counts as one of its own: {}",
            unzoned.join(", ")
        ));
    }
    for (zone, nodes) in by_zone.iter().filter(|(zone, _)| !zone.is_empty()) {
        if by_zone.len() == usize::from(replicas) && nodes.len() == 1 && count > by_zone.len() {
            let node = nodes[0];
            warnings.push(format!(
                "zone {zone} has one node, {node}, which therefore has a replica of every shard"
            ));
        }
    }
    let names: BTreeSet<&str> = members.iter().map(|member| &*member.name).collect();
    if names.len() < members.len() {
        warnings.push("several nodes have the same name".to_owned());
    }
    warnings
}

pub(super) struct Shards {
    pub(super) generation: Generation,
    /// Ascending by id.
    pub(super) groups: Vec<Group>,
}

impl Shards {
    pub(super) fn read(objects: &Objects) -> Result<Shards, StoreError> {
        let generation = Generation::current(objects)?;
        let groups = groups(&generation);
        Ok(Shards { generation, groups })
    }

    pub(super) fn placed(&self, placing: &Placing, replicas: u8) -> BTreeMap<String, Vec<&Group>> {
        let placement = placing.placement(replicas);
        let none = placing.nodes().iter();
        let mut assigned: BTreeMap<String, Vec<&Group>> =
            none.map(|node| (node.name.clone(), Vec::new())).collect();
        for group in &self.groups {
            for owner in placement.owners(&group.id) {
                assigned.entry(owner.name.clone()).or_default().push(group);
            }
        }
        assigned
    }
}

pub(super) fn shards(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.shards.len() as u64).sum()
}

pub(super) fn bytes(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.bytes).sum()
}
