//! Carries out the decisions of an execution's state.
//!
//! Events of streams, clients, admission and the timer go to the [`ExecutionState`] under
//! the only lock. Actions begin before its release, in the order decided. Only finalizing
//! and publishing block: they run without the lock, on the thread that closed the last
//! stream or on one of their own.

use crate::execution::admission::{Admission, Permit};
use crate::execution::collector::Collector;
use crate::execution::fair_slots::UNKNOWN;
use crate::execution::finalize::finalize;
use crate::execution::memory::Memory;
use crate::execution::replicas::Replica;
use crate::execution::state::{Action, Deadline, Event, ExecutionState, Now, StreamEvent};
use crate::execution::stream::{self, StreamHandle};
use crate::execution::stream_stats::{Progress, StreamStats};
use crate::peers::health::{HedgeBudget, Preference, draws};
use crate::peers::shard_routing::ShardRouting;
use crate::peers::{Peer, PeerError};
use cache::lock;
use query::{Query, Scope};
use results::facets::Facets;
use results::spool::{ResultFiles, Spool, SpoolError};
use results::{CorpusSize, Counts, Outcome, Overlaps, Reached, SearchResult};
use schema::message;
use std::convert::Infallible;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::sleep_until;
use trace::TraceSpan;
use tracing::Span;

pub(crate) struct Execution {
    pub(crate) identity: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) scope: [u8; 16],
    /// Client that started it, charged for its slot.
    client: u64,
    pub(crate) spool: Arc<ResultFiles>,
    /// True if matches can be read in order after the end, not only followed.
    pub(super) ordered: bool,
    pub(crate) runtime: Handle,
    pub(super) known: CorpusSize,
    overlaps: Arc<Overlaps>,
    state: Mutex<ExecutionState>,
    pub(super) streams: Vec<StreamHandle>,
    result: watch::Sender<Option<Arc<SearchResult>>>,
    acquire: Notify,
    /// Notified when it wants a heavy slot, maybe before the task waits.
    acquire_heavy: Notify,
    pub(super) may_be_heavy: watch::Sender<bool>,
    timer: watch::Sender<Option<Instant>>,
    pub(super) news: watch::Sender<()>,
    span: Span,
    pub(crate) trace: TraceSpan,
}

pub(crate) struct Resources {
    pub(crate) spool: Arc<Spool>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) execution_memory_bytes: u64,
    pub(crate) ordered: bool,
    /// Queries so far, which seed the choice between replicas.
    pub(crate) queries: AtomicU64,
    pub(crate) hedges: Arc<Mutex<HedgeBudget>>,
    pub(crate) runtime: Handle,
}

impl Execution {
    /// Prefers faster replicas.
    pub(crate) fn new(
        resources: &Resources,
        peers: &[Arc<Peer>],
        routing: &ShardRouting,
        query: Query,
        scope: &Scope,
        client: u64,
        deadline: Deadline,
    ) -> Arc<Execution> {
        let identity = query.identity(scope, &routing.generation);
        let news = watch::Sender::default();
        let trace = trace::current().child("search", trace::Kind::Internal);
        let assigned = routing.assign(&preference(resources, peers, routing));
        let count = assigned.len();
        let memory_bytes = resources.execution_memory_bytes / count.max(1) as u64;
        let (mut streams, mut assignments) = (Vec::new(), Vec::new());
        for (stream, (peer, assignment)) in (0..).zip(assigned) {
            let replica = |(peer, shards): &(usize, Vec<u32>)| Replica {
                peer: Arc::clone(&peers[*peer]),
                shards: shards.clone(),
            };
            let mut collector = Collector::new(stream, resources.memory.share(memory_bytes));
            collector.facets = Facets::of_query(&query);
            collector.is_ordered = resources.ordered;
            streams.push(StreamHandle {
                peer: Arc::clone(&peers[peer]),
                number: stream,
                search: message::Search {
                    shards: assignment.shards.clone(),
                    excluded: assignment.excluded.clone(),
                    visible: assignment.visible.clone(),
                    ..query.search()
                },
                stats: StreamStats::new(news.clone()),
                replicas: assignment.replicas.iter().map(replica).collect(),
                hedges: Arc::clone(&resources.hedges),
                trace: trace.clone(),
                connection: Mutex::default(),
                collector: Mutex::new(Some(collector)),
            });
            assignments.push(assignment);
        }
        let missing = routing.missing.clone();
        let state = ExecutionState::new(assignments, missing, deadline, Instant::now());
        Arc::new(Execution {
            spool: Arc::new(resources.spool.create(&identity, count)),
            ordered: resources.ordered,
            identity,
            generation: routing.generation.clone(),
            query,
            scope: scope.hash(),
            client,
            runtime: resources.runtime.clone(),
            known: routing.known,
            overlaps: Arc::clone(&routing.overlaps),
            state: Mutex::new(state),
            streams,
            result: watch::Sender::default(),
            acquire: Notify::new(),
            acquire_heavy: Notify::new(),
            may_be_heavy: watch::Sender::default(),
            timer: watch::Sender::default(),
            news,
            span: Span::current(),
            trace,
        })
    }

