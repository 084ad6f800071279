//! The built binary as people and programs meet it: processes, sockets, exit codes.
//!
//! Every test has a [`home::Home`] of its own, which is HOME and cache directory of the processes
//! that it starts; what they listen on is a free port of 127.0.0.1. Nothing outside is read or
//! written, and no process outlives its test.
//! What is not here: how lines match, rank and render, which the crates' own tests say.

mod as_ripgrep;
mod ask;
mod bad_input;
mod bad_request;
mod build;
mod bytes;
mod compatible;
mod config;
mod cut;
mod end_to_end;
mod filters;
mod garbage;
mod home;
mod hostile;
mod http;
mod inspect;
mod killed;
mod left;
mod measured;
mod printed;
mod process;
mod proxy;
mod restarted;
mod spread;
mod stopped;
mod streamed;
mod thirds;
mod update;

use std::time::{Duration, Instant};

/// How long anything may take that a test waits for. Far more than it takes on a busy machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer, for `max` at most; `what` is for the failure.
pub(crate) fn poll<T>(what: &str, max: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < max, "{what}: not within {max:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
