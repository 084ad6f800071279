//! The frontend without HTTP: backends, spool and runs, and how a query becomes a run.
//!
//! Identical queries over the same shards are one run. A run that its backends find to cost much needs
//! a slot: it waits for one in a queue, and is refused when that is full. All others begin at once, so
//! that whoever looks for a rare name never waits for those who look for `return`.

use crate::config::Config;
use crate::error::{FileError, RETRY_AFTER_S, SearchError, StartError};
use crate::execution::admission::Admission;
use crate::execution::driver::{Blueprint, Execution};
use crate::execution::event::{Deadline, Event};
use crate::execution::handle::SearchHandle;
use crate::execution::memory::Memory;
use crate::execution::result_cache::{Forgotten, ResultCache};
use crate::lock::lock;
use crate::metrics;
use crate::peers::shard_routing::{Assignment, PeerShards, ShardRouting};
use crate::peers::{self, Backend, Link, Peer, PeerError, Request};
use crate::query::Query;
use crate::results::{self, Listing, SearchResult};
use crate::spool::{Spool, SpoolConfig};
use schema::message::{self, FileRange, FileReply, FileRequest, ListKind, ListReply, ListRequest};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

/// Whether a backend is there.
#[derive(Clone, Debug)]
pub struct BackendStatus {
    /// Its name.
    pub name: String,
    /// Whether it is connected.
    pub connected: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// Shards it announced last.
    pub shards: usize,
    /// Packages in them.
    pub packages: u64,
    /// Documents in them.
    pub documents: u64,
    /// Blocks in them.
    pub blocks: u64,
    /// Bytes of text in them.
    pub text_bytes: u64,
    /// When its index was written, in seconds since 1970; `None` until it has said so.
    pub updated: Option<u64>,
}

/// What can be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Names the set of shards.
    pub generation: String,
    /// How many there are.
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

/// A frontend. Dropping it closes its connections.
pub struct Coordinator {
    config: Config,
    peers: Vec<Arc<Peer>>,
    /// By the versions of the peers that it was made for.
    planned: Mutex<(Vec<u64>, Arc<ShardRouting>)>,
    spool: Arc<Spool>,
    cache: Arc<Mutex<ResultCache>>,
    memory: Arc<Memory>,
    admission: Arc<Admission>,
    runtime: Handle,
}

