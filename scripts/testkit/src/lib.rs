//! Test doubles that fail on demand, and programs that benchmarks measure with.
//!
//! Of the workspace it uses only `schema` and `language`, so the tests of every crate above can use
//! it without a circle of crates. Programs are in `src/bin`; `git_spawner`, which needs `web`, is
//! an example.

pub mod authorization;
pub mod backend;
pub mod browser;
pub mod ca;
pub mod net;
pub mod redis;

use std::time::{Duration, Instant};

/// Polls until there is a value: each millisecond at first, less often later.
///
/// # Panics
/// With `what`, after `max`.
pub fn poll<T>(what: &str, max: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = ask() {
            return value;
        }
        let elapsed = started.elapsed();
        assert!(elapsed < max, "waited {max:?} for {what}");
        std::thread::sleep((elapsed / 64).clamp(PAUSE_MIN, PAUSE_MAX));
    }
}

const PAUSE_MIN: Duration = Duration::from_millis(1);

/// Short beside a test, long beside a request.
const PAUSE_MAX: Duration = Duration::from_millis(16);
