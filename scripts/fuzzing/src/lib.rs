//! Fuzz targets: every reader of untrusted bytes as a function of bytes that must not panic.
//!
//! They run in two ways. `tests/it` gives each of them a few thousand mutations of its seeds, the same
//! ones in every `cargo test --workspace`. `scripts/fuzz` runs one under libFuzzer, which follows the
//! code coverage that an input reaches, for as long as it is told to.
//!
//! Where a checksum would reject nearly every mutation, the target corrects the checksum first.
//!
//! **Invariant:** a target keeps no state between inputs that could change how it treats the next one,
//! so an input that fails once fails again.

mod corpora;
mod http;
mod nodes;
mod patterns;
mod queries;
mod router;
mod samples;
mod shards;
mod stores;
mod untrusted_backend;
mod wire;

pub use router::router;

/// A reader of untrusted bytes.
pub struct Target {
    /// The name that `scripts/fuzz` takes.
    pub name: &'static str,
    /// Reads an input. It may reject the input, and panics only if the code under test has a fault.
    pub run: fn(&[u8]),
    /// Returns valid inputs, from which mutations are made.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// How many mutations a smoke run makes: what takes at most a second on one core.
    pub smoke_inputs: u32,
}

impl Target {
    const fn new(
        name: &'static str,
        run: fn(&[u8]),
        seeds: fn() -> Vec<Vec<u8>>,
        smoke_inputs: u32,
    ) -> Target {
        Target {
            name,
            run,
            seeds,
            smoke_inputs,
        }
    }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target::new("frames", wire::frames, wire::frame_seeds, 5000),
    Target::new("messages", wire::messages, wire::message_seeds, 100_000),
    Target::new("shard", shards::shard, shards::shard_seeds, 500),
    Target::new("manifest", shards::manifest, shards::manifest_seeds, 20_000),
    Target::new("pattern", patterns::pattern, patterns::seeds, 2000),
    Target::new("query", queries::query, queries::seeds, 10_000),
    Target::new("text", corpora::text, corpora::text_seeds, 2000),
    Target::new(
        "ignore_rules",
        corpora::ignore_rules,
        corpora::ignore_rule_seeds,
        1000,
    ),
    Target::new(
        "git_index",
        corpora::git_index,
        corpora::git_index_seeds,
        1000,
    ),
    Target::new(
        "package_ranks",
        corpora::package_ranks,
        corpora::package_rank_seeds,
        5000,
    ),
    Target::new("nodes", nodes::nodes, nodes::node_seeds, 20_000),
    Target::new("store", stores::objects, stores::object_seeds, 20_000),
    Target::new(
        "backend_reply",
        untrusted_backend::reply,
        untrusted_backend::reply_seeds,
        100,
    ),
    Target::new(
        "query_string",
        untrusted_backend::query_string,
        untrusted_backend::query_string_seeds,
        1000,
    ),
    Target::new("http", http::http, http::seeds, 500),
];
