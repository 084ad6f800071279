//! Documents, lists of packages and files, names for scopes, and backend status.
//!
//! These requests go straight to the backends: nothing is admitted, cached or spooled.

use super::listing::{self, Listing};
use super::scoped::ScopedRouting;
use super::{Coordinator, ready};
use crate::error::FileError;
use crate::joined::joined;
use crate::peers::shard_routing::ShardRouting;
use crate::peers::visible::VisiblePeer;
use crate::peers::{Decode, Peer, PeerError, PeerSet, PeerStatus};
use cache::lock;
use query::{Notice, PackageNames, Query, Scope};
use results::{Overlaps, ShardId};
use schema::frame::Kind;
use schema::message::{
    self, FileReply, FileRequest, FileSource, ListKind, ListReply, ListRequest, MessageError,
    VisibleShard,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::task::JoinHandle;

type Reply<T> = JoinHandle<Result<T, PeerError>>;

#[derive(Clone, Debug)]
pub struct BackendStatus {
    pub name: String,
    /// Address, or the name if it has none.
    pub address: String,
    pub connected: bool,
    /// Reason that it is not searched: unconnected, or other semantics than this frontend's.
    pub reason: Option<String>,
    pub shards: usize,
    pub packages: u64,
    pub documents: u64,
    pub blocks: u64,
    pub text_bytes: u64,
    /// Build time of its index, in seconds since 1970; `None` if unknown.
    pub updated: Option<u64>,
}

impl BackendStatus {
    pub fn is_searched(&self) -> bool {
        self.reason.is_none()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    pub generation: String,
    pub shards: u64,
    pub packages: u64,
    pub documents: u64,
    pub text_bytes: u64,
    /// Build time of the oldest index, in seconds since 1970.
    pub updated: Option<u64>,
}

impl Coordinator {
    /// Reads a part of a document. All backends are asked. Indexed copies win over repository
    /// copies (for original bytes the other way round), then the backend whose build is searched.
    /// If `found` is false, the reply may name the newest revision that has the path.
    pub async fn file(&self, scope: &Scope, request: &FileRequest) -> Result<FileReply, FileError> {
        let package = &request.package[..];
        let is_original_best = request.source == FileSource::Original;
        let everything = Scope::everything();
        let (source, asked) = match request.source {
            FileSource::TextOrOriginal | FileSource::Original if scope.sees(package) => {
                // A repository may be unindexed, so backends without visible shards are asked too.
                // Only this package is read.
                (request.source, &everything)
            }
            _ => (FileSource::Text, scope),
        };
        let frame = |visible| {
            let mut frame = Vec::new();
            let request = FileRequest {
                visible,
                source,
                ..request.clone()
            };
            request.encode(&mut frame).map(|()| frame)
        };
        let replies = self.ask_all(asked, frame, Kind::File, FileReply::decode);
        let mut replies = replies.await?;
        let mut unreachable = Vec::new();
        let overlaps = self.overlaps(scope);
        let overlaps = &overlaps.packages;
        if let Ok(at) = overlaps.binary_search_by(|overlap| overlap.package[..].cmp(package)) {
            replies.sort_by_key(|(peer, _)| peer.name() != overlaps[at].searched);
        }
        let mut second_best = FileReply::default();
        for (peer, reply) in replies {
            match joined(reply).await {
                Ok(reply) if reply.found && reply.from_objects == is_original_best => {
                    return Ok(reply);
                }
                Ok(reply) if reply.found => second_best = reply,
                Ok(reply) if !second_best.found && second_best.newest.is_empty() => {
                    second_best = reply;
                }
                Ok(_) => {}
                Err(lost) => unreachable.push((peer.name().to_owned(), lost.to_string())),
            }
        }
        if unreachable.is_empty() || second_best.found {
            Ok(second_best)
        } else {
            Err(FileError::Unreachable(unreachable))
        }
    }

    /// Lists entries of all backends, by name. A missing backend is an error that names it, except
    /// for children found on another backend. [`listing`](Self::listing) returns partial lists.
    pub async fn list(&self, scope: &Scope, request: ListRequest) -> Result<ListReply, FileError> {
        let mut listing = self.listing(scope, &request).await?;
        if request.kind == ListKind::Children && !listing.entries.is_empty() {
            listing.unreachable.clear();
        }
        listing.whole()
    }

    /// Lists entries of the reachable backends, and names the unreachable ones.
    pub async fn listing(
        &self,
        scope: &Scope,
        request: &ListRequest,
    ) -> Result<Listing, FileError> {
        let frame = |visible| {
            let mut frame = Vec::new();
            let request = ListRequest {
                visible,
                ..request.clone()
            };
            request.encode(&mut frame).map(|()| frame)
        };
        let asked = self.ask_all(scope, frame, Kind::List, ListReply::decode);
        let (mut replies, mut unreachable) = (Vec::new(), Vec::new());
        for (peer, reply) in asked.await? {
            match joined(reply).await {
                Ok(reply) => replies.push(reply),
                Err(lost) => unreachable.push((peer.name().to_owned(), lost.to_string())),
            }
        }
        unreachable.extend(scope.missing());
        let ListReply { entries, more } = listing::merge(request, replies);
        Ok(Listing {
            entries,
            more,
            unreachable,
        })
    }

    /// Asks all backends with visible shards at once. Replies are in backend order.
    async fn ask_all<T: Send + 'static>(
        &self,
        scope: &Scope,
        frame: impl Fn(Option<Vec<VisibleShard>>) -> Result<Vec<u8>, MessageError>,
        kind: Kind,
        decode: Decode<T>,
    ) -> Result<Vec<(Arc<Peer>, Reply<T>)>, MessageError> {
        let peers = self.peers.current();
        ready(&peers).await;
        let scoped = (!scope.is_everything()).then(|| self.scoped(&peers, scope));
        let mut replies = Vec::new();
        for (number, peer) in peers.iter().enumerate() {
            let visible = scoped.as_ref().map(|it| it.peers[number].shards.as_deref());
            let frame = match visible {
                Some(Some([])) => continue,
                Some(Some(shards)) => Some(frame(Some(shards.to_vec()))?),
                Some(None) => None,
                None => Some(frame(None)?),
            };
            let reply = self.ask(peer, frame, kind, decode);
            replies.push((Arc::clone(peer), reply));
        }
        Ok(replies)
    }

    /// Without a frame, its shards are unknown, so it is not asked.
    fn ask<T: Send + 'static>(
        &self,
        peer: &Arc<Peer>,
        frame: Option<Vec<u8>>,
        kind: Kind,
        decode: Decode<T>,
    ) -> Reply<T> {
        let peer = Arc::clone(peer);
        self.resources.runtime.spawn_blocking(move || {
            let status = peer.status();
            let can_answer = status.lost.is_none() && !status.lacks_views;
            if let Some(frame) = frame.filter(|_| can_answer) {
                return peer.request(&frame, kind, decode);
            }
            let unsearched = status.unsearched();
            let reason = unsearched.map_or("not connected yet".to_owned(), |(reason, _)| reason);
            Err(PeerError::Failed(reason))
        })
    }

    /// Searchable content as announced. A shard or package on several backends counts once.
    pub fn served(&self, scope: &Scope) -> Served {
        let peers = self.peers.current();
        let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
        let (routing, shards, packages, text_bytes) = if scope.is_everything() {
            let routing = self.route(&peers);
            let shards = statuses.iter().filter_map(|it| it.shards.as_deref());
            let distinct: HashMap<_, _> = shards.flatten().map(|it| (it.id, it)).collect();
            let sum = |of: fn(&message::ShardInfo) -> u64| distinct.values().map(|it| of(it)).sum();
            let packages: u64 = sum(|shard| shard.packages.into());
            let text_bytes: u64 = sum(|shard| shard.text_bytes);
            let packages = packages.saturating_sub(routing.overlaps.superseded);
            let text_bytes = text_bytes.saturating_sub(routing.overlaps.superseded_bytes);
            (routing, distinct.len() as u64, packages, text_bytes)
        } else {
            let scoped = self.scoped(&peers, scope);
            let routing = Arc::clone(&scoped.routing);
            let shards = routing.known.shards;
            (routing, shards, scoped.packages, scoped.text_bytes)
        };
        Served {
            generation: routing.generation.clone(),
            shards,
            packages,
            documents: routing.known.documents,
            text_bytes,
            updated: statuses.iter().filter_map(|status| status.updated).min(),
        }
    }

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
        let key = (scope.hash(), peers.versions());
        if let Some(known) = lock(&self.scoped).get(&key) {
            return Arc::clone(known);
        }
        // Another thread may compute the same meanwhile.
        let generation = self.route(peers).generation.clone();
        let new = Arc::new(ScopedRouting::new(peers, scope, generation));
        lock(&self.scoped).put(key, Arc::clone(&new));
        new
    }

    /// Packages that several backends have in different shards.
    pub fn overlaps(&self, scope: &Scope) -> Arc<Overlaps> {
        let peers = self.peers.current();
        Arc::clone(&self.route_for(&peers, scope).overlaps)
    }

    /// Waits until every backend has announced exactly these shards.
    pub async fn announced(&self, shards: &HashSet<ShardId>) {
        for peer in self.peers.current().iter() {
            let is_announced = |status: &PeerStatus| {
                let announced = status.shards.iter().flat_map(|shards| shards.iter());
                announced.map(|shard| shard.id).collect::<HashSet<_>>() == *shards
            };
            // Fails when the peer is closed.
            let _ = peer.changes().wait_for(is_announced).await;
        }
    }

    /// Returns a notice if the query searches only default revisions and repositories are indexed.
    pub fn notice_of_revisions(&self, scope: &Scope, query: &Query) -> Option<Notice> {
        let peers = self.peers.current();
        let any = if scope.is_everything() {
            let mut peers = peers.iter();
            peers.any(|peer| peer.status().indexed_repositories > 0)
        } else {
            !self.scoped(&peers, scope).repositories.is_empty()
        };
        (any && !query.selects_revisions()).then(|| Notice {
            at: None,
            reason: "only the default revision of each git repository is searched".to_owned(),
            hint: Some("for others add rev:NAME; rev:* searches all that are indexed".to_owned()),
        })
    }

    /// State of all backends. Callers with a restricted scope see 0 blocks.
    pub fn backends(&self, scope: &Scope) -> Vec<BackendStatus> {
        let peers = self.peers.current();
        if scope.is_everything() {
            return peers.iter().map(|peer| status(peer)).collect();
        }
        let scoped = self.scoped(&peers, scope);
        let visible = |(peer, visible): (&Arc<Peer>, &VisiblePeer)| BackendStatus {
            shards: visible.shards.as_ref().map_or(0, Vec::len),
            packages: visible.packages,
            documents: visible.documents,
            blocks: 0,
            text_bytes: visible.text_bytes,
            ..status(peer)
        };
        peers.iter().zip(&scoped.peers).map(visible).collect()
    }

    /// Counts shards with 0, 1, 2, and 3 or more backends. Shards that no backend announced are
    /// unknown.
    pub fn shards_by_replicas(&self) -> [u64; 4] {
        let mut replicas: HashMap<ShardId, usize> = HashMap::new();
        for peer in self.peers.current().iter() {
            let status = peer.status();
            let is_searched = usize::from(status.unsearched().is_none());
            for shard in status.shards.as_deref().into_iter().flatten() {
                *replicas.entry(shard.id).or_default() += is_searched;
            }
        }
        let mut shards = [0; 4];
        for replicas in replicas.into_values() {
            shards[replicas.min(3)] += 1;
        }
        shards
    }
}

fn status(peer: &Peer) -> BackendStatus {
    let status = peer.status();
    let shards = status.shards.as_deref().unwrap_or_default();
    BackendStatus {
        name: peer.name().to_owned(),
        address: peer.backend.address.clone(),
        connected: status.lost.is_none(),
        reason: status.unsearched().map(|(reason, _)| reason),
        shards: shards.len(),
        packages: shards.iter().map(|shard| u64::from(shard.packages)).sum(),
        documents: shards.iter().map(|shard| u64::from(shard.documents)).sum(),
        blocks: shards.iter().map(|shard| u64::from(shard.blocks)).sum(),
        text_bytes: shards.iter().map(|shard| shard.text_bytes).sum(),
        updated: status.updated,
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
