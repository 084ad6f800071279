//! A search as it goes on: server-sent events.
//!
//! A `notice` for each thing in the query that may have been meant otherwise, `progress` and `matches`
//! a few times a second, `matches` as soon as there are some and once more when they are final, then
//! `facets`, when all matches were counted, and one `done`. Whoever listens gets the first page from
//! the last `matches`; whoever is refused gets what a problem document says with `done`.
//! The run goes on as long as somebody listens.

use super::eta::Eta;
use super::openapi::params as doc;
use super::openapi::problems::{NotFound, Searching};
use super::params::{Params, QUERY};
use super::path::Path;
use super::problem::{Document, Problem};
use super::{App, api, blocking, lists};
use crate::render::html::{BestPart, MatchView};
use crate::render::json::{self, MissingJson, NoticeJson, ProgressJson, TimingsJson};
use crate::render::shapes::EventSchema;
use askama::Template;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use frontend::BEST_MAX;
use frontend::Match;
use frontend::Search;
use frontend::SearchResult;
use frontend::Standing;
use frontend::query::{ParsedQuery, Query, QueryInput};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// How often a listener is told how far the search is.
const EVERY: Duration = Duration::from_millis(250);

/// Events that wait for a slow listener. It gets the next state instead of a backlog.
const WAITING_MAX: usize = 2;

#[derive(serde::Serialize)]
struct Far<'a> {
    id: &'a str,
    #[serde(flatten)]
    progress: ProgressJson,
}

#[derive(serde::Serialize)]
struct Matches {
    r#final: bool,
    #[serde(serialize_with = "json::all_matches")]
    matches: Vec<Match>,
    /// The same as a part of a page.
    html: String,
}

#[derive(Default, serde::Serialize)]
struct Done<'a> {
    id: &'a str,
    interpreted_as: String,
    found: u64,
    total: u64,
    complete: bool,
    missing: Vec<MissingJson>,
    documents: u64,
    packages: usize,
    timings: Option<TimingsJson>,
    /// Why there is no answer: the detail of the problem.
    error: Option<&'a str>,
    #[serde(flatten)]
    problem: Option<Document<'a>>,
}

/// Starts a search, or joins it, and follows it.
#[utoipa::path(
    get, path = "/api/v2/events", operation_id = "events", tag = "search",
    params(doc::Query),
    responses((status = 200, description = "Events: notice, progress, matches, facets, and one done", content_type = "text/event-stream", body = EventSchema), Searching)
)]
pub(super) async fn search(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[QUERY])?;
    let parsed = params.parsed()?;
    let search = api::start(&app, &params, &parsed).await?;
    let notices = json::notices(&parsed.notices);
    Ok(events(search, Some(parsed), notices))
}

/// Follows a search that is known by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/events", operation_id = "runEvents", tag = "search",
    params(doc::Id),
    responses((status = 200, description = "Events: notice, progress, matches, facets, and one done", content_type = "text/event-stream", body = EventSchema), Searching, NotFound)
)]
pub(super) async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    let search = api::known(&app, &id).await?;
    let parsed = parse_again(search.query());
    Ok(events(search, parsed, Vec::new()))
}

/// A query in the form in which the end of its search shows it, for the places of faults in that: what
/// was typed is not known of a search that is asked for by its id.
fn parse_again(query: &Query) -> Option<ParsedQuery> {
    let shown = query.interpreted_as();
    let typed = QueryInput {
        q: &shown,
        ..QueryInput::default()
    };
    let parsed = Query::parse(&typed).ok();
    parsed.filter(|parsed| parsed.query.expr() == query.expr())
}

fn events(search: Search, parsed: Option<ParsedQuery>, notices: Vec<NoticeJson>) -> Response {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let id = [api::search_header(search.id())];
    tokio::spawn(follow(search, parsed, notices, sender));
    let events = Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default());
    (id, events).into_response()
}

