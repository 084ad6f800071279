//! Cache with single flight: expensive answers are built once for all callers.
//!
//! A caller gets a fresh answer, a stale one during a background refresh, or waits for the builder.
//! Builds are tasks, so a client that leaves does not stall others. A cancelled, panicked or late
//! build is handed over to a waiter. Failures go to waiters and are never kept.
//!
//! `state` and `entry` are pure, `shared` locks and waits over moka, `building` runs builds,
//! `breaker` guards a failing dependency. **Invariant:** no lock is held across I/O.

pub mod breaker;
mod building;
mod entry;
mod outcome;
mod shared;
mod state;
mod store;
mod sync;

#[cfg(test)]
#[path = "../../src/simulation/random.rs"]
#[allow(dead_code, reason = "shared with the simulation of executions")]
mod random;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use outcome::{Built, CacheConfig, CacheError, CacheFailure, CacheKey, CacheValue};
pub use shared::{Cache, CacheOutcome, Claim, Turn, Waiting};
pub use sync::lock;
