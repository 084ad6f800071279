//! Starts and shares executions.
//!
//! Identical queries over the same shards share one execution. Light queries have places of their
//! own: a search for a rare name never waits for `return`.

mod catalog;
mod listing;
mod lookup_cache;
mod lookup_hints;
mod lookups;
mod repositories;
mod scoped;

pub use catalog::{BackendStatus, Served};
pub use listing::{Listing, entry_name};

use crate::config::Config;
use crate::error::{DRAINING_RETRY_S, RETRY_AFTER_S, SearchError, StartError};
use crate::execution::admission::{Admission, Permit};
use crate::execution::driver::{Execution, Resources};
use crate::execution::fair_slots::Slot;
use crate::execution::handle::{Interest, Interests, SearchHandle};
use crate::execution::memory::{Memory, Need, Reservation};
use crate::execution::result_cache::{Removals, ResultCache};
use crate::execution::state::{Deadline, Event};
use crate::metrics;
use crate::peers::health::HedgeBudget;
use crate::peers::shard_routing::ShardRouting;
use crate::peers::{Backend, Peer, PeerSet, PeerSettings, Peers};
use crate::recent::{QueryTimes, RecentQueries};
use crate::search_request::{SearchClient, SearchRequest};
use cache::lock;
use lookups::Lookups;
use query::{PackageNames, Query, QueryInput, Scope};
use results::spool::{Spool, SpoolConfig};
use results::{Overlaps, SearchResult};
use scoped::{SCOPES_MAX, ScopedRoutings};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tracing::Instrument;

/// Prefix of a probe's query: a private-use character that no text should contain.
const PROBE: char = '\u{f8ff}';

/// Serving state, which only moves forward. Before a frontend ends it drains: no search starts, and
/// running ones end or their clients are sent to another frontend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    #[default]
    Open,
    /// No search starts. Running ones continue.
    Draining,
    /// Waiting clients should ask another frontend.
    HandingOver,
}

/// A frontend. Dropping it cancels its executions and closes its connections.
pub struct Coordinator {
    config: Config,
    peers: Peers,
    /// At these peer versions.
    names: Mutex<(Vec<u64>, Option<Arc<PackageNames>>)>,
    routing: Mutex<(Vec<u64>, Arc<ShardRouting>)>,
    scoped: Mutex<ScopedRoutings>,
    resources: Resources,
    cache: Arc<Mutex<ResultCache>>,
    interests: Mutex<Interests>,
    admission: Arc<Admission>,
    lookups: Lookups,
    recent: Arc<RecentQueries>,
    probes: AtomicU64,
    serving: watch::Sender<Serving>,
}

