//! Fuzz targets: readers of untrusted bytes, as functions that must not panic.
//!
//! `tests/it` runs fixed mutations in every `cargo test --workspace`; `scripts/ci/fuzz` runs
//! libFuzzer. Targets fix checksums that would reject nearly every mutation.
//!
//! **Invariant:** targets keep no state that affects later inputs, so failures are reproducible.

mod corpora;
mod http;
mod nodes;
mod patterns;
mod queries;
mod router;
mod samples;
mod shards;
mod stores;
mod symbols;
mod untrusted_backend;
mod wire;

pub use router::router;

/// A reader of untrusted bytes.
pub struct Target {
    /// Name for `scripts/ci/fuzz`.
    pub name: &'static str,
    /// Reads an input. May reject it; panics only on a fault.
    pub run: fn(&[u8]),
    /// Returns valid inputs to mutate.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Takes at most a second on one core.
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

    const fn symbols<const FAMILY: usize>(name: &'static str) -> Target {
        let (run, seeds) = (symbols::symbols::<FAMILY>, symbols::seeds::<FAMILY>);
        Target::new(name, run, seeds, 500)
    }
}

pub const TARGETS: &[Target] = &[
    Target::new("frames", wire::frames, wire::frame_seeds, 5000),
    Target::new("messages", wire::messages, wire::message_seeds, 100_000),
    Target::new("shard", shards::shard, shards::shard_seeds, 500),
    Target::new("manifest", shards::manifest, shards::manifest_seeds, 20_000),
    Target::new("pattern", patterns::pattern, patterns::seeds, 2000),
    Target::new("query", queries::query, queries::seeds, 10_000),
    Target::symbols::<0>("symbols_c"),
    Target::symbols::<1>("symbols_java"),
    Target::symbols::<2>("symbols_javascript"),
    Target::symbols::<3>("symbols_blocks"),
    Target::symbols::<4>("symbols_python"),
    Target::symbols::<5>("symbols_shell"),
    Target::symbols::<6>("symbols_make"),
    Target::symbols::<7>("symbols_functional"),
    Target::symbols::<8>("symbols_ada"),
    Target::symbols::<9>("symbols_documents"),
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
    Target::new("agents", http::agents, http::agent_seeds, 500),
    Target::new("calls", http::calls, http::call_seeds, 500),
];
