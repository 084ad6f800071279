//! Which shards are live: swapped whole when the index gets a new manifest.
//!
//! A query names the shards that it wants. Shards that the newest manifest no longer names are
//! still served for [`GRACE`], so that a query whose frontend has not heard of the new manifest is
//! not lost; a search that runs holds its shards as long as it needs them.

use arc_swap::ArcSwap;
use index::directory::{self, Index};
use index::shard::Shard;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long shards are served that the newest manifest does not name. A frontend learns of a new
/// one within a second or two.
pub const GRACE: Duration = Duration::from_secs(60);

/// How often the manifest is looked at.
const POLL: Duration = Duration::from_millis(250);

/// The shards of one generation, in the manifest's order.
pub struct Generation {
    /// The shards.
    pub shards: Vec<Arc<Shard>>,
    /// When the manifest was written, in seconds since 1970; 0 when that cannot be told.
    pub updated: u64,
}

impl Generation {
    fn open(directory: &Path, open: &[Arc<Shard>]) -> Result<Generation, directory::IndexError> {
        // Before the manifest is read: one that is replaced meanwhile makes the age too old, not too
        // young, until it is taken up.
        let stamp = directory::manifest_stamp(directory);
        Ok(Generation {
            shards: Index::reopen(directory, open)?.shards,
            updated: stamp.map_or(0, |(_, seconds, _)| u64::try_from(seconds).unwrap_or(0)),
        })
    }

    fn is_intact(&self) -> bool {
        self.shards.iter().all(|shard| shard.intact().is_ok())
    }
}

/// The shards of an index directory, kept up to date by [`watch`](LiveShards::watch).
pub struct LiveShards {
    directory: PathBuf,
    current: ArcSwap<Generation>,
    /// Generations before the current one, with the time until which they are served.
    previous: Mutex<Vec<(Instant, Arc<Generation>)>>,
    changed: watch::Sender<()>,
}

impl LiveShards {
    /// Opens the index in `directory`.
    pub fn open(directory: &Path) -> Result<LiveShards, directory::IndexError> {
        Ok(LiveShards {
            directory: directory.to_owned(),
            current: ArcSwap::from_pointee(Generation::open(directory, &[])?),
            previous: Mutex::default(),
            changed: watch::Sender::new(()),
        })
    }

    /// The newest generation.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Is told whenever there is a new generation.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The shard with this id, of the newest generation or one that is still served.
    pub fn shard(&self, id: &[u8; 32]) -> Option<Arc<Shard>> {
        let find = |snapshot: &Generation| {
            snapshot
                .shards
                .iter()
                .find(|shard| shard.id() == *id)
                .cloned()
        };
        find(&self.current()).or_else(|| {
            let previous = self
                .previous
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            previous.iter().find_map(|(_, snapshot)| find(snapshot))
        })
    }

    /// Takes up new manifests, for ever; and, of shards whose files were damaged while they were in
    /// use, the files that are there now, once they are whole.
    pub async fn watch(self: Arc<Self>) {
        let mut stamp = directory::manifest_stamp(&self.directory).ok();
        let mut told = String::new();
        loop {
            tokio::time::sleep(POLL).await;
            self.forget_old();
            let now = directory::manifest_stamp(&self.directory).ok();
            if now == stamp && self.current().is_intact() {
                continue;
            }
            let live = self.clone();
            let result = tokio::task::spawn_blocking(move || live.reload()).await;
            match result {
                Ok(Ok(())) => stamp = now,
                Ok(Err(error)) => tell_once(&mut told, &error.to_string()),
                Err(error) => tell_once(&mut told, &error.to_string()),
            }
        }
    }

    /// Opens the index again and makes it the current generation.
    pub fn reload(&self) -> Result<(), directory::IndexError> {
        let old = self.current();
        let new = Generation::open(&self.directory, &old.shards)?;
        let mut previous = self
            .previous
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        previous.push((Instant::now() + GRACE, old));
        drop(previous);
        tracing::info!(shards = new.shards.len(), "opened the index again");
        self.current.store(Arc::new(new));
        self.changed.send_replace(());
        Ok(())
    }

    fn forget_old(&self) {
        let now = Instant::now();
        let mut previous = self
            .previous
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        previous.retain(|(until, _)| *until > now);
    }
}

/// The old generation is served on; the reason why is said once.
fn tell_once(told: &mut String, reason: &str) {
    if told != reason {
        tracing::warn!(%reason, "the index cannot be opened again; the old one is served on");
        reason.clone_into(told);
    }
}
