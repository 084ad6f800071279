//! Recorder of finished spans.

use crate::exporter::{self, Transport};
use crate::otlp::{Record, Resource};
use crate::queue::Queue;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// One for each process, like the log and the metrics.
static INSTALLED: OnceLock<Recorder> = OnceLock::new();

/// Queues finished spans for the thread that sends them.
#[derive(Clone)]
pub struct Recorder {
    queue: Arc<Queue>,
    /// Share of recorded traces among those that begin here, from 0 to 1.
    ratio: f64,
}

impl Recorder {
    /// Starts the thread that sends spans. Of the traces that begin here, the share `ratio` is
    /// recorded. For others the caller decides, but a ratio of 0 records nothing.
    pub fn start(resource: Resource, ratio: f64, send: Transport) -> io::Result<Recorder> {
        let queue = Arc::<Queue>::default();
        let waiting = Arc::clone(&queue);
        thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || exporter::run(&waiting, &resource, send))?;
        Ok(Recorder { queue, ratio })
    }

    /// Returns whether a trace is recorded. `of_caller`: decision of the caller.
    pub(crate) fn samples(&self, of_caller: Option<bool>) -> bool {
        self.ratio > 0.0 && of_caller.unwrap_or_else(|| fastrand::f64() < self.ratio)
    }

    pub(crate) fn record(&self, record: Record) {
        if !self.queue.push(record) {
            exporter::dropped("queue", 1);
        }
    }

    /// Sends the queue, for `max` at most, and counts the rest as dropped.
    pub fn flush(&self, max: Duration) {
        exporter::dropped("shutdown", self.queue.flush(max) as u64);
    }
}

/// Installs the recorder of this process. Only the first call has an effect.
pub fn install(recorder: Recorder) {
    let _ = INSTALLED.set(recorder);
}

/// Returns the recorder of this process, if any.
pub fn recorder() -> Option<&'static Recorder> {
    INSTALLED.get()
}

/// Sends the queue before the process ends, for `max` at most.
pub fn flush(max: Duration) {
    if let Some(recorder) = recorder() {
        recorder.flush(max);
    }
}

/// Describes the metrics of traces.
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
