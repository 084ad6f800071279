//! Recorder of finished spans.

use crate::exporter::{self, Transport};
use crate::otlp::{Record, Resource};
use crate::queue::Queue;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// One for each process.
static INSTALLED: OnceLock<Recorder> = OnceLock::new();

/// Queues finished spans for a sending thread.
#[derive(Clone)]
pub struct Recorder {
    queue: Arc<Queue>,
    /// Share of own traces that are recorded.
    ratio: f64,
}

impl Recorder {
    /// Starts the sending thread. Records the share `ratio` of the traces that begin here. For
    /// others the caller decides, but 0 records nothing.
    pub fn start(resource: Resource, ratio: f64, send: Transport) -> io::Result<Recorder> {
        let queue = Arc::<Queue>::default();
        let waiting = Arc::clone(&queue);
        thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || exporter::run(&waiting, &resource, send))?;
        Ok(Recorder { queue, ratio })
    }

    /// `of_caller`: decision of the caller.
    pub(crate) fn samples(&self, of_caller: Option<bool>) -> bool {
        self.ratio > 0.0 && of_caller.unwrap_or_else(|| fastrand::f64() < self.ratio)
    }

    pub(crate) fn record(&self, record: Record) {
        if !self.queue.push(record) {
            exporter::dropped("queue", 1);
        }
    }

    /// Sends the queue, for at most `max`. The rest is counted as dropped.
    pub fn flush(&self, max: Duration) {
        exporter::dropped("shutdown", self.queue.flush(max) as u64);
    }
}

/// Installs the recorder of this process. Later calls have no effect.
pub fn install(recorder: Recorder) {
    let _ = INSTALLED.set(recorder);
}

/// Recorder of this process, if any.
pub fn recorder() -> Option<&'static Recorder> {
    INSTALLED.get()
}

/// Sends the queue of this process, for at most `max`.
pub fn flush(max: Duration) {
    if let Some(recorder) = recorder() {
        recorder.flush(max);
    }
}

/// Describes the metrics.
pub fn describe_metrics() {
    metrics::describe_counter!(
        "trawl_traces_sent_total",
        "Spans of traces that the collector has taken"
    );
    metrics::describe_counter!(
        "trawl_traces_dropped_total",
        "Spans of traces that were dropped: too many waited (reason=queue), the collector was down, slow or refused them (collector, rejected), or the process ended (shutdown)"
    );
}
