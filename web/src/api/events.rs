//! Server-sent events of a running search.
//!
//! Each ambiguity of the query is a `notice`. `progress` follows a few times a second, less often
//! without changes, and `matches` when the best ones change or become final. At the end come
//! `facets`, if all matches were counted, and one `done`, after a failure with a problem document.

use super::call::Call;
use super::facets;
use super::openapi::described as doc;
use crate::http::links::Path;
use crate::http::site::Site;
use crate::http::watched::Watched;
use crate::http::{blocking, response};
use crate::model::{
    BestMatches, Event, Missing, Notice, Overlaps, Progress, Reconnect, SearchEnd, SearchProgress,
    SummaryHead, Timings, notices,
};
use crate::pages;
use crate::problem::{GONE, Problem};
use crate::search::following::{self, Best, Eta, Events, Proof, RECONNECT_AFTER, Report};
use crate::search::params::Params;
use crate::search::run;
use axum::http::HeaderMap;
use axum::response::{Response, sse};
use frontend::query::{ParsedQuery, Query, QueryInput};
use frontend::{BEST_MAX, Match, Scope, SearchHandle, SearchResult, SpoolError, TopMatches};
use std::sync::Arc;
use std::time::Duration;

/// Follow a search by its query.
#[utoipa::path(
    get, path = "/api/v2/events", operation_id = "events", tag = "search",
    params(doc::QueryParams, doc::WaitParam),
    responses((status = 200, description = "Events: notice, progress, matches, facets, and one done or reconnect", content_type = "text/event-stream", body = Event), doc::Searching)
)]
pub(crate) async fn by_query(call: Call, headers: HeaderMap) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES, doc::WaitParam::NAMES])?;
    let mut parsed = call.params.parsed()?;
    let scope = call.viewer.scope().await?;
    let same = Call {
        params: same_documents(&call.params, &headers),
        ..call.clone()
    };
    let search = match same.start(&scope, &mut parsed).await {
        // Search the current documents instead.
        Err(problem) if problem.is(&GONE) && call.params.generation()?.is_none() => {
            call.start(&scope, &mut parsed).await?
        }
        search => search?,
    };
    let notices = notices(&parsed.notices);
    Ok(events(&call, &scope, search, Some(parsed), notices).await)
}

/// `last-event-id` is the generation of the broken stream.
fn same_documents(params: &Params, headers: &HeaderMap) -> Params {
    let last = headers.get("last-event-id");
    let generation = last.and_then(|id| id.to_str().ok());
    let is_name = |text: &&str| text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
    match generation.filter(is_name) {
        Some(generation) if params.bytes("generation").is_none() => {
            params.clone().with("generation", generation)
        }
        _ => params.clone(),
    }
}

