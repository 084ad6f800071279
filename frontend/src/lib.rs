//! The frontend: sends queries to backends, spools their answers, and reads pages from the spool.
//!
//! [`Coordinator::search`] starts or joins an execution of a [`Query`]; a [`SearchHandle`] is
//! a client's hold on it. It ends with a [`SearchResult`]: counts, missing shards, and
//! ordered matches in the spool.
//!
//! Layers, top down: `coordinator`, `execution`, `peers` ([`Backend`]s, shard routing), and three
//! crates of their own: `results`, [`query`], [`cache`].
//!
//! ```
//! use frontend::{Backend, Config, Coordinator, Query, Scope, SearchRequest};
//! use schema::message::{Expr, Pattern};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let spool = directory.path();
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let frontend = Coordinator::start(Config::new(spool), vec![Backend::tcp("127.0.0.1:9")]).unwrap();
//! let pattern = Pattern { text: "fopen(".into(), ..Pattern::default() };
//! let query = Query::new(Expr::Pattern(pattern), Query::CONTEXT_DEFAULT).unwrap();
//! let request = SearchRequest::new(&Scope::everything(), query);
//! let result = frontend.search(request).await.unwrap().finished().await.unwrap();
//! // Nothing listens on that port, and the result says so.
//! assert!(!result.is_complete());
//! assert_eq!(result.missing()[0].backend, "127.0.0.1:9");
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
mod hints;
mod joined;
pub mod metrics;
mod near_words;
mod peers;
mod recent;
mod search_request;
mod secret_file;
#[cfg(test)]
mod simulation;

pub use ::{cache, query};
pub use config::{Config, CorpusWatch, LogQueries};
pub use coordinator::{BackendStatus, Coordinator, Listing, Served, Serving, entry_name};
pub use error::{FileError, LookupError, SearchError, StartError};
pub use execution::handle::SearchHandle;
pub use execution::memory::{Need, Reservation};
pub use execution::stream_stats::{BackendProgress, BestDocuments, Progress, TopMatches};
pub use hints::{BadRedisUrl, Hint, HintSecret, Hints};
pub use joined::joined;
pub use peers::{Backend, Socket, announced_shards};
pub use query::{
    BadQuery, NameSet, Notice, PackageNames, ParsedQuery, Query, QueryInput, Scope, similar,
};
pub use recent::{QueryTimes, SlowQuery};
pub use results::order::{BEST_LINES_MAX, BEST_MAX, Pointer};
pub use results::spool::{BeforeWrite, SpoolError};
pub use results::{
    ByLine, ContextLine, Copies, CorpusSize, DOCUMENTS_MAX, Document, DocumentGroup,
    DocumentRevisions, Explain, FacetsSoFar, FoundText, Match, MatchStream, Missing,
    OverlappingPackage, Overlaps, PackageGroup, Reached, RenderedMatch, RenderedMatches, Renderer,
    SearchResult, ShardId, Skipped, SkippedDocument, Take, Timings, Window, WriteMatch,
    about_commit, commit_name, page, shown_place,
};
pub use search_request::{SearchClient, SearchRequest};
pub use secret_file::{BadSecret, read_secret};
