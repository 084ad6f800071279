//! Multi-threaded walk with a shared queue of directories.

use super::{Directory, Walk, Walker};
use std::mem;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    threads: usize,
}

struct State {
    pending: Vec<Directory>,
    /// Threads that wait. The walk ends when all do.
    waiting: usize,
}

impl Walker<'_> {
    pub(super) fn run_in(mut self, threads: usize) -> Self {
        let queue = Queue {
            state: Mutex::new(State {
                pending: mem::take(&mut self.pending),
                waiting: 0,
            }),
            changed: Condvar::new(),
            threads,
        };
        let source = self.source;
        let run = || {
            let mut walker = Walker {
                source,
                pending: Vec::new(),
                watched: None,
                walk: Walk::default(),
            };
            while let Some(directory) = queue.next(&mut walker.pending) {
                walker.directory(directory);
            }
            walker.walk
        };
        thread::scope(|scope| {
            let others: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            for other in others {
                let walk = other.join().expect("a thread that panics aborts");
                self.walk.files.extend(walk.files);
                self.walk.skipped.extend(walk.skipped);
            }
        });
        self
    }
}

impl Queue {
    /// Adds `found`, and takes a directory. `None` at the end.
    fn next(&self, found: &mut Vec<Directory>) -> Option<Directory> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() > 1 && state.waiting > 0 {
            self.changed.notify_all();
        }
        state.pending.append(found);
        loop {
            if let Some(directory) = state.pending.pop() {
                return Some(directory);
            }
            state.waiting += 1;
            if state.waiting == self.threads {
                self.changed.notify_all();
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            if state.waiting == self.threads {
                return None;
            }
            state.waiting -= 1;
        }
    }
}
