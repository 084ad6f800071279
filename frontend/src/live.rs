//! A run that has not finished: what its streams and its clients share.
//!
//! [`run::Run`](crate::run::Run) decides; this module has the sockets, threads and counters that it
//! has no idea of. The thread that closes the last stream puts the pointers in order and makes the
//! answer known.

mod slot;

pub(crate) use slot::Slot;
pub use slot::{BackendProgress, Progress};

use crate::answer::{Answer, Timings};
use crate::fanout::{Harvest, Lost, receive};
use crate::query::Query;
use crate::rank::{self, Best, Continued, FrameAt, MATCHES_MAX, Pointer, StringPool};
use crate::run::{self, Action, Assignment, Event, Missing, Outcome};
use crate::spool::{FrameReader, RunSpool, SpoolError};
use schema::message::BatchReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Notify, watch};

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub(crate) enum State {
    /// It is queued or its streams are open.
    #[default]
    Running,
    /// It has ended.
    Finished(Arc<Answer>),
    /// It has ended, and the spool could not be read to put it in order.
    Broken(Arc<SpoolError>),
}

/// Who waits for a run.
#[derive(Debug, Default)]
struct Clients {
    count: usize,
    /// Until when the run goes on without anybody.
    keep_until: Option<Instant>,
}

/// A run, from its claim to its end.
pub(crate) struct Live {
    pub(crate) id: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) spool: Arc<RunSpool>,
    claimed: Instant,
    started: Mutex<Option<Instant>>,
    run: Mutex<run::Run>,
    /// The finish of a run that has nobody to ask.
    finish_at_once: Mutex<Option<Action>>,
    slots: Vec<Slot>,
    matches: AtomicU64,
    state: watch::Sender<State>,
    cancelled: AtomicBool,
    cancel: Notify,
    clients: Mutex<Clients>,
    make_room: Box<dyn Fn(u64) + Send + Sync>,
}

/// What a run needs to know to be claimed.
pub(crate) struct Claim {
    pub(crate) id: String,
    pub(crate) generation: String,
    pub(crate) query: Query,
    pub(crate) slots: Vec<Slot>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) spool: RunSpool,
    /// Frees at least so many bytes of the spool if it can.
    pub(crate) make_room: Box<dyn Fn(u64) + Send + Sync>,
}

impl Live {
    pub(crate) fn new(claim: Claim) -> Arc<Live> {
        let (run, finish) = run::Run::new(claim.assignments, claim.missing);
        Arc::new(Live {
            id: claim.id,
            generation: claim.generation,
            query: claim.query,
            spool: Arc::new(claim.spool),
            claimed: Instant::now(),
            started: Mutex::default(),
            run: Mutex::new(run),
            finish_at_once: Mutex::new(finish),
            slots: claim.slots,
            matches: AtomicU64::new(0),
            state: watch::Sender::default(),
            cancelled: AtomicBool::new(false),
            cancel: Notify::new(),
            clients: Mutex::default(),
            make_room: claim.make_room,
        })
    }

    /// Opens the streams, each on a blocking thread of the runtime.
    pub(crate) fn start(self: &Arc<Self>) {
        *lock(&self.started) = Some(Instant::now());
        for stream in 0..self.slots.len() {
            let live = Arc::clone(self);
            tokio::task::spawn_blocking(move || live.stream(stream));
        }
        let finish = lock(&self.finish_at_once).take();
        if let Some(action) = finish {
            let live = Arc::clone(self);
            tokio::task::spawn_blocking(move || live.act(action));
        }
    }

    fn stream(&self, stream: usize) {
        let mut harvest = Harvest::default();
        let received = catch_unwind(AssertUnwindSafe(|| receive(self, stream, &mut harvest)));
        self.slots[stream].put_harvest(harvest);
        if let Ok(Err(lost)) = &received {
            lost.count();
        }
        let event = match received {
            Ok(Ok(end)) => Event::End(end),
            Ok(Err(Lost::Refused(bad))) => Event::Refused(bad),
            Ok(Err(lost)) => Event::Lost {
                reason: lost.to_string(),
                at: SystemTime::now(),
            },
            Err(_) => Event::Lost {
                reason: "this frontend failed on its answer".to_owned(),
                at: SystemTime::now(),
            },
        };
        if let Event::Lost { reason, .. } = &event {
            let backend = self.slots[stream].peer.name();
            tracing::warn!(backend, id = self.id, reason, "stream lost");
        }
        self.on(stream, event);
    }

    /// Gives an event to the state machine and does what it says.
    pub(crate) fn on(&self, stream: usize, event: Event) {
        let actions = lock(&self.run).on(stream, event);
        actions.into_iter().for_each(|action| self.act(action));
    }

    fn act(&self, action: Action) {
        match action {
            Action::Stop(stream) => self.slots[stream].stop(),
            Action::Finish(outcome) => self.finish(*outcome),
        }
    }

    pub(crate) fn slot(&self, stream: usize) -> &Slot {
        &self.slots[stream]
    }

