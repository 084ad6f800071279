//! Computes numbered results in parallel, and passes them on in order, on the calling thread.
//!
//! **Invariant:** at most [`WINDOW_RESULTS`] results per worker wait to be passed on. While the caller
//! waits for its sink, which waits for the network, the workers wait too.

use super::request::Interrupted;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Results per worker that may wait to be passed on.
const WINDOW_RESULTS: usize = 4;

/// Fewer results are computed by the calling thread alone, since starting workers takes longer.
const PARALLEL_MIN: usize = 4;

/// The priority of yielding threads beside other threads: a third of their time on a busy processor.
const YIELDING_NICE: i32 = 5;

/// Threads that compute.
#[derive(Clone, Copy)]
pub(super) struct Workers {
    pub(super) count: usize,
    /// Whether other threads of this process are preferred when processors are few.
    pub(super) yielding: bool,
}

/// Calls `pass_on` with the results number 0 to `count`, in order, which `workers` compute.
/// Each of them has a state of its own, from `new_worker`.
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
            // The system has no thread to give.
            let mut worker = new_worker();
            return (0..count).try_for_each(|index| pass_on(compute(&mut worker, index)?));
        }
        let result = (0..count).try_for_each(|index| pass_on(pool.wait_for(index)?));
        pool.stop();
        result
    })
}

/// Runs work on a thread that yields to others, if the system has one to give.
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

/// Prefers other threads to the current one. Where a thread has no priority of its own, it keeps the usual one.
fn yield_to_others() {
    let _ = rustix::process::nice(YIELDING_NICE);
}

/// What the workers and the calling thread share.
struct Pool<T> {
    count: usize,
    window: usize,
    state: Mutex<State<T>>,
    /// A result is there, the window has moved, or the pool was stopped.
    changed: Condvar,
}

struct State<T> {
    /// The next result that no worker has taken.
    next: usize,
    /// The next result to pass on.
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

    /// Takes the next result to compute, once it is within the window; `None` when there is none
    /// left.
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

    /// Waits for result `index`, and moves the window. Returns [`Interrupted::Stopped`] when a worker
    /// has panicked; the panic continues where the workers are joined.
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

    // The state is plain data, which a panic leaves valid.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a worker that panics is never there, so nothing may wait for it.
struct StopOnPanic<'a, T>(&'a Pool<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}