impl Coordinator {
    /// Takes the spool directory and starts to connect to the backends, without waiting for them.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(config: Config, backends: Vec<Backend>) -> Result<Arc<Coordinator>, StartError> {
        if backends.is_empty() {
            return Err(StartError::NoBackends);
        }
        if backends.len() > usize::from(u16::MAX) {
            return Err(StartError::TooManyBackends(backends.len()));
        }
        let limits = SpoolConfig {
            disk_bytes_max: config.spool_bytes_max,
            result_memory_max: config.result_memory_bytes,
            durable: config.durable,
            before_write: config.before_write.clone(),
        };
        let (spool, recovered) = Spool::open(&config.spool, limits)?;
        let runtime = Handle::current();
        let mut cache = ResultCache::default();
        for answer in recovered.into_iter().filter_map(SearchResult::recover) {
            drop(cache.insert(Execution::recovered(answer, runtime.clone())));
        }
        drop(cache.make_room(&spool, 0));
        let cache = Arc::new(Mutex::new(cache));
        let (weak_cache, weak_spool) = (Arc::downgrade(&cache), Arc::downgrade(&spool));
        spool.on_full(move |bytes| {
            if let (Some(cache), Some(spool)) = (weak_cache.upgrade(), weak_spool.upgrade()) {
                let forgotten = lock(&cache).make_room(&spool, bytes);
                drop(forgotten);
            }
        });
        let peers = backends
            .into_iter()
            .map(|backend| Peer::start(backend, config.silence_max))
            .collect::<Result<_, _>>()
            .map_err(StartError::Thread)?;
        Ok(Arc::new(Coordinator {
            peers,
            planned: Mutex::default(),
            spool,
            cache,
            memory: Memory::new(config.memory_bytes / 2),
            admission: Arc::new(Admission::new(config.running_max, config.queued_max)),
            runtime,
            config,
        }))
    }

    /// Starts a query, or joins the execution of the same one. Waits up to a second for backends that
    /// are not connected.
    pub async fn search(&self, query: Query) -> Result<SearchHandle, SearchError> {
        self.search_within(query, None, None).await
    }

    /// Starts or joins a query over the shards of `generation`, if there is one, with a time in which
    /// it is to be done, up to the configured bound.
    pub async fn search_within(
        &self,
        query: Query,
        generation: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<SearchHandle, SearchError> {
        let timeout = timeout.unwrap_or(self.config.timeout);
        let timeout = timeout.min(self.config.timeout_max);
        let at = Instant::now() + timeout;
        let deadline = Deadline { at, timeout };
        if let Some(generation) = generation {
            let id = query.identity(generation);
            let mut cache = lock(&self.cache);
            if let Some(joined) = self.join(&mut cache, &id, &query, generation, deadline) {
                return Ok(joined);
            }
        }
        self.ready().await;
        let plan = self.plan();
        if let Some(generation) = generation.filter(|wanted| *wanted != plan.generation) {
            let generation = generation.to_owned();
            return Err(SearchError::Gone { generation });
        }
        let id = query.identity(&plan.generation);
        let mut cache = lock(&self.cache);
        if let Some(joined) = self.join(&mut cache, &id, &query, &plan.generation, deadline) {
            return Ok(joined);
        }
        let active = self.admission.activate().ok_or(SearchError::Overloaded {
            retry_after_s: RETRY_AFTER_S,
        })?;
        ::metrics::counter!("trawl_frontend_queries_started_total").increment(1);
        let execution = Execution::new(self.blueprint(id, query, &plan, deadline));
        let handle = self.hold(Arc::clone(&execution));
        remove(cache.insert(Arc::clone(&execution)), &self.runtime);
        drop(cache);
        self.runtime.spawn(self.drive(execution, active));
        Ok(handle)
    }

    /// Joins the execution of the same query, if it runs or has a complete result. It may take as long
    /// as the most patient of its clients lets it.
    fn join(
        &self,
        cache: &mut ResultCache,
        id: &str,
        query: &Query,
        generation: &str,
        deadline: Deadline,
    ) -> Option<SearchHandle> {
        let execution = cache.find(id, query, generation)?;
        let handle = SearchHandle::share(execution, self.config.grace, deadline)?;
        metrics::shared(!handle.was_there());
        Some(handle)
    }

    /// The id of the execution that this query would be now.
    pub fn identity(&self, query: &Query) -> String {
        query.identity(&self.plan().generation)
    }

    /// The execution with this id, while it is in the result cache.
    pub fn get(&self, id: &str) -> Option<SearchHandle> {
        let execution = lock(&self.cache).get(id)?;
        Some(self.hold(execution))
    }

    /// The execution with this id; if it was evicted, its query runs again.
    pub async fn get_or_rerun(&self, id: &str) -> Result<Option<SearchHandle>, SearchError> {
        if let Some(handle) = self.get(id) {
            return Ok(Some(handle));
        }
        let Some((query, generation)) = lock(&self.cache).forgotten(id) else {
            return Ok(None);
        };
        metrics::rerun();
        let handle = self.search_within(query, Some(&generation), None).await?;
        Ok(Some(handle))
    }

    /// Bytes that the spool has on the disk.
    pub fn spool_bytes(&self) -> u64 {
        self.spool.disk_bytes()
    }

    fn hold(&self, execution: Arc<Execution>) -> SearchHandle {
        SearchHandle::new(execution, self.config.grace)
    }

    /// Asks all backends for a part of a document; the first in their order that has it answers.
    pub async fn file(
        &self,
        package: &[u8],
        path: &[u8],
        range: FileRange,
    ) -> Result<Option<FileReply>, FileError> {
        let request = FileRequest {
            package: package.to_vec(),
            path: path.to_vec(),
            range,
        };
        let mut unreachable = Vec::new();
        for (peer, reply) in self.peers.iter().zip(self.ask_all(&request).await?) {
            match reply.await.expect("asking a backend does not panic") {
                Ok(reply) if reply.found => return Ok(Some(reply)),
                Ok(_) => {}
                Err(lost) => unreachable.push((peer.name().to_owned(), lost.to_string())),
            }
        }
        if unreachable.is_empty() {
            Ok(None)
        } else {
            Err(FileError::Unreachable(unreachable))
        }
    }

    /// Asks all backends what there is: one list, in the order of names. Of children of a package it is
    /// enough that somebody has it; of anything else a list without all backends is an error that
    /// names them, and [`listing`](Self::listing) gives what there is of it.
    pub async fn list(&self, request: ListRequest) -> Result<ListReply, FileError> {
        let is_found =
            |listing: &Listing| request.kind == ListKind::Children && !listing.entries.is_empty();
        let mut listing = self.listing(&request).await?;
        if is_found(&listing) {
            listing.unreachable.clear();
        }
        listing.whole()
    }

    /// The same, of the backends that can be reached, and who cannot.
    pub async fn listing(&self, request: &ListRequest) -> Result<Listing, FileError> {
        let (mut replies, mut unreachable) = (Vec::new(), Vec::new());
        for (peer, reply) in self.peers.iter().zip(self.ask_all(request).await?) {
            match reply.await.expect("asking a backend does not panic") {
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

    /// Asks all backends at once. What each says comes in their order.
    async fn ask_all<R: Request>(
        &self,
        request: &R,
    ) -> Result<Vec<JoinHandle<Result<R::Reply, PeerError>>>, FileError> {
        let mut frame = Vec::new();
        request.encode(&mut frame)?;
        let frame: Arc<[u8]> = frame.into();
        self.ready().await;
        let ask = |peer: &Arc<Peer>| {
            let (peer, frame) = (Arc::clone(peer), Arc::clone(&frame));
            self.runtime.spawn_blocking(move || ask::<R>(&peer, &frame))
        };
        Ok(self.peers.iter().map(ask).collect())
    }

    /// How it is set up.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What can be searched now, as far as backends have said: each shard once, wherever it is served.
    pub fn served(&self) -> Served {
        let statuses: Vec<_> = self.peers.iter().map(|peer| peer.status()).collect();
        let shards = statuses
            .iter()
            .filter_map(|status| status.shards.as_deref());
        let distinct: HashMap<_, _> = shards.flatten().map(|shard| (shard.id, shard)).collect();
        let sum =
            |of: fn(&message::ShardInfo) -> u64| distinct.values().map(|shard| of(shard)).sum();
        Served {
            generation: self.plan().generation.clone(),
            shards: distinct.len() as u64,
            packages: sum(|shard| shard.packages.into()),
            documents: sum(|shard| shard.documents.into()),
            text_bytes: sum(|shard| shard.text_bytes),
            updated: statuses.iter().filter_map(|status| status.updated).min(),
        }
    }

    /// The backends and whether they are there.
    pub fn backends(&self) -> Vec<BackendStatus> {
        self.peers.iter().map(|peer| status(peer)).collect()
    }

    /// Waits for backends that are not connected: each is tried once more, for a second at most.
    async fn ready(&self) {
        let deadline = Peer::ready_deadline();
        for peer in &self.peers {
            peer.ready(deadline).await;
        }
    }

    /// Who is to search what now. Made when a backend has come, gone, or has other shards: for every
    /// query it would cost as much as a small answer.
    fn plan(&self) -> Arc<ShardRouting> {
        let versions: Vec<u64> = self.peers.iter().map(|peer| peer.version()).collect();
        let mut planned = lock(&self.planned);
        if planned.0 != versions {
            *planned = (versions, Arc::new(self.plan_anew()));
        }
        Arc::clone(&planned.1)
    }

    fn plan_anew(&self) -> ShardRouting {
        let known = |(number, peer): (usize, &Arc<Peer>)| {
            let status = peer.status();
            let shards = status.shards.as_deref();
            PeerShards {
                number,
                name: peer.name().to_owned(),
                lost: match status.link {
                    Link::Connected => None,
                    Link::Lost { reason, since } => Some((reason, since)),
                },
                shards: shards.map(|shards| {
                    let each = |shard: &message::ShardInfo| (shard.id, shard.documents);
                    shards.iter().map(each).collect()
                }),
            }
        };
        ShardRouting::new(self.peers.iter().enumerate().map(known).collect())
    }

    fn blueprint(
        &self,
        id: String,
        query: Query,
        plan: &ShardRouting,
        deadline: Deadline,
    ) -> Blueprint<'_> {
        let peer = |(number, assignment): &(usize, Assignment)| {
            (Arc::clone(&self.peers[*number]), assignment.clone())
        };
        Blueprint {
            spool: self.spool.run(&id, plan.assignments.len()),
            id,
            generation: plan.generation.clone(),
            query,
            peers: plan.assignments.iter().map(peer).collect(),
            missing: plan.missing.clone(),
            known: plan.known,
            deadline,
            memory: &self.memory,
            memory_bytes_max: self.config.query_memory_bytes,
            runtime: self.runtime.clone(),
        }
    }

    /// Sees an execution through to its end, and makes room for its result.
    fn drive(
        &self,
        execution: Arc<Execution>,
        active: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + Send + use<> {
        let admission = Arc::clone(&self.admission);
        let (cache, spool) = (Arc::clone(&self.cache), Arc::clone(&self.spool));
        let slow_query = self.config.slow_query;
        async move {
            ::metrics::gauge!("trawl_frontend_queries_running").increment(1.0);
            let answer = execution.drive(&admission).await;
            ::metrics::gauge!("trawl_frontend_queries_running").decrement(1.0);
            drop(active);
            metrics::record(&answer, slow_query);
            drop(answer);
            let forgotten = {
                let mut cache = lock(&cache);
                let mut forgotten = Forgotten::default();
                if execution.is_abandoned() {
                    forgotten = cache.forget(&execution);
                }
                // Only now can it be evicted.
                drop(execution);
                forgotten.extend(cache.make_room(&spool, 0));
                forgotten
            };
            remove(forgotten, &Handle::current());
        }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        lock(&self.cache)
            .executions()
            .for_each(|execution| execution.on(Event::Cancel));
        self.peers.iter().for_each(|peer| peer.close());
    }
}

/// Removes the files of evicted executions on another thread: gigabytes take a while.
fn remove(forgotten: Forgotten, runtime: &Handle) {
    if !forgotten.is_empty() {
        runtime.spawn_blocking(move || drop(forgotten));
    }
}

/// Asks one backend, if it is connected.
fn ask<R: Request>(peer: &Peer, frame: &[u8]) -> Result<R::Reply, PeerError> {
    match peer.status().link {
        Link::Connected => peers::request::<R>(peer, frame),
        Link::Lost { reason, .. } => Err(PeerError::Failed(reason)),
    }
}

fn status(peer: &Peer) -> BackendStatus {
    let status = peer.status();
    let shards = status.shards.as_deref().unwrap_or_default();
    BackendStatus {
        name: peer.name().to_owned(),
        connected: matches!(status.link, Link::Connected),
        reason: match status.link {
            Link::Connected => None,
            Link::Lost { reason, .. } => Some(reason),
        },
        shards: shards.len(),
        packages: shards.iter().map(|shard| u64::from(shard.packages)).sum(),
        documents: shards.iter().map(|shard| u64::from(shard.documents)).sum(),
        blocks: shards.iter().map(|shard| u64::from(shard.blocks)).sum(),
        text_bytes: shards.iter().map(|shard| shard.text_bytes).sum(),
        updated: status.updated,
    }
}