    pub(crate) fn recovered(answer: SearchResult, runtime: Handle) -> Arc<Execution> {
        Arc::new(Execution {
            identity: answer.identity().to_owned(),
            generation: answer.generation().to_owned(),
            query: answer.query().clone(),
            scope: answer.scope,
            client: UNKNOWN,
            spool: Arc::clone(&answer.spool),
            ordered: true,
            runtime,
            known: answer.known,
            overlaps: Arc::default(),
            state: Mutex::new(ExecutionState::finished(Instant::now())),
            streams: Vec::new(),
            result: watch::Sender::new(Some(Arc::new(answer))),
            acquire: Notify::new(),
            acquire_heavy: Notify::new(),
            may_be_heavy: watch::Sender::default(),
            timer: watch::Sender::default(),
            news: watch::Sender::default(),
            span: Span::none(),
            trace: TraceSpan::default(),
        })
    }

    /// If admitted at once, the calling thread opens the streams, so a light search waits for no
    /// other task.
    pub(crate) fn start(self: &Arc<Self>, admission: &Admission) -> Option<Permit> {
        self.on(Event::Start);
        if self.streams.is_empty() {
            return None;
        }
        let begun = Instant::now();
        let permit = admission.try_any(self.client, !self.query.uncounted)?;
        self.admit(&permit, begun);
        Some(permit)
    }

    pub(crate) async fn drive(
        self: &Arc<Self>,
        admission: &Admission,
        permit: Option<Permit>,
    ) -> Arc<SearchResult> {
        tokio::select! {
            answer = self.finished() => answer,
            never = self.wait_for_admission(admission, permit) => match never {},
            never = self.wait_for_timer() => match never {},
        }
    }

    async fn wait_for_admission(
        self: &Arc<Self>,
        admission: &Admission,
        permit: Option<Permit>,
    ) -> Infallible {
        let permit = match permit {
            Some(permit) => permit,
            None => {
                self.acquire.notified().await;
                let begun = Instant::now();
                // Uncounted searches take little work or are refused.
                let may_be_heavy = !self.query.uncounted;
                let permit = admission.any(self.client, may_be_heavy).await;
                self.admit(&permit, begun);
                permit
            }
        };
        // Notified only if a backend finds the query heavy.
        self.acquire_heavy.notified().await;
        drop(permit);
        self.may_be_heavy.send_replace(true);
        let begun = Instant::now();
        let slot = admission.heavy(self.client).await;
        self.admitted(begun);
        self.on(match slot {
            Some(_) => Event::Admitted { heavy: true },
            None => Event::Shed,
        });
        pending().await
    }

    fn admit(self: &Arc<Self>, permit: &Permit, begun: Instant) {
        let heavy = permit.is_heavy;
        self.admitted(begun);
        self.may_be_heavy.send_replace(heavy);
        self.on(Event::Admitted { heavy });
    }

    fn admitted(&self, begun: Instant) {
        self.trace.child_between("admission", begun, Instant::now());
    }

