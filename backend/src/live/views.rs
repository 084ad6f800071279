//! Cached views of shards, for callers with the same visibility.
//!
//! A view is a shard with its invisible packages dead, made once (single flight). A running search
//! holds its views.

use index::shard::{PackageId, Shard, ShardError};
use moka::sync::Cache;
use schema::message::VisibleShard;
use std::sync::Arc;

/// Some sixty scopes of every other one of 100,000 packages.
const KEPT_BYTES_MAX: u64 = 64 << 20;

/// Weight of a view besides its lists.
const VIEW_BYTES: usize = 1 << 10;

/// Shard id, and hash of its visible part.
type Key = ([u8; 32], [u8; 32]);

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

    /// Drops views of shards that `is_served` refuses; their files would stay on disk.
    pub(crate) fn retain(&self, is_served: impl Fn(&[u8; 32]) -> bool) {
        for (key, _) in &self.0 {
            if !is_served(&key.0) {
                self.0.invalidate(&*key);
            }
        }
    }
}
