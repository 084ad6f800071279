//! Finished spans that wait for the sending thread.

use crate::otlp::Record;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Some thousand requests. A span takes half a kilobyte, and at most ten.
pub(crate) const WAITING_MAX: usize = 4096;

pub(crate) const BATCH_MAX: usize = 512;

/// Wait for a full batch.
const BATCH_WAIT: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Record>,
    /// A batch is being sent.
    is_sending: bool,
    /// Also send partial batches.
    is_flushing: bool,
}

impl Queue {
    /// Returns whether there was room. Hardly waits.
    pub(crate) fn push(&self, record: Record) -> bool {
        let mut state = self.lock();
        let has_room = state.waiting.len() < WAITING_MAX;
        if has_room {
            state.waiting.push_back(record);
            if matches!(state.waiting.len(), 1 | BATCH_MAX) {
                self.changed.notify_all();
            }
        }
        has_room
    }

    /// The previous batch has been sent.
    pub(crate) fn take(&self) -> Vec<Record> {
        let mut state = self.lock();
        state.is_sending = false;
        self.changed.notify_all();
        let mut until = None;
        loop {
            let waiting = state.waiting.len();
            let now = Instant::now();
            if waiting == 0 {
                state = wait(self.changed.wait(state));
                continue;
            }
            let until = *until.get_or_insert(now + BATCH_WAIT);
            if waiting >= BATCH_MAX || state.is_flushing || now >= until {
                state.is_sending = true;
                return state.waiting.drain(..waiting.min(BATCH_MAX)).collect();
            }
            (state, _) = wait(self.changed.wait_timeout(state, until - now));
        }
    }

    /// Waits at most `max`. Returns the number of spans left.
    pub(crate) fn flush(&self, max: Duration) -> usize {
        let until = Instant::now() + max;
        let mut state = self.lock();
        state.is_flushing = true;
        self.changed.notify_all();
        while !state.waiting.is_empty() || state.is_sending {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                break;
            };
            (state, _) = wait(self.changed.wait_timeout(state, left));
        }
        state.is_flushing = false;
        state.waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        wait(self.state.lock())
    }
}

/// No call in between can panic: the state is valid.
fn wait<T>(result: Result<T, PoisonError<T>>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn what_does_not_fit_is_refused_and_batches_are_bounded() {
        let queue = Queue::default();
        for number in 0..WAITING_MAX + 3 {
            assert_eq!(queue.push(Record::default()), number < WAITING_MAX);
        }
        assert_eq!(queue.take().len(), BATCH_MAX);
        assert!(queue.push(Record::default()));
    }

    #[test]
    fn a_flush_waits_until_all_was_sent_but_not_longer_than_it_may() {
        let queue = Arc::new(Queue::default());
        assert_eq!(queue.flush(Duration::from_secs(60)), 0);
        for _ in 0..3 {
            queue.push(Record::default());
        }
        // There is no sender.
        assert_eq!(queue.flush(Duration::from_millis(20)), 3);
        let sender = Arc::clone(&queue);
        // Ends with the test.
        thread::spawn(move || {
            loop {
                sender.take();
            }
        });
        assert_eq!(queue.flush(Duration::from_secs(60)), 0);
    }
}
