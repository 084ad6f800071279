//! A run that has not finished: what its streams and its clients share.
//!
//! [`run::Run`](crate::execution::state::Run) decides; this module has the sockets, threads and counters that it
//! has no idea of. The thread that closes the last stream puts the pointers in order and makes the
//! answer known.

use crate::execution::collector::Collector;
use crate::execution::finalize::finalize;
use crate::execution::memory::Memory;
use crate::execution::receive::{event, receive};
use crate::execution::state::{Action, Event, State};
use crate::execution::stream::StreamHandle;
use crate::execution::stream_stats::{Progress, TopMatches};
use crate::lock::lock;
use crate::peers::shard_routing::Assignment;
use crate::query::Query;
use crate::results::CorpusSize;
use crate::results::{Counts, Missing, Outcome};
use crate::results::{SearchResult, Timings};
use crate::spool::{ResultFiles, SpoolError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Notify, watch};

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Phase {
    /// It is queued or its streams are open.
    #[default]
    Running,
    /// It has ended.
    Finished(Arc<SearchResult>),
}

/// Who waits for a run.
#[derive(Debug, Default)]
struct Clients {
    count: usize,
    /// Until when the run goes on without anybody.
    keep_until: Option<Instant>,
}

/// A run, from its claim to its end.
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) spool: Arc<ResultFiles>,
    known: CorpusSize,
    claimed: Instant,
    started: Mutex<Option<Instant>>,
    /// How long it has waited for its turn.
    queued: Mutex<Duration>,
    run: Mutex<State>,
    /// The finish of a run that has nobody to ask.
    finish_at_once: Mutex<Option<Action>>,
    streams: Vec<StreamHandle>,
    state: watch::Sender<Phase>,
    cancelled: AtomicBool,
    /// It was cancelled because nobody waited for it any more.
    abandoned: AtomicBool,
    /// When the run is stopped; the latest that a client has asked for.
    deadline: watch::Sender<Deadline>,
    /// `wants_turn` or `cancelled` is set.
    wake: Notify,
    wants_turn: AtomicBool,
    clients: Mutex<Clients>,
    /// Told whenever a stream has published something.
    news: watch::Sender<()>,
}

/// What a run needs to know to be claimed.
pub(crate) struct Claim {
    pub(crate) id: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) streams: Vec<StreamHandle>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) known: CorpusSize,
    pub(crate) spool: ResultFiles,
    pub(crate) deadline: Deadline,
}

/// When a run's time is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// How long it was, for people.
    pub(crate) timeout: Duration,
}

impl Deadline {
    /// So much from now on.
    pub(crate) fn after(timeout: Duration) -> Deadline {
        let at = Instant::now() + timeout;
        Deadline { at, timeout }
    }
}

impl Execution {
    pub(crate) fn new(mut claim: Claim) -> Arc<Execution> {
        let news = watch::Sender::default();
        for handle in &mut claim.streams {
            handle.stats.tell(&news);
        }
        let (run, finish) = State::new(claim.assignments, claim.missing);
        Arc::new(Execution {
            id: claim.id,
            generation: claim.generation,
            query: claim.query,
            spool: Arc::new(claim.spool),
            known: claim.known,
            claimed: Instant::now(),
            started: Mutex::default(),
            queued: Mutex::default(),
            run: Mutex::new(run),
            finish_at_once: Mutex::new(finish),
            streams: claim.streams,
            state: watch::Sender::default(),
            cancelled: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            deadline: watch::Sender::new(claim.deadline),
            wake: Notify::new(),
            wants_turn: AtomicBool::new(false),
            clients: Mutex::default(),
            news,
        })
    }

    /// A run that an earlier process has finished.
    pub(crate) fn recovered(answer: SearchResult) -> Arc<Execution> {
        let (run, _) = State::new(Vec::new(), Vec::new());
        Arc::new(Execution {
            id: answer.id.clone(),
            generation: answer.generation.clone(),
            query: answer.query.clone(),
            spool: Arc::clone(&answer.spool),
            known: answer.known,
            claimed: Instant::now(),
            started: Mutex::default(),
            queued: Mutex::default(),
            run: Mutex::new(run),
            finish_at_once: Mutex::default(),
            streams: Vec::new(),
            state: watch::Sender::new(Phase::Finished(Arc::new(answer))),
            cancelled: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            deadline: watch::Sender::new(Deadline::after(Duration::ZERO)),
            wake: Notify::new(),
            wants_turn: AtomicBool::new(false),
            clients: Mutex::default(),
            news: watch::Sender::default(),
        })
    }

