//! When a client that follows a running search is told how far it is.
//!
//! A few times a second, less often while nothing changes, and at once when the first matches arrive or the best
//! are final. What is told is a [`Report`]: JSON for programs, boxes for a page.

use crate::problem::Problem;
use crate::viewer::Watched;
use axum::response::sse;
use frontend::{SearchHandle, Serving};
use std::future::pending;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often progress is sent.
const EVERY: Duration = Duration::from_millis(250);

/// How often progress is sent while nothing changes: thousands of clients may follow a search that
/// waits for its slot.
const UNCHANGED_EVERY: Duration = Duration::from_secs(2);

/// After which time a client that is handed over asks again: the proxy may still have to notice.
pub(crate) const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// What one client is told of one search. A method returns `None` once the client has gone.
pub(crate) trait Report {
    /// Whether there is something to send at once.
    fn has_urgent_news(&self) -> bool;

    /// Sends what has changed. Returns whether the search came further since the last time.
    fn report(&mut self) -> impl Future<Output = Option<bool>> + Send;

    /// Sends why the client is told no more.
    fn fail(&self, problem: &Problem) -> impl Future<Output = Option<()>> + Send;

    /// Tells the client to ask again: another server answers.
    fn hand_over(&self) -> impl Future<Output = Option<()>> + Send;

    /// Waits until the client has gone.
    fn closed(&self) -> impl Future<Output = ()> + Send;
}

/// Reports until the search ends, the client disconnects or is handed over, or it may not see any more what it saw.
/// Returns whether the search has ended.
pub(crate) async fn follow(
    watched: &mut Watched,
    search: &SearchHandle,
    reports: &mut (impl Report + Send + Sync),
) -> bool {
    let mut news = search.news();
    // Matches that are already there are news as well.
    news.mark_changed();
    let mut serving = watched.serving();
    let mut wait = EVERY;
    let mut next = Instant::now() + wait;
    loop {
        tokio::select! {
            biased;
            () = reports.closed() => return false,
            () = watched.due() => {
                if let Some(problem) = watched.look().await {
                    reports.fail(&problem).await;
                    return false;
                }
                continue;
            }
            _ = search.finished() => return true,
            () = handing_over(&mut serving) => {
                reports.hand_over().await;
                return false;
            }
            () = tokio::time::sleep_until(next.into()) => {}
            Ok(()) = news.changed() => if !reports.has_urgent_news() { continue },
        }
        let Some(has_changed) = reports.report().await else {
            return false;
        };
        wait = if has_changed {
            EVERY
        } else {
            (2 * wait).min(UNCHANGED_EVERY)
        };
        next = Instant::now() + wait;
    }
}

/// The last event of a stream whose client is handed over. Browsers ask again by themselves.
pub(crate) fn reconnect(data: String) -> sse::Event {
    let event = sse::Event::default().event("reconnect").data(data);
    event.retry(RECONNECT_AFTER)
}

/// Waits until clients are to ask another server.
async fn handing_over(serving: &mut watch::Receiver<Serving>) {
    let handing_over = serving.wait_for(|now| *now == Serving::HandingOver);
    if handing_over.await.is_err() {
        // Nobody can say so any more.
        pending().await
    }
}
