//! Locking a mutex that a panic may have poisoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also after a thread that held it panicked. Each change that this crate makes under
/// a lock is complete at every point where it could panic, and an execution whose thread panicked
/// must still end.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
