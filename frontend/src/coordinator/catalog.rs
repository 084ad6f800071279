//! Documents, lists of packages and files, and backend status.
//!
//! These requests go straight to the backends: nothing is admitted, cached or spooled.

use super::listing::{self, Listing};
use super::{Coordinator, ready};
use crate::error::FileError;
use crate::joined::joined;
use crate::peers::visible::VisiblePeer;
use crate::peers::{self, Decode, Link, Peer, PeerError, PeerStatus};
use query::{Notice, Query, Scope};
use results::ShardId;
use schema::frame::Kind;
use schema::message::{
    self, FileReply, FileRequest, FileSource, ListKind, ListReply, ListRequest, MessageError,
    VisibleShard,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::task::JoinHandle;

type Reply<T> = JoinHandle<Result<T, PeerError>>;

/// State of a backend.
#[derive(Clone, Debug)]
pub struct BackendStatus {
    /// Backend name in answers.
    pub name: String,
    /// Address, or the name if it has none.
    pub address: String,
    /// True if connected.
    pub connected: bool,
    /// Reason that it is not searched: unconnected, or other semantics than this frontend's.
    pub reason: Option<String>,
    /// Shards announced last.
    pub shards: usize,
    /// Packages in them.
    pub packages: u64,
    /// Documents in them.
    pub documents: u64,
    /// Blocks in them.
    pub blocks: u64,
    /// Bytes of text in them.
    pub text_bytes: u64,
    /// Build time of its index, in seconds since 1970; `None` if unknown.
    pub updated: Option<u64>,
}

impl BackendStatus {
    /// Returns true if its shards are searched.
    pub fn is_searched(&self) -> bool {
        self.reason.is_none()
    }
}

/// Searchable content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Generation id.
    pub generation: String,
    /// Shards in it.
    pub shards: u64,
    /// Packages in them.
    pub packages: u64,
    /// Documents in them.
    pub documents: u64,
    /// Bytes of text in them.
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
        let is_visible = scope.sees(package);
        let is_original_best = request.source == FileSource::Original;
        let frame = |visible: Option<&[VisibleShard]>| {
            let mut request = FileRequest {
                visible: visible.map(<[_]>::to_vec),
                ..request.clone()
            };
            if !is_visible {
                request.source = FileSource::Text;
            }
            let mut frame = Vec::new();
            request.encode(&mut frame).map(|()| frame)
        };
        // A repository may be unindexed, so backends without visible shards are asked too. Only
        // this package is read.
        let everything = Scope::everything();
        let asked = if is_visible && request.source != FileSource::Text {
            &everything
        } else {
            scope
        };
        let replies = self.ask_all(asked, frame, Kind::File, FileReply::decode);
        let mut replies = replies.await?;
        let mut unreachable = Vec::new();
        if let Some(newest) = self.newest_build(scope, package) {
            replies.sort_by_key(|(peer, _)| peer.name() != newest);
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

    fn newest_build(&self, scope: &Scope, package: &[u8]) -> Option<String> {
        let overlaps = self.overlaps(scope);
        let packages = &overlaps.packages;
        let found = packages.binary_search_by(|overlap| overlap.package[..].cmp(package));
        found.ok().map(|at| packages[at].searched.clone())
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
        let frame = |visible: Option<&[VisibleShard]>| {
            let (mut frame, visible) = (Vec::new(), visible.map(<[_]>::to_vec));
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
        frame: impl Fn(Option<&[VisibleShard]>) -> Result<Vec<u8>, MessageError>,
        kind: Kind,
        decode: Decode<T>,
    ) -> Result<Vec<(Arc<Peer>, Reply<T>)>, MessageError> {
        let peers = self.peers.current();
        ready(&peers).await;
        let mut replies = Vec::new();
        if scope.is_everything() {
            let frame: Arc<[u8]> = frame(None)?.into();
            let ask = |peer: &Arc<Peer>| {
                let reply = self.ask(peer, Arc::clone(&frame), kind, decode);
                (Arc::clone(peer), reply)
            };
            replies.extend(peers.iter().map(ask));
            return Ok(replies);
        }
        let scoped = self.scoped(&peers, scope);
        for (peer, visible) in peers.iter().zip(&scoped.peers) {
            let shards = visible.shards.as_deref();
            if shards.is_none_or(|shards| !shards.is_empty()) {
                let reply = match shards {
                    Some(shards) => self.ask(peer, frame(Some(shards))?.into(), kind, decode),
                    // Its shards are unknown, so it is not asked.
                    None => self.refuse(peer),
                };
                replies.push((Arc::clone(peer), reply));
            }
        }
        Ok(replies)
    }

    fn ask<T: Send + 'static>(
        &self,
        peer: &Arc<Peer>,
        frame: Arc<[u8]>,
        kind: Kind,
        decode: Decode<T>,
    ) -> Reply<T> {
        let (peer, has_scopes) = (Arc::clone(peer), self.config.has_scopes);
        self.resources.runtime.spawn_blocking(move || {
            let status = peer.status();
            match status.link {
                Link::Lost { reason, .. } => Err(PeerError::Failed(reason)),
                Link::Connected if has_scopes && !status.has_views() => {
                    let reason = status.unsearched().map(|(reason, _)| reason);
                    Err(PeerError::Failed(reason.unwrap_or_default()))
                }
                Link::Connected => peers::request(&peer, &frame, kind, decode),
            }
        })
    }

    fn refuse<T: Send + 'static>(&self, peer: &Peer) -> Reply<T> {
        let reason = peer.status().unsearched().map(|(reason, _)| reason);
        let reason = reason.unwrap_or_else(|| "not connected yet".to_owned());
        let refused = async move { Err(PeerError::Failed(reason)) };
        self.resources.runtime.spawn(refused)
    }

    /// Searchable content as announced. A shard or package on several backends counts once.
    pub fn served(&self, scope: &Scope) -> Served {
        if !scope.is_everything() {
            return self.served_to(scope);
        }
        let peers = self.peers.current();
        let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
        let shards = statuses
            .iter()
            .filter_map(|status| status.shards.as_deref());
        let distinct: HashMap<_, _> = shards.flatten().map(|shard| (shard.id, shard)).collect();
        let sum =
            |of: fn(&message::ShardInfo) -> u64| distinct.values().map(|shard| of(shard)).sum();
        let packages: u64 = sum(|shard| shard.packages.into());
        let routing = self.route(&peers);
        Served {
            generation: routing.generation.clone(),
            shards: distinct.len() as u64,
            packages: packages.saturating_sub(routing.overlaps.superseded),
            documents: routing.known.documents,
            text_bytes: sum(|shard| shard.text_bytes)
                .saturating_sub(routing.overlaps.superseded_bytes),
            updated: statuses.iter().filter_map(|status| status.updated).min(),
        }
    }

    fn served_to(&self, scope: &Scope) -> Served {
        let peers = self.peers.current();
        let scoped = self.scoped(&peers, scope);
        let statuses = peers.iter().map(|peer| peer.status());
        Served {
            generation: scoped.routing.generation.clone(),
            shards: scoped.routing.known.shards,
            packages: scoped.packages,
            documents: scoped.routing.known.documents,
            text_bytes: scoped.text_bytes,
            updated: statuses.filter_map(|status| status.updated).min(),
        }
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
        address: peer.address().to_owned(),
        connected: matches!(status.link, Link::Connected),
        reason: status.unsearched().map(|(reason, _)| reason),
        shards: shards.len(),
        packages: shards.iter().map(|shard| u64::from(shard.packages)).sum(),
        documents: shards.iter().map(|shard| u64::from(shard.documents)).sum(),
        blocks: shards.iter().map(|shard| u64::from(shard.blocks)).sum(),
        text_bytes: shards.iter().map(|shard| shard.text_bytes).sum(),
        updated: status.updated,
    }
}