impl Coordinator {
    /// Opens the spool directory and starts connecting to the backends, without waiting for them.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(config: Config, backends: Vec<Backend>) -> Result<Arc<Coordinator>, StartError> {
        if backends.is_empty() && !config.changes_backends {
            return Err(StartError::NoBackends);
        }
        check_count(&backends)?;
        let limits = SpoolConfig {
            disk_bytes_max: config.spool_bytes_max,
            result_memory_max: config.result_memory_bytes,
            durable: config.durable,
            before_write: config.before_write.clone(),
        };
        let (spool, recovered) = Spool::open(&config.spool, limits)?;
        let runtime = Handle::current();
        let removals = Arc::new(Removals::new(runtime.clone()));
        let mut cache = ResultCache::new(Arc::clone(&spool), Arc::clone(&removals));
        for answer in recovered.into_iter().filter_map(SearchResult::recover) {
            cache.insert(Execution::recovered(answer, runtime.clone()));
        }
        cache.make_room(0);
        removals.finish();
        let cache = Arc::new(Mutex::new(cache));
        let (weak_cache, weak_removals) = (Arc::downgrade(&cache), Arc::downgrade(&removals));
        spool.on_full(move |bytes| {
            let Some(removals) = weak_removals.upgrade() else {
                return;
            };
            // Removing the files of evicted executions may free enough.
            if removals.finish() {
                return;
            }
            if let Some(cache) = weak_cache.upgrade() {
                lock(&cache).make_room(bytes);
                removals.finish();
            }
        });
        let compares_packages = backends.len() > 1 || config.has_scopes || config.changes_backends;
        let settings = PeerSettings {
            silence_max: config.silence_max,
            lists_packages: compares_packages,
            has_scopes: config.has_scopes,
        };
        let peers = Peers::start(backends, settings).map_err(StartError::Thread)?;
        let coordinator = Arc::new(Coordinator {
            peers,
            names: Mutex::default(),
            routing: Mutex::default(),
            scoped: Mutex::new(ScopedRoutings::new(SCOPES_MAX)),
            resources: Resources {
                spool,
                memory: Memory::new(config.memory_bytes / 2),
                execution_memory_bytes: config.query_memory_bytes,
                ordered: config.ordered,
                queries: AtomicU64::new(0),
                hedges: Arc::new(Mutex::new(HedgeBudget::new(config.hedges_max))),
                runtime,
            },
            cache,
            interests: Mutex::default(),
            admission: Arc::new(Admission::new(config.running_max, config.queued_max)),
            lookups: Lookups::new(config.hints.clone()),
            recent: Arc::default(),
            probes: AtomicU64::new(0),
            serving: watch::Sender::default(),
            config,
        });
        if compares_packages {
            coordinator.route_on_changes(&coordinator.peers.current());
        }
        Ok(coordinator)
    }

    /// Replaces the backends. Those with a known name and address stay connected; others finish
    /// their streams and are closed. Needs
    /// [`Config::changes_backends`](crate::Config::changes_backends).
    pub fn set_backends(self: &Arc<Coordinator>, backends: Vec<Backend>) -> Result<(), StartError> {
        check_count(&backends)?;
        let new = self.peers.replace(backends).map_err(StartError::Thread)?;
        self.route_on_changes(&new);
        Ok(())
    }

    /// Returns true if announced shards would be lost without these backends.
    pub fn would_lose(&self, backends: &BTreeSet<&str>) -> bool {
        let (mut lost, mut left) = (HashSet::new(), HashSet::new());
        for peer in self.peers.current().iter() {
            let status = peer.status();
            let ids = status.shards.iter().flat_map(|shards| shards.iter());
            if backends.contains(peer.name()) {
                lost.extend(ids.map(|shard| shard.id));
            } else {
                left.extend(ids.map(|shard| shard.id));
            }
        }
        !lost.is_subset(&left)
    }

    /// Admits new backends, and recomputes the routing on changes, so that overlaps are
    /// logged before the next search.
    fn route_on_changes(self: &Arc<Coordinator>, peers: &[Arc<Peer>]) {
        for peer in peers {
            let (mut changes, coordinator) = (peer.changes(), Arc::downgrade(self));
            // The task ends with the peer's last set.
            let peer = Arc::downgrade(peer);
            self.resources.runtime.spawn(async move {
                let mut last = None;
                loop {
                    let (packages, is_known) = {
                        let status = changes.borrow_and_update();
                        (Arc::clone(&status.packages), status.shards.is_some())
                    };
                    // They may have been announced before this task first ran.
                    if is_known && !last.is_some_and(|last| Arc::ptr_eq(&last, &packages)) {
                        let (Some(coordinator), Some(peer)) =
                            (coordinator.upgrade(), peer.upgrade())
                        else {
                            return;
                        };
                        if !coordinator.peers.admit(&peer) {
                            return;
                        }
                        coordinator.route(&coordinator.peers.current());
                    }
                    last = is_known.then_some(packages);
                    if changes.changed().await.is_err() {
                        return;
                    }
                }
            });
        }
    }

    /// Drains, or hands clients over. Finished and running searches can still be joined.
    pub fn drain(&self, serving: Serving) {
        self.serving
            .send_if_modified(|now| std::mem::replace(now, serving.max(*now)) < serving);
    }

    /// Serving state: says if new searches are taken.
    pub fn serving(&self) -> watch::Receiver<Serving> {
        self.serving.subscribe()
    }

    /// Starts a query or joins an identical execution. Waits up to a second for unconnected
    /// backends.
    pub async fn search(&self, request: SearchRequest) -> Result<SearchHandle, SearchError> {
        let caller = Caller {
            scope: request.scope.clone(),
            client: request.client,
            interest: None,
            pending: 0,
        };
        let resumed = request.generation.as_deref().filter(|_| request.is_resumed);
        let known = resumed.and_then(|of| self.find(&request.query, of, caller.clone()));
        match known {
            Some(handle) => Ok(handle),
            None => self.start_search(request, caller).await,
        }
    }

    async fn start_search(
        &self,
        request: SearchRequest,
        caller: Caller,
    ) -> Result<SearchHandle, SearchError> {
        let SearchRequest { query, timeout, .. } = request;
        let generation = request.generation.as_deref();
        let timeout = timeout.unwrap_or(self.config.timeout);
        let timeout = timeout.min(self.config.timeout_max);
        let at = Instant::now() + timeout;
        let deadline = Deadline { at, timeout };
        // Before the generation is chosen, which has all changes that are not pending now.
        let pending = generation.map_or_else(|| self.pending(), |_| 0);
        let caller = Caller { pending, ..caller };
        if let Some(generation) = generation {
            let mut cache = lock(&self.cache);
            if let Some(joined) = self.join(&mut cache, &query, generation, deadline, &caller) {
                return Ok(joined);
            }
        }
        let peers = self.peers.current();
        // Unconnected backends are not awaited if others serve all their shards.
        if !self.route(&peers).missing.is_empty() {
            ready(&peers).await;
        }
        let routing = self.route_for(&peers, &caller.scope);
        if let Some(generation) = generation.filter(|wanted| *wanted != routing.generation) {
            let generation = generation.to_owned();
            return Err(SearchError::Gone { generation });
        }
        let mut cache = lock(&self.cache);
        let current = &routing.generation;
        if let Some(joined) = self.join(&mut cache, &query, current, deadline, &caller) {
            return Ok(joined);
        }
        if *self.serving.borrow() != Serving::Open {
            return Err(SearchError::Draining {
                retry_after_s: DRAINING_RETRY_S,
            });
        }
        let client = caller.client.number;
        let active = self.admission.activate(client);
        let active = active.ok_or(SearchError::Overloaded {
            retry_after_s: RETRY_AFTER_S,
        })?;
        ::metrics::counter!("trawl_frontend_queries_started_total").increment(1);
        let (resources, scope) = (&self.resources, &caller.scope);
        let execution = Execution::new(resources, &peers, &routing, query, scope, client, deadline);
        let handle = self.hold(Arc::clone(&execution), None, caller);
        let handle = handle.expect("a new execution can be joined");
        cache.insert(Arc::clone(&execution));
        drop(cache);
        let permit = execution.start(&self.admission);
        let driven = self.drive(execution, active, permit);
        self.resources.runtime.spawn(driven);
        Ok(handle)
    }

    /// Joins an identical execution that runs or has a complete result, extending its deadline.
    fn join(
        &self,
        cache: &mut ResultCache,
        query: &Query,
        generation: &str,
        deadline: Deadline,
        caller: &Caller,
    ) -> Option<SearchHandle> {
        let execution = cache.find(query, &caller.scope, generation)?;
        let trace = execution.trace.clone();
        let handle = self.hold(execution, Some(deadline), caller.clone())?;
        let how = if handle.was_there() { "hit" } else { "attach" };
        ::metrics::counter!("trawl_frontend_cache_total", "how" => how).increment(1);
        let request = trace::current();
        request.set("trawl.search.shared", true);
        request.link(&trace);
        Some(handle)
    }

    /// Identity of the execution that this query would have now.
    pub fn identity(&self, scope: &Scope, query: &Query) -> String {
        let routing = self.route(&self.peers.current());
        query.identity(scope, &routing.generation)
    }

    /// Search with this id, while it is in the result cache and the client's scope is unchanged.
    pub fn get(&self, scope: &Scope, id: &str) -> Option<SearchHandle> {
        let interest = lock(&self.interests).get(scope, id)?;
        let caller = Caller {
            pending: self.pending(),
            ..Caller::known(Arc::clone(&interest))
        };
        self.find(&interest.query, &interest.generation, caller)
    }

    /// Reruns the query if its result was evicted.
    pub async fn get_or_rerun(
        &self,
        scope: &Scope,
        id: &str,
    ) -> Result<Option<SearchHandle>, SearchError> {
        if let Some(handle) = self.get(scope, id) {
            return Ok(Some(handle));
        }
        let interest = lock(&self.interests).get(scope, id);
        let Some(interest) = interest.filter(|interest| !interest.is_withdrawn()) else {
            return Ok(None);
        };
        ::metrics::counter!("trawl_frontend_cache_total", "how" => "rerun").increment(1);
        let request = SearchRequest {
            client: interest.client,
            generation: Some(interest.generation.clone()),
            ..SearchRequest::new(scope, interest.query.clone())
        };
        let search = self.start_search(request, Caller::known(interest));
        search.await.map(Some)
    }

    fn find(&self, query: &Query, generation: &str, caller: Caller) -> Option<SearchHandle> {
        let execution = lock(&self.cache).find(query, &caller.scope, generation)?;
        self.hold(execution, None, caller)
    }

    /// Reserves memory of running queries until the reservation is dropped; `None` if too much is
    /// in use.
    pub fn reserve(&self, bytes: u64, need: Need) -> Option<Reservation> {
        self.resources.memory.reserve(bytes, need)
    }

    pub fn spool_bytes(&self) -> u64 {
        self.resources.spool.disk_bytes()
    }

    fn hold(
        &self,
        execution: Arc<Execution>,
        deadline: Option<Deadline>,
        caller: Caller,
    ) -> Option<SearchHandle> {
        let (query, generation) = (&execution.query, &execution.generation);
        let (scope, client) = (caller.scope, caller.client);
        let new = || Interest::new(client, query.clone(), scope, generation.clone());
        let interest = caller.interest.unwrap_or_else(new);
        let (grace, pending) = (self.config.grace, caller.pending);
        let held = Arc::clone(&interest);
        let handle = SearchHandle::join(execution, grace, deadline, held, pending)?;
        lock(&self.interests).insert(interest);
        Some(handle)
    }

    /// Health check: runs a search without the cache, to test that searches are answered now.
    pub async fn probe(&self, timeout: Duration) -> Result<Arc<SearchResult>, SearchError> {
        // Each probe is a distinct query, so probes never share a result.
        let number = self.probes.fetch_add(1, Relaxed);
        let text = format!("{PROBE}{number}");
        let input = QueryInput {
            q: &text,
            mode: Some("literal"),
            want: Some("count"),
            ..QueryInput::default()
        };
        let parsed = Query::parse(&input).expect("the query is well-formed");
        let request = SearchRequest {
            timeout: Some(timeout),
            ..SearchRequest::new(&Scope::everything(), parsed.query)
        };
        let handle = self.search(request).await?;
        let answer = handle.finished().await;
        let identity = handle.identity().to_owned();
        lock(&self.interests).forget(handle.interest.key);
        drop(handle);
        lock(&self.cache).forget(&identity);
        answer
    }

    /// Changed files that are not in the index yet.
    pub fn pending(&self) -> u64 {
        let freshness = self.config.freshness.as_ref();
        freshness.map_or(0, |freshness| freshness.pending())
    }

    /// Waits until all earlier changes are searched, for at most `max`.
    pub async fn wait_until_fresh(&self, max: Duration) {
        let Some(freshness) = &self.config.freshness else {
            return;
        };
        let mut answered = freshness.answered();
        let question = freshness.ask();
        let is_answered = answered.wait_for(|answered| *answered >= question);
        // Otherwise the answer says what is pending.
        let _ = tokio::time::timeout(max, is_answered).await;
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Recomputes the routing only when a backend's link or shards change, since that takes as long
    /// as a small query.
    fn route(&self, peers: &PeerSet) -> Arc<ShardRouting> {
        let versions = peers.versions();
        let mut routing = lock(&self.routing);
        if routing.0 != versions {
            let statuses: Vec<_> = peers.iter().map(|peer| peer.status()).collect();
            let next = Arc::new(scoped::routing(peers, &statuses, None));
            log_overlaps(&routing.1.overlaps, &next.overlaps);
            *routing = (versions, next);
        }
        Arc::clone(&routing.1)
    }

    /// Summarises the queries of all callers in the last hour.
    pub fn query_times(&self) -> QueryTimes {
        self.recent.times(Instant::now())
    }

    fn drive(
        &self,
        execution: Arc<Execution>,
        active: Slot,
        permit: Option<Permit>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let admission = Arc::clone(&self.admission);
        let (config, recent) = (self.config.clone(), Arc::clone(&self.recent));
        let cache = Arc::clone(&self.cache);
        let trace = execution.trace.clone();
        let driven = async move {
            ::metrics::gauge!("trawl_frontend_queries_running").increment(1.0);
            let answer = execution.drive(&admission, permit).await;
            ::metrics::gauge!("trawl_frontend_queries_running").decrement(1.0);
            drop(active);
            metrics::record(&answer, &config);
            metrics::describe_execution(&trace, &answer, config.log_queries);
            trace.end();
            if !answer.query().interpreted_as().contains(PROBE) {
                recent.record(&answer);
            }
            drop(answer);
            lock(&cache).finish(execution);
        };
        driven.in_current_span()
    }
}

