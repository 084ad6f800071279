//! Served shards, replaced as a whole by each new manifest.
//!
//! A query names its shards. Those gone from the newest manifest are served for [`GRACE`] longer,
//! for frontends with the old one. A running search holds its shards.

use super::views::Views;
use arc_swap::ArcSwap;
use index::directory::{self, Index};
use index::shard::{Shard, ShardError};
use schema::message::{Recorded, VisibleShard};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Time that shards are served after their manifest. A frontend learns of a new one within two
/// seconds.
const GRACE: Duration = Duration::from_secs(60);

/// Shards without packages newer elsewhere: one per shard of several frontends and generations, 4
/// bytes a package.
const NARROWED_MAX: usize = 64;

/// Interval of checking the manifest.
const POLL: Duration = Duration::from_millis(250);

/// Shards of an index directory, kept up to date by [`watch`](LiveShards::watch).
pub struct LiveShards {
    directory: PathBuf,
    current: ArcSwap<Generation>,
    /// Earlier generations, each with its end.
    previous: Mutex<Vec<(Instant, Arc<Generation>)>>,
    changed: watch::Sender<()>,
    /// Latest last.
    narrowed: Mutex<VecDeque<Narrowed>>,
    views: Views,
}

struct Narrowed {
    of: [u8; 32],
    excluded: Vec<u32>,
    shard: Arc<Shard>,
}

/// Shards of one generation, in manifest order.
pub struct Generation {
    /// The shards.
    pub shards: Vec<Arc<Shard>>,
    /// Time of the manifest, in seconds since 1970, or 0.
    pub updated: u64,
    /// The index's records of its repositories.
    pub recorded: Arc<Recorded>,
}

impl LiveShards {
    /// Opens the index in `directory`.
    pub fn open(directory: &Path) -> Result<LiveShards, directory::IndexError> {
        Ok(LiveShards {
            directory: directory.to_owned(),
            current: ArcSwap::from_pointee(Generation::open(directory, &[])?),
            previous: Mutex::default(),
            changed: watch::Sender::new(()),
            narrowed: Mutex::default(),
            views: Views::default(),
        })
    }

    /// Newest generation.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Notifies of every new generation.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Shard with this id in any served generation.
    pub fn shard(&self, id: &[u8; 32]) -> Option<Arc<Shard>> {
        let find = |generation: &Generation| {
            let mut shards = generation.shards.iter();
            shards.find(|shard| shard.id() == *id).cloned()
        };
        find(&self.current()).or_else(|| {
            let previous = self.previous();
            previous.iter().find_map(|(_, generation)| find(generation))
        })
    }

    /// Shard without `excluded`, numbers of its packages.
    pub fn without(&self, shard: &Shard, excluded: &[u32]) -> Result<Arc<Shard>, ShardError> {
        let of = shard.id();
        let is_it = |known: &Narrowed| {
            known.of == of && known.excluded == excluded && !known.shard.is_damaged()
        };
        if let Some(known) = lock(&self.narrowed).iter().find(|known| is_it(known)) {
            return Ok(Arc::clone(&known.shard));
        }
        let mut dead = [shard.dead(), excluded].concat();
        dead.sort_unstable();
        dead.dedup();
        let narrowed = Arc::new(shard.with_dead(dead)?);
        let mut all = lock(&self.narrowed);
        if all.len() == NARROWED_MAX {
            all.pop_front();
        }
        all.push_back(Narrowed {
            of,
            excluded: excluded.to_vec(),
            shard: Arc::clone(&narrowed),
        });
        Ok(narrowed)
    }

    /// Visible part of a served shard, if any.
    pub fn view(&self, visible: &VisibleShard) -> Result<Option<Arc<Shard>>, Arc<ShardError>> {
        let shard = self.shard(&visible.shard);
        let view = |shard: Arc<Shard>| self.views.of(&shard, visible);
        shard.map(view).transpose()
    }

    /// Opens new manifests for ever. Also reopens damaged shards once their files are whole again.
    pub async fn watch(self: Arc<Self>) {
        let mut stamp = directory::manifest_stamp(&self.directory).ok();
        let mut logged = String::new();
        loop {
            tokio::time::sleep(POLL).await;
            self.drop_old();
            let now = directory::manifest_stamp(&self.directory).ok();
            if now == stamp && self.current().is_intact() {
                continue;
            }
            let shards = self.clone();
            let result = tokio::task::spawn_blocking(move || shards.reload()).await;
            match result {
                Ok(Ok(())) => stamp = now,
                Ok(Err(error)) => log_once(&mut logged, &error.to_string()),
                Err(error) => log_once(&mut logged, &error.to_string()),
            }
        }
    }

    /// Reopens the index as the current generation.
    pub fn reload(&self) -> Result<(), directory::IndexError> {
        let old = self.current();
        let new = Generation::open(&self.directory, &old.shards)?;
        self.previous().push((Instant::now() + GRACE, old));
        tracing::info!(shards = new.shards.len(), "reopened the index");
        self.current.store(Arc::new(new));
        self.changed.send_replace(());
        Ok(())
    }

    fn drop_old(&self) {
        let now = Instant::now();
        self.previous().retain(|(until, _)| *until > now);
        // Its file would stay on disk.
        lock(&self.narrowed).retain(|known| self.shard(&known.of).is_some());
        self.views.retain(|id| self.shard(id).is_some());
    }

    fn previous(&self) -> MutexGuard<'_, Vec<(Instant, Arc<Generation>)>> {
        lock(&self.previous)
    }
}

/// A panic leaves the guarded values valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Generation {
    fn open(directory: &Path, open: &[Arc<Shard>]) -> Result<Generation, directory::IndexError> {
        // Read before the manifest: if replaced meanwhile, the index looks too old until the next
        // check.
        let stamp = directory::manifest_stamp(directory);
        let index = Index::reopen(directory, open)?;
        Ok(Generation {
            shards: index.shards,
            recorded: index.recorded,
            updated: stamp.map_or(0, |(_, seconds, _)| u64::try_from(seconds).unwrap_or(0)),
        })
    }

    fn is_intact(&self) -> bool {
        self.shards.iter().all(|shard| shard.intact().is_ok())
    }
}

fn log_once(logged: &mut String, reason: &str) {
    if logged != reason {
        tracing::warn!(%reason, "cannot reopen the index; still serving the old generation");
        reason.clone_into(logged);
    }
}
