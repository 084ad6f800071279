//! Settings of a frontend, and the watcher of its corpus.

use crate::hints::Hints;
use results::spool::BeforeWrite;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Query text in the log of slow queries. Text and plan may be private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogQueries {
    /// Canonical text and plan.
    Full,
    /// Hash of the canonical text: equal queries are recognisable, and guesses can be confirmed.
    #[default]
    Hash,
    /// Neither.
    Off,
}

#[derive(Clone)]
pub struct Config {
    /// Directory of the spool, for this frontend only. Empty: none, and results
    /// that exceed memory fail.
    pub spool: PathBuf,
    pub spool_bytes_max: u64,
    /// Longest silence of a backend. Backends send every second, so one lost packet does not
    /// look like a dead machine.
    pub silence_max: Duration,
    /// Concurrent heavy queries.
    pub running_max: usize,
    /// Queued heavy queries; more are refused.
    pub queued_max: usize,
    /// Time that a query outlives its last client.
    pub grace: Duration,
    pub timeout: Duration,
    pub timeout_max: Duration,
    /// Queries that take at least this long are logged.
    pub slow_query: Duration,
    pub log_queries: LogQueries,
    /// Memory of all running queries. Half is for pointers; receive buffers, small results and
    /// pages have limits that fit in the rest.
    pub memory_bytes: u64,
    pub query_memory_bytes: u64,
    /// Bytes of a result in memory; larger ones spill.
    pub result_memory_bytes: u64,
    /// Matches are ordered at the end. Otherwise they can only be followed, and results have none.
    pub ordered: bool,
    /// Finished results survive a restart.
    pub durable: bool,
    /// Callers may see different packages, so backends list theirs.
    pub has_scopes: bool,
    /// Backends may change later, so there may be none at first.
    pub changes_backends: bool,
    /// Hedged requests in a row; more must be earned by other requests. 0: none.
    pub hedges_max: u32,
    /// Look-up answers shared by several frontends.
    pub hints: Option<Arc<Hints>>,
    pub freshness: Option<Arc<dyn CorpusWatch>>,
    pub before_write: Option<BeforeWrite>,
}

impl Config {
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

/// Watcher of the corpus: known changes that are not searched yet.
pub trait CorpusWatch: Send + Sync {
    /// Changed files that are not searched yet.
    fn pending(&self) -> u64;

    /// Asks if all changes so far are searched. Returns a question number.
    fn ask(&self) -> u64;

    /// Greatest question number with a positive answer.
    fn answered(&self) -> watch::Receiver<u64>;
}
