//! The frontend without HTTP: backends, spool and runs, and how a query becomes a run.
//!
//! Identical queries over the same shards are one run. Runs take turns beyond a number of them, and
//! are refused beyond another.

use crate::assign::{Known, Plan};
use crate::error::{FileError, SearchError, StartError};
use crate::fanout::{self, Backend, Link, Lost, Peer};
use crate::live::{Claim, Live, Slot};
use crate::measures;
use crate::query::Query;
use crate::runs::Runs;
use crate::search::Search;
use crate::spool::Spool;
use schema::message::{self, FileRange, FileReply, FileRequest};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// What a refused client is told to wait.
const RETRY_AFTER_S: u64 = 2;

/// How a frontend is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The directory for frames of running and finished queries. It is this frontend's alone.
    pub spool: PathBuf,
    /// Bytes in it, over all queries.
    pub spool_bytes_max: u64,
    /// How long a backend may say nothing before it counts as lost. Backends are heard at least
    /// every second, so that one lost packet is not taken for a dead machine.
    pub silence_max: Duration,
    /// Queries that run at once.
    pub running_max: usize,
    /// Queries that wait for their turn; more are refused.
    pub queued_max: usize,
    /// How long a query goes on after its last client has gone.
    pub grace: Duration,
    /// The most time that a client may ask for.
    pub timeout_max: Duration,
    /// A query that takes at least so long is logged, with its plan and what took how long.
    pub slow_query: Duration,
}

impl Config {
    /// The defaults, over a spool directory.
    pub fn new(spool: impl Into<PathBuf>) -> Config {
        Config {
            spool: spool.into(),
            spool_bytes_max: 10 << 30,
            silence_max: Duration::from_secs(3),
            running_max: 8,
            queued_max: 32,
            grace: Duration::from_secs(2),
            timeout_max: Duration::from_secs(300),
            slow_query: Duration::from_secs(1),
        }
    }
}

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
    /// Bytes of text in them.
    pub text_bytes: u64,
}

/// A frontend. Dropping it closes its connections.
pub struct Frontend {
    config: Config,
    peers: Vec<Arc<Peer>>,
    spool: Arc<Spool>,
    runs: Arc<Mutex<Runs>>,
    turns: Arc<Semaphore>,
    /// Runs that have their turn or wait for it.
    active: Arc<AtomicUsize>,
    runtime: tokio::runtime::Handle,
}

