//! Served shards, replaced as a whole by each new manifest.
//!
//! A query names its shards. Those gone from the newest manifest are served for [`GRACE`] longer,
//! for frontends with the old one. A running search holds its shards.

use arc_swap::ArcSwap;
use index::directory::{self, Index, ManifestStamp};
use index::precise::Precise;
use index::shard::{PackageId, Shard, ShardError};
use moka::sync::Cache;
use schema::message::{Recorded, VisibleShard};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Time that shards are served after their manifest. A frontend learns of a new one within two
/// seconds.
const GRACE: Duration = Duration::from_secs(60);

/// Some sixty scopes of every other one of 100,000 packages.
const KEPT_BYTES_MAX: u64 = 64 << 20;

/// Bytes of a view besides its lists.
const VIEW_BYTES: usize = 1 << 10;

/// Interval of checking the manifest. An update in this process reloads at once.
const POLL: Duration = Duration::from_millis(250);

/// Follows an index directory; see [`watch`](LiveShards::watch).
pub struct LiveShards {
    directory: PathBuf,
    current: ArcSwap<Generation>,
    /// Earlier generations with their ends.
    previous: Mutex<Vec<(Instant, Arc<Generation>)>>,
    /// Of the current manifest. Locked while it is opened.
    stamp: Mutex<Option<ManifestStamp>>,
    changed: watch::Sender<()>,
    /// Shards with invisible or excluded packages dead, made once (single flight). A running search
    /// holds its views.
    views: Cache<ViewKey, Arc<Shard>>,
}

/// Shard id, and hash of the visible or excluded packages.
type ViewKey = ([u8; 32], [u8; 32]);

/// In manifest order.
pub struct Generation {
    pub shards: Vec<Arc<Shard>>,
    /// Time of the manifest, in seconds since 1970, or 0.
    pub updated: u64,
    pub recorded: Arc<Recorded>,
    /// Set if a SCIP file was imported.
    pub precise: Option<Arc<Precise>>,
}

impl LiveShards {
    pub fn open(directory: &Path) -> Result<LiveShards, directory::IndexError> {
        let weigh = |_: &ViewKey, view: &Arc<Shard>| {
            u32::try_from(view.live_bytes() + VIEW_BYTES).unwrap_or(u32::MAX)
        };
        let stamp = directory::manifest_stamp(directory).ok();
        let views = Cache::builder().max_capacity(KEPT_BYTES_MAX).weigher(weigh);
        Ok(LiveShards {
            directory: directory.to_owned(),
            current: ArcSwap::from_pointee(Generation::open(directory, &[], None)?),
            previous: Mutex::default(),
            stamp: Mutex::new(stamp),
            changed: watch::Sender::new(()),
            views: views.build(),
        })
    }

    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// In any served generation.
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
    pub fn without(&self, shard: &Shard, excluded: &[u32]) -> Result<Arc<Shard>, Arc<ShardError>> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"excluded");
        for package in excluded {
            hasher.update(&package.to_le_bytes());
        }
        self.kept_view((shard.id(), hasher.finalize().into()), || {
            let mut dead = [shard.dead(), excluded].concat();
            dead.sort_unstable();
            dead.dedup();
            shard.with_dead(dead)
        })
    }

    pub fn view(
        &self,
        shard: &Shard,
        visible: &VisibleShard,
    ) -> Result<Arc<Shard>, Arc<ShardError>> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[u8::from(visible.is_all)]);
        hasher.update(&visible.packages);
        let make = || shard.view(|PackageId(number)| visible.sees(number));
        let key = (shard.id(), hasher.finalize().into());
        self.kept_view(key, make)
    }

    fn kept_view(
        &self,
        key: ViewKey,
        make: impl FnOnce() -> Result<Shard, ShardError>,
    ) -> Result<Arc<Shard>, Arc<ShardError>> {
        if self.views.get(&key).is_some_and(|view| view.is_damaged()) {
            self.views.invalidate(&key);
        }
        self.views.try_get_with(key, || make().map(Arc::new))
    }

    /// Opens new manifests for ever. Also reopens damaged shards once their files are whole again.
    pub async fn watch(self: Arc<Self>) {
        let mut logged = String::new();
        loop {
            tokio::time::sleep(POLL).await;
            self.drop_old();
            // A reload may be in progress.
            let is_current = self
                .stamp
                .try_lock()
                .is_ok_and(|stamp| self.is_current(*stamp));
            if is_current {
                continue;
            }
            let shards = self.clone();
            let reason = match tokio::task::spawn_blocking(move || shards.reload()).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            if logged != reason {
                tracing::warn!(%reason, "cannot reopen the index; still serving the old generation");
                logged = reason;
            }
        }
    }

    /// Reopens the index if it changed or a shard is damaged.
    pub fn reload(&self) -> Result<(), directory::IndexError> {
        let mut stamp = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_current(*stamp) {
            return Ok(());
        }
        let (now, old) = (self.manifest_stamp(), self.current());
        let new = Generation::open(&self.directory, &old.shards, old.precise.as_ref())?;
        *stamp = now;
        self.previous().push((Instant::now() + GRACE, old));
        tracing::info!(shards = new.shards.len(), "reopened the index");
        self.current.store(Arc::new(new));
        self.changed.send_replace(());
        Ok(())
    }

    fn is_current(&self, stamp: Option<ManifestStamp>) -> bool {
        stamp == self.manifest_stamp() && self.current().is_intact()
    }

    fn manifest_stamp(&self) -> Option<ManifestStamp> {
        directory::manifest_stamp(&self.directory).ok()
    }

    fn drop_old(&self) {
        let now = Instant::now();
        self.previous().retain(|(until, _)| *until > now);
        for (key, _) in &self.views {
            // Its file would stay on disk.
            if self.shard(&key.0).is_none() {
                self.views.invalidate(&*key);
            }
        }
        // An idle cache would keep what is invalidated.
        self.views.run_pending_tasks();
    }

    /// A panic leaves them valid.
    fn previous(&self) -> MutexGuard<'_, Vec<(Instant, Arc<Generation>)>> {
        self.previous.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generation {
    fn open(
        directory: &Path,
        open: &[Arc<Shard>],
        precise: Option<&Arc<Precise>>,
    ) -> Result<Generation, directory::IndexError> {
        // Read before the manifest: if replaced meanwhile, the index looks too old until the next
        // check.
        let stamp = directory::manifest_stamp(directory);
        let index = Index::reopen(directory, open, precise)?;
        Ok(Generation {
            shards: index.shards,
            recorded: index.recorded,
            precise: index.precise,
            updated: stamp.map_or(0, |(_, seconds, _)| u64::try_from(seconds).unwrap_or(0)),
        })
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<Shard>> {
        self.shards.iter().filter(|shard| !shard.is_history())
    }

    fn is_intact(&self) -> bool {
        self.shards.iter().all(|shard| shard.intact().is_ok())
    }
}
