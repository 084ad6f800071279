//! A client's hold on an execution.
//!
//! The execution runs while a handle exists. After the last one is dropped it runs for a grace period,
//! in which the client may come back, and is then cancelled down to the backends.

use crate::error::{RETRY_AFTER_S, SearchError};
use crate::execution::driver::Execution;
use crate::execution::event::{Deadline, Event};
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

/// How long [`SearchHandle::more`] waits at most: not every frame is announced.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);

/// A query that runs or has finished.
pub struct SearchHandle {
    execution: Arc<Execution>,
    grace: Duration,
    was_finished: bool,
}

impl SearchHandle {
    /// Joins an execution: by its id in any state, or with a deadline if new clients may share it.
    pub(crate) fn join(
        execution: Arc<Execution>,
        grace: Duration,
        deadline: Option<Deadline>,
    ) -> Option<SearchHandle> {
        let was_finished = !execution.is_running();
        execution.join(deadline).then(|| SearchHandle {
            execution,
            grace,
            was_finished,
        })
    }

    /// The id of the execution.
    pub fn id(&self) -> &str {
        &self.execution.id
    }

    /// The id of the set of shards that is searched.
    pub fn generation(&self) -> &str {
        &self.execution.generation
    }

    /// The query.
    pub fn query(&self) -> &Query {
        &self.execution.query
    }

    /// Lets the execution go on for at least `grace` after this handle is dropped: for a client that
    /// will ask again by id.
    pub fn keep(&mut self, grace: Duration) {
        self.grace = self.grace.max(grace);
    }

    /// How far the search is.
    pub fn progress(&self) -> Progress {
        self.execution.progress()
    }

    /// Returns a function that reads the progress without holding the execution.
    pub fn watch(&self) -> impl Fn() -> Progress + Send + use<> {
        let execution = Arc::clone(&self.execution);
        move || execution.progress()
    }

    /// The best matches so far, at most ten, best first. Blocks on the disk.
    pub fn best(&self) -> Result<Vec<Match>, SpoolError> {
        self.read(&self.top_matches().pointers)
    }

    /// Pointers to the best matches so far, and whether they are final.
    pub fn top_matches(&self) -> TopMatches {
        let stats = self.execution.streams.iter().map(|stream| &stream.stats);
        TopMatches::new(stats, self.query().limit())
    }

    /// Changes whenever [`top_matches`](Self::top_matches) may have changed.
    pub fn news(&self) -> watch::Receiver<()> {
        self.execution.news.subscribe()
    }

    /// Reads matches. Blocks on the disk.
    pub fn read(&self, pointers: &[Pointer]) -> Result<Vec<Match>, SpoolError> {
        let context_lines = self.execution.query.context_lines();
        results::read(&self.execution.spool, pointers, context_lines)
    }

    /// Calls `each` with all matches as they arrive, document by document, until the execution has
    /// finished. There is no order, and of a query with a limit there are more matches than that. Blocks,
    /// also on the disk. An error of `each` ends it.
    ///
    /// # Panics
    /// On a worker of a tokio runtime, which must not block.
    pub fn follow<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(MatchEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut follower, mut news) = (self.follower(), self.news());
        loop {
            // Read before the matches: those that arrive after it are read the next time.
            let has_ended = self.is_finished();
            let read = follower.read(has_ended, &mut |matches| {
                let done = each(MatchEvent::Matches(matches));
                done.map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
            if let ControlFlow::Break(error) = read? {
                return Err(error);
            }
            each(MatchEvent::Pause)?;
            if has_ended {
                return Ok(());
            }
            self.execution.runtime.block_on(self.more(&mut news));
        }
    }

    /// Reads matches as they arrive.
    pub fn follower(&self) -> MatchStream {
        let context_lines = self.execution.query.context_lines();
        MatchStream::new(Arc::clone(&self.execution.spool), context_lines)
    }

    /// Waits until a [`follower`](Self::follower) may find more, but not for long. `news` is from
    /// [`news`](Self::news).
    pub async fn more(&self, news: &mut watch::Receiver<()>) {
        tokio::select! {
            _ = self.execution.finished() => {}
            _ = tokio::time::timeout(FOLLOW_EVERY, news.changed()) => {}
        }
    }

    /// Waits for the result. It may be incomplete, and says so.
    pub async fn finished(&self) -> Result<Arc<SearchResult>, SearchError> {
        let answer = self.execution.finished().await;
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

    /// Whether the execution has finished.
    pub fn is_finished(&self) -> bool {
        !self.execution.is_running()
    }

    /// Whether the execution had finished before this client came.
    pub fn was_there(&self) -> bool {
        self.was_finished
    }

    /// Ends the execution for all its clients.
    pub fn cancel(&self) {
        self.execution.on(Event::Cancel);
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        let grace = self.grace;
        self.execution.on(Event::Leave { grace });
    }
}
