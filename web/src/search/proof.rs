//! Finds the best matches or files before a search has ended.
//!
//! A second search stops as soon as no other match can be better. The first one counts all matches.

use frontend::query::{BadQuery, Query};
use frontend::{BEST_LINES_MAX, BEST_MAX, Coordinator, SearchHandle, SearchRequest, SearchResult};
use schema::message::Want;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::Instrument;

const WAIT_MAX: Duration = Duration::from_millis(50);

/// Most light searches are shorter. A longer one is worth a second search.
const LIGHT_SEARCH: Duration = Duration::from_millis(2);

/// Searches of fewer documents are fast.
const DOCUMENTS_MIN: u64 = 8192;

/// Files for [`BEST_MAX`] different ones, as some may be copies.
pub(crate) const FILES_MAX: usize = 2 * BEST_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    /// [`BEST_MAX`] matches.
    Matches,
    /// [`FILES_MAX`] files with their best [`BEST_LINES_MAX`] matches.
    Files,
}

impl Best {
    fn query(self, query: &Query) -> Result<Query, BadQuery> {
        let query = query.clone();
        match self {
            Best::Matches => query.wanting(Want::Matches, BEST_MAX as u64)?.uncounted(),
            Best::Files => query.of_best_documents(FILES_MAX as u64, BEST_LINES_MAX as u32),
        }
    }
}

/// Finds the best items once `search` has a heavy slot or waits for one. Returns `None` if the
/// second search is refused, exceeds [`WAIT_MAX`], or ends after the first one.
pub(crate) async fn best_of(
    coordinator: &Coordinator,
    client: u64,
    search: &SearchHandle,
    best: Best,
) -> Option<Arc<SearchResult>> {
    let query = search.query();
    let is_small = search.documents_known() < DOCUMENTS_MIN;
    if query.want != Want::Matches || query.limit > 0 || query.names || is_small {
        return None;
    }
    let query = best.query(query).ok()?;
    let finished = async {
        search.may_be_heavy().await;
        tokio::time::sleep(LIGHT_SEARCH).await;
        let scope = search.scope();
        let request = SearchRequest {
            client: client.into(),
            generation: Some(search.generation().to_owned()),
            ..SearchRequest::new(scope, query)
        };
        let best = coordinator.search(request).await.ok()?;
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

/// Second search, beside the first one's output.
pub(crate) struct Proof {
    best: Arc<OnceLock<Arc<SearchResult>>>,
    /// Dropping it ends the search.
    _task: JoinSet<()>,
}

impl Proof {
    /// Begins the second search. Its result is announced as news of the first one.
    pub(crate) fn begin(
        coordinator: Arc<Coordinator>,
        client: u64,
        search: Arc<SearchHandle>,
        best: Best,
    ) -> Proof {
        let found = Arc::<OnceLock<_>>::default();
        let to = Arc::clone(&found);
        let mut task = JoinSet::new();
        let run = async move {
            if let Some(best) = best_of(&coordinator, client, &search, best).await
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
