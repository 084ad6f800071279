//! Metrics of a backend, in seconds and bytes. Counters and gauges are updated in place.

use ::metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, histogram};
use schema::message::{LookupAnswer, LookupProblemKind, ShardEnd};
use std::time::Duration;

pub(crate) fn describe() {
    let timing =
        |name: &'static str, text: &'static str| describe_histogram!(name, Unit::Seconds, text);
    describe_counter!(
        "trawl_backend_connection_errors_total",
        "Connections that ended with an error, by reason",
    );
    describe_counter!(
        "trawl_backend_lookups_total",
        "Look-ups in repositories, by operation and outcome",
    );
    describe_counter!(
        "trawl_backend_matches_total",
        "Matches sent, of searches that were done",
    );
    describe_counter!(
        "trawl_backend_searches_refused_total",
        "Searches without an answer: too expensive (reason=heavy) or too slow (reason=deadline)",
    );
    describe_counter!("trawl_backend_searches_total", "Searches requested");
    describe_counter!(
        "trawl_backend_sent_bytes_total",
        "Bytes of frames with matches sent",
    );
    describe_counter!(
        "trawl_backend_verified_bytes_total",
        "Bytes of text verified, of searches that were done",
    );
    describe_gauge!(
        "trawl_backend_searches_running",
        "Running searches by class: light, which includes those not planned yet, and heavy"
    );
    timing(
        "trawl_backend_lookup_seconds",
        "Look-ups in repositories, by operation",
    );
    timing(
        "trawl_backend_phase_seconds",
        "Phases of searches that were done: plan, candidates, verify, and stream (waiting for the reader)",
    );
    timing(
        "trawl_backend_search_seconds",
        "Searches that were done, from admission to end",
    );
}

pub(crate) fn record_search(
    [plan, candidates, verify]: [Duration; 3],
    waited: Duration,
    shards: &[ShardEnd],
) {
    for (phase, time) in [
        ("plan", plan),
        ("candidates", candidates),
        ("verify", verify.saturating_sub(waited)),
        ("stream", waited),
    ] {
        histogram!("trawl_backend_phase_seconds", "phase" => phase).record(time);
    }
    histogram!("trawl_backend_search_seconds").record(plan + candidates + verify);
    let sum = |of: fn(&ShardEnd) -> u64| shards.iter().map(of).sum::<u64>();
    counter!("trawl_backend_verified_bytes_total").increment(sum(|shard| shard.verified_bytes));
    counter!("trawl_backend_matches_total").increment(sum(|shard| shard.matches));
}

pub(crate) fn record_lookup(operation: &'static str, answer: &LookupAnswer, time: Duration) {
    let outcome = match answer {
        LookupAnswer::Problem(problem) => match problem.kind {
            LookupProblemKind::UnknownRepository => "unknown_repository",
            LookupProblemKind::UnknownRevision => "unknown_revision",
            LookupProblemKind::Ambiguous => "ambiguous",
            LookupProblemKind::Refused => "refused",
            LookupProblemKind::Unreadable => "unreadable",
            LookupProblemKind::Late => "late",
        },
        _ => "found",
    };
    counter!("trawl_backend_lookups_total", "operation" => operation, "outcome" => outcome)
        .increment(1);
    histogram!("trawl_backend_lookup_seconds", "operation" => operation).record(time);
}
