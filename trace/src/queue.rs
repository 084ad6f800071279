//! Spans that have ended and wait for the thread that sends them.

use crate::otlp::Record;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Spans that wait at most: some thousand requests. A span takes about half a kilobyte, and at most ten.
pub(crate) const WAITING_MAX: usize = 4096;

/// Spans in a batch, at most.
pub(crate) const BATCH_MAX: usize = 512;

/// How long a span waits for others of its batch.
const BATCH_WAIT: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Record>,
    /// Whether a batch was taken and has not been sent yet.
    is_sending: bool,
    /// Whether nobody waits for full batches any more.
    is_flushing: bool,
}

impl Queue {
    /// Adds a span; returns whether there was room. Never waits for more than a few instructions of other threads.
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

    /// Waits for a batch. The one that was taken before has been sent.
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

    /// Lets batches be sent at once, and waits until nothing is left, for `max` at most. Returns the number of spans that
    /// are left.
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

/// A thread that panicked has left the state whole: no call in between can panic.
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
        // Nobody sends.
        assert_eq!(queue.flush(Duration::from_millis(20)), 3);
        let sender = Arc::clone(&queue);
        // It ends with the test.
        thread::spawn(move || {
            loop {
                sender.take();
            }
        });
        assert_eq!(queue.flush(Duration::from_secs(60)), 0);
    }
}
