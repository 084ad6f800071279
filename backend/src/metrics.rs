//! What a backend metrics: names, and what they mean.
//!
//! Counters and gauges are moved where things happen; what is recorded of a search when it is done
//! is in `server::job`.

/// Names, and what they count.
const COUNTERS: &[(&str, &str)] = &[
    (
        "trawl_backend_connection_errors_total",
        "Connections that ended badly, by reason",
    ),
    (
        "trawl_backend_matches_total",
        "Matches sent, of searches that were done",
    ),
    (
        "trawl_backend_searches_refused_total",
        "Searches without an answer: they would have read too much (reason=heavy), or were not done in time (deadline)",
    ),
    ("trawl_backend_searches_total", "Searches asked for"),
    (
        "trawl_backend_sent_bytes_total",
        "Bytes of frames with matches sent",
    ),
    (
        "trawl_backend_verified_bytes_total",
        "Bytes of text verified, of searches that were done",
    ),
];

const GAUGES: &[(&str, &str)] = &[(
    "trawl_backend_searches_running",
    "Searches that run, by class: light ones and those not planned yet, and heavy ones",
)];

/// In seconds.
const HISTOGRAMS: &[(&str, &str)] = &[
    (
        "trawl_backend_phase_seconds",
        "Phases of searches that were done: plan, candidates, verify, and stream: waiting for the reader",
    ),
    (
        "trawl_backend_search_seconds",
        "Searches that were done, from their turn to their end",
    ),
];

/// Tells whoever records what the names mean.
pub(crate) fn describe() {
    for &(name, what) in COUNTERS {
        metrics::describe_counter!(name, what);
    }
    for &(name, what) in GAUGES {
        metrics::describe_gauge!(name, what);
    }
    for &(name, what) in HISTOGRAMS {
        metrics::describe_histogram!(name, metrics::Unit::Seconds, what);
    }
}