    /// Appends frames to the spool, when need be in the place of older runs.
    pub(crate) fn append(&self, backend: u16, frames: &[u8]) -> Result<(), SpoolError> {
        metrics::counter!("trawl_frontend_received_bytes_total").increment(frames.len() as u64);
        match self.spool.append(backend, frames) {
            Err(SpoolError::Full { .. }) => {
                (self.make_room)(frames.len() as u64);
                self.spool.append(backend, frames)
            }
            written => written,
        }
    }

    /// Counts matches of a stream against the bound of a query.
    pub(crate) fn count(&self, stream: usize, new: u64) -> Result<(), Lost> {
        if self.matches.fetch_add(new, Relaxed) + new <= MATCHES_MAX {
            return Ok(());
        }
        let reason = format!("the query has more than {MATCHES_MAX} matches, the most it may have");
        self.on(stream, Event::Halt { reason });
        Err(Lost::Stopped)
    }

    /// Ends the run where it is.
    pub(crate) fn cancel(&self) {
        if self.is_running() && !self.cancelled.swap(true, Relaxed) {
            metrics::counter!("trawl_frontend_queries_cancelled_total").increment(1);
            let reason = "the query was cancelled".to_owned();
            self.on(0, Event::Halt { reason });
            self.cancel.notify_one();
        }
    }

    /// Returns when the run has been cancelled; for the one task that queues it.
    pub(crate) async fn cancelled(&self) {
        self.cancel.notified().await;
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
    pub(crate) fn cancel_if_abandoned(&self) -> Option<Duration> {
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
            self.cancel();
            return None;
        }
        Some(left)
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(*self.state.borrow(), State::Running)
    }

    /// Whether a new client may be given this run: it is under way, or complete.
    pub(crate) fn can_be_shared(&self) -> bool {
        match &*self.state.borrow() {
            State::Running => !self.cancelled.load(Relaxed),
            State::Finished(answer) => answer.is_complete(),
            State::Broken(_) => false,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Waits for the end.
    pub(crate) async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state
            .wait_for(|state| !matches!(state, State::Running))
            .await;
        settled.expect("the sender is in self").clone()
    }

    pub(crate) fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        self.slots
            .iter()
            .for_each(|slot| slot.add_to(&mut progress));
        progress
    }

    /// Pointers of the best matches so far, best first.
    pub(crate) fn best(&self) -> Vec<Pointer> {
        let mut best = Best::default();
        for slot in &self.slots {
            slot.meter.offer_to(&mut best);
        }
        best.pointers().to_vec()
    }

    /// Makes the answer of all that came in, and lets everybody know.
    fn finish(&self, outcome: Outcome) {
        let streamed = Instant::now();
        let started = lock(&self.started).unwrap_or(streamed);
        let mut all = self.collect();
        let state = match self.sort(&mut all) {
            Err(error) => State::Broken(Arc::new(error)),
            Ok(()) => State::Finished(Arc::new(Answer {
                id: self.id.clone(),
                generation: self.generation.clone(),
                query: self.query.clone(),
                outcome,
                pointers: all.pointers,
                packages: all.packages,
                documents: all.documents,
                timings: Timings {
                    queue: started - self.claimed,
                    stream: streamed - started,
                    rank: streamed.elapsed(),
                },
                spool: Arc::clone(&self.spool),
                groups: OnceLock::new(),
            })),
        };
        self.state.send_replace(state);
    }

    /// Brings the harvests together, in one pool of package names.
    fn collect(&self) -> Gathered {
        let mut all = Gathered::default();
        for slot in &self.slots {
            let mut harvest = slot.take_harvest();
            let names = harvest.packages.names();
            let ids: Vec<u32> = names.map(|name| all.packages.id(name)).collect();
            for pointer in &mut harvest.pointers {
                pointer.set_package(ids[pointer.package() as usize]);
            }
            all.documents += harvest.documents;
            all.continued.push(harvest.continued);
            if all.pointers.is_empty() {
                all.pointers = harvest.pointers;
            } else {
                all.pointers.append(&mut harvest.pointers);
            }
        }
        all.pointers.shrink_to_fit();
        all
    }

    fn sort(&self, all: &mut Gathered) -> Result<(), SpoolError> {
        let mut reader = self.spool.reader();
        rank::sort(&mut all.pointers, &all.continued, |place| {
            read_document(&self.spool, &mut reader, place)
        })
    }
}

/// What all streams have brought in.
#[derive(Default)]
struct Gathered {
    pointers: Vec<Pointer>,
    packages: StringPool,
    /// By backend.
    continued: Vec<Continued>,
    documents: u64,
}

/// Reads which document a frame is of.
fn read_document(
    spool: &RunSpool,
    reader: &mut FrameReader<'_>,
    place: FrameAt,
) -> Result<rank::Document, SpoolError> {
    let frame = reader.read(place)?;
    let corrupt = || spool.corrupt(place);
    let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
    let view = batch.view().map_err(|_| corrupt())?;
    Ok((view.package.to_vec(), view.path.to_vec()))
}

/// Locks, whatever happened to whoever held the lock: nothing here is left half changed by a
/// panic, and a run whose thread panicked must still end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
