//! Trace spans of a stream, one for each backend asked, also to resume or race another.

use crate::execution::stream_stats::StreamStats;
use crate::peers::Peer;
use schema::message::Search;
use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Kind, TraceSpan};

#[derive(Clone)]
pub(crate) struct StreamTrace {
    span: TraceSpan,
    /// Bytes and matches of the stream before it.
    before: (u64, u64),
}

impl StreamTrace {
    /// `why` is `first`, `resumed` or `hedged`.
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

    pub(crate) fn search<'a>(&self, search: &'a Search) -> Cow<'a, Search> {
        match self.span.context() {
            None => Cow::Borrowed(search),
            trace => Cow::Owned(Search {
                trace,
                ..search.clone()
            }),
        }
    }

    pub(crate) fn goes_on(&mut self, stats: &StreamStats) {
        self.before = arrived(stats);
    }

    /// Only `end` is a whole answer.
    pub(crate) fn end(&self, outcome: &'static str, stats: &StreamStats) {
        let ((bytes, matches), before) = (arrived(stats), self.before);
        self.span.set("trawl.stream.result", outcome);
        self.span.set("trawl.bytes", bytes.saturating_sub(before.0));
        self.span
            .set("trawl.matches", matches.saturating_sub(before.1));
        // Not failures: a heavy search is asked again, one handed over goes to a connection, a
        // stopped one has no clients.
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
