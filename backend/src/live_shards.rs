//! The shards that are served. They are replaced as a whole when the index has a new manifest.
//!
//! A query names the shards that it wants. Shards that the newest manifest does not name are served
//! for [`GRACE`] longer, so that a frontend that does not know the new manifest yet loses no query.
//! A running search holds its shards as long as it needs them.

use crate::views::Views;
use arc_swap::ArcSwap;
use index::directory::{self, Index};
use index::shard::{Shard, ShardError};
use schema::message::{Recorded, VisibleShard};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long shards are served after the newest manifest has stopped naming them. A frontend learns
/// of a new manifest within two seconds.
const GRACE: Duration = Duration::from_secs(60);

/// Shards without packages that other backends have in a newer build, kept for the next search: one for
/// each shard of several frontends and generations. Each takes 4 bytes a package.
const NARROWED_MAX: usize = 64;

/// How often the manifest is checked.
const POLL: Duration = Duration::from_millis(250);

/// The shards of an index directory; [`watch`](LiveShards::watch) keeps them up to date.
pub struct LiveShards {
    directory: PathBuf,
    current: ArcSwap<Generation>,
    /// Earlier generations, with the time until which they are served.
    previous: Mutex<Vec<(Instant, Arc<Generation>)>>,
    changed: watch::Sender<()>,
    /// The latest last.
    narrowed: Mutex<VecDeque<Narrowed>>,
    views: Views,
}

/// A shard without some of its packages.
struct Narrowed {
    /// The id of the whole shard.
    of: [u8; 32],
    excluded: Vec<u32>,
    shard: Arc<Shard>,
}

/// The shards of one generation, in the manifest's order.
pub struct Generation {
    /// The shards.
    pub shards: Vec<Arc<Shard>>,
    /// When the manifest was written, in seconds since 1970; 0 when unknown.
    pub updated: u64,
    /// What the index recorded of its repositories.
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

    /// Returns the newest generation.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Returns a receiver that is notified of every new generation.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns the shard with this id, in the newest generation or one that is still served.
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

    /// Returns a shard without the packages `excluded`, which must be numbers of its packages.
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

    /// Returns what a caller sees of a shard that is served; `None` if it is not.
    pub fn view(&self, visible: &VisibleShard) -> Result<Option<Arc<Shard>>, Arc<ShardError>> {
        let shard = self.shard(&visible.shard);
        let view = |shard: Arc<Shard>| self.views.of(&shard, visible);
        shard.map(view).transpose()
    }

    /// Opens new manifests for ever. Also reopens shards whose files were damaged while in use,
    /// once the files are whole again.
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

    /// Opens the index again and makes it the current generation.
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
        // Its file would stay on the disk.
        lock(&self.narrowed).retain(|known| self.shard(&known.of).is_some());
        self.views.retain(|id| self.shard(id).is_some());
    }

    fn previous(&self) -> MutexGuard<'_, Vec<(Instant, Arc<Generation>)>> {
        lock(&self.previous)
    }
}

/// A panic leaves what these locks guard valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Generation {
    fn open(directory: &Path, open: &[Arc<Shard>]) -> Result<Generation, directory::IndexError> {
        // Read before the manifest. If the manifest is replaced in between, the index looks too
        // old, not too new, until the new manifest is opened.
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

/// Logs a reason for which the index cannot be reopened, unless it is the last one logged.
fn log_once(logged: &mut String, reason: &str) {
    if logged != reason {
        tracing::warn!(%reason, "cannot reopen the index; still serving the old generation");
        reason.clone_into(logged);
    }
}
