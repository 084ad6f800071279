//! Locks of the cache, replaced by loom's in `schedules`.

pub(super) use std::sync::Mutex;
use std::sync::{MutexGuard, PoisonError};

/// Ignores poisoning: changes under a lock are complete wherever they could panic, and an execution
/// must end even if its thread panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
