//! The settings of a frontend: its spool and its limits.

use crate::freshness::CorpusWatch;
use crate::hints::Hints;
use crate::spool::BeforeWrite;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How much of a query's text the log of slow queries shows. The text may be private, and so may the
/// plan, which reveals it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogQueries {
    /// The canonical text and the plan.
    Full,
    /// A hash of the canonical text: equal queries can be recognised, and a guess can be confirmed.
    #[default]
    Hash,
    /// Neither.
    Off,
}

/// The settings of a frontend.
#[derive(Clone)]
pub struct Config {
    /// The directory for frames of running and finished queries. No other frontend may use it. Empty: there
    /// is none, and a query whose result does not fit in memory fails.
    pub spool: PathBuf,
    /// Bytes in the spool, over all queries.
    pub spool_bytes_max: u64,
    /// How long a backend may be silent before it counts as lost. Backends send at least every second, so
    /// that one lost packet does not look like a dead machine.
    pub silence_max: Duration,
    /// Heavy queries that run at once.
    pub running_max: usize,
    /// Heavy queries that wait for admission; more are refused.
    pub queued_max: usize,
    /// How long a query runs on after its last client has left.
    pub grace: Duration,
    /// The default timeout of a query.
    pub timeout: Duration,
    /// The longest timeout that a client may set.
    pub timeout_max: Duration,
    /// Queries that take at least this long are logged, with their timings.
    pub slow_query: Duration,
    /// What that log shows of the query.
    pub log_queries: LogQueries,
    /// Bytes of memory for all running queries. Half of it is for pointers; receive buffers, small results
    /// and pages have limits of their own that fit in the other half.
    pub memory_bytes: u64,
    /// Bytes of pointers that one running query may have in memory.
    pub query_memory_bytes: u64,
    /// Bytes of a result that stay in memory; a larger one spills to disk.
    pub result_memory_bytes: u64,
    /// Whether matches are put in order when a search has ended. If not, they can only be followed as they are
    /// found, and results have none.
    pub ordered: bool,
    /// Whether finished results survive a restart.
    pub durable: bool,
    /// Whether callers may see different packages, so that backends are asked for the names of theirs.
    pub has_scopes: bool,
    /// Whether there may be other backends later, so that there may be none at first.
    pub changes_backends: bool,
    /// Second requests for the rest of slow answers that may follow each other; further ones must be earned by other
    /// requests. 0: a slow answer is waited for.
    pub hedges_max: u32,
    /// Answers to look-ups in repositories that several frontends share.
    pub hints: Option<Arc<Hints>>,
    /// What watches the corpus, if anything does.
    pub freshness: Option<Arc<dyn CorpusWatch>>,
    /// Called before every write to the spool, for tests of failures.
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
    /// The default settings, with this spool directory.
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
            log_queries: LogQueries::default(),
            memory_bytes: 256 << 20,
            query_memory_bytes: 64 << 20,
            result_memory_bytes: 64 << 10,
            ordered: true,
            durable: true,
            has_scopes: false,
            changes_backends: false,
            hedges_max: 10,
            hints: None,
            freshness: None,
            before_write: None,
        }
    }
}
