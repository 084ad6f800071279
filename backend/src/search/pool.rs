//! Workers that search units in parallel, and the calling thread that emits the results in order.
//!
//! **Invariant:** at most [`WINDOW_UNITS`] results per worker wait to be emitted. While the emitter
//! waits for its sink, which waits for the network, the workers wait too.

use super::emit::Emitter;
use super::request::{Interrupted, ShardTask};
use super::unit_result::UnitResult;
use super::work::WorkList;
use super::worker::Worker;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Results per worker that may wait to be emitted.
const WINDOW_UNITS: usize = 4;

/// Fewer units are searched by the calling thread alone, since starting workers takes longer.
const PARALLEL_UNITS_MIN: usize = 4;

/// Searches all units, and emits their results in order.
pub(super) fn search_units(
    task: ShardTask<'_>,
    units: &WorkList<'_>,
    emitter: &mut Emitter<'_, '_, '_>,
) -> Result<(), Interrupted> {
    let workers = task.request.workers;
    if workers < 2 || units.len() < PARALLEL_UNITS_MIN {
        let mut worker = Worker::new(task);
        return (0..units.len())
            .try_for_each(|index| emitter.emit(worker.search(units.get(index))?));
    }
    let pool = Pool::default();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| pool.work(task, units));
        }
        let result = (0..units.len()).try_for_each(|index| emitter.emit(pool.wait_for(index)?));
        pool.stop();
        result
    })
}

/// What workers and emitter share.
#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    /// A unit is done, the window has moved, or the pool was stopped.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The next unit that no worker has taken.
    next: usize,
    /// The next unit to emit.
    emit_next: usize,
    done: BTreeMap<usize, Result<UnitResult, Interrupted>>,
    stopped: bool,
}

impl Pool {
    fn work(&self, task: ShardTask<'_>, units: &WorkList<'_>) {
        let _stop = StopOnPanic(self);
        let mut worker = Worker::new(task);
        while let Some(index) = self.take(units.len(), task.request.workers * WINDOW_UNITS) {
            let result = worker.search(units.get(index));
            self.lock().done.insert(index, result);
            self.changed.notify_all();
        }
    }

    /// Takes the next unit, once it is within the window; `None` when there is none left.
    fn take(&self, units: usize, window: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.stopped && state.next < units && state.next >= state.emit_next + window {
            state = self.wait(state);
        }
        if state.stopped || state.next >= units {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Waits until unit `index` is done, and moves the window. Returns [`Interrupted::Stopped`]
    /// when a worker has panicked; the panic continues where the workers are joined.
    fn wait_for(&self, index: usize) -> Result<UnitResult, Interrupted> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return Err(Interrupted::Stopped);
            }
            if let Some(unit) = state.done.remove(&index) {
                state.emit_next = index + 1;
                self.changed.notify_all();
                return unit;
            }
            state = self.wait(state);
        }
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    // The state is plain data, which a panic leaves valid.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The unit of a worker that panics is never done, so nothing may wait for it.
struct StopOnPanic<'a>(&'a Pool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}
