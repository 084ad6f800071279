//! Metrics of the frontend, and the log of slow queries.
//!
//! Counters and gauges change where things happen; names and descriptions are
//! here. Readers compute rates.

use crate::config::{Config, LogQueries};
use fnv::FnvHasher;
use results::SearchResult;
use schema::message::TextOrder;
use std::cell::Cell;
use std::fmt::Write;
use std::hash::Hasher;
use std::time::{Duration, Instant};
use trace::TraceSpan;

#[rustfmt::skip]
const COUNTERS: &[(&str, &str)] = &[
    ("trawl_frontend_backends_ejected_total", "Times that a backend was avoided for a while since its streams had failed"),
    ("trawl_frontend_backends_lost_total", "Connections to backends that were lost, by reason"),
    ("trawl_frontend_breaker_trips_total", "Times that a dependency was not called for a while since it failed, and calls that were refused since too many were under way (reason=queue)"),
    ("trawl_frontend_cache_claims_total", "Builds of answers for a cache, by outcome: put, dropped (cancelled or panicked), expired, or fenced (it came after another build had begun)"),
    ("trawl_frontend_cache_evictions_total", "Answers that caches removed, by cause: expired, invalidated, or size"),
    ("trawl_frontend_cache_requests_total", "Requests to caches, by result: fresh, stale (while it is built again), negative, miss (built), wait (another request builds it), busy (too many wait), bypass (the cache is off)"),
    ("trawl_frontend_cache_total", "Queries that joined a running execution (how=attach) or were answered from the cache (hit), and evicted results that were searched for again (rerun)"),
    ("trawl_frontend_hints_total", "Answers looked up in Redis (result=hit, miss, or foreign: not ours, damaged or over), look-ups that failed or were late, unconnected, or refused by the breaker, and writes (write, write_failed, or dropped)"),
    ("trawl_frontend_lookups_total", "Look-ups in repositories, by operation: answered from the cache (how=hit), with the same one that was under way (attach), or by backends (miss); or turned away since too many were waited for (busy)"),
    ("trawl_frontend_matches_total", "Matches received, of finished queries"),
    ("trawl_frontend_not_modified_total", "Pages that the client already had (304)"),
    ("trawl_frontend_queries_cancelled_total", "Queries ended by a client, or because the last client had left"),
    ("trawl_frontend_queries_finished_total", "Queries with a complete result"),
    ("trawl_frontend_queries_incomplete_total", "Queries with an incomplete result"),
    ("trawl_frontend_queries_refused_total", "Queries that a backend refused as malformed"),
    ("trawl_frontend_queries_shed_total", "Queries refused because too many were running or queued"),
    ("trawl_frontend_queries_slow_total", "Queries that were logged as slow"),
    ("trawl_frontend_queries_started_total", "Queries that were sent to backends"),
    ("trawl_frontend_received_bytes_total", "Bytes of frames received from backends"),
    ("trawl_frontend_spool_reads_total", "Reads of the spool for pages and exports"),
    ("trawl_frontend_spilled_pointers_total", "Pointers to matches that were spilled to the disk"),
    ("trawl_frontend_spool_written_bytes_total", "Bytes of frames written to the spool"),
    ("trawl_frontend_streams_hedged_total", "Hedged streams of slow backends: a second backend was asked for the rest (result=asked), and answered first (won)"),
    ("trawl_frontend_streams_lost_total", "Streams of backends that ended without a good END, by reason"),
    ("trawl_frontend_streams_resumed_total", "Streams that another backend continued, by the reason for which the first one was lost"),
];