    /// Opens the streams, each on a blocking thread of the runtime. `admitted`: the run may cost what
    /// it costs.
    pub(crate) fn start(self: &Arc<Self>, admitted: bool, memory: &Arc<Memory>, query_memory: u64) {
        *lock(&self.started) = Some(Instant::now());
        if admitted {
            lock(&self.run).on(0, Event::Admitted);
        }
        let share = query_memory / self.streams.len().max(1) as u64;
        for stream in 0..self.streams.len() {
            let collector = Collector::new(memory.share(share));
            self.streams[stream].put_collector(collector);
            self.ask(stream, admitted);
        }
        let finish = lock(&self.finish_at_once).take();
        if let Some(action) = finish {
            let execution = Arc::clone(self);
            tokio::task::spawn_blocking(move || execution.act(action));
        }
    }

    fn ask(self: &Arc<Self>, stream: usize, heavy: bool) {
        let execution = Arc::clone(self);
        tokio::task::spawn_blocking(move || execution.stream(stream, heavy));
    }

    fn stream(self: &Arc<Self>, stream: usize, heavy: bool) {
        let Some(mut collector) = self.streams[stream].begin() else {
            return;
        };
        let received = catch_unwind(AssertUnwindSafe(|| {
            receive(self, stream, heavy, &mut collector)
        }));
        if received.is_err() {
            // Nobody else has, and merging relies on it.
            collector.seal();
        }
        self.streams[stream].put_collector(collector);
        if let Ok(Err(lost)) = &received {
            lost.count();
        }
        let at = SystemTime::now();
        let event = match received {
            Ok(Ok(end)) => Event::End(end),
            Ok(Err(lost)) => event(lost, at),
            Err(_) => Event::Lost {
                reason: "this frontend failed on its answer".to_owned(),
                at,
            },
        };
        if let Event::Lost { reason, .. } = &event
            && !self.streams[stream].is_stopped()
        {
            let backend = self.streams[stream].peer.name();
            tracing::warn!(backend, id = self.id, reason, "stream lost");
        }
        self.on(stream, event);
    }

    /// Gives an event to the state machine and does what it says.
    pub(crate) fn on(self: &Arc<Self>, stream: usize, event: Event) {
        let actions = lock(&self.run).on(stream, event);
        actions.into_iter().for_each(|action| self.act(action));
    }

    fn act(self: &Arc<Self>, action: Action) {
        match action {
            Action::Stop(stream) => self.streams[stream].stop(),
            Action::Ask(stream) => self.ask(stream, true),
            Action::Queue => {
                self.wants_turn.store(true, Relaxed);
                self.wake.notify_one();
            }
            Action::Finish(outcome) => self.finish(*outcome),
        }
    }

    pub(crate) fn stream_handle(&self, stream: usize) -> &StreamHandle {
        &self.streams[stream]
    }

    /// Ends the run where it is.
    pub(crate) fn cancel(self: &Arc<Self>) {
        if self.is_running() && !self.cancelled.swap(true, Relaxed) {
            metrics::counter!("trawl_frontend_queries_cancelled_total").increment(1);
            self.halt("the query was cancelled".to_owned());
            self.wake.notify_one();
        }
    }

    /// Ends the run where it is, for a reason.
    pub(crate) fn halt(self: &Arc<Self>, reason: String) {
        let at = SystemTime::now();
        self.on(0, Event::Halt { reason, at });
    }

    /// Returns when the run has been cancelled; for the one task that sees it through.
    pub(crate) async fn cancelled(&self) {
        while !self.cancelled.load(Relaxed) {
            self.wake.notified().await;
        }
    }

    /// Returns when the run is to wait for its turn; for the one task that sees it through.
    pub(crate) async fn wants_turn(&self) {
        while !self.wants_turn.swap(false, Relaxed) {
            self.wake.notified().await;
        }
    }

    /// Notes how long the run has waited for its turn.
    pub(crate) fn queued(&self, time: Duration) {
        *lock(&self.queued) = time;
    }

    /// Lets the run go on until `deadline`, unless it may go on for longer already.
    pub(crate) fn extend(&self, deadline: Deadline) {
        self.deadline.send_if_modified(|known| {
            let is_later = deadline.at > known.at;
            if is_later {
                *known = deadline;
            }
            is_later
        });
    }

    /// Returns when the run's time is over, and says how long that was.
    pub(crate) async fn overdue(&self) -> Duration {
        let mut deadline = self.deadline.subscribe();
        loop {
            let Deadline { at, timeout } = *deadline.borrow_and_update();
            tokio::select! {
                () = tokio::time::sleep_until(at.into()) => return timeout,
                Ok(()) = deadline.changed() => {}
            }
        }
    }

    /// Milliseconds until the run's time is over; `None` when it is.
    pub(crate) fn left_ms(&self) -> Option<u32> {
        let at = self.deadline.borrow().at;
        let left = at.checked_duration_since(Instant::now())?;
        Some(u32::try_from(left.as_millis()).unwrap_or(u32::MAX).max(1))
    }

