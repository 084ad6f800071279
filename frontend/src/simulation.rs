//! Whole queries, simulated: what backends say, byte by byte, and all that can happen to it.
//!
//! One thread, no socket, no clock: a seed decides what there is to find (`corpus`), what each
//! backend says (`words`) and what is wrong with it (`script`), what happens around them (`scene`), and
//! in which pieces and which order everything arrives (`network`, `stream`). Decoder, walk, harvest,
//! spool, state machine and answer are the real ones. At the end the answer is compared with what
//! there was to find (`judge`).
//!
//! `TRAWL_SEEDS` is how many seeds are tried, `TRAWL_SEED` the first of them (see `scripts/simulate`).

mod corpus;
mod dice;
mod judge;
mod network;
mod scene;
mod script;
mod stream;
mod words;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Seeds that every test run tries.
const SEEDS: u64 = 300;

/// A number out of the environment.
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Ways in which streams end of which every test run sees some.
const ENDINGS: [&str; 13] = [
    "account",
    "checksum",
    "closed",
    "deadline",
    "end",
    "frame",
    "heavy",
    "out_of_place",
    "protocol",
    "refused",
    "silent",
    "spool",
    "stopped",
];

#[test]
fn every_run_ends_once_and_says_what_is_so() {
    let first = variable("TRAWL_SEED").unwrap_or(0);
    let seeds = variable("TRAWL_SEEDS").unwrap_or(SEEDS);
    let directory = tempfile::tempdir().unwrap();
    let (mut complete, mut endings) = (0, BTreeMap::<&str, u64>::new());
    for seed in first..first + seeds {
        let play = || network::play(seed, directory.path());
        let played = catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
            eprintln!("seed {seed}: to see it again: scripts/simulate 1 {seed}");
            resume_unwind(panic)
        });
        complete += u64::from(played.is_complete);
        for ending in played.endings {
            *endings.entry(ending).or_default() += 1;
        }
    }
    println!("{seeds} seeds from {first} on, {complete} complete answers, streams: {endings:?}");
    if seeds >= SEEDS {
        assert!((seeds / 8..seeds / 2).contains(&complete), "{complete}");
        assert!(ENDINGS.iter().all(|ending| endings.contains_key(ending)));
    }
}

#[test]
fn a_seed_is_a_whole_story() {
    let directory = tempfile::tempdir().unwrap();
    let tell = |seed| network::play(seed, directory.path()).story;
    (0..20).for_each(|seed| assert_eq!(tell(seed), tell(seed)));
    assert_ne!(tell(7), tell(8));
}
