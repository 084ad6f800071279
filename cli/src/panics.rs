//! Counts panics. A request that panics gets an error and the process lives on, so only this metric tells an operator.

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const TOTAL: &str = "trawl_panics_total";

/// Panics of this process. The recorder of metrics starts later than the process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Counts panics from now on, before they are reported as usual.
pub(crate) fn count() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        COUNT.fetch_add(1, Relaxed);
        record();
        report(panic);
    }));
}

/// Describes the metric, and records the panics until now.
pub(crate) fn describe_metrics() {
    metrics::describe_counter!(TOTAL, "Panics of this process: each is a bug to report");
    record();
}

fn record() {
    metrics::counter!(TOTAL).absolute(COUNT.load(Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics_exporter_prometheus::PrometheusBuilder;

    #[test]
    fn panics_are_counted_in_every_thread() {
        count();
        let recorder = PrometheusBuilder::new().build_recorder();
        let before = COUNT.load(Relaxed);
        metrics::with_local_recorder(&recorder, || {
            describe_metrics();
            let here = panic::catch_unwind(|| panic!("as the test wants"));
            let there = std::thread::spawn(|| panic!("as the test wants")).join();
            assert!(here.is_err() && there.is_err());
            record();
        });
        assert!(COUNT.load(Relaxed) >= before + 2);
        let text = recorder.handle().render();
        let line = text.lines().find(|line| line.starts_with(TOTAL));
        let (_, counted) = line.expect("the metric").split_once(' ').expect("a value");
        assert!(counted.parse::<u64>().unwrap() >= before + 2, "{text}");
    }
}