    async fn wait_for_timer(self: &Arc<Self>) -> Infallible {
        let mut timer = self.timer.subscribe();
        loop {
            let at = *timer.borrow_and_update();
            tokio::select! {
                () = sleep_until(at.unwrap_or_else(Instant::now).into()), if at.is_some() => {
                    self.on(Event::Timer);
                }
                Ok(()) = timer.changed() => {}
            }
        }
    }

    pub(crate) fn on(self: &Arc<Self>, event: Event) {
        if self.feed(event).is_some() {
            let execution = Arc::clone(self);
            self.spawn_blocking(move || execution.finalize());
        }
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let span = self.span.clone();
        self.runtime.spawn_blocking(move || span.in_scope(work));
    }

    /// With a deadline if found by query, not by id. Refuses damaged results, and by query if no
    /// new client may share it.
    pub(crate) fn join(self: &Arc<Self>, deadline: Option<Deadline>) -> bool {
        let mut state = lock(&self.state);
        let is_damaged = || self.result().is_some_and(|result| result.is_damaged());
        if deadline.is_some() && !state.can_be_joined() || is_damaged() {
            return false;
        }
        self.begin(state.on(Event::Join { deadline }, now()));
        true
    }

    /// Returns the blocking one, if any.
    fn feed(self: &Arc<Self>, event: Event) -> Option<Action> {
        let mut state = lock(&self.state);
        let was_cancelled = state.is_cancelled;
        let actions = state.on(event, now());
        if state.is_cancelled && !was_cancelled {
            metrics::counter!("trawl_frontend_queries_cancelled_total").increment(1);
        }
        self.begin(actions)
    }

    fn begin(self: &Arc<Self>, actions: Vec<Action>) -> Option<Action> {
        let mut blocking = None;
        for action in actions {
            match action {
                Action::Acquire => self.acquire.notify_one(),
                Action::AcquireHeavy => self.acquire_heavy.notify_one(),
                Action::Open { stream, heavy } => {
                    let execution = Arc::clone(self);
                    self.spawn_blocking(move || execution.receive(stream, heavy));
                }
                Action::Stop(stream) => self.streams[stream].stop(),
                Action::SetTimer(at) => self.set_timer(at),
                Action::Finalize | Action::Publish(_) => blocking = Some(action),
            }
        }
        blocking
    }

    /// The state ignores a spurious event.
    fn set_timer(&self, at: Option<Instant>) {
        self.timer.send_if_modified(|timer| {
            let is_sooner = at.is_some_and(|at| timer.is_none_or(|timer| at < timer));
            *timer = at;
            is_sooner
        });
    }

    fn receive(self: &Arc<Self>, stream: usize, heavy: bool) {
        let handle = &self.streams[stream];
        let Some(mut collector) = lock(&handle.collector).take() else {
            return;
        };
        let received = catch_unwind(AssertUnwindSafe(|| {
            if handle.is_stopped() {
                return Err(PeerError::Stopped);
            }
            let search = message::Search {
                heavy,
                deadline_ms: self.left_ms().ok_or(PeerError::Stopped)?,
                ..handle.search.clone()
            };
            handle.receive(&search, &self.spool, &mut collector, &|document| {
                self.on(Event::Stream(stream, StreamEvent::Skip(document)));
            })
        }));
        if received.is_err() {
            // Merging needs sorted chunks.
            collector.sorter.seal();
        }
        *lock(&handle.collector) = Some(collector);
        if let Ok(Err(error)) = &received {
            error.count();
            if let PeerError::Spool(error) = error {
                let backend = handle.peer.log_name();
                tracing::error!(%backend, id = self.identity, %error, "cannot spool the matches");
            }
        }
        let event = received.map_or_else(
            |_| {
                let reason = "the frontend panicked while it received the answer";
                StreamEvent::Lost(reason.to_owned())
            },
            stream::event,
        );
        if let StreamEvent::Lost(reason) = &event
            && !handle.is_stopped()
        {
            let backend = handle.peer.log_name();
            tracing::warn!(%backend, id = self.identity, reason, "stream lost");
        }
        if self.feed(Event::Stream(stream, event)).is_some() {
            self.finalize();
        }
    }

