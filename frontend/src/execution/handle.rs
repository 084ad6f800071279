//! A client's hold on an execution.
//!
//! The execution runs while a handle exists, and for a grace period afterwards, in which the client
//! may return. Then it is cancelled down to the backends.
//!
//! Clients of one execution are unaware of each other. Each has an [`Interest`] with a random id
//! behind the 32 bits of its route. The id only lets its holder end this interest.

use crate::error::{RETRY_AFTER_S, SearchError};
use crate::execution::driver::Execution;
use crate::execution::state::{ClientKey, Deadline, Event};
use crate::execution::stream_stats::{BestDocuments, Progress, StreamStats, TopCopies, TopMatches};
use crate::search_request::SearchClient;
use cache::lock;
use clru::CLruCache;
use query::{Query, Scope};
use results::facets::FacetsSoFar;
use results::order::Pointer;
use results::spool::SpoolError;
use results::{FoundText, Match, MatchStream, SearchResult};
use schema::message::Expr;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::watch;

/// Longest wait of [`SearchHandle::more`], since not every frame is announced.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);

/// Bound on interests. Each search request adds one of at most about 5 KiB, mostly the query.
const INTERESTS_MAX: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

const ID_LEN: usize = 32;

#[derive(Debug)]
pub(crate) struct Interest {
    pub(crate) key: ClientKey,
    id: String,
    /// May have several interests.
    pub(crate) client: SearchClient,
    pub(crate) query: Query,
    /// The id is unknown in any other.
    pub(crate) scope: Scope,
    pub(crate) generation: String,
    /// Handles of this client that the execution counts, never more than it does.
    open: AtomicUsize,
    withdrawn: watch::Sender<bool>,
}

impl Interest {
    /// The id begins with the route (32 bits).
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
            client,
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

/// Interests by id, so that a client can return to its search. Evicted in LRU order. An interest
/// keeps no execution alive: an evicted result is searched for again.
pub(crate) struct Interests(CLruCache<ClientKey, Arc<Interest>>);

impl Default for Interests {
    fn default() -> Interests {
        Interests(CLruCache::new(INTERESTS_MAX))
    }
}

impl Interests {
    pub(crate) fn insert(&mut self, interest: Arc<Interest>) {
        self.0.put(interest.key, interest);
    }

    pub(crate) fn get(&mut self, scope: &Scope, id: &str) -> Option<Arc<Interest>> {
        let is_id = id.len() == ID_LEN && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = ClientKey::from_str_radix(id, 16).ok().filter(|_| is_id)?;
        let known = self.0.peek(&key);
        known.filter(|interest| interest.scope == *scope)?;
        self.0.get(&key).cloned()
    }

    pub(crate) fn forget(&mut self, key: ClientKey) {
        self.0.pop(&key);
    }
}

/// A running or finished query.
pub struct SearchHandle {
    execution: Arc<Execution>,
    pub(crate) interest: Arc<Interest>,
    grace: Duration,
    was_finished: bool,
    pending: u64,
}

impl SearchHandle {
    /// Joins by id in any state, or with a deadline if new clients may share it.
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

    /// Random id of this client's search.
    pub fn id(&self) -> &str {
        &self.interest.id
    }

    /// Changed files that were not in the index yet when the client searched.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Identity of query, generation and scope, equal for all clients.
    pub fn identity(&self) -> &str {
        &self.execution.identity
    }

    /// Id of the searched set of shards.
    pub fn generation(&self) -> &str {
        &self.execution.generation
    }

    pub fn query(&self) -> &Query {
        &self.execution.query
    }

    /// Scope of the client when it searched.
    pub fn scope(&self) -> &Scope {
        &self.interest.scope
    }

    /// Keeps the execution for at least `grace` after this handle is dropped, for a return by id.
    pub fn keep(&mut self, grace: Duration) {
        self.grace = self.grace.max(grace);
    }

    pub fn progress(&self) -> Progress {
        self.execution.progress()
    }

    /// Waits until the search has or awaits a heavy slot; forever if it never does.
    pub async fn may_be_heavy(&self) {
        let mut heavy = self.execution.may_be_heavy.subscribe();
        let waited = heavy.wait_for(|is_heavy| *is_heavy).await;
        waited.expect("the sender is in the execution");
    }

    pub fn documents_known(&self) -> u64 {
        self.execution.known.documents
    }

    /// Returns a function that reads the progress without holding the execution.
    pub fn watch(&self) -> impl Fn() -> Progress + Send + use<> {
        let execution = Arc::clone(&self.execution);
        move || execution.progress()
    }

    /// At most ten best matches so far, best first. Blocks on the disk.
    pub fn best(&self) -> Result<Vec<Match>, SpoolError> {
        self.read(&self.top_matches().pointers)
    }

    /// Pointers to the best matches so far.
    pub fn top_matches(&self) -> TopMatches {
        TopMatches::new(self.stats(), self.query().limit)
    }

    fn stats(&self) -> impl Iterator<Item = &StreamStats> {
        self.execution.streams.iter().map(|stream| &stream.stats)
    }

    /// Pointers to at most ten best documents so far, with or without copies of better ones.
    pub fn best_documents(&self, folds: bool) -> BestDocuments {
        let copies = match folds {
            false => TopCopies::All,
            true if copies_match_alike(&self.query().expr) => TopCopies::Folded,
            true => TopCopies::Unsure,
        };
        BestDocuments::new(self.stats(), self.query().limit, copies)
    }

