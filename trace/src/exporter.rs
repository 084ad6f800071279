//! Thread that sends batches of spans to a collector.

use crate::otlp::{self, Resource};
use crate::queue::Queue;
use std::sync::Arc;
use std::time::{Duration, Instant};

const WARN_EVERY: Duration = Duration::from_secs(60);

/// Sends a request body to the collector and returns the response. It must end within seconds.
/// Errors are logged.
pub type Transport = Box<dyn FnMut(&[u8]) -> Sent + Send>;

/// Response, or an error.
pub type Sent = Result<Vec<u8>, String>;

pub(crate) fn run(queue: &Arc<Queue>, resource: &Resource, mut send: Transport) {
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

pub(crate) fn dropped(reason: &'static str, spans: u64) {
    metrics::counter!("trawl_traces_dropped_total", "reason" => reason).increment(spans);
}
