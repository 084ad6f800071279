//! Views of shards: what a caller sees of them, kept for the next request of those who see the same.
//!
//! A view is a shard whose invisible packages are dead. It is made once, however many requests wait for it. A
//! running search holds its views as long as it needs them.

use index::shard::{PackageId, Shard, ShardError};
use moka::sync::Cache;
use schema::message::VisibleShard;
use std::sync::Arc;

/// Bytes of all views that are kept, about: some sixty scopes that see every other one of 100,000 packages.
const KEPT_BYTES_MAX: u64 = 64 << 20;

/// What a view counts besides its lists of what is visible.
const VIEW_BYTES: usize = 1 << 10;

/// The id of the whole shard, and a hash of what is visible of it.
type Key = ([u8; 32], [u8; 32]);

/// The views of the shards of a backend.
pub(crate) struct Views(Cache<Key, Arc<Shard>>);

impl Default for Views {
    fn default() -> Views {
        let weigh = |_: &Key, view: &Arc<Shard>| {
            u32::try_from(view.live_bytes() + VIEW_BYTES).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(KEPT_BYTES_MAX).weigher(weigh);
        Views(cache.build())
    }
}

impl Views {
    /// Returns the view of a shard with what is visible of it.
    pub(crate) fn of(
        &self,
        shard: &Shard,
        visible: &VisibleShard,
    ) -> Result<Arc<Shard>, Arc<ShardError>> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[u8::from(visible.is_all)]);
        hasher.update(&visible.packages);
        let key = (shard.id(), *hasher.finalize().as_bytes());
        if self.0.get(&key).is_some_and(|view| view.is_damaged()) {
            self.0.invalidate(&key);
        }
        self.0.try_get_with(key, || {
            let view = shard.view(|PackageId(number)| visible.sees(number));
            view.map(Arc::new)
        })
    }

    /// Drops the views of shards that `is_served` refuses: their files would stay on the disk.
    pub(crate) fn retain(&self, is_served: impl Fn(&[u8; 32]) -> bool) {
        for (key, _) in &self.0 {
            if !is_served(&key.0) {
                self.0.invalidate(&*key);
            }
        }
    }
}