    /// Counts so far by package, language, kind and directory, renewed a few times a second.
    pub fn facets_so_far(&self) -> FacetsSoFar {
        FacetsSoFar::sum(self.stats().map(|stats| lock(&stats.facets).clone()))
    }

    /// Changes whenever [`top_matches`](Self::top_matches) may have changed.
    pub fn news(&self) -> watch::Receiver<()> {
        self.execution.news.subscribe()
    }

    /// Notifies [`news`](Self::news) of matches found elsewhere.
    pub fn announce(&self) {
        self.execution.news.send_replace(());
    }

    /// Reads matches. Blocks on the disk.
    pub fn read(&self, pointers: &[Pointer]) -> Result<Vec<Match>, SpoolError> {
        let context_lines = self.execution.query.context_lines;
        results::read(&self.execution.spool, pointers, context_lines)
    }

    /// Calls `each` with the matches of a document as they arrive, unordered, until the end or an
    /// error; with `None` if there are no more for now. After a pause a document may continue. They
    /// may exceed the query's limit. Blocks, also on the disk.
    ///
    /// # Panics
    /// On a worker of a tokio runtime.
    pub fn follow<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(Option<Vec<Match>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut follower = self.follower();
        self.in_rounds(|has_ended| {
            let read = follower.read(has_ended, &mut |matches| {
                let done = each(Some(matches));
                done.map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
            if let ControlFlow::Break(error) = read? {
                return Err(error);
            }
            each(None)
        })
    }

    /// Like [`follow`](Self::follow), with text. Unordered results release bytes once read, so
    /// there must be no other reader.
    pub fn follow_text<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(Option<FoundText<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut follower = self.follower();
        if !self.execution.ordered {
            follower = follower.releasing();
        }
        self.in_rounds(|has_ended| {
            let read = follower.read_text(has_ended, &mut |text| {
                each(Some(text)).map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
            if let ControlFlow::Break(error) = read? {
                return Err(error);
            }
            each(None)
        })
    }

    fn in_rounds<E>(&self, mut round: impl FnMut(bool) -> Result<(), E>) -> Result<(), E> {
        let mut news = self.news();
        loop {
            // Read first: matches that arrive later are read in the next round.
            let has_ended = self.is_finished();
            round(has_ended)?;
            if has_ended {
                return Ok(());
            }
            self.execution.runtime.block_on(self.more(&mut news));
        }
    }

    pub fn follower(&self) -> MatchStream {
        let context_lines = self.execution.query.context_lines;
        MatchStream::new(Arc::clone(&self.execution.spool), context_lines)
    }

    /// Waits briefly for more for a [`follower`](Self::follower). `news` is
    /// from [`news`](Self::news).
    pub async fn more(&self, news: &mut watch::Receiver<()>) {
        tokio::select! {
            _ = self.execution.finished() => {}
            () = self.interest.withdrawn() => {}
            _ = tokio::time::timeout(FOLLOW_EVERY, news.changed()) => {}
        }
    }

    /// Waits for the result, which may be incomplete.
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

    /// True if the execution has finished or the client has withdrawn.
    pub fn is_finished(&self) -> bool {
        !self.execution.is_running() || self.interest.is_withdrawn()
    }

    /// True if the execution had finished before this client came.
    pub fn was_there(&self) -> bool {
        self.was_finished
    }

    /// Ends this client's interest. Cancels the execution unless other clients wait.
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

/// True if no condition is about both the text and anything else, apart from filters.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_request::SearchClient;
    use query::{Query, Scope};
    use schema::message::{Expr, Pattern};

    fn interest() -> (String, Arc<Interest>) {
        let pattern = Pattern {
            text: "x".to_owned(),
            ..Pattern::default()
        };
        let query = Query::new(Expr::Pattern(pattern), 0).unwrap();
        let interest = Interest::new(
            SearchClient::default(),
            query,
            Scope::everything(),
            "g".to_owned(),
        );
        (format!("{:032x}", interest.key), interest)
    }

    #[test]
    fn the_interest_that_was_used_least_recently_is_forgotten() {
        let (mut interests, (first, kept)) = (Interests::default(), interest());
        interests.insert(kept);
        let (second, forgotten) = interest();
        interests.insert(forgotten);
        for _ in 0..INTERESTS_MAX.get() - 2 {
            interests.insert(interest().1);
        }
        assert!(interests.get(&Scope::everything(), &first).is_some());
        interests.insert(interest().1);
        assert!(
            interests.get(&Scope::everything(), &first).is_some()
                && interests.get(&Scope::everything(), &second).is_none()
        );
        assert_eq!(interests.0.len(), INTERESTS_MAX.get());
    }

    #[test]
    fn an_id_is_random_and_has_32_digits() {
        let ids: std::collections::HashSet<_> = (0..100).map(|_| interest().0).collect();
        assert_eq!(ids.len(), 100);
        let mut interests = Interests::default();
        for bad in [
            "",
            "0123456789abcdef",
            "+",
            &"g".repeat(32),
            &"0".repeat(33),
        ] {
            assert!(interests.get(&Scope::everything(), bad).is_none(), "{bad}");
        }
    }
}
