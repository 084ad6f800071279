//! A client's hold on a run.
//!
//! As long as one is held, the run goes on; when the last one is dropped, it goes on for a grace,
//! in which the client may come back, and is then cancelled all the way to the backends.

use crate::error::{RETRY_AFTER_S, SearchError};
use crate::execution::driver::Execution;
use crate::execution::stream_stats::{Progress, TopMatches};
use crate::order::Pointer;
use crate::query::Query;
use crate::results::Match;
use crate::results::{self, SearchResult};
use crate::results::{MatchEvent, MatchStream};
use crate::spool::SpoolError;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often is looked for what has arrived, at least.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);

/// A query that runs, or has.
pub struct SearchHandle {
    execution: Arc<Execution>,
    runtime: tokio::runtime::Handle,
    grace: Duration,
    was_there: bool,
}

impl SearchHandle {
    pub(crate) fn new(
        execution: Arc<Execution>,
        runtime: tokio::runtime::Handle,
        grace: Duration,
    ) -> Self {
        execution.enter();
        SearchHandle {
            was_there: !execution.is_running(),
            execution,
            runtime,
            grace,
        }
    }

    /// Names the run.
    pub fn id(&self) -> &str {
        &self.execution.id
    }

    /// Names the set of shards that it is about.
    pub fn generation(&self) -> &str {
        &self.execution.generation
    }

    /// The query.
    pub fn query(&self) -> &Query {
        &self.execution.query
    }

    /// Lets the run go on for at least so long after this client has gone: for one that will ask
    /// again by id.
    pub fn keep(&mut self, grace: Duration) {
        self.grace = self.grace.max(grace);
    }

    /// How far the search is.
    pub fn progress(&self) -> Progress {
        self.execution.progress()
    }

    /// Says how far the search is, for whoever does not hold it.
    pub fn watch(&self) -> impl Fn() -> Progress + Send + use<> {
        let execution = Arc::clone(&self.execution);
        move || execution.progress()
    }

    /// The best matches so far, at most ten, best first. Blocks on the disk.
    pub fn best(&self) -> Result<Vec<Match>, SpoolError> {
        self.read(&self.top_matches().pointers)
    }

    /// Where the best matches so far are, and whether they are final.
    pub fn top_matches(&self) -> TopMatches {
        self.execution.top_matches()
    }

    /// Changes whenever [`standing`](Self::standing) may have.
    pub fn news(&self) -> watch::Receiver<()> {
        self.execution.news()
    }

    /// Reads matches. Blocks on the disk.
    pub fn read(&self, pointers: &[Pointer]) -> Result<Vec<Match>, SpoolError> {
        let context_lines = self.execution.query.context_lines();
        results::read(&self.execution.spool, pointers, context_lines)
    }

    /// Calls `each` with all matches as they arrive, document by document, until the run has ended: in
    /// no order, and of a query with a limit more than those that it wants. Blocks, also on the disk.
    /// An error of `each` ends it.
    ///
    /// # Panics
    /// On a worker of a tokio runtime, which must not block.
    pub fn follow<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(MatchEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut follower, mut news) = (self.follower(), self.news());
        loop {
            // Asked first: what comes after the answer is read the next time.
            let has_ended = self.is_finished();
            let read = follower.read(has_ended, &mut |matches| match each(MatchEvent::Matches(
                matches,
            )) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            });
            if let ControlFlow::Break(error) = read? {
                return Err(error);
            }
            each(MatchEvent::Pause)?;
            if has_ended {
                return Ok(());
            }
            self.runtime.block_on(self.more(&mut news));
        }
    }

    /// Reads what arrives.
    pub fn follower(&self) -> MatchStream {
        MatchStream::new(
            Arc::clone(&self.execution.spool),
            self.execution.query.context_lines(),
        )
    }

    /// Returns when a [`follower`](Self::follower) may find more, or has waited for a while; for who
    /// has the [`news`](Self::news).
    pub async fn more(&self, news: &mut watch::Receiver<()>) {
        tokio::select! {
            _ = self.execution.settled() => {}
            // Not every frame is told of.
            _ = tokio::time::timeout(FOLLOW_EVERY, news.changed()) => {}
        }
    }

    /// Waits for the end. An answer may be incomplete: it says so.
    pub async fn finished(&self) -> Result<Arc<SearchResult>, SearchError> {
        let answer = self.execution.settled().await;
        if answer.outcome.shed {
            return Err(SearchError::Overloaded {
                retry_after_s: RETRY_AFTER_S,
            });
        }
        match &answer.outcome.refused {
            Some(bad) => Err(SearchError::BadQuery(self.query().named(bad.clone()))),
            None => Ok(answer),
        }
    }

    /// Whether the end has come.
    pub fn is_finished(&self) -> bool {
        !self.execution.is_running()
    }

    /// Whether the end had come before this client did.
    pub fn was_there(&self) -> bool {
        self.was_there
    }

    /// Ends the run where it is, for all its clients.
    pub fn cancel(&self) {
        self.execution.cancel();
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        self.execution.leave(self.grace);
        if self.execution.is_running() {
            let execution = Arc::clone(&self.execution);
            self.runtime.spawn(async move {
                while let Some(left) = execution.cancel_if_abandoned() {
                    tokio::time::sleep(left).await;
                }
            });
        }
    }
}