/// Sends events until the search is done or nobody listens any more.
async fn follow(
    search: Search,
    parsed: Option<ParsedQuery>,
    notices: Vec<NoticeJson>,
    sender: mpsc::Sender<Result<Event, Infallible>>,
) {
    let mut news = search.news();
    // Matches that were there before somebody listened are news as well.
    news.mark_changed();
    let mut follower = MatchStream {
        search: Arc::new(search),
        parsed,
        sender,
        eta: Eta::default(),
        shown: Standing::default(),
    };
    for notice in notices {
        if follower.send("notice", &notice).await.is_none() {
            return;
        }
    }
    let mut next = Instant::now() + EVERY;
    loop {
        tokio::select! {
            biased;
            () = follower.sender.closed() => return,
            _ = follower.search.finished() => break,
            () = tokio::time::sleep_until(next.into()) => {}
            Ok(()) = news.changed() => if !follower.has_news() { continue },
        }
        if follower.tell().await.is_none() {
            return;
        }
        next = Instant::now() + EVERY;
    }
    follower.end().await;
}

struct MatchStream {
    search: Arc<Search>,
    /// With the places of what was typed.
    parsed: Option<ParsedQuery>,
    sender: mpsc::Sender<Result<Event, Infallible>>,
    eta: Eta,
    /// What the last `matches` showed.
    shown: Standing,
}

impl MatchStream {
    /// Whether something is not to wait: the first matches, or that they are final.
    fn has_news(&self) -> bool {
        let Standing { pointers, is_final } = self.search.standing();
        let is_first = self.shown.pointers.is_empty() && !pointers.is_empty();
        is_first || (is_final && !self.shown.is_final)
    }

    /// Sends how far the search is, and the best matches when they are others than before.
    async fn tell(&mut self) -> Option<()> {
        let standing = self.search.standing();
        if !standing.pointers.is_empty() && standing != self.shown {
            let (search, best) = (Arc::clone(&self.search), standing.clone());
            if let Ok(matches) = blocking(move || search.read(&best.pointers)).await {
                self.matches(matches, standing.is_final).await?;
                self.shown = standing;
            }
        }
        let progress = self.search.progress();
        let eta = self.eta.left(&progress);
        let id = self.search.id();
        let progress = ProgressJson::new(progress, eta);
        self.send("progress", &Far { id, progress }).await
    }

    async fn matches(&self, matches: Vec<Match>, is_final: bool) -> Option<()> {
        let part = BestPart {
            matches: matches.iter().map(MatchView::from).collect(),
        };
        let event = Matches {
            r#final: is_final,
            html: part.render().expect("a page fits in memory"),
            matches,
        };
        self.send("matches", &event).await
    }

    /// Sends the first page, unless it was sent as final before, and the end.
    async fn end(&self) -> Option<()> {
        let answer = match api::finished(&self.search, self.parsed.as_ref()).await {
            Ok(answer) => answer,
            Err(problem) => return self.fail(&problem).await,
        };
        if !self.shown.is_final {
            let reader = Arc::clone(&answer);
            let first = move || reader.matches(0..reader.len().min(BEST_MAX));
            match blocking(first).await {
                Ok(matches) => self.matches(matches, true).await?,
                Err(error) => return self.fail(&error.into()).await,
            }
        }
        let reader = Arc::clone(&answer);
        // Without them the answer is whole all the same.
        if let Ok(Some(facets)) = blocking(move || lists::facets_of(&reader, &[])).await {
            self.send("facets", &facets).await?;
        }
        self.send("done", &Done::new(self.search.id(), &answer))
            .await
    }

    /// Sends the end of a search that has no answer.
    async fn fail(&self, problem: &Problem) -> Option<()> {
        let problem = problem.document();
        let done = Done {
            id: self.search.id(),
            interpreted_as: self.search.query().interpreted_as(),
            error: Some(problem.detail),
            problem: Some(problem),
            ..Done::default()
        };
        self.send("done", &done).await
    }

    async fn send(&self, name: &str, data: &impl serde::Serialize) -> Option<()> {
        let data = serde_json::to_string(data).expect("events are plain data");
        let event = Event::default().event(name).data(data);
        self.sender.send(Ok(event)).await.ok()
    }
}

impl<'a> Done<'a> {
    fn new(id: &'a str, answer: &SearchResult) -> Self {
        Done {
            id,
            interpreted_as: answer.query().interpreted_as(),
            found: answer.found(),
            total: answer.len() as u64,
            complete: answer.is_complete(),
            missing: answer.missing().iter().map(Into::into).collect(),
            documents: answer.documents(),
            packages: answer.packages(),
            timings: Some(TimingsJson::new(answer, Duration::ZERO)),
            error: None,
            problem: None,
        }
    }
}