/// Follow a search by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/events", operation_id = "runEvents", tag = "search",
    params(doc::IdParam),
    responses((status = 200, description = "Events: notice, progress, matches, facets, and one done or reconnect", content_type = "text/event-stream", body = Event), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_id(call: Call, Path(id): Path<String>) -> Result<Response, Problem> {
    call.expect(&[])?;
    let scope = call.viewer.scope().await?;
    let search = call.by_id(&scope, &id).await?;
    let parsed = parse_again(search.query());
    Ok(events(&call, &scope, search, parsed, Vec::new()).await)
}

/// Parses `interpreted_as`, to locate faults in it: a search by id has no typed text.
fn parse_again(query: &Query) -> Option<ParsedQuery> {
    let shown = query.interpreted_as();
    let typed = QueryInput {
        q: &shown,
        ..QueryInput::default()
    };
    let parsed = Query::parse(&typed).ok();
    parsed.filter(|parsed| parsed.query.expr == query.expr)
}

/// Without backends the search ends at once, and decides the status.
async fn events(
    call: &Call,
    scope: &Scope,
    search: SearchHandle,
    parsed: Option<ParsedQuery>,
    notices: Vec<Notice>,
) -> Response {
    let watched = call.watched(scope);
    let mut backends = call.coordinator.backends(scope).into_iter();
    let answer = if backends.any(|backend| backend.is_searched()) {
        None
    } else {
        search.finished().await.ok()
    };
    let id = response::search_header(search.id());
    let mut response = following::respond(|events| {
        let follower = Follower::new(call, search, parsed, events);
        follow(watched, follower, notices)
    });
    response.headers_mut().extend([id]);
    if let Some(answer) = answer {
        response::mark_unavailable(&mut response, &answer);
    }
    response
}

/// Ends with the search, the connection, or the client's access.
async fn follow(mut watched: Watched, mut follower: Follower, notices: Vec<Notice>) {
    for notice in notices {
        if follower.events.send("notice", &notice).await.is_none() {
            return;
        }
    }
    let search = Arc::clone(&follower.search);
    following::follow(&mut watched, &search, &mut follower).await;
}

struct Follower {
    search: Arc<SearchHandle>,
    proof: Proof,
    site: Site,
    /// Locates typed text.
    parsed: Option<ParsedQuery>,
    events: Events,
    eta: Eta,
    shown: TopMatches,
    is_final: bool,
    /// Blocks, documents and matches of the last `progress`.
    reported: Option<[u64; 3]>,
}

impl Report for Follower {
    fn events(&self) -> &Events {
        &self.events
    }

    /// True for the first and for final matches.
    fn has_urgent_news(&self) -> bool {
        let TopMatches { pointers, is_final } = self.search.top_matches();
        let is_first = self.shown.pointers.is_empty() && !pointers.is_empty();
        !self.is_final && (is_first || is_final || self.proof.best().is_some())
    }

    /// Sends changed matches and progress; returns true if the latter changed.
    async fn report(&mut self) -> Option<bool> {
        if let Some(best) = self.proof.best().filter(|_| !self.is_final)
            && let Ok(matches) = first(Arc::clone(best)).await
        {
            self.matches(&matches, true).await?;
            self.is_final = true;
        }
        let standing = self.search.top_matches();
        if !self.is_final && !standing.pointers.is_empty() && standing != self.shown {
            let (search, best) = (Arc::clone(&self.search), standing.clone());
            if let Ok(matches) = blocking(move || search.read(&best.pointers)).await {
                self.matches(&matches, standing.is_final).await?;
                self.is_final = standing.is_final;
                self.shown = standing;
            }
        }
        let progress = self.search.progress();
        let eta = self.eta.left(&progress);
        let event = SearchProgress {
            id: self.search.id().to_owned(),
            progress: Progress::new(progress, eta),
        };
        self.events.send("progress", &event).await?;
        let now = &event.progress;
        let now = Some([now.blocks_done, now.documents, now.matches]);
        let has_changed = now != self.reported;
        self.reported = now;
        Some(has_changed)
    }

    async fn fail(&self, problem: &Problem) -> Option<()> {
        let done = SearchEnd {
            id: self.search.id().to_owned(),
            interpreted_as: self.search.query().interpreted_as(),
            error: Some(problem.detail.clone()),
            problem: Some(problem.document()),
            ..SearchEnd::default()
        };
        self.events.send("done", &done).await
    }

    fn reconnect(&self, event: sse::Event) -> sse::Event {
        let reconnect = Reconnect {
            id: self.search.id().to_owned(),
            generation: self.search.generation().to_owned(),
            interpreted_as: self.search.query().interpreted_as(),
            retry_ms: RECONNECT_AFTER.as_millis() as u64,
        };
        let data = serde_json::to_string(&reconnect).expect("events are plain data");
        event.data(data).id(self.search.generation())
    }

    /// The first page may have been sent as final.
    async fn end(&self) -> Option<()> {
        let answer = match run::finished(&self.search, self.parsed.as_ref()).await {
            Ok(answer) => answer,
            Err(problem) => return self.fail(&problem).await,
        };
        if !self.is_final {
            match first(Arc::clone(&answer)).await {
                Ok(matches) => self.matches(&matches, true).await?,
                Err(error) => return self.fail(&error.into()).await,
            }
        }
        let reader = Arc::clone(&answer);
        let head = SummaryHead::new(&answer, self.search.id(), &[]);
        // The answer is complete without facets too.
        if let Ok(Some(facets)) = blocking(move || facets::facets_of(&reader, head)).await {
            self.events.send("facets", &facets).await?;
        }
        self.events.send("done", &self.done(&answer)).await
    }
}

impl Follower {
    fn new(
        call: &Call,
        search: SearchHandle,
        parsed: Option<ParsedQuery>,
        events: Events,
    ) -> Follower {
        let (coordinator, search) = (Arc::clone(&call.coordinator), Arc::new(search));
        let first = Arc::clone(&search);
        Follower {
            proof: Proof::begin(coordinator, call.params.client, first, Best::Matches),
            search,
            site: Site {
                base: call.options.base_path.clone(),
                ..Site::default()
            },
            parsed,
            events,
            eta: Eta::default(),
            shown: TopMatches::default(),
            is_final: false,
            reported: None,
        }
    }

    async fn matches(&self, matches: &[Match], is_final: bool) -> Option<()> {
        let event = BestMatches {
            r#final: is_final,
            matches: matches.iter().map(Into::into).collect(),
            html: pages::match_list(matches, &self.site),
        };
        self.events.send("matches", &event).await
    }

    fn done(&self, answer: &SearchResult) -> SearchEnd {
        SearchEnd {
            id: self.search.id().to_owned(),
            interpreted_as: answer.query().interpreted_as(),
            found: answer.found(),
            total: answer.len() as u64,
            complete: answer.is_complete(),
            pending: self.search.pending(),
            missing: Missing::of(answer),
            overlaps: Overlaps::of(&answer.outcome.overlaps),
            documents: answer.documents(),
            packages: answer.packages(),
            timings: Some(Timings::new(answer, Duration::ZERO)),
            ..SearchEnd::default()
        }
    }
}

/// First page.
async fn first(answer: Arc<SearchResult>) -> Result<Vec<Match>, SpoolError> {
    blocking(move || answer.matches(0..answer.len().min(BEST_MAX))).await
}
