//! A stream in a trace: which backend was asked for how many shards, why, and what has come of it.
//!
//! A stream of an execution has a span for each backend that was asked: for one that goes on after another was lost, and for
//! one that races another that is slow, too.

use crate::execution::stream_stats::StreamStats;
use crate::peers::Peer;
use schema::message::Search;
use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Kind, TraceSpan};

/// The span of one backend's answer.
#[derive(Clone)]
pub(crate) struct StreamTrace {
    span: TraceSpan,
    /// Bytes and matches that had arrived in the stream before.
    before: (u64, u64),
}

impl StreamTrace {
    /// Begins the span when a backend is asked. `why` says whether it is the `first`, or has `resumed` or `hedged` another.
    pub(crate) fn begin(
        execution: &TraceSpan,
        (peer, shards, why): (&Peer, usize, &'static str),
        stats: &StreamStats,
    ) -> StreamTrace {
        let span = execution.child("stream", Kind::Client);
        if span.is_recorded() {
            span.set("trawl.backend", &*peer.log_name().to_string());
            span.set("trawl.shards", shards);
            span.set("trawl.stream.kind", why);
        }
        StreamTrace {
            span,
            before: arrived(stats),
        }
    }

    /// Returns the request with the place in the trace below which the backend records what it does.
    pub(crate) fn search<'a>(&self, search: &'a Search) -> Cow<'a, Search> {
        match self.span.context() {
            None => Cow::Borrowed(search),
            trace => Cow::Owned(Search {
                trace,
                ..search.clone()
            }),
        }
    }

    /// It goes on with what another backend has sent until now.
    pub(crate) fn goes_on(&mut self, stats: &StreamStats) {
        self.before = arrived(stats);
    }

    /// Ends the span: with a whole answer if the outcome is `end`.
    pub(crate) fn end(&self, outcome: &'static str, stats: &StreamStats) {
        let ((bytes, matches), before) = (arrived(stats), self.before);
        self.span.set("trawl.stream.result", outcome);
        self.span.set("trawl.bytes", bytes.saturating_sub(before.0));
        self.span
            .set("trawl.matches", matches.saturating_sub(before.1));
        // A search that turns out to be heavy is asked for again, one that a backend in this process cannot answer at once is
        // sent to a connection of it, and one that nobody waits for is stopped.
        if !matches!(outcome, "end" | "heavy" | "handed_over" | "stopped") {
            self.span.fail(outcome);
        }
        self.span.end();
    }
}

fn arrived(stats: &StreamStats) -> (u64, u64) {
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Relaxed);
    (load(&stats.received_bytes), load(&stats.matches))
}
