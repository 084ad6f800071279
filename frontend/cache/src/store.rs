//! Keeps entries in moka, bounded by bytes.

use super::entry::Entry;
use super::outcome::CacheConfig;
use super::state::Entries;
use moka::notification::RemovalCause;
use moka::{Expiry, sync};
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Weight of an entry besides key and value.
const ENTRY_BYTES: usize = 256;

pub(super) struct Store<K, V> {
    name: &'static str,
    kept: sync::Cache<K, Arc<Entry<V>>>,
}

impl<K, V> Store<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new(config: &CacheConfig, weigh: fn(&K, &V) -> usize) -> Store<K, V> {
        let name = config.name;
        let kept = sync::Cache::builder()
            .max_capacity(config.bytes_max)
            .weigher(move |key: &K, entry: &Arc<Entry<V>>| {
                let bytes = weigh(key, &entry.value).saturating_add(ENTRY_BYTES);
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .expire_after(HardLife)
            .eviction_listener(move |_, _, cause| count_removal(name, cause))
            .build();
        Store { name, kept }
    }

    pub(super) fn clear(&self) {
        self.kept.invalidate_all();
    }

    pub(super) fn settled_bytes(&self) -> u64 {
        self.kept.run_pending_tasks();
        self.kept.weighted_size()
    }
}

impl<K, V> Entries<K, V> for Store<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn get(&self, key: &K) -> Option<Arc<Entry<V>>> {
        self.kept.get(key)
    }

    fn insert(&self, key: K, entry: Entry<V>) {
        self.kept.insert(key, Arc::new(entry));
        let (entries, bytes) = (self.kept.entry_count(), self.kept.weighted_size());
        ::metrics::gauge!("trawl_frontend_cache_entries", "cache" => self.name).set(entries as f64);
        ::metrics::gauge!("trawl_frontend_cache_bytes", "cache" => self.name).set(bytes as f64);
    }

    fn remove(&self, key: &K) {
        self.kept.invalidate(key);
    }
}

fn count_removal(name: &'static str, cause: RemovalCause) {
    let cause = match cause {
        RemovalCause::Expired => "expired",
        RemovalCause::Explicit => "invalidated",
        RemovalCause::Size => "size",
        RemovalCause::Replaced => return,
    };
    ::metrics::counter!("trawl_frontend_cache_evictions_total", "cache" => name, "cause" => cause)
        .increment(1);
}

struct HardLife;

impl<K, V> Expiry<K, Arc<Entry<V>>> for HardLife {
    fn expire_after_create(&self, _: &K, entry: &Arc<Entry<V>>, _: Instant) -> Option<Duration> {
        Some(entry.hard - entry.built)
    }

    fn expire_after_update(
        &self,
        _: &K,
        entry: &Arc<Entry<V>>,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(entry.hard - entry.built)
    }
}