impl Frontend {
    /// Takes the spool directory and starts to connect to the backends, without waiting for them.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(config: Config, backends: Vec<Backend>) -> Result<Arc<Frontend>, StartError> {
        if backends.is_empty() {
            return Err(StartError::NoBackends);
        }
        if backends.len() > usize::from(u16::MAX) {
            return Err(StartError::TooManyBackends(backends.len()));
        }
        let spool = Spool::open(&config.spool, config.spool_bytes_max)?;
        let peers = backends
            .into_iter()
            .map(|backend| Peer::start(backend, config.silence_max))
            .collect::<Result<_, _>>()
            .map_err(StartError::Thread)?;
        Ok(Arc::new(Frontend {
            peers,
            spool,
            runs: Arc::default(),
            turns: Arc::new(Semaphore::new(config.running_max)),
            active: Arc::default(),
            runtime: tokio::runtime::Handle::current(),
            config,
        }))
    }

    /// Starts a query, or joins the run of the same one. Waits up to a second for backends that
    /// are not connected.
    pub async fn search(&self, query: Query) -> Result<Search, SearchError> {
        self.ready().await;
        let plan = self.plan();
        let id = query.identity(&plan.generation);
        let (live, forgotten) = {
            let mut runs = lock(&self.runs);
            if let Some(live) = runs.find(&id, &query, &plan.generation) {
                measures::shared(live.is_running());
                return Ok(self.hold(live));
            }
            self.admit()?;
            let live = Live::new(self.claim(id, query, plan));
            let forgotten = runs.insert(Arc::clone(&live));
            (live, forgotten)
        };
        drop(forgotten);
        let search = self.hold(Arc::clone(&live));
        self.runtime.spawn(self.drive(live));
        Ok(search)
    }

    /// Names the run that this query would be now.
    pub(crate) fn identity(&self, query: &Query) -> String {
        query.identity(&self.plan().generation)
    }

    /// The run with this id, while it is remembered.
    pub fn run(&self, id: &str) -> Option<Search> {
        let live = lock(&self.runs).get(id)?;
        Some(self.hold(live))
    }

    fn hold(&self, live: Arc<Live>) -> Search {
        Search::new(live, self.runtime.clone(), self.config.grace)
    }

    /// Asks all backends for a part of a document; the first in their order that has it answers.
    pub async fn file(
        &self,
        package: &[u8],
        path: &[u8],
        range: FileRange,
    ) -> Result<Option<FileReply>, FileError> {
        self.ready().await;
        let request = Arc::new(FileRequest {
            package: package.to_vec(),
            path: path.to_vec(),
            range,
        });
        let asked: Vec<_> = self
            .peers
            .iter()
            .map(|peer| {
                let (peer, request) = (Arc::clone(peer), Arc::clone(&request));
                self.runtime.spawn_blocking(move || ask(&peer, &request))
            })
            .collect();
        let mut unreachable = Vec::new();
        for (peer, reply) in self.peers.iter().zip(asked) {
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

    /// How it is set up.
    pub fn config(&self) -> &Config {
        &self.config
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

    /// Who is to search what now.
    fn plan(&self) -> Plan {
        let known = |(number, peer): (usize, &Arc<Peer>)| {
            let status = peer.status();
            let shards = status.shards.as_deref();
            Known {
                number,
                name: peer.name().to_owned(),
                lost: match status.link {
                    Link::Connected => None,
                    Link::Lost { reason, since } => Some((reason, since)),
                },
                shards: shards.map(|shards| shards.iter().map(|shard| shard.id).collect()),
            }
        };
        Plan::new(self.peers.iter().enumerate().map(known).collect())
    }

    /// Counts one more active run, or says that there are too many.
    fn admit(&self) -> Result<(), SearchError> {
        let most = self.config.running_max + self.config.queued_max;
        if self.active.load(Relaxed) >= most {
            metrics::counter!("trawl_frontend_queries_shed_total").increment(1);
            let retry_after_s = RETRY_AFTER_S;
            return Err(SearchError::Overloaded { retry_after_s });
        }
        self.active.fetch_add(1, Relaxed);
        metrics::counter!("trawl_frontend_queries_started_total").increment(1);
        Ok(())
    }

    fn claim(&self, id: String, query: Query, plan: Plan) -> Claim {
        let (mut slots, mut assignments) = (Vec::new(), Vec::new());
        for (backend, (number, assignment)) in (0_u16..).zip(plan.assignments) {
            slots.push(Slot::new(
                Arc::clone(&self.peers[number]),
                backend,
                message::Search {
                    pattern: query.pattern().clone(),
                    filters: query.filters().to_vec(),
                    context_lines: query.context_lines(),
                    shards: assignment.shards.clone(),
                    want: query.want(),
                    limit: query.limit(),
                    heavy: true,
                    ..message::Search::default()
                },
            ));
            assignments.push(assignment);
        }
        let (runs, spool) = (Arc::downgrade(&self.runs), Arc::clone(&self.spool));
        Claim {
            spool: self.spool.run(&id, slots.len()),
            id,
            generation: plan.generation,
            query,
            slots,
            assignments,
            missing: plan.missing,
            make_room: Box::new(move |bytes| {
                if let Some(runs) = runs.upgrade() {
                    let forgotten = lock(&runs).make_room(&spool, bytes);
                    drop(forgotten);
                }
            }),
        }
    }

    /// Sees a run from its claim to its end.
    fn drive(&self, live: Arc<Live>) -> impl Future<Output = ()> + Send + use<> {
        let (turns, active) = (Arc::clone(&self.turns), Arc::clone(&self.active));
        let (runs, spool) = (Arc::clone(&self.runs), Arc::clone(&self.spool));
        let slow_query = self.config.slow_query;
        async move {
            metrics::gauge!("trawl_frontend_queries_queued").increment(1.0);
            let turn = tokio::select! {
                turn = turns.acquire_owned() => turn.ok(),
                () = live.cancelled() => None,
            };
            metrics::gauge!("trawl_frontend_queries_queued").decrement(1.0);
            metrics::gauge!("trawl_frontend_queries_running").increment(1.0);
            live.start();
            let state = live.settled().await;
            metrics::gauge!("trawl_frontend_queries_running").decrement(1.0);
            drop(turn);
            active.fetch_sub(1, Relaxed);
            measures::record(&live.id, &state, slow_query);
            drop((state, live));
            let forgotten = lock(&runs).make_room(&spool, 0);
            drop(forgotten);
        }
    }
}

impl Drop for Frontend {
    fn drop(&mut self) {
        lock(&self.runs).lives().for_each(|live| live.cancel());
        self.peers.iter().for_each(|peer| peer.close());
    }
}

/// Asks one backend for a part of a document, if it is connected.
fn ask(peer: &Peer, request: &FileRequest) -> Result<FileReply, Lost> {
    match peer.status().link {
        Link::Connected => fanout::request(peer, request),
        Link::Lost { reason, .. } => Err(Lost::Failed(reason)),
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
        text_bytes: shards.iter().map(|shard| shard.text_bytes).sum(),
    }
}

fn lock(runs: &Mutex<Runs>) -> MutexGuard<'_, Runs> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}
