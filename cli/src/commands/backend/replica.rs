//! `trawl backend --store`: keeps a local replica of the store.
//!
//! A thread polls HEAD and the node list, fetches shards, and drops those taken over by other
//! nodes. The backend detects the new manifest, and keeps serving while the store is unreachable.

use super::share::Neighbours;
use crate::placing::announced_name;
use crate::progress::{self, ProgressThread};
use crate::units;
use anyhow::Result;
use index::directory::Index;
use metrics::{counter, describe_counter, describe_gauge, gauge};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};
use store::{
    FetchOptions, NodeStatus, Objects, Replica, ServedShards, Share, StoreError, Synced, Transfer,
};
use tokio::sync::oneshot;

const POLL: Duration = Duration::from_secs(2);

/// Pauses after errors double up to this.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Interval of unchanged reports.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Interval of progress logs.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Flags to serve a store instead of an index directory.
#[derive(clap::Args)]
pub(super) struct ReplicaFlags {
    /// Serve the index published in this store, a directory or s3://BUCKET/PREFIX; see `trawl index
    /// --store`
    #[arg(long, value_name = "STORE", requires = "data")]
    pub(super) store: Option<String>,
    /// Directory for the files of the store; created if needed
    #[arg(long, value_name = "DIR", requires = "store")]
    pub(super) data: Option<PathBuf>,
    /// Files to fetch at once
    #[arg(long, value_name = "N", requires = "store", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    fetch_jobs: u16,
    /// Maximum of bytes to fetch per second [default: as fast as possible]
    #[arg(long, value_name = "SIZE", requires = "store", value_parser = units::parse_size)]
    fetch_rate: Option<u64>,
    /// Disk space to leave free
    #[arg(long, value_name = "SIZE", requires = "store", value_parser = units::parse_size, default_value = "1G")]
    disk_reserve: u64,
    /// Take over the shards of a node that has not been listed for this many seconds
    #[arg(long, value_name = "SECS", requires = "store", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) lost_after: u64,
    /// Follow HEAD once even to an earlier generation than before, after the store was restored
    /// from a backup
    #[arg(long, requires = "store")]
    accept_older_head: bool,
}

/// Sent once assigned or earlier shards are there, or nothing is published.
pub(super) type Filled = oneshot::Receiver<()>;

/// Opens `--data` and starts to update it until a failure. `None` without a store.
pub(super) async fn start(
    flags: &ReplicaFlags,
    neighbours: Option<Neighbours>,
) -> Result<Option<(Filled, oneshot::Receiver<StoreError>)>> {
    let (failed, failure) = oneshot::channel();
    let (fill, filled) = oneshot::channel();
    let Some((url, data)) = flags.store.clone().zip(flags.data.clone()) else {
        return Ok(None);
    };
    describe();
    let options = FetchOptions {
        files: usize::from(flags.fetch_jobs),
        bytes_per_second: flags.fetch_rate,
        reserve: flags.disk_reserve,
    };
    let accept_older = flags.accept_older_head;
    let open = move || {
        let objects = Objects::open(&url)?;
        let mut follower = Follower {
            replica: Replica::open(objects.clone(), &data, options)?,
            data,
            objects,
            accept_older,
            neighbours,
            settled: None,
            said: None,
            is_served_said: false,
            is_listed: true,
            filled: Some(fill),
        };
        if follower.replica.has_generation()? {
            follower.say_filled();
        }
        Ok::<_, StoreError>(follower)
    };
    // Store calls block, so they need a thread of their own.
    let mut follower = tokio::task::spawn_blocking(open).await??;
    let thread = thread::Builder::new().name("store".to_owned());
    thread.spawn(move || failed.send(follower.follow()))?;
    Ok(Some((filled, failure)))
}

struct Follower {
    data: PathBuf,
    objects: Objects,
    replica: Replica,
    accept_older: bool,
    /// `None` if this node has every shard.
    neighbours: Option<Neighbours>,
    /// Hash of the node list at which the directory last held exactly its assigned shards.
    settled: Option<String>,
    /// Last report and its time.
    said: Option<(NodeStatus, Instant)>,
    /// The store has the current shard list.
    is_served_said: bool,
    is_listed: bool,
    /// Announces that `--data` can be served.
    filled: Option<oneshot::Sender<()>>,
}

