//! A client's hold on an execution.
//!
//! The execution runs while a handle exists. After the last one is dropped it runs for a grace period,
//! in which the client may come back, and is then cancelled down to the backends.
//!
//! An execution may have many clients, who do not know of each other. Each has an [`Interest`], whose id is
//! random, but for its first 32 bits: who knows it may end this client's interest, and nothing else.

use crate::error::{RETRY_AFTER_S, SearchError};
use crate::execution::driver::Execution;
use crate::execution::event::{ClientKey, Deadline, Event};
use crate::execution::stream_stats::{BestDocuments, Progress, TopCopies, TopMatches};
use crate::order::Pointer;
use crate::query::Query;
use crate::results::Match;
use crate::results::facets::FacetsSoFar;
use crate::results::{self, SearchResult};
use crate::results::{FoundText, MatchEvent, MatchStream};
use crate::scope::Scope;
use crate::search_client::SearchClient;
use crate::spool::SpoolError;
use schema::message::Expr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::watch;

/// How long [`SearchHandle::more`] waits at most: not every frame is announced.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);

/// What one client wants to know: the answer to a query. All of its requests share it.
#[derive(Debug)]
pub(crate) struct Interest {
    pub(crate) key: ClientKey,
    /// The key as 32 hexadecimal digits.
    id: String,
    /// Who asked: several interests may be of the same.
    pub(crate) client: u64,
    pub(crate) query: Query,
    /// What the client saw. Its id is unknown to a client that sees anything else.
    pub(crate) scope: Scope,
    pub(crate) generation: String,
    /// The handles of this client that the execution counts: never more than it does.
    open: AtomicUsize,
    /// Whether the client wants the answer no more, although the execution goes on for others.
    withdrawn: watch::Sender<bool>,
}

impl Interest {
    /// An interest with a random id, of which the first 32 bits are the route.
    pub(crate) fn new(
        client: SearchClient,
        query: Query,
        scope: Scope,
        generation: String,
    ) -> Arc<Interest> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        key[..4].copy_from_slice(&client.route.to_be_bytes());
        let key = ClientKey::from_be_bytes(key);
        Arc::new(Interest {
            key,
            id: format!("{key:032x}"),
            client: client.number,
            query,
            scope,
            generation,
            open: AtomicUsize::new(0),
            withdrawn: watch::Sender::new(false),
        })
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        *self.withdrawn.borrow()
    }

    async fn withdrawn(&self) {
        let mut withdrawn = self.withdrawn.subscribe();
        let waited = withdrawn.wait_for(|withdrawn| *withdrawn).await;
        waited.expect("the sender is in self");
    }
}

/// A query that runs or has finished.
pub struct SearchHandle {
    execution: Arc<Execution>,
    interest: Arc<Interest>,
    grace: Duration,
    was_finished: bool,
    pending: u64,
}

impl SearchHandle {
    /// Joins an execution: by its id in any state, or with a deadline if new clients may share it.
    pub(crate) fn join(
        execution: Arc<Execution>,
        grace: Duration,
        deadline: Option<Deadline>,
        interest: Arc<Interest>,
        pending: u64,
    ) -> Option<SearchHandle> {
        let was_finished = !execution.is_running();
        if !execution.join(deadline) {
            return None;
        }
        interest.open.fetch_add(1, SeqCst);
        Some(SearchHandle {
            execution,
            interest,
            grace,
            was_finished,
            pending,
        })
    }

    /// The id of this client's search: random, and known to nobody else.
    pub fn id(&self) -> &str {
        &self.interest.id
    }

