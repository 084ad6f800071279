//! Schedule of progress reports to a client that follows a search.
//!
//! Reports are sent a few times a second, less often without changes, and at once for the first
//! matches or final best ones. A [`Report`] is JSON for programs, boxes for a page.

use crate::http::watched::Watched;
use crate::problem::Problem;
use axum::response::sse;
use frontend::{SearchHandle, Serving};
use std::future::pending;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const EVERY: Duration = Duration::from_millis(250);

/// Interval without changes: thousands of clients may follow a queued search.
const UNCHANGED_EVERY: Duration = Duration::from_secs(2);

/// Delay of a reconnect after a handover, which the proxy may still have to notice.
pub(crate) const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// Progress reports to one client. Methods return `None` after it has gone.
pub(crate) trait Report {
    fn has_urgent_news(&self) -> bool;

    /// Returns whether the search has progressed.
    fn report(&mut self) -> impl Future<Output = Option<bool>> + Send;

    /// Sends the reason for the end.
    fn fail(&self, problem: &Problem) -> impl Future<Output = Option<()>> + Send;

    /// Sends the client to another server.
    fn hand_over(&self) -> impl Future<Output = Option<()>> + Send;

    fn closed(&self) -> impl Future<Output = ()> + Send;
}

/// Reports until the search ends (true), the client disconnects or is handed over, or its scope
/// shrinks.
pub(crate) async fn follow(
    watched: &mut Watched,
    search: &SearchHandle,
    reports: &mut (impl Report + Send + Sync),
) -> bool {
    let mut news = search.news();
    // Existing matches are news as well.
    news.mark_changed();
    let mut serving = watched.serving.clone();
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

/// Browsers reconnect by themselves.
pub(crate) fn reconnect(data: String) -> sse::Event {
    let event = sse::Event::default().event("reconnect").data(data);
    event.retry(RECONNECT_AFTER)
}

async fn handing_over(serving: &mut watch::Receiver<Serving>) {
    let handing_over = serving.wait_for(|now| *now == Serving::HandingOver);
    if handing_over.await.is_err() {
        // The sender is gone.
        pending().await
    }
}
