//! Server-sent events to a client that follows a search, and the schedule of its progress reports.
//!
//! Reports are sent a few times a second, less often without changes, and at once for the first
//! matches or final best ones. A [`Report`] is JSON for programs, boxes for a page.

use crate::http::watched::Watched;
use crate::problem::Problem;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use frontend::{SearchHandle, Serving};
use std::convert::Infallible;
use std::future::pending;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tracing::Instrument;

/// A slow client gets the newest state instead of a backlog.
const WAITING_MAX: usize = 2;

const EVERY: Duration = Duration::from_millis(250);

/// Interval without changes: thousands of clients may follow a queued search.
const UNCHANGED_EVERY: Duration = Duration::from_secs(2);

/// Delay of a reconnect after a handover, which the proxy may still have to notice.
pub(crate) const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// Events to one client. Methods return `None` after it has gone.
pub(crate) struct Events(mpsc::Sender<Result<sse::Event, Infallible>>);

impl Events {
    pub(crate) async fn send(&self, name: &str, data: &impl serde::Serialize) -> Option<()> {
        let data = serde_json::to_string(data).expect("events are plain data");
        let event = sse::Event::default().event(name).data(data);
        self.0.send(Ok(event)).await.ok()
    }
}

/// Response with the events that `follow` sends.
pub(crate) fn respond<F>(follow: impl FnOnce(Events) -> F) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let following = follow(Events(sender));
    tokio::spawn(trace::in_current(following.in_current_span()));
    let events = Sse::new(ReceiverStream::new(receiver));
    events.keep_alive(KeepAlive::default()).into_response()
}

/// Progress reports to one client. Methods return `None` after it has gone.
pub(crate) trait Report {
    fn events(&self) -> &Events;

    fn has_urgent_news(&self) -> bool;

    /// Returns whether the search has progressed.
    fn report(&mut self) -> impl Future<Output = Option<bool>> + Send;

    /// Sends the reason for the end.
    fn fail(&self, problem: &Problem) -> impl Future<Output = Option<()>> + Send;

    /// Sends the end of the search.
    fn end(&self) -> impl Future<Output = Option<()>> + Send;

    /// Adds data to the event that sends the client to another server.
    fn reconnect(&self, event: sse::Event) -> sse::Event;
}

/// Reports until the search ends, the client disconnects or is handed over, or its scope shrinks.
pub(crate) async fn follow(
    watched: &mut Watched,
    search: &SearchHandle,
    reports: &mut (impl Report + Send + Sync),
) {
    let mut news = search.news();
    // Existing matches are news as well.
    news.mark_changed();
    let mut serving = watched.serving.clone();
    let mut wait = EVERY;
    let mut next = Instant::now() + wait;
    loop {
        tokio::select! {
            biased;
            () = reports.events().0.closed() => return,
            () = watched.due() => {
                if let Some(problem) = watched.look().await {
                    reports.fail(&problem).await;
                    return;
                }
                continue;
            }
            _ = search.finished() => {
                reports.end().await;
                return;
            }
            () = handing_over(&mut serving) => {
                // Browsers reconnect by themselves.
                let event = sse::Event::default().event("reconnect").retry(RECONNECT_AFTER);
                let _ = reports.events().0.send(Ok(reports.reconnect(event))).await;
                return;
            }
            () = tokio::time::sleep_until(next.into()) => {}
            Ok(()) = news.changed() => if !reports.has_urgent_news() { continue },
        }
        let Some(has_changed) = reports.report().await else {
            return;
        };
        wait = if has_changed {
            EVERY
        } else {
            (2 * wait).min(UNCHANGED_EVERY)
        };
        next = Instant::now() + wait;
    }
}

async fn handing_over(serving: &mut watch::Receiver<Serving>) {
    let handing_over = serving.wait_for(|now| *now == Serving::HandingOver);
    if handing_over.await.is_err() {
        // The sender is gone.
        pending().await
    }
}
