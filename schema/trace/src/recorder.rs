//! Recorder of finished spans, and the thread that sends batches of them to a collector.

use crate::otlp::{self, Record, Resource};
use crate::queue::Queue;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

const WARN_EVERY: Duration = Duration::from_secs(60);

/// Sends a request body to the collector and returns the response. It must end within seconds.
/// Errors are logged.
pub type Transport = Box<dyn FnMut(&[u8]) -> Sent + Send>;

pub type Sent = Result<Vec<u8>, String>;

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
            .spawn(move || send_all(&waiting, &resource, send))?;
        Ok(Recorder { queue, ratio })
    }

    /// `of_caller`: decision of the caller.
    pub(crate) fn samples(&self, of_caller: Option<bool>) -> bool {
        self.ratio > 0.0 && of_caller.unwrap_or_else(|| fastrand::f64() < self.ratio)
    }

    pub(crate) fn record(&self, record: Record) {
        if !self.queue.push(record) {
            dropped("queue", 1);
        }
    }

    /// Sends the queue, for at most `max`. The rest is counted as dropped.
    pub fn flush(&self, max: Duration) {
        dropped("shutdown", self.queue.flush(max) as u64);
    }
}

/// Installs the recorder of this process. Later calls have no effect.
pub fn install(recorder: Recorder) {
    let _ = INSTALLED.set(recorder);
}

pub fn recorder() -> Option<&'static Recorder> {
    INSTALLED.get()
}

/// Sends the queue of this process, for at most `max`.
pub fn flush(max: Duration) {
    if let Some(recorder) = recorder() {
        recorder.flush(max);
    }
}

fn send_all(queue: &Queue, resource: &Resource, mut send: Transport) {
    let mut warned = None;
    loop {
        let batch = queue.take();
        let count = batch.len() as u64;
        match send(&otlp::encode(resource, &batch)) {
            Ok(answer) => {
                let rejected = otlp::rejected(&answer).min(count);
                dropped("rejected", rejected);
                metrics::counter!("trawl_traces_sent_total").increment(count - rejected);
                if warned.take().is_some() {
                    tracing::info!("the collector of traces takes spans again");
                }
            }
            Err(error) => {
                dropped("collector", count);
                if warned.is_none_or(|at: Instant| at.elapsed() >= WARN_EVERY) {
                    tracing::warn!(%error, "the collector of traces does not take spans; they are dropped");
                    warned = Some(Instant::now());
                }
            }
        }
    }
}

fn dropped(reason: &'static str, spans: u64) {
    metrics::counter!("trawl_traces_dropped_total", "reason" => reason).increment(spans);
}

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
