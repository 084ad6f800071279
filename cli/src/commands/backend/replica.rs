//! `trawl backend --store`: keeps what the store has in a directory, which the backend serves.
//!
//! A thread looks at HEAD every few seconds, and fetches what is new. The backend notices that the directory has a new manifest.
//! If the store cannot be reached, what was fetched before is served.

use crate::progress::ProgressThread;
use crate::units;
use anyhow::{Error, Result, anyhow};
use metrics::{counter, describe_counter, describe_gauge, gauge};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};
use store::{Everything, FetchOptions, Fetching, Objects, Replica, StoreError, Synced};
use tokio::sync::oneshot;

/// How often HEAD is looked at.
const POLL: Duration = Duration::from_secs(2);

/// The pause after an error, doubled each time up to the maximum.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// How often progress is logged while files are fetched.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// What a backend serves instead of an index directory.
#[derive(clap::Args)]
pub(super) struct ReplicaFlags {
    /// Serve what is published in this store, a directory or s3://BUCKET/PREFIX; see `trawl index --store`
    #[arg(long, value_name = "STORE", requires = "data")]
    pub(super) store: Option<String>,
    /// The directory for the files of the store; created if needed
    #[arg(long, value_name = "DIR", requires = "store")]
    pub(super) data: Option<PathBuf>,
    /// Fetch so many files at once
    #[arg(long, value_name = "N", requires = "store", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    fetch_jobs: u16,
    /// Fetch no more than so many bytes a second [default: as fast as possible]
    #[arg(long, value_name = "SIZE", requires = "store", value_parser = units::parse_size)]
    fetch_rate: Option<u64>,
    /// Leave so much of the disk free
    #[arg(long, value_name = "SIZE", requires = "store", value_parser = units::parse_size, default_value = "1G")]
    disk_reserve: u64,
    /// Follow HEAD once even if it names an earlier generation than before: the store was restored from a backup
    #[arg(long, requires = "store")]
    accept_older_head: bool,
}

/// Opens the directory of `--data` and begins to keep it up to date. What it returns ends only with an error that no other attempt
/// can mend.
pub(super) async fn start(flags: &ReplicaFlags) -> Result<impl Future<Output = Error> + use<>> {
    let (opened, is_open) = oneshot::channel();
    let (failed, failure) = oneshot::channel();
    let Some((url, data)) = flags.store.clone().zip(flags.data.clone()) else {
        return Ok(until_failure(None));
    };
    describe();
    let options = FetchOptions {
        files: usize::from(flags.fetch_jobs),
        bytes_per_second: flags.fetch_rate,
        reserve: flags.disk_reserve,
    };
    let accept_older = flags.accept_older_head;
    // Its own thread, since calls of a store block and must not be made on a thread of the runtime.
    thread::Builder::new()
        .name("store".to_owned())
        .spawn(move || {
            let replica =
                Objects::open(&url).and_then(|objects| Replica::open(objects, &data, options));
            let replica = match replica {
                Ok(replica) => replica,
                Err(error) => return drop(opened.send(Err(error))),
            };
            if opened.send(Ok(())).is_ok() {
                let error = follow(&replica, accept_older);
                let _ = failed.send(error);
            }
        })?;
    is_open
        .await
        .map_err(|_| anyhow!("the thread of the store has ended"))??;
    Ok(until_failure(Some(failure)))
}

async fn until_failure(failure: Option<oneshot::Receiver<StoreError>>) -> Error {
    match failure {
        None => std::future::pending().await,
        Some(failure) => failure.await.map_or_else(
            |_| anyhow!("the thread of the store has ended"),
            |error| error.into(),
        ),
    }
}

/// Fetches what is new, until there is an error that no other attempt can mend.
fn follow(replica: &Replica, mut accept_older: bool) -> StoreError {
    let (mut pause, mut logged) = (POLL, String::new());
    loop {
        match once(replica, accept_older) {
            Ok(synced) => {
                log(&synced);
                accept_older = accept_older && synced.generation == 0;
                (pause, logged) = (POLL, String::new());
            }
            Err(error @ (StoreError::OtherStore(_) | StoreError::Newer { .. })) => return error,
            Err(error) => {
                counter!("trawl_backend_store_errors_total").increment(1);
                let reason = error.to_string();
                if logged != reason {
                    tracing::warn!(
                        reason,
                        "cannot follow the store; serving what was fetched before"
                    );
                    logged = reason;
                }
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
        thread::sleep(pause);
    }
}

fn once(replica: &Replica, accept_older: bool) -> Result<Synced, StoreError> {
    if !replica.is_behind()? {
        return Ok(Synced::default());
    }
    let progress = Arc::new(Fetching::default());
    let _logged = logged(&progress);
    replica.sync(&Everything, accept_older, &progress)
}

fn log(synced: &Synced) {
    if !synced.is_changed {
        return;
    }
    gauge!("trawl_backend_generation").set(synced.generation as f64);
    counter!("trawl_backend_fetched_bytes_total").increment(synced.fetched_bytes);
    tracing::info!(
        generation = synced.generation,
        shards = synced.shards,
        of = synced.all_shards,
        files = synced.fetched_files,
        bytes = synced.fetched_bytes,
        "fetched a generation"
    );
}

fn describe() {
    describe_gauge!(
        "trawl_backend_generation",
        "The generation of the store that is served"
    );
    describe_counter!(
        "trawl_backend_fetched_bytes_total",
        "Bytes fetched from the store"
    );
    describe_counter!(
        "trawl_backend_store_errors_total",
        "Attempts to follow the store that failed"
    );
}

/// Logs how far fetching is, until the result is dropped.
fn logged(progress: &Arc<Fetching>) -> ProgressThread {
    let (progress, started) = (Arc::clone(progress), Instant::now());
    ProgressThread::start(LOG_EVERY, LOG_EVERY, move || {
        let (bytes, total) = (progress.bytes.load(Relaxed), progress.total.load(Relaxed));
        let rate = bytes as f64 / started.elapsed().as_secs_f64();
        let (bytes, total, rate) = (
            units::size(bytes),
            units::size(total),
            units::size(rate as u64),
        );
        tracing::info!("fetching from the store: {bytes} of {total}, {rate}/s");
    })
}
