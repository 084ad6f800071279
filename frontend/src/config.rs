//! How a frontend is set up: where its spool is, and its bounds.

use crate::spool::BeforeWrite;
use std::path::PathBuf;
use std::time::Duration;

/// How a frontend is set up.
#[derive(Clone)]
pub struct Config {
    /// The directory for frames of running and finished queries. It is this frontend's alone.
    pub spool: PathBuf,
    /// Bytes in it, over all queries.
    pub spool_bytes_max: u64,
    /// How long a backend may say nothing before it counts as lost. Backends are heard at least
    /// every second, so that one lost packet is not taken for a dead machine.
    pub silence_max: Duration,
    /// Queries that cost much and run at once.
    pub running_max: usize,
    /// Queries that cost much and wait for their turn; more are refused.
    pub queued_max: usize,
    /// How long a query goes on after its last client has gone.
    pub grace: Duration,
    /// How long a query may take when its client does not say.
    pub timeout: Duration,
    /// The most time that a client may ask for.
    pub timeout_max: Duration,
    /// A query that takes at least so long is logged, with its plan and what took how long.
    pub slow_query: Duration,
    /// Bytes of memory for all running queries together: half of it is for their pointers; receive
    /// buffers, small answers and pages in the making have bounds of their own that leave the other half.
    pub memory_bytes: u64,
    /// Bytes of pointers that one running query may have in memory.
    pub query_memory_bytes: u64,
    /// Bytes of a query's matches that stay in memory; one that has more is written to the spool.
    pub result_memory_bytes: u64,
    /// Whether the spool keeps finished queries when the frontend ends.
    pub durable: bool,
    /// Is asked before every write to the spool; for tests of what fails.
    pub before_write: Option<BeforeWrite>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("spool", &self.spool)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// The defaults, over a spool directory.
    pub fn new(spool: impl Into<PathBuf>) -> Config {
        Config {
            spool: spool.into(),
            spool_bytes_max: 10 << 30,
            silence_max: Duration::from_secs(3),
            running_max: 4,
            queued_max: 32,
            grace: Duration::from_millis(10),
            timeout: Duration::from_secs(60),
            timeout_max: Duration::from_secs(300),
            slow_query: Duration::from_secs(1),
            memory_bytes: 256 << 20,
            query_memory_bytes: 64 << 20,
            result_memory_bytes: 64 << 10,
            durable: true,
            before_write: None,
        }
    }
}
