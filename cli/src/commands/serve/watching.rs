//! `trawl serve --watch`: updates the index when its sources change.
//!
//! A thread waits for notifications, or for the next rescan, and updates the index as `trawl index` does; the
//! backend opens the new manifest while queries on the old one finish. One update runs at a time: what
//! changes meanwhile is found by the next. A failed update leaves the index as it was, and is tried again.

use super::served_index::ServedIndex;
use crate::terminal;
use crate::watch::{FileWatch, WatchRoots, Woken};
use anyhow::Result;
use index::indexing::{Outcome, Report};
use metrics::{counter, describe_counter, describe_histogram, histogram};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Wait before a failed update is tried again; each wait is twice the last, up to a maximum. A change ends
/// it.
const RETRY_AFTER: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// An index that is kept up to date.
pub(super) struct WatchedIndex {
    pub(super) index: ServedIndex,
    watch: FileWatch,
    rescan: Duration,
    /// Updates that have failed since the last one that has not.
    failures: u32,
}

impl WatchedIndex {
    /// Begins to watch the sources of an index. `without` are directories that this process writes to.
    pub(super) fn start(
        index: ServedIndex,
        without: Vec<PathBuf>,
        rescan: Duration,
    ) -> Result<WatchedIndex> {
        describe_counter!(
            "trawl_watch_updates_total",
            "Updates of the index by --watch, by outcome"
        );
        describe_histogram!(
            "trawl_watch_update_seconds",
            metrics::Unit::Seconds,
            "Time of updates of the index by --watch"
        );
        let absolute = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let watch = FileWatch::start(WatchRoots {
            roots: index.roots().into_iter().map(absolute).collect(),
            repositories: index.repositories()?,
            without: without.into_iter().map(absolute).collect(),
            no_ignore: index.no_ignore(),
        });
        Ok(WatchedIndex {
            index,
            watch,
            rescan,
            failures: 0,
        })
    }

    /// Updates the index for ever, in a thread that ends with the process.
    pub(super) fn run_in_thread(mut self) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name("watch".to_owned());
        thread.spawn(move || self.run()).map(|_| ())
    }

    fn run(&mut self) {
        loop {
            let woken = self.watch.wait(self.patience());
            let started = Instant::now();
            let updated = self.index.update();
            self.record(woken, &updated, started.elapsed());
        }
    }

    /// Time until the next update if nothing is noticed.
    fn patience(&self) -> Duration {
        match self.failures {
            0 => self.rescan,
            failures => retry_after(failures).min(self.rescan),
        }
    }

    fn record(&mut self, woken: Woken, updated: &Result<Report>, elapsed: Duration) {
        let outcome = match updated {
            Ok(report) if !report.problems.is_empty() => "failed",
            Ok(report) if report.outcome == Outcome::Unchanged => "unchanged",
            Ok(_) => "changed",
            Err(_) => "failed",
        };
        counter!("trawl_watch_updates_total", "outcome" => outcome).increment(1);
        histogram!("trawl_watch_update_seconds").record(elapsed);
        self.failures = match outcome {
            "failed" => self.failures.saturating_add(1),
            _ => 0,
        };
        match updated {
            Ok(report) if outcome == "changed" => tracing::info!(
                packages = report.read.packages,
                dropped = report.dropped,
                seconds = elapsed.as_secs_f64(),
                rescan = woken == Woken::Elapsed,
                "updated the index"
            ),
            Ok(report) => report.problems.iter().for_each(|(name, reason)| {
                tracing::warn!(
                    repository = %terminal::escaped(name),
                    reason = %terminal::escaped(reason),
                    "cannot index a repository; serving it as it was"
                );
            }),
            Err(error) => tracing::warn!(
                error = %terminal::escaped(&terminal::sentence(error)),
                retry_seconds = self.patience().as_secs_f64(),
                "cannot update the index; serving it as it was"
            ),
        }
    }
}

fn retry_after(failures: u32) -> Duration {
    let doubled = RETRY_AFTER.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_updates_are_tried_again_after_waits_that_double_up_to_a_minute() {
        let waits: Vec<u64> = [1, 2, 3, 7, u32::MAX]
            .map(|it| retry_after(it).as_secs())
            .into();
        assert_eq!(waits, [1, 2, 4, 60, 60]);
    }
}
