//! What the backends serve: documents, lists of packages and files, and the state of the backends.
//!
//! These requests go to the backends directly. They are not executions: nothing is admitted, cached or
//! spooled.

use super::Coordinator;
use crate::error::FileError;
use crate::peers::{self, Decode, Link, Peer, PeerError};
use crate::query::{Notice, Query};
use crate::results::{self, Listing};
use crate::scope::Scope;
use schema::frame::Kind;
use schema::message::{self, FileReply, FileRequest, FileSource, ListKind, ListReply, ListRequest};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// The state of a backend.
#[derive(Clone, Debug)]
pub struct BackendStatus {
    /// The name of the backend in answers.
    pub name: String,
    /// Its address, or its name if it has none.
    pub address: String,
    /// Whether it is connected.
    pub connected: bool,
    /// Why it is not searched: it is not connected, or has other semantics than this frontend.
    pub reason: Option<String>,
    /// Shards that it announced last.
    pub shards: usize,
    /// Packages in them.
    pub packages: u64,
    /// Documents in them.
    pub documents: u64,
    /// Blocks in them.
    pub blocks: u64,
    /// Bytes of text in them.
    pub text_bytes: u64,
    /// When its index was written, in seconds since 1970; `None` until it is known.
    pub updated: Option<u64>,
}

impl BackendStatus {
    /// Whether its shards are searched.
    pub fn is_searched(&self) -> bool {
        self.reason.is_none()
    }
}

/// What can be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The id of the set of shards.
    pub generation: String,
    /// Shards in it.
    pub shards: u64,
    /// Packages in them.
    pub packages: u64,
    /// Documents in them.
    pub documents: u64,
    /// Bytes of text in them.
    pub text_bytes: u64,
    /// When the oldest backend's index was written, in seconds since 1970.
    pub updated: Option<u64>,
}

impl Coordinator {
    /// Reads a part of a document. All backends are asked; the first of them that has it answers, or the one whose
    /// build of the package is searched, and one that has indexed it before one that only finds it in the repository;
    /// if the bytes of the repository are wanted, the other way round. A reply with `found` false may name the newest
    /// revision that has the path.
    pub async fn file(&self, scope: &Scope, request: &FileRequest) -> Result<FileReply, FileError> {
        let package = &request.package[..];
        let is_original_best = request.source == FileSource::Original;
        let mut frame = Vec::new();
        request.encode(&mut frame)?;
        let replies = self.ask_all(frame, Kind::File, FileReply::decode).await;
        let mut unreachable = Vec::new();
        let mut replies: Vec<_> = self.peers.iter().zip(replies).collect();
        if let Some(newest) = self.newest_build(scope, package) {
            replies.sort_by_key(|(peer, _)| peer.name() != newest);
        }
        let mut second_best = FileReply::default();
        for (peer, reply) in replies {
            match reply.await.expect("requests to backends do not panic") {
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

    /// Returns the backend whose build of a package is searched, if several have it.
    fn newest_build(&self, scope: &Scope, package: &[u8]) -> Option<String> {
        let overlaps = self.overlaps(scope);
        let packages = &overlaps.packages;
        let found = packages.binary_search_by(|overlap| overlap.package[..].cmp(package));
        found.ok().map(|at| packages[at].searched.clone())
    }

    /// Lists what all backends serve, by name. A list that lacks a backend is an error that names it,
    /// except for children that another backend has; [`listing`](Self::listing) returns such a list.
    pub async fn list(&self, scope: &Scope, request: ListRequest) -> Result<ListReply, FileError> {
        let mut listing = self.listing(scope, &request).await?;
        if request.kind == ListKind::Children && !listing.entries.is_empty() {
            listing.unreachable.clear();
        }
        listing.whole()
    }

    /// Lists what the reachable backends serve, and names those that could not be asked.
    pub async fn listing(
        &self,
        _scope: &Scope,
        request: &ListRequest,
    ) -> Result<Listing, FileError> {
        let mut frame = Vec::new();
        request.encode(&mut frame)?;
        let asked = self.ask_all(frame, Kind::List, ListReply::decode).await;
        let (mut replies, mut unreachable) = (Vec::new(), Vec::new());
        for (peer, reply) in self.peers.iter().zip(asked) {
            match reply.await.expect("requests to backends do not panic") {
                Ok(reply) => replies.push(reply),
                Err(lost) => unreachable.push((peer.name().to_owned(), lost.to_string())),
            }
        }
        let ListReply { entries, more } = results::merge(request, replies);
        Ok(Listing {
            entries,
            more,
            unreachable,
        })
    }

    /// Asks all backends that are connected, at once. The replies are in the order of the backends.
    async fn ask_all<T: Send + 'static>(
        &self,
        frame: Vec<u8>,
        kind: Kind,
        decode: Decode<T>,
    ) -> Vec<JoinHandle<Result<T, PeerError>>> {
        let frame: Arc<[u8]> = frame.into();
        self.ready().await;
        let ask = |peer: &Arc<Peer>| {
            let (peer, frame) = (Arc::clone(peer), Arc::clone(&frame));
            self.resources
                .runtime
                .spawn_blocking(move || match peer.status().link {
                    Link::Connected => peers::request(&peer, &frame, kind, decode),
                    Link::Lost { reason, .. } => Err(PeerError::Failed(reason)),
                })
        };
        self.peers.iter().map(ask).collect()
    }

    /// What can be searched, as the backends announced it. A shard or a package that several backends serve
    /// counts once.
    pub fn served(&self, _scope: &Scope) -> Served {
        let statuses: Vec<_> = self.peers.iter().map(|peer| peer.status()).collect();
        let shards = statuses
            .iter()
            .filter_map(|status| status.shards.as_deref());
        let distinct: HashMap<_, _> = shards.flatten().map(|shard| (shard.id, shard)).collect();
        let sum =
            |of: fn(&message::ShardInfo) -> u64| distinct.values().map(|shard| of(shard)).sum();
        let packages: u64 = sum(|shard| shard.packages.into());
        let routing = self.route();
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

    /// Says that a query searches only the default revisions, if it does and repositories are indexed.
    pub fn notice_of_revisions(&self, _scope: &Scope, query: &Query) -> Option<Notice> {
        let mut peers = self.peers.iter();
        let any = peers.any(|peer| peer.status().indexed_repositories > 0);
        (any && !query.selects_revisions()).then(|| Notice {
            at: None,
            reason: "only the default revision of each git repository is searched".to_owned(),
            hint: Some("for others add rev:NAME; rev:* searches all that are indexed".to_owned()),
        })
    }

    /// The state of all backends.
    pub fn backends(&self, _scope: &Scope) -> Vec<BackendStatus> {
        self.peers.iter().map(|peer| status(peer)).collect()
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
