//! Routing for callers with a restricted scope.
//!
//! Computed as if other packages did not exist: shards without a visible package are neither
//! searched, counted nor missing. Only visible packages are compared between backends.

use crate::peers::overlap::{self, Announced};
use crate::peers::shard_routing::{PeerShards, ShardRouting};
use crate::peers::visible::{VisiblePackages, VisiblePeer, visible_shards};
use crate::peers::{PackageInfo, Peer, PeerStatus};
use clru::CLruCache;
use query::Scope;
use results::{Missing, ShardId};
use schema::message::{ShardInfo, VisibleShard};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::SystemTime;

/// Cached routings. Each takes two bits per package.
pub(super) const SCOPES_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// By hash of the scope and versions of the peers.
pub(super) type ScopedRoutings = CLruCache<([u8; 16], Vec<u64>), Arc<ScopedRouting>>;

#[derive(Debug, Default)]
pub(super) struct ScopedRouting {
    pub(super) routing: Arc<ShardRouting>,
    pub(super) peers: Vec<VisiblePeer>,
    /// Packages in different directories, each counted once.
    pub(super) packages: u64,
    pub(super) text_bytes: u64,
    pub(super) repositories: BTreeSet<Box<[u8]>>,
}

pub(super) fn routing(
    peers: &[Arc<Peer>],
    statuses: &[PeerStatus],
    visible: Option<&VisibleShards>,
) -> ShardRouting {
    let announced = peers.iter().zip(statuses).flat_map(|(peer, status)| {
        let packages = status.packages.iter();
        packages.filter_map(|(shard, packages)| {
            Some(Announced {
                backend: peer.name(),
                shard: *shard,
                indexed: packages.indexed,
                packages,
                visible: match visible {
                    None => None,
                    Some(visible) => Some(visible.get(shard)?),
                },
            })
        })
    });
    let superseded = overlap::superseded(announced);
    let documents = |shard: &ShardInfo| match visible {
        None => Some((shard.id, shard.documents)),
        Some(visible) => Some((shard.id, visible.get(&shard.id)?.documents)),
    };
    let known = |(number, (peer, status)): (usize, (&Arc<Peer>, &PeerStatus))| {
        let shards = status.shards.as_deref();
        PeerShards {
            number,
            name: peer.name().to_owned(),
            is_draining: status.is_draining,
            unsearched: status.unsearched(),
            shards: shards.map(|shards| shards.iter().filter_map(documents).collect()),
        }
    };
    let numbered = peers.iter().zip(statuses).enumerate();
    let mut routing = ShardRouting::new(numbered.map(known).collect(), superseded);
    if let Some(visible) = visible {
        routing.restrict(visible);
    }
    routing
}

impl ScopedRouting {
    pub(super) fn new(peers: &[Arc<Peer>], scope: &Scope, generation: String) -> ScopedRouting {
        let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
        let visible = visible_shards(scope, statuses.iter().map(|status| &*status.packages));
        let mut routing = routing(peers, &statuses, Some(&visible));
        routing.generation = generation;
        let undecided = scope.missing().map(|(backend, reason)| Missing {
            backend,
            reason,
            shards: Vec::new(),
            since: SystemTime::now(),
        });
        routing.missing.extend(undecided);
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
