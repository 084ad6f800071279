//! `trawl serve --watch`: updates the index when its sources change.
//!
//! A thread waits for notifications or a rescan, then updates like `trawl index`, while older
//! queries finish. A failed update changes nothing and is retried.
//!
//! **Invariant:** a change is pending from its notification until the frontend searches an index
//! with it.

use super::served_index::ServedIndex;
use crate::terminal;
use crate::watch::{FileWatch, WatchRoots, Woken};
use anyhow::Result;
use backend::Backend;
use frontend::Coordinator;
use index::directory::Index;
use index::indexing::{Outcome, Report, Suspects};
use metrics::{counter, describe_counter, describe_histogram, histogram};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;

/// Waits after failures double; a change ends them.
const RETRY_AFTER: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// Pause as a multiple of a rescan's duration: costs about 1 % of a CPU.
const RESCAN_SHARE: u32 = 100;
const RESCAN_MIN: Duration = Duration::from_secs(2);
const RESCAN_MAX: Duration = Duration::from_secs(60);

/// Rescans compare text up to this age. Mapped stores update no time while a page is dirty: up to
/// 35 s by kernel defaults.
const DIRTY_MAX: Duration = Duration::from_secs(60);

/// The backend opens an update at once, or tries it every 250 ms.
const ANNOUNCED_MAX: Duration = Duration::from_secs(10);

pub(crate) struct WatchedIndex {
    pub(super) index: ServedIndex,
    pub(crate) watch: FileWatch,
    /// `None` derives it from a rescan's duration.
    rescan: Option<Duration>,
    update: Duration,
    /// The frontend has the last update.
    is_announced: bool,
    failures: u32,
}

impl WatchedIndex {
    /// `without`: directories written by this process.
    pub(super) fn start(
        index: ServedIndex,
        without: Vec<PathBuf>,
        rescan: Option<Duration>,
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
            no_ignore: index.build.no_ignore,
        });
        Ok(WatchedIndex {
            index,
            watch,
            rescan,
            update: Duration::ZERO,
            is_announced: false,
            failures: 0,
        })
    }

    /// The thread ends with the process. Needs a tokio runtime.
    pub(crate) fn run_in_thread(
        mut self,
        frontend: &Arc<Coordinator>,
        backend: Arc<Backend>,
    ) -> std::io::Result<()> {
        let (frontend, runtime) = (Arc::downgrade(frontend), Handle::current());
        let thread = std::thread::Builder::new().name("watch".to_owned());
        let started = thread.spawn(move || self.run(&frontend, &backend, &runtime));
        started.map(drop)
    }

    fn run(&mut self, frontend: &Weak<Coordinator>, backend: &Backend, runtime: &Handle) {
        loop {
            let woken = self.watch.wait(self.patience());
            let started = Instant::now();
            let updated = self.index.update(self.suspects(woken));
            self.update = started.elapsed() + self.watch.listed_in;
            self.record(woken, &updated, started.elapsed());
            self.is_announced &= matches!(&updated, Ok(it) if it.outcome == Outcome::Unchanged);
            // The backend tries again.
            let _ = backend.live().reload();
            if let Some(frontend) = frontend.upgrade() {
                self.is_announced = self.is_announced || self.announced(&frontend, runtime);
            }
            if self.failures == 0 && self.is_announced {
                self.watch.searched();
            }
        }
    }

    /// Files to compare by text.
    fn suspects(&self, woken: Woken) -> Suspects {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let from = now.unwrap_or_default().saturating_sub(DIRTY_MAX);
        let from = i128::try_from(from.as_nanos()).unwrap_or(i128::MAX);
        Suspects {
            modified_from_ns: (woken == Woken::Elapsed).then_some(from),
            paths: self.watch.suspects.clone(),
        }
    }

    fn announced(&self, frontend: &Coordinator, runtime: &Handle) -> bool {
        let Ok(index) = Index::open(&self.index.directory) else {
            return false;
        };
        let shards: HashSet<_> = index.shards.iter().map(|shard| shard.id()).collect();
        let announced = frontend.announced(&shards);
        let waited = async { tokio::time::timeout(ANNOUNCED_MAX, announced).await };
        runtime.block_on(waited).is_ok()
    }

    /// Pause without notifications.
    fn patience(&self) -> Duration {
        let rescan = self.rescan.unwrap_or_else(|| rescan_after(self.update));
        match self.failures {
            0 => rescan,
            failures => retry_after(failures).min(rescan),
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
                dropped = report.dropped.len(),
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

fn rescan_after(update: Duration) -> Duration {
    (update * RESCAN_SHARE).clamp(RESCAN_MIN, RESCAN_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescans_take_a_hundredth_of_the_time_but_come_within_a_minute() {
        let check = |update_ms, rescan_ms| {
            let rescan = rescan_after(Duration::from_millis(update_ms));
            assert_eq!(rescan, Duration::from_millis(rescan_ms));
        };
        check(0, 2_000);
        check(50, 5_000);
        check(10_000, 60_000);
    }

    #[test]
    fn failed_updates_are_tried_again_after_waits_that_double_up_to_a_minute() {
        let waits: Vec<u64> = [1, 2, 3, 7, u32::MAX]
            .map(|it| retry_after(it).as_secs())
            .into();
        assert_eq!(waits, [1, 2, 4, 60, 60]);
    }
}
