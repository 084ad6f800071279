//! All that a seed decides before a run begins: who takes part, and what happens around them.

use super::corpus::Used;
use super::dice::Dice;
use super::script::Script;
use crate::execution::state::Assignment;
use crate::spool::{BeforeWrite, Limits};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// All that a seed decides beforehand.
pub(super) struct Scene {
    pub(super) scripts: Vec<Script>,
    /// How many of the best are wanted; 0: all.
    pub(super) limit: u64,
    /// Bytes that pointers may take, of all streams together.
    pub(super) memory: u64,
    pub(super) disk: Disk,
    /// It may cost what it costs from the start.
    pub(super) admitted: bool,
    /// When it is halted, and why.
    pub(super) halt: Option<(usize, &'static str)>,
    /// What comes of waiting for its turn.
    pub(super) shed: bool,
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

impl Scene {
    pub(super) fn new(dice: &mut Dice) -> Scene {
        let (great, mut used) = (dice.one_in(40), Used::new());
        let scripts = (0..1 + dice.below(4))
            .map(|stream| Script::new(dice, &mut used, stream, great && stream == 0))
            .collect();
        let reason = dice.pick(&["the query was cancelled", "its time is over"]);
        Scene {
            scripts,
            limit: if dice.one_in(6) {
                1 + dice.below(12) as u64
            } else {
                0
            },
            memory: if dice.one_in(2) { 0 } else { 8 << 20 },
            disk: Disk::new(dice),
            admitted: dice.one_in(3),
            halt: dice.one_in(5).then(|| (dice.below(60), reason)),
            shed: dice.one_in(4),
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
    fn new(dice: &mut Dice) -> Disk {
        if !dice.one_in(6) {
            return Disk {
                memory_max: 1 << 30,
                bytes_max: u64::MAX >> 1,
                fails: None,
            };
        }
        Disk {
            memory_max: dice.pick(&[0, 500, 2000]),
            bytes_max: dice.pick(&[5000, u64::MAX >> 1, u64::MAX >> 1]),
            fails: dice.one_in(2).then(|| (dice.below(12), dice.one_in(2))),
        }
    }

    pub(super) fn limits(self) -> Limits {
        let writes = AtomicUsize::new(0);
        let before_write = self.fails.map(|(at, for_good)| -> BeforeWrite {
            Arc::new(move || match writes.fetch_add(1, Relaxed) {
                write if write == at || for_good && write > at => {
                    Err(std::io::ErrorKind::StorageFull.into())
                }
                _ => Ok(()),
            })
        });
        Limits {
            disk_bytes_max: self.bytes_max,
            run_memory_max: self.memory_max,
            durable: false,
            before_write,
        }
    }
}

/// What a stream's backend is called.
pub(super) fn name(stream: usize) -> String {
    format!("backend {stream}")
}