    /// `None` if it has passed.
    fn left_ms(&self) -> Option<u32> {
        let deadline = lock(&self.state).deadline.at;
        let left = deadline.checked_duration_since(Instant::now())?;
        Some(u32::try_from(left.as_millis()).unwrap_or(u32::MAX).max(1))
    }

    fn finalize(self: &Arc<Self>) {
        let handles = self.streams.iter();
        let mut collectors: Vec<Collector> = handles
            .filter_map(|handle| lock(&handle.collector).take())
            .collect();
        let begun = Instant::now();
        let counts = finalize(&self.spool, &mut collectors, self.query.kept_matches());
        self.trace.child_between("finalize", begun, Instant::now());
        let failure = counts.as_ref().err().map(SpoolError::in_words);
        if let Err(error) = &counts {
            tracing::error!(id = self.identity, %error, "matches cannot be put in order");
        }
        if let Some(Action::Publish(outcome)) = self.feed(Event::Finalized { failure }) {
            self.publish(*outcome, collectors, counts.unwrap_or_default());
        }
    }

    fn publish(&self, outcome: Outcome, collectors: Vec<Collector>, counts: Counts) {
        let progress = self.progress();
        let result = SearchResult {
            identity: self.identity.clone(),
            generation: self.generation.clone(),
            query: self.query.clone(),
            scope: self.scope,
            known: self.known,
            documents: collectors.iter().map(|collector| collector.documents).sum(),
            found: collectors.iter().map(|collector| collector.found).sum(),
            counts,
            outcome: Outcome {
                overlaps: Arc::clone(&self.overlaps),
                reached: Reached {
                    blocks_done: progress.blocks_done,
                    blocks_total: progress.blocks_total,
                    documents: progress.documents,
                },
                ..outcome
            },
            spool: Arc::clone(&self.spool),
            damaged: AtomicBool::default(),
        };
        drop(collectors);
        // The manifest lacks overlaps, so the next process runs the query again.
        if result.is_complete()
            && self.overlaps.packages.is_empty()
            && let Err(error) = self.spool.finish(|| result.manifest())
        {
            tracing::warn!(id = self.identity, %error, "the result will be lost at the next restart");
        }
        self.spool.close();
        self.result.send_replace(Some(Arc::new(result)));
    }

    /// True if cancelled because all clients left: the result is discarded.
    pub(crate) fn is_abandoned(&self) -> bool {
        lock(&self.state).is_abandoned
    }

    pub(crate) fn goes_on(&self) -> bool {
        self.is_running() && !lock(&self.state).is_cancelled
    }

    pub(crate) fn is_running(&self) -> bool {
        self.result.borrow().is_none()
    }

    pub(crate) fn result(&self) -> Option<Arc<SearchResult>> {
        self.result.borrow().clone()
    }

    pub(crate) async fn finished(&self) -> Arc<SearchResult> {
        let mut result = self.result.subscribe();
        let finished = result.wait_for(Option::is_some).await;
        let answer = finished.expect("the sender is in self").clone();
        answer.expect("waited for a result")
    }

    pub(crate) fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        for handle in &self.streams {
            progress.add(handle.stats.read(handle.peer.name()));
        }
        progress.elapsed = lock(&self.state).elapsed(Instant::now());
        progress
    }
}

fn preference(resources: &Resources, peers: &[Arc<Peer>], routing: &ShardRouting) -> Preference {
    if !routing.has_replicas {
        return Preference::default();
    }
    let now = Instant::now();
    let (loads, ejected): (Vec<f64>, _) = (peers.iter().map(|peer| peer.health()))
        .map(|health| (health.load(now), health.is_ejected(now)))
        .unzip();
    let query = resources.queries.fetch_add(1, Relaxed);
    Preference::new(&loads, ejected, draws(query))
}

fn now() -> Now {
    Now {
        instant: Instant::now(),
        time: SystemTime::now(),
    }
}
