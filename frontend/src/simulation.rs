//! Whole executions, simulated from a seed: what backends send, byte by byte, and everything that can
//! happen to it.
//!
//! There is one thread, no socket and no clock. A seed decides what there is to find (`corpus`), what
//! each backend sends (`messages`) and what is wrong with it (`script`), what clients, admission and the
//! disk do (`scenario`), and in which pieces and which order everything arrives (`world`, `stream`).
//! Decoder, ingest, collector, spool, the state of the execution and the result are the real ones; only
//! the driver is simulated (`driver`), which checks the rules on the way. At the end the result is
//! compared with what there was to find (`verify`, `best_files`).
//!
//! `TRAWL_SEEDS` is how many seeds are tried, `TRAWL_SEED` is the first of them (see
//! `scripts/simulate`).

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

/// Seeds that every test run tries.
const SEEDS: u64 = 300;

/// A number out of the environment.
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What every test run sees: ways in which streams end, and what happens around them.
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
            eprintln!("seed {seed} failed; to see its story: scripts/simulate 1 {seed}");
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
