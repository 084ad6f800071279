//! All that a seed decides before a run begins: who takes part, and what happens around them.

use super::corpus::Used;
use super::random::Random;
use super::script::Script;
use crate::peers::shard_routing::Assignment;
use crate::spool::{BeforeWrite, SpoolConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// All that a seed decides beforehand.
pub(super) struct Scenario {
    pub(super) scripts: Vec<Script>,
    /// How many of the best are wanted; 0: all.
    pub(super) limit: u64,
    /// Bytes that pointers may take, of all streams together.
    pub(super) memory: u64,
    pub(super) disk: Disk,
    /// Those who ask for the query. The first one is there from the start.
    pub(super) clients: Vec<Client>,
    /// When one of them ends it for all.
    pub(super) cancelled: Option<usize>,
    /// Whether the execution gets a slot for heavy queries at once.
    pub(super) slot_is_free: bool,
    /// Whether the queue for such a slot is full.
    pub(super) shed: bool,
}

/// A client; all times in steps, which are milliseconds.
pub(super) struct Client {
    pub(super) joins: usize,
    /// When it leaves; far away for one that stays to the end.
    pub(super) leaves: usize,
    /// How long the execution goes on without it.
    pub(super) grace: usize,
    /// How much time it gives the query.
    pub(super) timeout: usize,
    /// It asks for the execution by its id, whatever its state.
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

/// Where frames go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disk {
    /// Bytes in memory before they go to the disk.
    memory_max: u64,
    bytes_max: u64,
    /// The first write that fails, and whether those behind it do.
    fails: Option<(usize, bool)>,
}

impl Scenario {
    pub(super) fn new(random: &mut Random) -> Scenario {
        let (great, mut used) = (random.one_in(40), Used::new());
        let scripts = (0..1 + random.below(4))
            .map(|stream| Script::new(random, &mut used, stream, great && stream == 0))
            .collect();
        Scenario {
            scripts,
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

    /// Whether nothing but what is wrong with streams can cut the answer short.
    pub(super) fn has_room(&self) -> bool {
        self.disk.fails.is_none() && self.disk.bytes_max == u64::MAX >> 1
    }

    /// What a stream's backend is to search.
    pub(super) fn assignment(&self, stream: usize) -> Assignment {
        let shards = &self.scripts[stream].shards;
        Assignment {
            backend: name(stream),
            shards: shards.iter().map(|shard| shard.id).collect(),
            documents: vec![10; shards.len()],
        }
    }
}

impl Disk {
    /// Most runs are in memory; of the others, most meet a disk that is full sooner or later.
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

/// The first client, and up to three that come later.
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

/// What a stream's backend is called.
pub(super) fn name(stream: usize) -> String {
    format!("backend {stream}")
}