impl Follower {
    fn follow(&mut self) -> StoreError {
        let (mut pause, mut logged) = (POLL, String::new());
        loop {
            let looked = self.once();
            gauge!("trawl_backend_fetching_bytes").set(0.0);
            match looked {
                Ok(()) => (pause, logged) = (POLL, String::new()),
                Err(error) if self.is_fatal(&error) => return error,
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

    /// A store of a later version ends only backends without shards.
    fn is_fatal(&self, error: &StoreError) -> bool {
        match error {
            StoreError::OtherStore(_) => true,
            StoreError::Newer { .. } => self.replica.shards().is_ok_and(|shards| shards.is_empty()),
            _ => false,
        }
    }

    fn once(&mut self) -> Result<(), StoreError> {
        let Some(neighbours) = &self.neighbours else {
            if self.is_behind()? {
                let synced = self.sync(None)?;
                self.take(&synced);
            }
            self.say_filled();
            return Ok(());
        };
        let Some(placing) = neighbours.placing() else {
            if std::mem::replace(&mut self.is_listed, false) {
                tracing::warn!(
                    node = neighbours.name(),
                    "this node is not listed; it keeps the shards that it has until it is"
                );
            }
            return Ok(());
        };
        self.is_listed = true;
        if !self.is_behind()? && self.settled.as_deref() == Some(placing.hash()) {
            let said = self.said.clone();
            return said.map_or(Ok(()), |(said, _)| self.say(said));
        }
        let synced = self.sync(Some(&neighbours.share(&placing, &self.objects)))?;
        self.take(&synced);
        self.say_filled();
        self.say_served(synced.is_changed)?;
        gauge!("trawl_backend_moving").set(f64::from(u8::from(!synced.is_settled)));
        self.settled = synced.is_settled.then(|| placing.hash().to_owned());
        self.say(NodeStatus {
            announced: self.announced(),
            generation: synced.generation,
            map: placing.hash().to_owned(),
            shards: synced.shards,
            bytes: synced.bytes,
            ..NodeStatus::default()
        })
    }

    fn is_behind(&self) -> Result<bool, StoreError> {
        let (served, head) = self.replica.generations()?;
        gauge!("trawl_backend_generation").set(served as f64);
        gauge!("trawl_backend_head_generation").set(head as f64);
        Ok(served != head)
    }

    fn sync(&self, share: Option<&dyn Share>) -> Result<Synced, StoreError> {
        let progress = Arc::new(Transfer::default());
        let _logged = logged(&progress, self.reporter());
        self.replica.sync(share, self.accept_older, &progress)
    }

    fn take(&mut self, synced: &Synced) {
        self.accept_older = self.accept_older && synced.generation == 0;
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

    fn say_filled(&mut self) {
        if let Some(filled) = self.filled.take() {
            let _ = filled.send(());
        }
    }

    fn announced(&self) -> String {
        let opened = Index::open(&self.data);
        let shards = opened.map_or_else(|_| Vec::new(), |index| index.shards);
        announced_name(shards.iter().map(|shard| shard.id()))
    }

    /// Reports a change, or the same status again after [`REPORT_EVERY`].
    fn say(&mut self, status: NodeStatus) -> Result<(), StoreError> {
        let said = self.said.as_ref();
        let is_said =
            said.is_some_and(|(said, when)| *said == status && when.elapsed() < REPORT_EVERY);
        if let Some(neighbours) = self.neighbours.as_ref().filter(|_| !is_said) {
            status.report(&self.objects, neighbours.name())?;
            self.said = Some((status, Instant::now()));
        }
        Ok(())
    }

    /// Reports the shard list, if changed.
    fn say_served(&mut self, is_changed: bool) -> Result<(), StoreError> {
        self.is_served_said &= !is_changed;
        if let Some(neighbours) = &self.neighbours
            && !self.is_served_said
        {
            let served = ServedShards::new(self.replica.shards()?);
            served.report(&self.objects, neighbours.name())?;
            self.is_served_said = true;
        }
        Ok(())
    }

    /// Reports transfers; ignores errors.
    fn reporter(&self) -> impl Fn(u64, u64) + Send + 'static {
        let objects = self.objects.clone();
        let name = self.neighbours.as_ref().map(|it| it.name().to_owned());
        let before = self.said.as_ref().map(|(said, _)| said.clone());
        move |fetching, fetching_of| {
            let status = NodeStatus {
                fetching,
                fetching_of,
                ..before.clone().unwrap_or_default()
            };
            if let Some(name) = &name {
                let _ = status.report(&objects, name);
            }
        }
    }
}

fn describe() {
    describe_gauge!(
        "trawl_backend_generation",
        "The generation of the store that is served"
    );
    describe_gauge!(
        "trawl_backend_head_generation",
        "The generation of the store that HEAD named when it was last read"
    );
    describe_gauge!(
        "trawl_backend_fetching_bytes",
        "Bytes that are left to fetch from the store, of what is being fetched"
    );
    describe_gauge!(
        "trawl_backend_moving",
        "1 while this node keeps shards that are assigned to other nodes"
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

/// Logs and reports progress until dropped.
fn logged(progress: &Arc<Transfer>, say: impl Fn(u64, u64) + Send + 'static) -> ProgressThread {
    let (progress, started) = (Arc::clone(progress), Instant::now());
    progress::start(LOG_EVERY, LOG_EVERY, move || {
        let (bytes, total) = (progress.bytes.load(Relaxed), progress.total.load(Relaxed));
        let left = total.saturating_sub(bytes);
        gauge!("trawl_backend_fetching_bytes").set(left as f64);
        say(left, total);
        let rate = bytes as f64 / started.elapsed().as_secs_f64();
        let (bytes, total, rate) = (
            units::size(bytes),
            units::size(total),
            units::size(rate as u64),
        );
        tracing::info!("fetching from the store: {bytes} of {total}, {rate}/s");
    })
}
