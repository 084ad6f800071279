//! Runs parts of a computation on threads.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs the first part here and the others on threads, or here if no thread can start. Returns
/// results in order. Panics if a part panics.
pub fn in_parallel<T: Send, F: FnOnce() -> T + Send>(parts: impl IntoIterator<Item = F>) -> Vec<T> {
    let parts = parts.into_iter().map(|part| Mutex::new(Some(part)));
    let parts: Vec<_> = parts.collect();
    let run = |part: &Mutex<Option<F>>| {
        let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
        part.expect("each part is run once")()
    };
    thread::scope(|scope| {
        let start = |part| thread::Builder::new().spawn_scoped(scope, move || run(part));
        let others = parts.iter().skip(1);
        let started: Vec<_> = others.map(|part| (part, start(part))).collect();
        let first = parts.first().map(run);
        let others = started.into_iter().map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run(part),
        });
        first.into_iter().chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::in_parallel;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn results_are_in_the_order_of_the_parts() {
        let parts = |count: usize| (0..count).map(|number| move || number * 2);
        for count in [0, 1, 2, 5] {
            let expected: Vec<_> = (0..count).map(|number| number * 2).collect();
            assert_eq!(in_parallel(parts(count)), expected);
        }
        let panics = (0..3).map(|number| move || assert_ne!(number, 2));
        assert!(catch_unwind(AssertUnwindSafe(|| in_parallel(panics))).is_err());
    }
}