/// Dials unconnected backends once more, for at most a second.
async fn ready(peers: &PeerSet) {
    let deadline = Peer::ready_deadline();
    for peer in peers.iter() {
        peer.ready(deadline).await;
    }
}

fn check_count(backends: &[Backend]) -> Result<(), StartError> {
    if backends.len() > usize::from(u16::MAX) {
        return Err(StartError::TooManyBackends(backends.len()));
    }
    Ok(())
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        lock(&self.cache)
            .executions()
            .for_each(|execution| execution.on(Event::Cancel));
        self.peers.close();
    }
}

#[derive(Clone)]
struct Caller {
    scope: Scope,
    client: SearchClient,
    interest: Option<Arc<Interest>>,
    pending: u64,
}

impl Caller {
    fn known(interest: Arc<Interest>) -> Caller {
        Caller {
            scope: interest.scope.clone(),
            client: interest.client,
            interest: Some(interest),
            pending: 0,
        }
    }
}

fn log_overlaps(before: &Overlaps, now: &Overlaps) {
    if before == now {
        return;
    }
    match now.packages.first() {
        None => tracing::info!("no package is in two backends any more"),
        Some(first) => tracing::warn!(
            package = %String::from_utf8_lossy(&first.package).escape_debug(),
            searched = first.searched,
            superseded = first.superseded.join(", "),
            packages = now.packages.len(),
            "packages are in several backends; the newest build of each is searched"
        ),
    }
}
