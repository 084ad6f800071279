//! Computes numbered results in parallel, and passes them on in order, on the calling thread.
//!
//! **Invariant:** at most [`WINDOW_RESULTS`] results per worker are pending. Workers wait with a
//! caller that waits for its sink, the network.

use super::request::Interrupted;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError, mpsc};
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
    let window = threads * WINDOW_RESULTS;
    let (jobs, indexes) = mpsc::channel();
    let (done, results) = mpsc::channel();
    let indexes = Mutex::new(indexes);
    // Valid after a panic.
    let take = || (indexes.lock().unwrap_or_else(PoisonError::into_inner)).recv();
    let work = || {
        if workers.yielding {
            yield_to_others();
        }
        let mut worker = new_worker();
        while let Ok(index) = take() {
            if done.send(Ok((index, compute(&mut worker, index)))).is_err() {
                return;
            }
        }
    };
    let work = || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(&work)) {
            // The caller may have ended.
            let _ = done.send(Err(panic));
        }
    };
    thread::scope(|scope| {
        // Dropped with this closure, so workers end.
        let (jobs, results) = (jobs, results);
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).is_ok();
        if (0..threads).filter(|number| start(*number)).count() == 0 {
            // No thread is available.
            let mut worker = new_worker();
            return (0..count).try_for_each(|index| pass_on(compute(&mut worker, index)?));
        }
        let begin = |index: usize| jobs.send(index).expect("the receiver is kept");
        (0..count.min(window)).for_each(begin);
        let mut early = BTreeMap::new();
        (0..count).try_for_each(|index| {
            let result = loop {
                if let Some(result) = early.remove(&index) {
                    break result;
                }
                match results.recv().expect("the sender is kept") {
                    Ok((index, result)) => early.insert(index, result),
                    Err(panic) => resume_unwind(panic),
                };
            };
            if index + window < count {
                begin(index + window);
            }
            pass_on(result?)
        })
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
