//! Routing for callers with a restricted scope.
//!
//! Computed as if other packages did not exist: shards without a visible package are neither
//! searched, counted nor missing. Only visible packages are compared between backends.

use crate::peers::overlap::{self, Announced};
use crate::peers::shard_routing::{PeerShards, ShardRouting};
use crate::peers::visible::{VisiblePackages, VisiblePeer, visible_shards};
use crate::peers::{PackageInfo, Peer, PeerSet, PeerStatus};
use cache::lock;
use query::Scope;
use results::{Missing, ShardId};
use schema::message::VisibleShard;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Cached routings. Each takes two bits per package.
const SCOPES_MAX: usize = 256;

#[derive(Default)]
pub(super) struct ScopedRoutings {
    versions: Vec<u64>,
    by_scope: HashMap<[u8; 16], Arc<ScopedRouting>>,
}

#[derive(Debug, Default)]
pub(super) struct ScopedRouting {
    pub(super) routing: Arc<ShardRouting>,
    /// Visible part of each backend, by backend number.
    pub(super) peers: Vec<VisiblePeer>,
    /// Packages in different directories, each counted once.
    pub(super) packages: u64,
    pub(super) text_bytes: u64,
    pub(super) repositories: BTreeSet<Box<[u8]>>,
}

impl ScopedRoutings {
    /// View of a scope, recomputed when a backend's link or shards change.
    pub(super) fn find(
        routings: &Mutex<ScopedRoutings>,
        peers: &PeerSet,
        scope: &Scope,
        generation: impl FnOnce() -> String,
    ) -> Arc<ScopedRouting> {
        let versions = peers.versions();
        let known = |scoped: &ScopedRoutings| {
            let known = scoped.by_scope.get(&scope.hash());
            known.filter(|_| scoped.versions == versions).cloned()
        };
        if let Some(known) = known(&lock(routings)) {
            return known;
        }
        // Another thread may compute the same meanwhile.
        let new = Arc::new(ScopedRouting::new(peers, scope, generation()));
        let mut scoped = lock(routings);
        if scoped.versions != versions || scoped.by_scope.len() >= SCOPES_MAX {
            scoped.by_scope.clear();
            scoped.versions = versions;
        }
        scoped.by_scope.insert(scope.hash(), Arc::clone(&new));
        new
    }
}

impl ScopedRouting {
    fn new(peers: &[Arc<Peer>], scope: &Scope, generation: String) -> ScopedRouting {
        let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
        let visible = visible_shards(scope, statuses.iter().map(|status| &*status.packages));
        let announced = peers.iter().zip(&statuses).flat_map(|(peer, status)| {
            let packages = status.packages.iter();
            packages.filter_map(|(shard, packages)| {
                Some(Announced {
                    backend: peer.name(),
                    shard: *shard,
                    packages,
                    visible: Some(visible.get(shard)?),
                })
            })
        });
        let superseded = overlap::superseded(announced);
        let numbered = peers.iter().zip(&statuses).enumerate();
        let shards = numbered.map(|(number, (peer, status))| known(number, peer, status, &visible));
        let mut routing = ShardRouting::new(shards.collect(), superseded);
        routing.restrict(&visible);
        routing.generation = generation;
        routing.missing.extend(undecided(scope));
        let bytes: u64 = visible.values().map(|shard| shard.text_bytes).sum();
        let (mut distinct, mut repositories) = (BTreeSet::new(), BTreeSet::new());
        for package in statuses.iter().flat_map(|status| seen(status, &visible)) {
            distinct.insert(&package.name);
            if package.is_repository {
                repositories.insert(package.name.clone());
            }
        }
        ScopedRouting {
            text_bytes: bytes.saturating_sub(routing.overlaps.superseded_bytes),
            routing: Arc::new(routing),
            peers: statuses
                .iter()
                .map(|it| visible_peer(it, &visible))
                .collect(),
            packages: distinct.len() as u64,
            repositories,
        }
    }
}

fn undecided(scope: &Scope) -> Option<Missing> {
    let (backend, reason) = scope.missing()?;
    Some(Missing {
        backend,
        reason,
        shards: Vec::new(),
        since: SystemTime::now(),
    })
}

type VisibleShards = BTreeMap<ShardId, VisiblePackages>;

fn seen<'a>(
    status: &'a PeerStatus,
    visible: &'a VisibleShards,
) -> impl Iterator<Item = &'a PackageInfo> {
    let shards = status.packages.iter();
    shards.flat_map(|(shard, of_shard)| {
        let visible = visible.get(shard);
        let packages = of_shard.packages.iter();
        packages.filter(move |package| visible.is_some_and(|shard| shard.has(package.number)))
    })
}

fn known(number: usize, peer: &Peer, status: &PeerStatus, visible: &VisibleShards) -> PeerShards {
    let shards = status.shards.as_deref();
    let seen = |id: ShardId| Some((id, visible.get(&id)?.documents));
    PeerShards {
        number,
        name: peer.name().to_owned(),
        is_draining: status.is_draining,
        unsearched: status.unsearched(),
        shards: shards.map(|shards| shards.iter().filter_map(|shard| seen(shard.id)).collect()),
    }
}

fn visible_peer(status: &PeerStatus, visible: &VisibleShards) -> VisiblePeer {
    let shards = status.shards.as_deref();
    let ids = || shards.unwrap_or_default().iter().map(|shard| shard.id);
    let seen_shards = || ids().filter_map(|id| visible.get(&id).map(|shard| (id, shard)));
    let restricted = || -> Vec<VisibleShard> {
        let shards = seen_shards();
        shards.map(|(id, shard)| shard.without(id, &[])).collect()
    };
    let names: BTreeSet<_> = seen(status, visible).map(|package| &package.name).collect();
    VisiblePeer {
        shards: shards.map(|_| restricted()),
        packages: names.len() as u64,
        documents: seen_shards()
            .map(|(_, shard)| u64::from(shard.documents))
            .sum(),
        text_bytes: seen_shards().map(|(_, shard)| shard.text_bytes).sum(),
    }
}