    /// Files that were known to have changed when the client asked, and were not in the index yet.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Names query, generation and scope: equal for all clients of the same search.
    pub fn identity(&self) -> &str {
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

    /// What the client saw when it searched.
    pub fn scope(&self) -> &Scope {
        &self.interest.scope
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

    /// Waits until the search has a slot for heavy queries, or waits for one: it may take long, and others that take
    /// long do not use up all slots. Waits forever if neither happens.
    pub async fn may_be_heavy(&self) {
        let mut heavy = self.execution.may_be_heavy.subscribe();
        let waited = heavy.wait_for(|is_heavy| *is_heavy).await;
        waited.expect("the sender is in the execution");
    }

    /// How many documents are searched.
    pub fn documents_known(&self) -> u64 {
        self.execution.known.documents
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

    /// Pointers to the best documents so far, at most ten, and whether they are final; with or without copies of better ones.
    pub fn best_documents(&self, folds: bool) -> BestDocuments {
        let stats = self.execution.streams.iter().map(|stream| &stream.stats);
        let copies = match folds {
            false => TopCopies::All,
            true if copies_match_alike(self.query().expr()) => TopCopies::Folded,
            true => TopCopies::Unsure,
        };
        BestDocuments::new(stats, self.query().limit(), copies)
    }

    /// The counts of the matches that have arrived, by package, language, kind and directory. They are renewed a few
    /// times a second while the search runs.
    pub fn facets_so_far(&self) -> FacetsSoFar {
        let streams = self.execution.streams.iter();
        FacetsSoFar::sum(streams.map(|stream| stream.stats.facets()))
    }

    /// Changes whenever [`top_matches`](Self::top_matches) may have changed.
    pub fn news(&self) -> watch::Receiver<()> {
        self.execution.news.subscribe()
    }

    /// Changes [`news`](Self::news), for what the caller has found elsewhere.
    pub fn announce(&self) {
        self.execution.news.send_replace(());
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

    /// Does the same as [`follow`](Self::follow) with text; `None` when there is no more for the moment. If results have
    /// no order, what was read is released: then nobody else may read the matches.
    pub fn follow_text<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(Option<FoundText<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut follower, mut news) = (self.follower(), self.news());
        if !self.execution.ordered {
            follower = follower.releasing();
        }
        loop {
            let has_ended = self.is_finished();
            let read = follower.read_text(has_ended, &mut |text| {
                each(Some(text)).map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
            if let ControlFlow::Break(error) = read? {
                return Err(error);
            }
            each(None)?;
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
            () = self.interest.withdrawn() => {}
            _ = tokio::time::timeout(FOLLOW_EVERY, news.changed()) => {}
        }
    }

    /// Waits for the result. It may be incomplete, and says so.
    pub async fn finished(&self) -> Result<Arc<SearchResult>, SearchError> {
        let answer = tokio::select! {
            biased;
            () = self.interest.withdrawn() => return Err(SearchError::Withdrawn),
            answer = self.execution.finished() => answer,
        };
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

    /// Whether there is nothing more to wait for: the execution has finished, or the client has withdrawn.
    pub fn is_finished(&self) -> bool {
        !self.execution.is_running() || self.interest.is_withdrawn()
    }

    /// Whether the execution had finished before this client came.
    pub fn was_there(&self) -> bool {
        self.was_finished
    }

    /// Ends this client's interest. The execution is cancelled, unless it goes on for others.
    pub fn withdraw(&self) {
        let client = self.interest.key;
        let open = self.interest.open.load(SeqCst);
        self.execution.on(Event::Withdraw { client, open });
        if self.execution.goes_on() {
            self.interest.withdrawn.send_replace(true);
        }
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        let client = self.interest.key;
        let grace = if self.interest.is_withdrawn() {
            Duration::ZERO
        } else {
            self.grace
        };
        // In this order: the execution must not count fewer than are open.
        self.interest.open.fetch_sub(1, SeqCst);
        self.execution.on(Event::Leave { client, grace });
    }
}
/// Whether documents with the same text have the same matches, if they pass the filters: each condition is about the text, or
/// about anything else.
fn copies_match_alike(expr: &Expr) -> bool {
    let is_of_text = |atom: &&Expr| matches!(atom, Expr::Pattern(pattern) if !pattern.in_path);
    expr.factors().iter().all(|factor| {
        let of_text = factor
            .atoms()
            .iter()
            .filter(|atom| is_of_text(atom))
            .count();
        of_text == 0 || of_text == factor.atoms().len()
    })
}
