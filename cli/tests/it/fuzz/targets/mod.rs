//! Readers of foreign bytes, each as a function of bytes: a panic in it is a fault of ours.
//!
//! They are run in two ways: by `super`, with mutations of their seeds, a few thousand of them in
//! every run of the tests; and by `scripts/fuzz`, under libFuzzer, which follows what a mutation has
//! reached, for as long as one likes. (It includes this folder; hence its `mod.rs`.)
//! Checksums are made good on the way in wherever they would keep everything but noise out.
//!
//! **Invariant:** a target keeps nothing from one input to the next that could change what the next
//! one does.

mod answers;
mod corpora;
mod http;
mod patterns;
mod queries;
mod shards;
mod wire;

/// A reader.
pub(crate) struct Target {
    /// What `scripts/fuzz` calls it.
    pub(crate) name: &'static str,
    /// Reads; what is wrong with the bytes is not its fault.
    pub(crate) run: fn(&[u8]),
    /// Inputs that it has something to say on.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// How many inputs a run of the tests makes of them: a second, at most, on one core.
    pub(crate) smoke_inputs: u32,
}

/// All of them.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "frames",
        run: wire::frames,
        seeds: wire::frame_seeds,
        smoke_inputs: 5000,
    },
    Target {
        name: "messages",
        run: wire::messages,
        seeds: wire::message_seeds,
        smoke_inputs: 100_000,
    },
    Target {
        name: "shard",
        run: shards::shard,
        seeds: shards::shard_seeds,
        smoke_inputs: 500,
    },
    Target {
        name: "manifest",
        run: shards::manifest,
        seeds: shards::manifest_seeds,
        smoke_inputs: 20_000,
    },
    Target {
        name: "pattern",
        run: patterns::pattern,
        seeds: patterns::seeds,
        smoke_inputs: 2000,
    },
    Target {
        name: "query",
        run: queries::query,
        seeds: queries::seeds,
        smoke_inputs: 10_000,
    },
    Target {
        name: "text",
        run: corpora::text,
        seeds: corpora::text_seeds,
        smoke_inputs: 2000,
    },
    Target {
        name: "rules",
        run: corpora::rules,
        seeds: corpora::rule_seeds,
        smoke_inputs: 1000,
    },
    Target {
        name: "ranks",
        run: corpora::ranks,
        seeds: corpora::rank_seeds,
        smoke_inputs: 5000,
    },
    Target {
        name: "answer",
        run: answers::answer,
        seeds: answers::answer_seeds,
        smoke_inputs: 100,
    },
    Target {
        name: "request",
        run: answers::request,
        seeds: answers::request_seeds,
        smoke_inputs: 1000,
    },
    Target {
        name: "http",
        run: http::http,
        seeds: http::seeds,
        smoke_inputs: 500,
    },
];
