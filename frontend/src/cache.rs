//! The one cache: answers that are expensive to build are built once, however many ask for them.
//!
//! A caller gets a fresh answer, a stale one while it is built again in the background, or waits for who
//! builds it. A build is a task of its own, so that a client that leaves does not stall the others; a
//! build that is cancelled, panics or takes too long hands over to one who waits. Failures are given to
//! those who wait, and never kept. Too many waiters are turned away at once.
//!
//! `state` decides (pure), `entry` has the lives of what is kept (pure), `shared` does the locking and
//! waiting over moka, `building` runs builds. `breaker` keeps calls away from a dependency that fails.
//! **Invariants:** a key has at most one current builder, and only that one may put; no lock is held
//! across I/O.

pub mod breaker;
mod building;
mod entry;
mod outcome;
mod shared;
mod state;
mod store;
mod sync;

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use outcome::{Built, CacheConfig, CacheError, CacheFailure, CacheKey, CacheValue};
pub use shared::{Cache, CacheOutcome, Claim, Turn, Waiting};
