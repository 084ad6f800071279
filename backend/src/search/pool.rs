//! Workers that verify units side by side, and the thread that takes what they have done in order.
//!
//! **Invariant:** at most [`WINDOW_UNITS`] units a worker are done and not yet emitted; while the
//! emitter waits, for its sink and that for the network, workers do too.

use super::emit::Emitter;
use super::work::WorkList;
use super::worker::{WorkResult, Worker};
use super::{Interrupted, ShardTask};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};
use std::thread;

/// WorkList, for each worker, that may be done and not yet emitted.
const WINDOW_UNITS: usize = 4;

/// Fewer units are searched by the calling thread alone: starting workers takes longer.
const PARALLEL_UNITS_MIN: usize = 4;

/// Verifies all units and emits what they give, in their order.
pub(super) fn search_units(
    task: ShardTask<'_>,
    units: &WorkList<'_>,
    emitter: &mut Emitter<'_, '_>,
) -> Result<(), Interrupted> {
    let workers = task.request.workers;
    if workers < 2 || units.len() < PARALLEL_UNITS_MIN {
        let mut searcher = Worker::new(task);
        return (0..units.len()).try_for_each(|index| {
            let unit = searcher.search(units.get(index))?;
            emitter.emit(unit)
        });
    }
    search_parallel(task, units, emitter)
}

/// What workers and emitter share.
struct Shared {
    state: Mutex<State>,
    /// A unit is done, or the turn has passed to the next one, or all is over.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The next unit that nobody has taken.
    next: usize,
    /// The next unit to be emitted.
    turn: usize,
    done: BTreeMap<usize, Result<WorkResult, Interrupted>>,
    over: bool,
}

fn search_parallel(
    task: ShardTask<'_>,
    units: &WorkList<'_>,
    emitter: &mut Emitter<'_, '_>,
) -> Result<(), Interrupted> {
    let shared = Shared {
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..task.request.workers {
            scope.spawn(|| work(task, units, &shared));
        }
        let result = (0..units.len()).try_for_each(|index| emitter.emit(shared.wait_for(index)?));
        shared.lock().over = true;
        shared.changed.notify_all();
        result
    })
}

fn work(task: ShardTask<'_>, units: &WorkList<'_>, shared: &Shared) {
    let _over = OverOnPanic(shared);
    let mut searcher = Worker::new(task);
    while let Some(index) = shared.take(units.len(), task.request.workers * WINDOW_UNITS) {
        let result = searcher.search(units.get(index));
        shared.lock().done.insert(index, result);
        shared.changed.notify_all();
    }
}

/// A unit that a worker panics over is never done: nobody may wait for it.
struct OverOnPanic<'a>(&'a Shared);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().over = true;
            self.0.changed.notify_all();
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is plain data, which a panic leaves whole.
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The next unit for a worker, once it is within the window; `None` when there is none left.
    fn take(&self, units: usize, window: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.over && state.next < units && state.next >= state.turn + window {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if state.over || state.next >= units {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Waits until the unit `index` is done, and passes the turn on. When a worker has panicked it
    /// is stopped; the panic goes on where the workers are joined.
    fn wait_for(&self, index: usize) -> Result<WorkResult, Interrupted> {
        let mut state = self.lock();
        loop {
            if state.over {
                return Err(Interrupted::Stopped);
            }
            if let Some(unit) = state.done.remove(&index) {
                state.turn = index + 1;
                self.changed.notify_all();
                return unit;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}
