//! Counts and logs panics of a server: a panicking request gets an error, and the process
//! continues.

use crate::log;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Panics may precede the metrics recorder.
static COUNT: AtomicU64 = AtomicU64::new(0);

pub(crate) fn count() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        COUNT.fetch_add(1, Relaxed);
        record();
        match log::started() {
            // The default report blocks on an unread standard error.
            Some(_) => log(panic),
            None => report(panic),
        }
    }));
}

/// Includes earlier panics.
pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        "trawl_panics_total",
        "Panics of this process: each is a bug to report"
    );
    record();
}

fn record() {
    metrics::counter!("trawl_panics_total").absolute(COUNT.load(Relaxed));
}

fn log(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    // Captured with RUST_BACKTRACE=1.
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then_some(backtrace);
    tracing::error!(
        thread = thread.name(),
        at = panic.location().map(tracing::field::display),
        reason = panic.payload_as_str(),
        backtrace = backtrace.map(tracing::field::display),
        "a thread panicked",
    );
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
        let value = |line: &str| line.strip_prefix("trawl_panics_total ")?.parse().ok();
        let counted: u64 = text.lines().find_map(value).expect("the metric");
        assert!(counted >= before + 2, "{text}");
    }
}