#[rustfmt::skip]
const GAUGES: &[(&str, &str)] = &[
    ("trawl_frontend_backends", "Backends that this frontend knows"),
    ("trawl_frontend_backends_connected", "Backends that are connected"),
    ("trawl_frontend_breaker_state", "State of the circuit breaker of a dependency: 0 calls it, 1 sends one call as a probe, 2 sends no calls"),
    ("trawl_frontend_cache_bytes", "Bytes of the answers in caches, about"),
    ("trawl_frontend_cache_entries", "Answers in caches, about"),
    ("trawl_frontend_cache_inflight", "Answers that are being built for caches"),
    ("trawl_frontend_queries_queued", "Queries that wait for a slot for heavy queries"),
    ("trawl_frontend_queries_running", "Queries that run"),
    ("trawl_frontend_shards", "Shards that backends have announced, by how many backends would search them now (replicas=0: missing from answers, 1, 2, or 3+)"),
    ("trawl_frontend_spool_bytes", "Bytes that the spool has on the disk"),
];

/// In seconds.
#[rustfmt::skip]
const HISTOGRAMS: &[(&str, &str)] = &[
    ("trawl_frontend_cache_build_seconds", "Builds of answers for caches, by outcome"),
    ("trawl_frontend_cache_lookup_seconds", "Look-ups in caches, without builds and waits"),
    ("trawl_frontend_cache_stale_age_seconds", "Ages of stale answers of caches when they were shown"),
    ("trawl_frontend_cache_wait_seconds", "Waits for answers that another request builds for caches, by outcome"),
    ("trawl_frontend_hints_seconds", "Look-ups in Redis"),
    ("trawl_frontend_lookup_seconds", "Look-ups in repositories that backends answered, by operation"),
    ("trawl_frontend_phase_seconds", "Phases of queries: queue, stream (within it, in the slowest backend: plan, candidates, verify), rank; and render for each page"),
    ("trawl_frontend_query_seconds", "Queries from the request to the result"),
];

/// Look-ups, not seconds.
const LOOKUPS_OF_A_QUERY: (&str, &str) = (
    "trawl_frontend_query_lookups",
    "Look-ups in repositories that a request for a search made, however many matches it has",
);

tokio::task_local! {
    static LOOKUPS: Cell<usize>;
}

/// Runs a search request, and records its look-ups in repositories.
pub async fn counting_lookups<F: Future>(request: F) -> F::Output {
    let counted = async {
        let output = request.await;
        let lookups = LOOKUPS.with(Cell::get);
        ::metrics::histogram!("trawl_frontend_query_lookups").record(lookups as f64);
        output
    };
    LOOKUPS.scope(Cell::new(0), counted).await
}

pub(crate) fn looking_up(lookups: usize) {
    // Fails outside of such a request.
    let _ = LOOKUPS.try_with(|count| count.set(count.get() + lookups));
}

pub fn describe() {
    for &(name, what) in COUNTERS {
        ::metrics::describe_counter!(name, what);
    }
    for &(name, what) in GAUGES {
        ::metrics::describe_gauge!(name, what);
    }
    for &(name, what) in HISTOGRAMS {
        ::metrics::describe_histogram!(name, metrics::Unit::Seconds, what);
    }
    let (name, what) = LOOKUPS_OF_A_QUERY;
    ::metrics::describe_histogram!(name, metrics::Unit::Count, what);
}

fn phase(phase: &'static str, time: Duration) {
    ::metrics::histogram!("trawl_frontend_phase_seconds", "phase" => phase).record(time);
}

/// Records the rendering of a page since `started`.
pub fn rendered(started: Instant) {
    let now = Instant::now();
    phase("render", now - started);
    trace::current().child_between("render", started, now);
}

pub(crate) fn record(answer: &SearchResult, config: &Config) {
    let timings = answer.outcome.timings;
    ::metrics::histogram!("trawl_frontend_query_seconds").record(timings.total());
    for (name, time) in phases(answer) {
        phase(name, time);
    }
    let matches = match answer.query().text {
        TextOrder::None => answer.len() as u64,
        TextOrder::Ranked | TextOrder::Found => answer.found(),
    };
    ::metrics::counter!("trawl_frontend_matches_total").increment(matches);
    let how = match (&answer.outcome.refused, answer.is_complete()) {
        (Some(_), _) => "trawl_frontend_queries_refused_total",
        (None, true) => "trawl_frontend_queries_finished_total",
        (None, false) => "trawl_frontend_queries_incomplete_total",
    };
    ::metrics::counter!(how).increment(1);
    if timings.total() >= config.slow_query {
        ::metrics::counter!("trawl_frontend_queries_slow_total").increment(1);
        log(answer, config.log_queries);
    }
}

