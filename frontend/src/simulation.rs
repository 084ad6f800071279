//! Whole executions, simulated from a seed, with byte streams and faults.
//!
//! One thread, no socket, no clock. A seed decides the `corpus`, each backend's `messages` and
//! faults (`script`), clients, admission and disk (`scenario`), and the order of arrival (`world`,
//! `stream`). All parts are real except the `driver`, which checks rules. The result is compared
//! with the corpus (`verify`, `best_files`).
//!
//! `TRAWL_SEEDS` is the number of seeds, `TRAWL_SEED` the first (see `scripts/ci/simulate`).

mod best_files;
mod corpus;
mod driver;
mod messages;
mod model;
pub(crate) mod random;
mod scenario;
mod script;
mod stream;
mod verify;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const SEEDS: u64 = 540;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Events that every test run sees.
const SEEN: [&str; 30] = [
    "abandoned",
    "account",
    "came_back",
    "cancelled",
    "checksum",
    "closed",
    "deadline",
    "end",
    "extended",
    "final",
    "final_with_copies",
    "frame",
    "heavy",
    "hedged",
    "in_part",
    "joined",
    "left",
    "not_finalized",
    "not_joined",
    "out_of_place",
    "protocol",
    "queued",
    "refused",
    "resumed",
    "shed",
    "silent",
    "spool",
    "stopped",
    "timeout_admitted",
    "timeout_done",
];

#[test]
fn every_execution_ends_once_with_a_true_result() {
    let first = variable("TRAWL_SEED").unwrap_or(0);
    let seeds = variable("TRAWL_SEEDS").unwrap_or(SEEDS);
    let directory = tempfile::tempdir().unwrap();
    let (mut complete, mut seen) = (0, BTreeMap::<&str, u64>::new());
    for seed in first..first + seeds {
        let play = || world::play(seed, directory.path());
        let played = catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
            eprintln!("seed {seed} failed; to see its story: scripts/ci/simulate 1 {seed}");
            resume_unwind(panic)
        });
        complete += u64::from(played.is_complete);
        for what in played.seen {
            *seen.entry(what).or_default() += 1;
        }
    }
    println!("{seeds} seeds from {first} on, {complete} complete results, seen: {seen:?}");
    if seeds >= SEEDS {
        assert!((seeds / 8..seeds / 2).contains(&complete), "{complete}");
        for what in SEEN {
            assert!(seen.contains_key(what), "{what}");
        }
    }
}

#[test]
fn a_seed_always_tells_the_same_story() {
    let directory = tempfile::tempdir().unwrap();
    let tell = |seed| world::play(seed, directory.path()).story;
    (0..20).for_each(|seed| assert_eq!(tell(seed), tell(seed)));
    assert_ne!(tell(7), tell(8));
}
