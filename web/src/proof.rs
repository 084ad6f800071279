//! The best matches or files of a search, found before the search has ended.
//!
//! A second search stops as soon as no other match can be better. It begins when the first one may take long, and its
//! result is the first page: the count of all matches goes on behind it.

use crate::state::App;
use frontend::query::{BadQuery, Query};
use frontend::{BEST_MAX, SearchHandle, SearchResult};
use schema::message::Want;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::Instrument;

/// How long the second search may take.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long most light searches take. A search that goes on after it is worth a second one for its best matches.
const LIGHT_SEARCH: Duration = Duration::from_millis(2);

/// Documents that are searched, from which on a search can take so long that its best matches are worth a search of
/// their own.
const DOCUMENTS_MIN: u64 = 8192;

/// Files that are found for a page of [`BEST_MAX`] different ones: some of them may be copies of others.
pub(crate) const FILES_MAX: usize = 2 * BEST_MAX;

/// What is the best of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    /// [`BEST_MAX`] matches.
    Matches,
    /// [`FILES_MAX`] files, each with so many of its best matches.
    Files { matches: u32 },
}

impl Best {
    fn query(self, query: &Query) -> Result<Query, BadQuery> {
        let query = query.clone();
        match self {
            Best::Matches => query.wanting(Want::Matches, BEST_MAX as u64)?.uncounted(),
            Best::Files { matches } => query.of_best_documents(FILES_MAX as u64, matches),
        }
    }
}

/// Finds the best of a search that has just begun. The second search begins when the first one has a slot for heavy
/// queries or waits for one, and is not light. Returns `None` if the second search takes longer than [`WAIT_MAX`] or is
/// refused, or if the first one ends before it.
pub(crate) async fn best_of(
    app: &App,
    client: u64,
    search: &SearchHandle,
    best: Best,
) -> Option<Arc<SearchResult>> {
    let query = search.query();
    let is_small = search.documents_known() < DOCUMENTS_MIN;
    if query.want() != Want::Matches || query.limit() > 0 || query.names() || is_small {
        return None;
    }
    let query = best.query(query).ok()?;
    let finished = async {
        search.may_be_heavy().await;
        tokio::time::sleep(LIGHT_SEARCH).await;
        let (coordinator, scope) = (&app.coordinator, search.scope());
        let generation = Some(search.generation());
        let best = coordinator
            .search_for(scope, client, query, generation, None)
            .await
            .ok()?;
        tokio::select! {
            best = best.finished() => best.ok(),
            () = tokio::time::sleep(WAIT_MAX) => None,
        }
    };
    tokio::select! {
        biased;
        _ = search.finished() => None,
        best = finished => best.filter(|best| best.is_complete()),
    }
}

/// The second search, which runs beside what follows the first one.
pub(crate) struct Proof {
    best: Arc<OnceLock<Arc<SearchResult>>>,
    /// Ends the search when it is dropped.
    _task: JoinSet<()>,
}

impl Proof {
    /// Begins to search. The result is announced as news of the first search.
    pub(crate) fn begin(app: App, client: u64, search: Arc<SearchHandle>, best: Best) -> Proof {
        let found = Arc::<OnceLock<_>>::default();
        let to = Arc::clone(&found);
        let mut task = JoinSet::new();
        let run = async move {
            if let Some(best) = best_of(&app, client, &search, best).await
                && to.set(best).is_ok()
            {
                search.announce();
            }
        };
        task.spawn(run.in_current_span());
        Proof {
            best: found,
            _task: task,
        }
    }

    /// The result, once it is there.
    pub(crate) fn best(&self) -> Option<&Arc<SearchResult>> {
        self.best.get()
    }
}
