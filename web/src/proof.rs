//! Finds the best matches or files of a search before it has ended.
//!
//! A second search stops as soon as no other match can be better. It begins if the first one may
//! take long. Its result is the first page, and counting all matches continues in the first search.

use crate::state::App;
use frontend::query::{BadQuery, Query};
use frontend::{BEST_MAX, SearchHandle, SearchResult};
use schema::message::Want;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::Instrument;

/// Timeout of the second search.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Duration of most light searches. A longer one is worth a second search.
const LIGHT_SEARCH: Duration = Duration::from_millis(2);

/// Documents from which on a search may be worth a second one.
const DOCUMENTS_MIN: u64 = 8192;

/// Files for a page of [`BEST_MAX`] different ones, as some may be copies.
pub(crate) const FILES_MAX: usize = 2 * BEST_MAX;

/// Best items of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    /// [`BEST_MAX`] matches.
    Matches,
    /// [`FILES_MAX`] files, each with this number of its best matches.
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

/// Finds the best items of a search that has just begun. The second search begins if the first one
/// is heavy: it has a heavy slot or waits for one. Returns `None` if the second search is refused,
/// exceeds [`WAIT_MAX`], or ends after the first one.
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

/// Second search, beside the output of the first one.
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

    pub(crate) fn best(&self) -> Option<&Arc<SearchResult>> {
        self.best.get()
    }
}
