//! Computes numbered results in parallel, and passes them on in order, on the calling thread.
//!
//! **Invariant:** at most [`WINDOW_RESULTS`] results per worker are pending. Workers wait with a
//! caller that waits for its sink, the network.

use super::request::Interrupted;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Pending results per worker.
const WINDOW_RESULTS: usize = 4;

/// Fewer results are computed by the caller: starting workers takes longer.
const PARALLEL_MIN: usize = 4;

/// Priority of yielding threads: a third of the time on a busy processor.
const YIELDING_NICE: i32 = 5;

#[derive(Clone, Copy)]
pub(super) struct Workers {
    pub(super) count: usize,
    pub(super) yielding: bool,
}

/// Calls `pass_on` in order with results 0 to `count`, computed by `workers`, each with a state
/// from `new_worker`.
pub(super) fn in_order<W, T: Send>(
    workers: Workers,
    count: usize,
    new_worker: impl Fn() -> W + Sync,
    compute: impl Fn(&mut W, usize) -> Result<T, Interrupted> + Sync,
    mut pass_on: impl FnMut(T) -> Result<(), Interrupted>,
) -> Result<(), Interrupted> {
    if workers.count < 2 || count < PARALLEL_MIN {
        let mut worker = new_worker();
        return (0..count).try_for_each(|index| pass_on(compute(&mut worker, index)?));
    }
    let threads = workers.count.min(count);
    let pool = Pool::new(count, threads * WINDOW_RESULTS);
    let work = || {
        if workers.yielding {
            yield_to_others();
        }
        let _stop = StopOnPanic(&pool);
        let mut worker = new_worker();
        while let Some(index) = pool.take() {
            pool.finish(index, compute(&mut worker, index));
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).is_ok();
        if (0..threads).filter(|number| start(*number)).count() == 0 {
            // No thread is available.
            let mut worker = new_worker();
            return (0..count).try_for_each(|index| pass_on(compute(&mut worker, index)?));
        }
        let result = (0..count).try_for_each(|index| pass_on(pool.wait_for(index)?));
        pool.stop();
        result
    })
}

pub(crate) fn yielding<T: Send>(work: impl Fn() -> T + Sync) -> T {
    thread::scope(|scope| {
        let yielding = || {
            yield_to_others();
            work()
        };
        match thread::Builder::new().spawn_scoped(scope, yielding) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => work(),
        }
    })
}

/// Prefers other threads, if threads have priorities.
fn yield_to_others() {
    let _ = rustix::process::nice(YIELDING_NICE);
}

struct Pool<T> {
    count: usize,
    window: usize,
    state: Mutex<State<T>>,
    /// New result, moved window, or stop.
    changed: Condvar,
}

struct State<T> {
    next: usize,
    pass_on_next: usize,
    done: BTreeMap<usize, Result<T, Interrupted>>,
    stopped: bool,
}

impl<T> Pool<T> {
    fn new(count: usize, window: usize) -> Self {
        let state = State {
            next: 0,
            pass_on_next: 0,
            done: BTreeMap::new(),
            stopped: false,
        };
        Pool {
            count,
            window,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        while !state.stopped
            && state.next < self.count
            && state.next >= state.pass_on_next + self.window
        {
            state = self.wait(state);
        }
        if state.stopped || state.next >= self.count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn finish(&self, index: usize, result: Result<T, Interrupted>) {
        self.lock().done.insert(index, result);
        self.changed.notify_all();
    }

    /// Waits for a result, and moves the window. [`Interrupted::Stopped`] after a panic, which
    /// continues at the join.
    fn wait_for(&self, index: usize) -> Result<T, Interrupted> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return Err(Interrupted::Stopped);
            }
            if let Some(result) = state.done.remove(&index) {
                state.pass_on_next = index + 1;
                self.changed.notify_all();
                return result;
            }
            state = self.wait(state);
        }
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    // Plain data stays valid after a panic.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A panicked worker has no result, so nothing may wait for it.
struct StopOnPanic<'a, T>(&'a Pool<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}