fn phases(answer: &SearchResult) -> [(&'static str, Duration); 6] {
    let timings = answer.outcome.timings;
    let inside = timings.phases;
    [
        ("queue", timings.queue),
        ("plan", Duration::from_micros(inside.plan_us)),
        ("candidates", Duration::from_micros(inside.candidates_us)),
        ("verify", Duration::from_micros(inside.verify_us)),
        ("stream", timings.stream),
        ("rank", timings.rank),
    ]
}

/// Traces an execution's results, and its query as far as `shown` allows.
pub(crate) fn describe_execution(span: &TraceSpan, answer: &SearchResult, shown: LogQueries) {
    if !span.is_recorded() {
        return;
    }
    let text = answer.query().interpreted_as();
    match shown {
        LogQueries::Full => span.set("trawl.query.text", escape(&text)),
        LogQueries::Hash => span.set("trawl.query.hash", hash(&text)),
        LogQueries::Off => {}
    }
    span.set("trawl.search.identity", answer.identity());
    span.set("trawl.generation", answer.generation());
    span.set("trawl.matches", answer.found());
    span.set("trawl.complete", answer.is_complete());
    if answer.outcome.refused.is_some() {
        span.set("trawl.refused", true);
    } else if !answer.is_complete() {
        span.fail("incomplete");
    }
}

/// Logs a slow query as far as `shown` allows, with candidates and timings.
fn log(answer: &SearchResult, shown: LogQueries) {
    let explain = answer.explain();
    let text = answer.query().interpreted_as();
    let is_full = shown == LogQueries::Full;
    let mut times = String::new();
    for (name, time) in phases(answer) {
        let _ = write!(times, " {name} {} ms,", time.as_millis());
    }
    tracing::warn!(
        id = answer.identity(),
        query_hash = (shown == LogQueries::Hash).then(|| display(hash(&text))),
        query = is_full.then(|| display(escape(&text))),
        plan = is_full.then(|| display(escape(&explain.plan))),
        candidates = explain.sum.candidates,
        blocks = explain.sum.blocks,
        found = answer.found(),
        complete = answer.is_complete(),
        "slow query:{}",
        times.trim_end_matches(','),
    );
}

fn hash(text: &str) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

/// Escapes control and bidirectional characters, so that a query stays on its line.
fn escape(text: &str) -> String {
    let reorders = |letter| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().fold(String::new(), |mut out, letter| {
        if letter.is_control() || reorders(letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn names(directory: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let parts = text.split("\"trawl_frontend_").skip(1);
            found.extend(parts.map(|part| part.split('"').next().unwrap().to_owned()));
        }
    }

    #[test]
    fn every_metric_is_described_once() {
        let mut used = Vec::new();
        names(Path::new(env!("CARGO_MANIFEST_DIR")), &mut used);
        let all = [COUNTERS, GAUGES, HISTOGRAMS, &[LOOKUPS_OF_A_QUERY]].concat();
        for (name, _) in &all {
            assert_eq!(
                all.iter().filter(|(other, _)| other == name).count(),
                1,
                "{name}"
            );
        }
        // The split above is itself in the sources.
        for name in used
            .iter()
            .filter(|name| name.ends_with(char::is_alphanumeric))
        {
            let name = format!("trawl_frontend_{name}");
            assert!(all.iter().any(|(known, _)| *known == name), "{name}");
        }
    }

    #[test]
    fn a_logged_query_stays_on_one_line() {
        assert_eq!(escape("\"a\nb\x1b[2J\" ü"), "\"a\\u{a}b\\u{1b}[2J\" ü");
        assert_eq!(escape("a\u{202e}b"), "a\\u{202e}b");
    }
}
