//! Server-sent events to a client that follows a search: progress reports, the estimated remaining
//! time, and the best items before the end.
//!
//! Reports are sent a few times a second, less often without changes, and at once for the first
//! matches or final best ones. A [`Report`] is JSON for programs, boxes for a page. A second search
//! finds the best items: it stops once no other match can be better.

use crate::http::watched::Watched;
use crate::problem::Problem;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use frontend::query::{BadQuery, Query};
use frontend::{
    BEST_LINES_MAX, BEST_MAX, Coordinator, Progress, SearchHandle, SearchRequest, SearchResult,
    Serving,
};
use schema::message::Want;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
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
        self.send_json(name, data).await
    }

    pub(crate) async fn send_json(&self, name: &str, data: String) -> Option<()> {
        let event = sse::Event::default().event(name).data(data);
        self.0.send(Ok(event)).await.ok()
    }
}

pub(crate) fn respond<F>(follow: impl FnOnce(Events) -> F) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let events = events(follow);
    events.keep_alive(KeepAlive::default()).into_response()
}

/// Like [`respond`], without comments that keep the connection alive.
pub(crate) fn respond_silently<F>(follow: impl FnOnce(Events) -> F) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    events(follow).into_response()
}

type EventStream = ReceiverStream<Result<sse::Event, Infallible>>;

fn events<F>(follow: impl FnOnce(Events) -> F) -> Sse<EventStream>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let following = follow(Events(sender));
    tokio::spawn(trace::in_current(following.in_current_span()));
    Sse::new(ReceiverStream::new(receiver))
}

/// Progress reports to one client. Methods return `None` after it has gone.
pub(crate) trait Report {
    fn events(&self) -> &Events;

    fn has_urgent_news(&self) -> bool;

    /// Returns whether the search has progressed.
    fn report(&mut self) -> impl Future<Output = Option<bool>> + Send;

    fn fail(&self, problem: &Problem) -> impl Future<Output = Option<()>> + Send;

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
        pending().await
    }
}

/// Younger searches have no steady pace yet.
const ELAPSED_MIN: Duration = Duration::from_millis(200);

/// One block in this many must be done.
const SHARE_MIN: u64 = 20;

/// Weight of a new estimate.
const WEIGHT: f64 = 0.3;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Eta {
    last: Option<(Duration, Duration)>,
}

impl Eta {
    /// `None` if it is too early to tell.
    pub(crate) fn left(&mut self, progress: &Progress) -> Option<Duration> {
        let (done, total) = (progress.blocks_done, progress.blocks_total);
        let ended = |bound: f32| bound == f32::NEG_INFINITY;
        let mut backends = progress.backends.iter();
        // A backend that has not planned yet may have any number of blocks.
        let is_known = backends.all(|each| each.blocks_total > 0 || ended(each.bound));
        let elapsed = progress.elapsed;
        if !is_known || elapsed < ELAPSED_MIN || done == 0 || done < total / SHARE_MIN {
            return None;
        }
        let fresh = elapsed.mul_f64(total.saturating_sub(done) as f64 / done as f64);
        let left = match self.last {
            None => fresh,
            Some((at, left)) => {
                let expected = left.saturating_sub(elapsed.saturating_sub(at));
                expected.mul_f64(1.0 - WEIGHT) + fresh.mul_f64(WEIGHT)
            }
        };
        self.last = Some((elapsed, left));
        Some(left)
    }
}

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
    /// Like matches, of words that may be in the text or the path, only those in the text.
    Lines,
    /// [`FILES_MAX`] files with their best [`BEST_LINES_MAX`] matches.
    Files,
}

impl Best {
    fn query(self, query: &Query) -> Result<Query, BadQuery> {
        let query = query.clone();
        match self {
            Best::Matches => query.wanting(Want::Matches, BEST_MAX as u64)?.uncounted(),
            Best::Lines => Best::Matches.query(&query.in_text()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::BackendProgress;

    fn at(elapsed_ms: u64, blocks_done: u64, blocks_total: u64) -> Progress {
        let mut progress = Progress {
            elapsed: Duration::from_millis(elapsed_ms),
            ..Progress::default()
        };
        progress.add(BackendProgress {
            blocks_done,
            blocks_total,
            ..BackendProgress::default()
        });
        progress
    }

    fn check(eta: &mut Eta, progress: &Progress) -> Option<u128> {
        eta.left(progress).map(|left| left.as_millis())
    }

    #[test]
    fn gives_no_estimate_too_early() {
        let mut eta = Eta::default();
        assert_eq!(check(&mut eta, &at(0, 0, 0)), None);
        assert_eq!(check(&mut eta, &at(100, 50, 100)), None, "no pace yet");
        assert_eq!(check(&mut eta, &at(900, 4, 100)), None, "one in 25");
        let mut partly = at(1000, 50, 100);
        partly.add(BackendProgress::default());
        assert_eq!(check(&mut eta, &partly), None, "one has not planned yet");
        partly.backends[1].bound = f32::NEG_INFINITY;
        assert_eq!(check(&mut eta, &partly), Some(1000), "it had nothing to do");
    }

    #[test]
    fn is_exact_for_a_steady_search() {
        let mut eta = Eta::default();
        for done in 2..=10 {
            let left = check(&mut eta, &at(100 * done, done, 10)).unwrap();
            assert!(left.abs_diff(u128::from(1000 - 100 * done)) <= 1, "{left}");
        }
    }

    #[test]
    fn is_smoothed_and_never_negative() {
        let mut eta = Eta::default();
        assert_eq!(check(&mut eta, &at(1000, 50, 100)), Some(1000));
        // The search stalls: the estimate grows, but does not jump to the fresh one of 2 s.
        assert_eq!(check(&mut eta, &at(2000, 50, 100)), Some(600));
        // The last estimate has passed, and more blocks are done than were known.
        assert_eq!(check(&mut eta, &at(9000, 110, 100)), Some(0));
    }
}
