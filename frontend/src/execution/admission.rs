//! Who runs when: slots for runs that cost much, a queue in front of them, and places for all others.
//!
//! Nobody knows what a query costs but its backends, once they have planned it. So each is begun, with
//! the word that it may not cost much unless there was a slot to spare; one whose backends then find
//! that it does waits for a slot, and is asked for again.

use crate::execution::driver::Execution;
use crate::execution::state::Event;
use crate::results::SearchResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Instant, SystemTime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Runs that are begun without a slot, until their backends say what they cost. Each has a thread a
/// backend for that time, which is short.
const LIGHT_MAX: usize = 16;

/// Slots for runs that cost much, and how many wait for one; and places for those that may cost little.
pub(crate) struct Admission {
    slots: Arc<Semaphore>,
    light: Arc<Semaphore>,
    queued: AtomicUsize,
    queued_max: usize,
}

/// How waiting for a slot ended.
enum Queued {
    Turn(OwnedSemaphorePermit),
    /// The run has ended, or is about to.
    Over,
}

impl Admission {
    /// So many slots, and so many places in the queue.
    pub(crate) fn new(running_max: usize, queued_max: usize) -> Admission {
        Admission {
            slots: Arc::new(Semaphore::new(running_max.max(1))),
            light: Arc::new(Semaphore::new(LIGHT_MAX)),
            queued: AtomicUsize::new(0),
            queued_max,
        }
    }

    /// Starts a run, waits for its end, gives it its turn, and stops it when its time is over. `start` is
    /// told whether the run may cost what it costs.
    pub(crate) async fn see_through(
        &self,
        execution: &Arc<Execution>,
        start: impl FnOnce(bool),
    ) -> Arc<SearchResult> {
        // With a slot to spare nobody needs to ask what the query costs.
        let mut turn = Arc::clone(&self.slots).try_acquire_owned().ok();
        let mut light = match turn {
            Some(_) => None,
            None => self.place(execution).await,
        };
        start(turn.is_some());
        loop {
            tokio::select! {
                answer = execution.settled() => {
                    drop(light);
                    return answer;
                }
                () = execution.wants_turn() => {}
                time = execution.overdue() => {
                    execution.halt(format!("the query was not done within {time:?}"));
                    return execution.settled().await;
                }
            }
            if turn.is_none() {
                light = None;
                match self.queue(execution).await {
                    Queued::Turn(slot) => turn = Some(slot),
                    Queued::Over => return execution.settled().await,
                }
            }
            execution.on(0, Event::Admitted);
        }
    }

    /// Waits for a slot.
    async fn queue(&self, execution: &Arc<Execution>) -> Queued {
        let before = self.queued.fetch_add(1, Relaxed);
        let _leave = Leave(&self.queued);
        metrics::gauge!("trawl_frontend_queries_queued").set((before + 1) as f64);
        if before >= self.queued_max {
            metrics::counter!("trawl_frontend_queries_shed_total").increment(1);
            let at = SystemTime::now();
            execution.on(0, Event::Shed { at });
            return Queued::Over;
        }
        let began = Instant::now();
        tokio::select! {
            slot = Arc::clone(&self.slots).acquire_owned() => {
                execution.queued(began.elapsed());
                slot.map_or(Queued::Over, Queued::Turn)
            }
            _ = execution.settled() => Queued::Over,
            time = execution.overdue() => {
                execution.halt(format!("the query had no turn within {time:?}"));
                Queued::Over
            }
        }
    }

    /// A place among the runs that are begun without a slot; none when it is over before there is one.
    async fn place(&self, execution: &Arc<Execution>) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            place = Arc::clone(&self.light).acquire_owned() => place.ok(),
            () = execution.cancelled() => None,
            time = execution.overdue() => {
                execution.halt(format!("the query had no turn within {time:?}"));
                None
            }
        }
    }
}

/// One less in the queue.
struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Relaxed);
        metrics::gauge!("trawl_frontend_queries_queued").set(before as f64 - 1.0);
    }
}
