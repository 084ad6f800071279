//! Choices of a seed before an execution: backends, clients, admission and disk.

use super::corpus::{Habits, Used};
use super::random::Random;
use super::script::Script;
use crate::execution::stream_stats::TopCopies;
use crate::peers::shard_routing::Assignment;
use results::spool::{BeforeWrite, SpoolConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(super) struct Scenario {
    pub(super) scripts: Vec<Script>,
    pub(super) copies: TopCopies,
    /// 0: none.
    pub(super) limit: u64,
    pub(super) memory: u64,
    pub(super) disk: Disk,
    /// The first is there from the start.
    pub(super) clients: Vec<Client>,
    pub(super) cancelled: Option<usize>,
    pub(super) slot_is_free: bool,
    pub(super) shed: bool,
}

/// All times in steps, which are milliseconds.
pub(super) struct Client {
    pub(super) joins: usize,
    pub(super) leaves: usize,
    pub(super) grace: usize,
    pub(super) timeout: usize,
    pub(super) by_id: bool,
}

impl Client {
    fn new(random: &mut Random, joins: usize, in_a_hurry: bool) -> Client {
        Client {
            joins,
            leaves: if random.one_in(3) {
                joins + random.below(60)
            } else {
                usize::MAX
            },
            grace: random.pick(&[0, 5, 30, 200]),
            timeout: if in_a_hurry || random.one_in(6) {
                5 + random.below(100)
            } else {
                100_000
            },
            by_id: joins > 0 && random.one_in(5),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Disk {
    memory_max: u64,
    bytes_max: u64,
    /// First write that fails, and if all later ones fail too.
    fails: Option<(usize, bool)>,
}

impl Scenario {
    pub(super) fn new(random: &mut Random) -> Scenario {
        let (large, mut used) = (random.one_in(40), Used::new());
        let habits = Habits {
            depends: random.one_in(4),
            copies: random.one_in(2),
        };
        let scripts = (0..1 + random.below(4))
            .map(|stream| {
                let large = large && stream == 0;
                Script::new(random, &mut used, stream, large, habits)
            })
            .collect();
        Scenario {
            scripts,
            copies: if habits.depends {
                TopCopies::Unsure
            } else {
                TopCopies::Folded
            },
            limit: if random.one_in(6) {
                1 + random.below(12) as u64
            } else {
                0
            },
            memory: if random.one_in(2) { 0 } else { 8 << 20 },
            disk: Disk::new(random),
            clients: clients(random),
            cancelled: random.one_in(12).then(|| 1 + random.below(60)),
            slot_is_free: random.one_in(3),
            shed: random.one_in(4),
        }
    }

    /// True if only stream faults can make the result incomplete.
    pub(super) fn has_room(&self) -> bool {
        self.disk.fails.is_none() && self.disk.bytes_max == u64::MAX >> 1
    }

    pub(super) fn assignment(&self, stream: usize) -> Assignment {
        let shards = &self.scripts[stream].shards;
        Assignment {
            backend: name(stream),
            shards: shards.iter().map(|shard| shard.id).collect(),
            documents: vec![100; shards.len()],
            excluded: Vec::new(),
            visible: None,
            replicas: Vec::new(),
        }
    }
}

impl Disk {
    /// Most executions stay in memory; most others meet a full disk.
    fn new(random: &mut Random) -> Disk {
        if !random.one_in(6) {
            return Disk {
                memory_max: 1 << 30,
                bytes_max: u64::MAX >> 1,
                fails: None,
            };
        }
        Disk {
            memory_max: random.pick(&[0, 500, 2000]),
            bytes_max: random.pick(&[5000, u64::MAX >> 1, u64::MAX >> 1]),
            fails: random
                .one_in(2)
                .then(|| (random.below(12), random.one_in(2))),
        }
    }

    pub(super) fn limits(self) -> SpoolConfig {
        let writes = AtomicUsize::new(0);
        let before_write = self.fails.map(|(at, for_good)| -> BeforeWrite {
            Arc::new(move || match writes.fetch_add(1, Relaxed) {
                write if write == at || for_good && write > at => {
                    Err(std::io::ErrorKind::StorageFull.into())
                }
                _ => Ok(()),
            })
        });
        SpoolConfig {
            disk_bytes_max: self.bytes_max,
            result_memory_max: self.memory_max,
            durable: false,
            before_write,
        }
    }
}

fn clients(random: &mut Random) -> Vec<Client> {
    let in_a_hurry = random.one_in(6);
    let first = Client::new(random, 0, in_a_hurry);
    let others = random.below(4);
    let others = (0..others)
        .map(|_| 1 + random.below(80))
        .collect::<Vec<_>>();
    let others = others
        .into_iter()
        .map(|joins| Client::new(random, joins, in_a_hurry));
    [first].into_iter().chain(others).collect()
}

pub(super) fn name(stream: usize) -> String {
    format!("backend {stream}")
}
