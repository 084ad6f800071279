//! Package names, from which scopes are made, and the routing for a scope.

use super::Coordinator;
use super::scoped::{ScopedRouting, ScopedRoutings};
use crate::peers::shard_routing::ShardRouting;
use crate::peers::{Peer, PeerSet};
use cache::lock;
use query::{PackageNames, Scope};
use results::Overlaps;
use std::sync::Arc;

impl Coordinator {
    /// Package names of all backends that have listed theirs, connected or not; `None` before the
    /// first. The same value while they do not change. Needs
    /// [`Config::has_scopes`](crate::Config::has_scopes).
    pub fn package_names(&self) -> Option<Arc<PackageNames>> {
        let peers = self.peers.current();
        let versions = peers.versions();
        let mut names = lock(&self.names);
        if names.0 != versions {
            let now = collect_names(&peers);
            let is_new = names.1.as_deref() != now.as_ref();
            if is_new {
                names.1 = now.map(Arc::new);
            }
            names.0 = versions;
        }
        names.1.clone()
    }

    /// Like [`package_names`](Self::package_names), but waits up to a second for backends that
    /// never listed theirs.
    pub async fn package_names_soon(&self) -> Option<Arc<PackageNames>> {
        let deadline = Peer::ready_deadline();
        for peer in self.peers.current().iter() {
            if peer.status().shards.is_none() {
                peer.ready(deadline).await;
            }
        }
        self.package_names()
    }

    pub(super) fn route_for(&self, peers: &PeerSet, scope: &Scope) -> Arc<ShardRouting> {
        if scope.is_everything() {
            return self.route(peers);
        }
        Arc::clone(&self.scoped(peers, scope).routing)
    }

    pub(super) fn scoped(&self, peers: &PeerSet, scope: &Scope) -> Arc<ScopedRouting> {
        let generation = || self.route(peers).generation.clone();
        ScopedRoutings::find(&self.scoped, peers, scope, generation)
    }

    /// Packages that several backends have in different shards.
    pub fn overlaps(&self, scope: &Scope) -> Arc<Overlaps> {
        let peers = self.peers.current();
        Arc::clone(&self.route_for(&peers, scope).overlaps)
    }
}

fn collect_names(peers: &PeerSet) -> Option<PackageNames> {
    let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
    if statuses.iter().all(|status| status.shards.is_none()) {
        return None;
    }
    let shards = statuses.iter().flat_map(|status| status.packages.values());
    let packages = shards.flat_map(|shard| &shard.packages);
    Some(PackageNames::new(
        packages.map(|package| package.package_name()),
    ))
}
