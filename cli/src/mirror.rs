//! Mirrors of git repositories: bare clones, updated by `git fetch` processes.
//!
//! [`remote`] and [`list`] parse, [`address`] checks hosts, [`child`] isolates git, [`repository`]
//! clones or fetches. This module runs several at once and retries. It reads no contents.

mod address;
mod child;
mod list;
mod memory;
mod remote;
mod repository;

pub(crate) use child::{ChildError, MirrorOptions};
pub(crate) use list::remotes;
pub(crate) use remote::{Remote, Scheme};
pub(crate) use repository::{Mirrored, path};

use crate::cache_dir;
use anyhow::{Context, Result, anyhow};
use child::Limits;
use repository::{Attempt, INCOMING};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Waits double up to the maximum.
const RETRY_AFTER: Duration = Duration::from_millis(500);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// Polling interval of interrupts.
const POLL_EVERY: Duration = Duration::from_millis(20);

#[derive(Default)]
pub(crate) struct MirrorProgress {
    pub(crate) done: AtomicUsize,
    pub(crate) failed: AtomicUsize,
    pub(crate) running: Mutex<BTreeSet<String>>,
    /// Set to end all fetches.
    pub(crate) interrupted: AtomicBool,
}

pub(crate) struct MirrorResult {
    pub(crate) outcome: Result<Mirrored>,
    pub(crate) attempts: u32,
    pub(crate) elapsed: Duration,
}

pub(crate) struct MirrorDirectory {
    path: PathBuf,
    /// Closing unlocks.
    _lock: File,
}

impl MirrorDirectory {
    /// Locks the directory, and removes incomplete clones.
    pub(crate) fn open(path: &Path) -> Result<MirrorDirectory> {
        child::check_version()?;
        cache_dir::create(path)?;
        let shown = path.display();
        let lock = File::create(path.join(".lock"));
        let lock = lock.with_context(|| format!("cannot write to {shown}"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                anyhow!("another `trawl mirror` is fetching into {shown}; wait for its end")
            }
            TryLockError::Error(error) => {
                anyhow::Error::new(error).context(format!("cannot lock {shown}"))
            }
        })?;
        let entries = fs::read_dir(path).with_context(|| format!("cannot read {shown}"))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(INCOMING) {
                // A remaining clone is harmless: its name is not reused.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(MirrorDirectory {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Mirrors concurrently; failures do not stop others. Results are in the order of `remotes`.
    pub(crate) fn mirror(
        &self,
        remotes: &[Remote],
        options: &MirrorOptions,
        progress: &MirrorProgress,
    ) -> Vec<MirrorResult> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            let take = || next.fetch_add(1, Ordering::Relaxed);
            while let Some((index, remote)) = remotes.iter().enumerate().nth(take()) {
                let result = self.mirror_one(remote, options, progress);
                lock().insert(index, result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..options.jobs.min(remotes.len()) {
                scope.spawn(work);
            }
        });
        std::mem::take(&mut *lock()).into_values().collect()
    }

    fn mirror_one(
        &self,
        remote: &Remote,
        options: &MirrorOptions,
        progress: &MirrorProgress,
    ) -> MirrorResult {
        let running = || progress.running.lock().unwrap_or_else(|it| it.into_inner());
        running().insert(remote.name.clone());
        let started = Instant::now();
        let deadline = started + options.timeout;
        let mut attempts = 0;
        let outcome = loop {
            attempts += 1;
            let attempt = Attempt {
                remote,
                directory: &self.path,
                options,
                limits: Limits {
                    deadline,
                    size: None,
                    memory: None,
                    interrupted: &progress.interrupted,
                },
                addresses: Vec::new(),
            };
            let outcome = attempt.run();
            let is_final = !outcome.as_ref().is_err_and(child::is_transient);
            if is_final || attempts > options.retries || !wait(attempts, deadline, progress) {
                break outcome;
            }
        };
        running().remove(&remote.name);
        let failed = usize::from(outcome.is_err());
        progress.done.fetch_add(1, Ordering::Relaxed);
        progress.failed.fetch_add(failed, Ordering::Relaxed);
        MirrorResult {
            outcome,
            attempts,
            elapsed: started.elapsed(),
        }
    }
}

/// Returns false if no time is left.
fn wait(attempts: u32, deadline: Instant, progress: &MirrorProgress) -> bool {
    let until = Instant::now() + back_off(attempts, fastrand::f64());
    if until >= deadline {
        return false;
    }
    while Instant::now() < until {
        if progress.interrupted.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(POLL_EVERY);
    }
    true
}

/// `random`, from 0 to 1, spreads the load over half of the wait.
fn back_off(attempts: u32, random: f64) -> Duration {
    let doubled = RETRY_AFTER.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    doubled.min(RETRY_AFTER_MAX).mul_f64(0.5 + random / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_are_spread() {
        let most = |attempts| back_off(attempts, 1.0);
        assert_eq!(most(1), RETRY_AFTER);
        assert_eq!(most(2), RETRY_AFTER * 2);
        assert_eq!(most(3), RETRY_AFTER * 4);
        assert_eq!(most(99), RETRY_AFTER_MAX);
        assert_eq!(back_off(2, 0.0), RETRY_AFTER);
    }
}
