//! The frontend: sends queries to the source backends, spools what they stream back, and shows it
//! in pages.
//!
//! A [`Query`] is what the user typed, checked. [`Coordinator::search`] starts a run of it, or joins
//! the one that is under way; a [`SearchHandle`] is a client's hold on a run, an [`SearchResult`] its end:
//! counts, what is missing, and the matches in total order, read from the spool when a page asks
//! for them. The crate `web` answers HTTP with all that.
//!
//! Pure, without clock, file and socket: `query`, [`filter`], `assign` (who searches what), `run` (one
//! query's state machine), `rank` (order), `facets` (counts), `listing` (one list of many),
//! [`page`], `matches`. The rim around them: `fanout` (connections to [`Backend`]s), `spool` (what has
//! been received, in memory or on disk), `harvest` (what one stream has brought in), `assemble` (what
//! pages are made from, at a run's end), `packages` and `documents` (a file of them), `live` (a run's
//! threads and counters), `follow` (what it brings in, as it comes), `turns` (who runs when), `memory`,
//! `coordinator`.
//!
//! ```
//! use frontend::{Backend, Config, Coordinator, Query};
//! use schema::message::{Expr, Pattern};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let spool = directory.path();
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let frontend = Coordinator::start(Config::new(spool), vec![Backend::tcp("127.0.0.1:9")]).unwrap();
//! let pattern = Pattern { text: "fopen(".into(), ..Pattern::default() };
//! let query = Query::new(Expr::Pattern(pattern), Query::CONTEXT_DEFAULT).unwrap();
//! let answer = frontend.search(query).await.unwrap().finished().await.unwrap();
//! // Nobody listens there, and the answer does not pretend otherwise.
//! assert!(!answer.is_complete());
//! assert_eq!(answer.missing()[0].backend, "127.0.0.1:9");
//! # });
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::single_range_in_vec_init,
        reason = "a match's ranges are a list, often of one"
    )
)]

mod config;
mod coordinator;
mod error;
mod execution;
mod lock;
pub mod metrics;
mod order;
mod peers;
pub mod query;
mod results;
mod similar;
#[cfg(test)]
mod simulation;
mod spool;

pub use config::Config;
pub use coordinator::{BackendStatus, Coordinator, Served};
pub use error::{FileError, SearchError, StartError};
pub use execution::handle::SearchHandle;
pub use execution::stream_stats::{BackendProgress, Progress, TopMatches};
pub use order::{BEST_MAX, Pointer};
pub use peers::{Backend, Socket};
pub use query::{
    BadQuery, CONTEXT_LINES_MAX, LIMIT_MAX, Limit, Notice, ParsedQuery, QUERY_BYTES_MAX, Query,
    QueryInput, TYPED_BYTES_MAX, limits,
};
pub use results::{
    ContextLine, CorpusSize, DOCUMENTS_MAX, Document, DocumentGroup, Explain, Listing, Match,
    MatchEvent, MatchStream, MatchText, MatchTexts, Missing, PackageGroup, SearchResult, ShardId,
    Skipped, SkippedDocument, Timings, Window, entry_name, page,
};
pub use similar::similar;
pub use spool::{BeforeWrite, SpoolError};
