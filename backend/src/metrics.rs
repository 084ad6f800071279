//! Describes the metrics of a backend, in seconds and bytes.
//!
//! Counters and gauges are updated where things happen; `server::job` records the timings of a
//! search when it is done.

use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Registers the descriptions of all metrics.
pub(crate) fn describe() {
    let counter = |name: &'static str, text: &'static str| describe_counter!(name, text);
    let timing =
        |name: &'static str, text: &'static str| describe_histogram!(name, Unit::Seconds, text);
    counter(
        "trawl_backend_connection_errors_total",
        "Connections that ended with an error, by reason",
    );
    counter(
        "trawl_backend_matches_total",
        "Matches sent, of searches that were done",
    );
    counter(
        "trawl_backend_searches_refused_total",
        "Searches without an answer: too expensive (reason=heavy) or too slow (reason=deadline)",
    );
    counter("trawl_backend_searches_total", "Searches requested");
    counter(
        "trawl_backend_sent_bytes_total",
        "Bytes of frames with matches sent",
    );
    counter(
        "trawl_backend_verified_bytes_total",
        "Bytes of text verified, of searches that were done",
    );
    describe_gauge!(
        "trawl_backend_searches_running",
        "Running searches by class: light, which includes those not planned yet, and heavy"
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
