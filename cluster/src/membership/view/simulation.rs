//! Seeded simulation with a source that forgets, repeats, mixes up and invents answers.
//!
//! Nodes run, crash, return, leave and move. After each event the map keeps:
//! - running nodes omitted for less than a minute, or among more than half;
//! - nodes with the last replica of a shard;
//! - listed nodes, with their latest address.
//!
//! In the end the source is honest, and the map has exactly the real nodes.

use super::*;
use fastrand::Rng;

const SEEDS: u64 = 300;
const EVENTS: u32 = 150;

struct World {
    rng: Rng,
    now: Instant,
    /// Running and crashed nodes.
    nodes: BTreeMap<String, Simulated>,
    shards: Vec<Vec<String>>,
    view: View,
    /// Start of each node's current omission.
    omitted_since: BTreeMap<String, Instant>,
    last_truth: Vec<Member>,
}

struct Simulated {
    member: Member,
    runs: bool,
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = Rng::with_seed(seed);
        let count = rng.usize(1..8);
        let nodes: BTreeMap<String, Simulated> = (0..count).map(simulated).collect();
        let names: Vec<String> = nodes.keys().cloned().collect();
        let shards = (0..rng.usize(0..5))
            .map(|_| rng.choose_multiple(names.iter().cloned(), 2))
            .collect();
        let mut world = World {
            now: Instant::now(),
            view: View::new(Vec::new(), false, Absence::default()),
            omitted_since: BTreeMap::new(),
            last_truth: Vec::new(),
            rng,
            nodes,
            shards,
        };
        world.answer(world.truth());
        world
    }

    fn truth(&self) -> Vec<Member> {
        let running = self.nodes.values().filter(|node| node.runs);
        running.map(|node| node.member.clone()).collect()
    }

    fn would_lose(&self) -> impl Fn(&BTreeSet<&str>) -> bool + use<> {
        let map = self.view.map();
        let is_there = |owner: &&String| map.members.iter().any(|it| it.name == **owner);
        let owners = |owners: &Vec<String>| owners.iter().filter(is_there).cloned().collect();
        let shards: Vec<Vec<String>> = self.shards.iter().map(owners).collect();
        move |nodes| {
            let mut shards = shards.iter();
            shards.any(|owners| owners.iter().all(|owner| nodes.contains(&**owner)))
        }
    }

    fn step(&mut self) {
        self.now += Duration::from_millis(self.rng.u64(0..20_000));
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        let any = self.rng.choice(names);
        match self.rng.u32(0..12) {
            0 => {
                let (name, node) = simulated(self.rng.usize(0..12));
                self.nodes.entry(name).or_insert(node);
            }
            1 => self.change(any, |node| node.runs = false),
            2 | 3 => self.change(any, |node| node.runs = true),
            4 => self.change(any, |node| {
                node.member.address = format!("moved-{}", node.member.address);
            }),
            // Lies.
            5 => self.answer(Vec::new()),
            6 => {
                let some = self.last_truth.clone();
                let count = self.rng.usize(0..=some.len());
                let part = self.rng.choose_multiple(some, count);
                self.answer(part);
            }
            7 => {
                let would_lose = self.would_lose();
                self.view.on_time(self.now, &would_lose);
            }
            _ => self.answer(self.truth()),
        }
        self.check();
    }

    fn change(&mut self, name: Option<String>, change: impl FnOnce(&mut Simulated)) {
        if let Some(node) = name.and_then(|name| self.nodes.get_mut(&name)) {
            change(node);
        }
    }

    fn answer(&mut self, mut list: Vec<Member>) {
        self.rng.shuffle(&mut list);
        let known: Vec<String> = self
            .view
            .map()
            .members
            .into_iter()
            .map(|it| it.name)
            .collect();
        let listed: BTreeSet<&str> = list.iter().map(|member| &*member.name).collect();
        for name in known {
            if listed.contains(&*name) {
                self.omitted_since.remove(&name);
            } else {
                self.omitted_since.entry(name).or_insert(self.now);
            }
        }
        let before = self.view.map();
        let would_lose = self.would_lose();
        let taken = self.view.on_list(list.clone(), self.now, &would_lose);
        taken.unwrap();
        let after = self.view.map();
        for member in &list {
            assert!(
                after.members.contains(member),
                "{} was listed and is not there",
                member.name
            );
        }
        self.compare(&before, &after);
        self.last_truth = self.truth();
    }

    /// Vanished nodes must be allowed to.
    fn compare(&self, before: &NodeMap, after: &NodeMap) {
        let names = |map: &NodeMap| -> BTreeSet<String> {
            map.members.iter().map(|it| it.name.clone()).collect()
        };
        let (before, after) = (names(before), names(after));
        let left: Vec<&String> = before.difference(&after).collect();
        for name in &left {
            let omitted = self.omitted_since.get(*name).map(|&since| self.now - since);
            assert!(
                omitted.is_some_and(|omitted| omitted >= ABSENT_MAX),
                "{name} left after {omitted:?}"
            );
        }
        assert!(
            left.len() * 2 <= before.len(),
            "{left:?} of {before:?} left"
        );
    }

    fn check(&self) {
        let map = self.view.map();
        let there: BTreeSet<&str> = map.members.iter().map(|it| &*it.name).collect();
        for owners in &self.shards {
            assert!(
                owners.iter().any(|owner| there.contains(&**owner)),
                "nobody has a shard"
            );
        }
        assert!(!there.is_empty(), "no node is left");
    }

    /// Honest until the map is right, or nodes are kept with reason.
    fn end(&mut self) {
        for _ in 0..4 {
            self.answer(self.truth());
            self.check();
            self.now += ABSENT_MAX;
        }
        self.answer(self.truth());
        let map = self.view.map();
        let truth: BTreeSet<String> = self.truth().into_iter().map(|it| it.name).collect();
        let extra: Vec<String> = map
            .members
            .iter()
            .map(|it| it.name.clone())
            .filter(|it| !truth.contains(it))
            .collect();
        match &map.frozen {
            None => assert!(extra.is_empty(), "{extra:?} remain"),
            Some(Frozen::MostVanished { absent, nodes }) => assert!(absent * 2 > *nodes),
            Some(Frozen::LastReplicas(nodes)) => assert_eq!(&extra, nodes),
        }
    }
}

fn simulated(number: usize) -> (String, Simulated) {
    let member = Member {
        name: format!("n{number}"),
        ..Member::at(&format!("n{number}.example:1"))
    };
    (member.name.clone(), Simulated { member, runs: true })
}

#[test]
fn whatever_the_source_says_no_shard_loses_its_nodes() {
    for seed in 0..SEEDS {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..EVENTS {
                world.step();
            }
            world.end();
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
