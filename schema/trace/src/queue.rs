//! Finished spans that wait for the sending thread.

use crate::otlp::Record;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
        let is_empty = |state: &mut State| state.waiting.is_empty();
        let state = wait(self.changed.wait_while(state, is_empty));
        let is_partial = |it: &mut State| it.waiting.len() < BATCH_MAX && !it.is_flushing;
        let waited = (self.changed).wait_timeout_while(state, BATCH_WAIT, is_partial);
        let (mut state, _) = wait(waited);
        state.is_sending = true;
        let count = state.waiting.len().min(BATCH_MAX);
        state.waiting.drain(..count).collect()
    }

    /// Waits at most `max`. Returns the number of spans left.
    pub(crate) fn flush(&self, max: Duration) -> usize {
        let mut state = self.lock();
        state.is_flushing = true;
        self.changed.notify_all();
        let has_some = |it: &mut State| !it.waiting.is_empty() || it.is_sending;
        let (mut state, _) = wait(self.changed.wait_timeout_while(state, max, has_some));
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
