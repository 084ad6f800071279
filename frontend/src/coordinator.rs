//! The frontend without HTTP: backends, spool and runs, and how a query becomes a run.
//!
//! Identical queries over the same shards are one run. A run that its backends find to cost much needs
//! a slot: it waits for one in a queue, and is refused when that is full. All others begin at once, so
//! that whoever looks for a rare name never waits for those who look for `return`.

use crate::config::Config;
use crate::error::{FileError, RETRY_AFTER_S, SearchError, StartError};
use crate::execution::admission::Admission;
use crate::execution::driver::{Claim, Deadline, Execution};
use crate::execution::handle::SearchHandle;
use crate::execution::memory::Memory;
use crate::execution::result_cache::{Forgotten, ResultCache};
use crate::execution::stream::StreamHandle;
use crate::lock::lock;
use crate::metrics;
use crate::peers::shard_routing::{PeerShards, ShardRouting};
use crate::peers::{self, Backend, Link, Peer, PeerError, Request};
use crate::query::Query;
use crate::results::SearchResult;
use crate::results::{self, Listing};
use crate::spool::{Spool, SpoolConfig};
use schema::message::{self, FileRange, FileReply, FileRequest, ListKind, ListReply, ListRequest};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Runs that are under way, whatever they cost; more are refused.
const ACTIVE_MAX: usize = 256;

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
    runs: Arc<Mutex<ResultCache>>,
    memory: Arc<Memory>,
    admission: Arc<Admission>,
    /// Runs that are under way.
    active: Arc<AtomicUsize>,
    runtime: tokio::runtime::Handle,
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
        let mut runs = ResultCache::default();
        for answer in recovered.into_iter().filter_map(SearchResult::recover) {
            drop(runs.insert(Execution::recovered(answer)));
        }
        drop(runs.make_room(&spool, 0));
        let runs = Arc::new(Mutex::new(runs));
        let (known, held) = (Arc::downgrade(&runs), Arc::downgrade(&spool));
        spool.on_full(move |bytes| {
            if let (Some(runs), Some(spool)) = (known.upgrade(), held.upgrade()) {
                let forgotten = lock(&runs).make_room(&spool, bytes);
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
            runs,
            memory: Memory::new(config.memory_bytes / 2),
            admission: Arc::new(Admission::new(config.running_max, config.queued_max)),
            active: Arc::default(),
            runtime: tokio::runtime::Handle::current(),
            config,
        }))
    }

    /// Starts a query, or joins the run of the same one. Waits up to a second for backends that
    /// are not connected.
    pub async fn search(&self, query: Query) -> Result<SearchHandle, SearchError> {
        self.search_within(query, None, None).await
    }

    /// The same, over the shards of `generation` when there is one, with a time in which the query is to
    /// be done, up to the bound of all.
    pub async fn search_within(
        &self,
        query: Query,
        generation: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<SearchHandle, SearchError> {
        let timeout = timeout.unwrap_or(self.config.timeout);
        let deadline = Deadline::after(timeout.min(self.config.timeout_max));
        if let Some(generation) = generation {
            let id = query.identity(generation);
            if let Some(execution) = lock(&self.runs).find(&id, &query, generation) {
                return Ok(self.join(execution, deadline));
            }
        }
        self.ready().await;
        let plan = self.plan();
        if let Some(generation) = generation.filter(|wanted| *wanted != plan.generation) {
            let generation = generation.to_owned();
            return Err(SearchError::Gone { generation });
        }
        let id = query.identity(&plan.generation);
        let (execution, forgotten) = {
            let mut runs = lock(&self.runs);
            if let Some(execution) = runs.find(&id, &query, &plan.generation) {
                return Ok(self.join(execution, deadline));
            }
            self.admit()?;
            let execution = Execution::new(self.claim(id, query, &plan, deadline));
            let forgotten = runs.insert(Arc::clone(&execution));
            (execution, forgotten)
        };
        if !forgotten.is_empty() {
            self.runtime.spawn_blocking(move || drop(forgotten));
        }
        let search = self.hold(Arc::clone(&execution));
        self.runtime.spawn(self.drive(execution));
        Ok(search)
    }

    /// Joins a run that is under way or done, which may take as long as its clients let it.
    fn join(&self, execution: Arc<Execution>, deadline: Deadline) -> SearchHandle {
        metrics::shared(execution.is_running());
        execution.extend(deadline);
        self.hold(execution)
    }

    /// Names the run that this query would be now.
    pub fn identity(&self, query: &Query) -> String {
        query.identity(&self.plan().generation)
    }

    /// The run with this id, while it is remembered.
    pub fn run(&self, id: &str) -> Option<SearchHandle> {
        let execution = lock(&self.runs).get(id)?;
        Some(self.hold(execution))
    }

    /// The run with this id, or, when its matches have made way for others, another run of its query.
    pub async fn run_again(&self, id: &str) -> Result<Option<SearchHandle>, SearchError> {
        if let Some(search) = self.run(id) {
            return Ok(Some(search));
        }
        let Some((query, generation)) = lock(&self.runs).forgotten(id) else {
            return Ok(None);
        };
        metrics::rerun();
        let search = self.search_within(query, Some(&generation), None).await?;
        Ok(Some(search))
    }

    /// Bytes that the spool has on the disk.
    pub fn spool_bytes(&self) -> u64 {
        self.spool.disk_bytes()
    }

    fn hold(&self, execution: Arc<Execution>) -> SearchHandle {
        SearchHandle::new(execution, self.runtime.clone(), self.config.grace)
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

    /// Counts one more active run, or says that there are too many.
    fn admit(&self) -> Result<(), SearchError> {
        if self.active.load(Relaxed) >= ACTIVE_MAX {
            ::metrics::counter!("trawl_frontend_queries_shed_total").increment(1);
            let retry_after_s = RETRY_AFTER_S;
            return Err(SearchError::Overloaded { retry_after_s });
        }
        self.active.fetch_add(1, Relaxed);
        ::metrics::counter!("trawl_frontend_queries_started_total").increment(1);
        Ok(())
    }

    fn claim(&self, id: String, query: Query, plan: &ShardRouting, deadline: Deadline) -> Claim {
        let (mut streams, mut assignments) = (Vec::new(), Vec::new());
        for (backend, (number, assignment)) in (0_u16..).zip(&plan.assignments) {
            streams.push(StreamHandle::new(
                Arc::clone(&self.peers[*number]),
                backend,
                message::Search {
                    shards: assignment.shards.clone(),
                    ..query.search()
                },
            ));
            assignments.push(assignment.clone());
        }
        Claim {
            spool: self.spool.create(&id, streams.len()),
            id,
            generation: plan.generation.clone(),
            query,
            streams,
            assignments,
            missing: plan.missing.clone(),
            known: plan.known,
            deadline,
        }
    }

    /// Sees a run from its claim to its end.
    fn drive(&self, execution: Arc<Execution>) -> impl Future<Output = ()> + Send + use<> {
        let (admission, active) = (Arc::clone(&self.admission), Arc::clone(&self.active));
        let (runs, spool) = (Arc::clone(&self.runs), Arc::clone(&self.spool));
        let (memory, query_memory) = (Arc::clone(&self.memory), self.config.query_memory_bytes);
        let slow_query = self.config.slow_query;
        async move {
            ::metrics::gauge!("trawl_frontend_queries_running").increment(1.0);
            let answer = admission
                .see_through(&execution, |admitted| {
                    execution.start(admitted, &memory, query_memory)
                })
                .await;
            ::metrics::gauge!("trawl_frontend_queries_running").decrement(1.0);
            active.fetch_sub(1, Relaxed);
            metrics::record(&answer, slow_query);
            drop(answer);
            let forgotten = {
                let mut runs = lock(&runs);
                // What nobody waited for is not read either.
                let mut forgotten = match execution.is_abandoned() {
                    true => runs.forget(&execution),
                    false => Forgotten::default(),
                };
                drop(execution);
                forgotten.extend(runs.make_room(&spool, 0));
                forgotten
            };
            if !forgotten.is_empty() {
                // Removing gigabytes takes a while.
                tokio::task::spawn_blocking(move || drop(forgotten));
            }
        }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        lock(&self.runs)
            .executions()
            .for_each(|execution| execution.cancel());
        self.peers.iter().for_each(|peer| peer.close());
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