    pub(crate) fn enter(&self) {
        lock(&self.clients).count += 1;
    }

    /// One client less, which may come back within `grace`.
    pub(crate) fn leave(&self, grace: Duration) {
        let mut clients = lock(&self.clients);
        clients.count -= 1;
        clients.keep_until = clients.keep_until.max(Some(Instant::now() + grace));
    }

    /// Cancels the run if nobody has waited for it for as long as they might come back; says how
    /// long that still is when it is too early to tell.
    pub(crate) fn cancel_if_abandoned(self: &Arc<Self>) -> Option<Duration> {
        let left = {
            let clients = lock(&self.clients);
            if clients.count > 0 || !self.is_running() {
                return None;
            }
            clients
                .keep_until?
                .saturating_duration_since(Instant::now())
        };
        if left.is_zero() {
            self.abandoned.store(true, Relaxed);
            self.cancel();
            return None;
        }
        Some(left)
    }

    /// Whether it was cancelled because nobody waited for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Relaxed)
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(*self.state.borrow(), Phase::Running)
    }

    /// Whether a new client may be given this run: it is under way, or complete.
    pub(crate) fn can_be_shared(&self) -> bool {
        match &*self.state.borrow() {
            Phase::Running => !self.cancelled.load(Relaxed),
            Phase::Finished(answer) => answer.is_complete() && !answer.is_damaged(),
        }
    }

    pub(crate) fn state(&self) -> Phase {
        self.state.borrow().clone()
    }

    /// Waits for the end.
    pub(crate) async fn settled(&self) -> Arc<SearchResult> {
        let mut state = self.state.subscribe();
        let settled = state
            .wait_for(|state| !matches!(state, Phase::Running))
            .await;
        match &*settled.expect("the sender is in self") {
            Phase::Finished(answer) => Arc::clone(answer),
            Phase::Running => unreachable!("that is what was waited for"),
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        self.streams
            .iter()
            .for_each(|handle| handle.add_to(&mut progress));
        let elapsed = lock(&self.started).map_or(Duration::ZERO, |started| started.elapsed());
        // While it waits nothing is done, which says nothing of its pace.
        progress.elapsed = elapsed.saturating_sub(*lock(&self.queued));
        progress
    }

    /// The best matches so far.
    pub(crate) fn top_matches(&self) -> TopMatches {
        let stats = self.streams.iter().map(|handle| &handle.stats);
        TopMatches::new(stats, self.query.limit())
    }

    /// Changes whenever [`standing`](Self::standing) may have.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Makes the answer of all that came in, and lets everybody know.
    fn finish(&self, mut outcome: Outcome) {
        let streamed = Instant::now();
        let started = lock(&self.started).unwrap_or(streamed);
        let queued = *lock(&self.queued);
        let mut collectors: Vec<Collector> = self
            .streams
            .iter()
            .filter_map(StreamHandle::take_collector)
            .collect();
        let counts = self.finalize(&mut collectors).unwrap_or_else(|error| {
            tracing::error!(id = self.id, %error, "matches cannot be put in order");
            outcome.missing = self.all_missing(&error);
            Counts::default()
        });
        let answer = SearchResult {
            id: self.id.clone(),
            generation: self.generation.clone(),
            query: self.query.clone(),
            known: self.known,
            documents: collectors.iter().map(|collector| collector.documents).sum(),
            found: collectors.iter().map(|collector| collector.found).sum(),
            counts,
            timings: Timings {
                queue: started - self.claimed + queued,
                stream: (streamed - started).saturating_sub(queued),
                rank: streamed.elapsed(),
                phases: outcome.phases,
            },
            outcome,
            spool: Arc::clone(&self.spool),
            damaged: AtomicBool::new(false),
        };
        drop(collectors);
        if answer.is_complete()
            && let Err(error) = self.spool.finish(|| answer.manifest())
        {
            // It is there as long as this process.
            tracing::warn!(id = self.id, %error, "an answer will not survive a restart");
        }
        self.spool.close();
        self.state.send_replace(Phase::Finished(Arc::new(answer)));
    }

    fn finalize(&self, collectors: &mut [Collector]) -> Result<Counts, SpoolError> {
        finalize(&self.spool, collectors, self.query.limit())
    }

    /// Everything, since what came cannot be put in order.
    fn all_missing(&self, error: &SpoolError) -> Vec<Missing> {
        let missing = |handle: &StreamHandle| Missing {
            backend: handle.peer.name().to_owned(),
            reason: format!("its matches cannot be put in order: {error}"),
            shards: handle.search.shards.clone(),
            since: SystemTime::now(),
        };
        self.streams.iter().map(missing).collect()
    }
}
