//! Searches for programs.

use super::body::Posted;
use super::cursor::Cursor;
use super::eta::Eta;
use super::headers::{Asked, NEVER};
use super::openapi::params as doc;
use super::openapi::problems::{Any, Body, NotFound, Searching, Unchanged};
use super::params::{Params, QUERY, Start, VIEW, View};
use super::path::Path;
use super::problem::Problem;
use super::{App, KEEP, blocking, rendering, results};
use crate::render::json::{
    self, NoticeJson, Page, ProgressJson, Results, SkippedJson, State as RunState, TimingsJson,
};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frontend::Search;
use frontend::SearchError;
use frontend::SearchResult;
use frontend::measures;
use frontend::query::{ParsedQuery, Query};
use std::sync::Arc;
use std::time::Instant;

/// How the client wants the answer.
#[derive(Clone, Debug)]
struct Wish {
    view: View,
    /// At its end, not as far as it is.
    wait: bool,
    explain: bool,
    /// The query, when it asks with one and not with an id.
    parsed: Option<ParsedQuery>,
}

impl Wish {
    fn parse(params: &Params) -> Result<Wish, Problem> {
        Ok(Wish {
            view: params.view()?,
            wait: params.flag("wait", true)?,
            explain: params.flag("explain", false)?,
            parsed: None,
        })
    }

    fn notices(&self) -> Vec<NoticeJson> {
        let parsed = self.parsed.as_ref();
        parsed.map_or_else(Vec::new, |parsed| json::notices(&parsed.notices))
    }
}

/// A search by its query.
#[utoipa::path(
    get, path = "/api/v2/search", operation_id = "search", tag = "search",
    params(doc::Query, doc::View),
    responses((status = 200, description = "A page of matches", body = Page<'static>), Unchanged, Searching, NotFound)
)]
pub(super) async fn search(
    State(app): State<App>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    look(&app, asked, &params).await
}

/// A search by its query, for one that is too long for an address.
#[utoipa::path(
    post, path = "/api/v2/search", operation_id = "postSearch", tag = "search",
    request_body = doc::SearchRequest,
    responses((status = 200, description = "A page of matches", body = Page<'static>), Searching, NotFound, Body)
)]
pub(super) async fn post(
    State(app): State<App>,
    Posted(params): Posted,
) -> Result<Response, Problem> {
    look(&app, Asked::default(), &params).await
}

async fn look(app: &App, asked: Asked, params: &Params) -> Result<Response, Problem> {
    params.expect(&[QUERY, VIEW])?;
    let mut wish = Wish::parse(params)?;
    if let (None, Start::Cursor(cursor)) = (params.bytes("q"), wish.view.start) {
        return answer(resume(app, &cursor, None).await?, wish, asked).await;
    }
    let parsed = params.parsed()?;
    if let Some(unchanged) = asked.unless_changed(|| identity(app, params, &parsed.query)) {
        return Ok(unchanged);
    }
    let search = match wish.view.start {
        Start::Cursor(cursor) => resume(app, &cursor, Some(&parsed)).await?,
        Start::Page(_) => start(app, params, &parsed).await?,
    };
    wish.parsed = Some(parsed);
    answer(search, wish, asked).await
}

/// Starts the search for a query, in the time that the parameters or the query leave it, or joins it.
pub(super) async fn start(
    app: &App,
    params: &Params,
    parsed: &ParsedQuery,
) -> Result<Search, Problem> {
    let timeout = params.timeout(app.frontend.config().timeout_max)?;
    let timeout = timeout.or(parsed.timeout);
    let generation = params.generation()?;
    let search = app
        .frontend
        .search_within(parsed.query.clone(), generation, timeout);
    Ok(search.await?)
}

/// Waits for the end. What a backend finds wrong with a query is said of where it was typed.
pub(super) async fn finished(
    search: &Search,
    parsed: Option<&ParsedQuery>,
) -> Result<Arc<SearchResult>, Problem> {
    let finished = search.finished().await;
    Ok(finished.map_err(|error| match (error, parsed) {
        (SearchError::BadQuery(bad), Some(parsed)) => SearchError::BadQuery(parsed.locate(bad)),
        (error, _) => error,
    })?)
}

/// The run that a cursor is of, or another one of its query over the same documents.
async fn resume(
    app: &App,
    cursor: &Cursor,
    parsed: Option<&ParsedQuery>,
) -> Result<Search, Problem> {
    let (id, generation) = (cursor.run(), cursor.generation());
    if let Some(parsed) = parsed
        && parsed.query.identity(&generation) != id
    {
        let detail = "the cursor is of another query, or of other documents";
        return Err(Problem::bad_request(detail).hint("leave out the query, or the cursor"));
    }
    let found = match app.frontend.run_again(&id).await {
        Ok(None) => match parsed {
            None => return Err(expired()),
            Some(ParsedQuery { query, .. }) => {
                let query = query.clone();
                let search = app.frontend.search_within(query, Some(&generation), None);
                search.await.map(Some)
            }
        },
        found => found,
    };
    match found {
        Ok(Some(search)) => Ok(search),
        Ok(None) | Err(SearchError::Gone { .. }) => Err(expired()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn expired() -> Problem {
    Problem::gone("the cursor has expired: the answer that it is of is not there any more")
        .hint("search again, from the first page")
}

/// Names the run that a query over the documents of the parameters' generation would be.
pub(super) fn identity(app: &App, params: &Params, query: &Query) -> String {
    match params.generation() {
        Ok(Some(generation)) => query.identity(generation),
        _ => app.frontend.identity(query),
    }
}

/// Says in the head of an answer that is no page whether it is all there is.
pub(super) fn complete_header(answer: &SearchResult) -> (HeaderName, HeaderValue) {
    let complete = match answer.is_complete() {
        true => "true",
        false => "false",
    };
    let name = HeaderName::from_static("x-trawl-complete");
    (name, HeaderValue::from_static(complete))
}

/// Names the search in the head of an answer that is no page of it.
pub(super) fn search_header(id: &str) -> (HeaderName, HeaderValue) {
    let id = HeaderValue::from_str(id).expect("an id is of hexadecimal digits");
    (HeaderName::from_static("x-trawl-search"), id)
}

/// A search by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}", operation_id = "run", tag = "search",
    params(doc::Id, doc::View),
    responses((status = 200, description = "A page of matches", body = Page<'static>), Unchanged, Searching, NotFound)
)]
pub(super) async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[VIEW])?;
    let wish = Wish::parse(&params)?;
    let search = known(&app, &id).await?;
    if let Some(unchanged) = asked.unless_changed(|| search.id().to_owned()) {
        return Ok(unchanged);
    }
    answer(search, wish, asked).await
}

/// Ends a search where it is, for all who wait for it. Of one that has ended nothing changes.
#[utoipa::path(
    delete, path = "/api/v2/search/{id}", operation_id = "cancel", tag = "search",
    params(doc::Id),
    responses((status = 204, description = "The search has ended, or is about to"), Any, NotFound)
)]
pub(super) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    let search = app.frontend.run(&id);
    search.ok_or_else(|| unknown(&id))?.cancel();
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The run with this id, or another one of the same query when its answer has made way.
pub(super) async fn known(app: &App, id: &str) -> Result<Search, Problem> {
    let search = app.frontend.run_again(id).await?;
    search.ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Problem {
    Problem::missing(format!("no search {id} is known (any more)")).hint("search again")
}

async fn answer(mut search: Search, wish: Wish, asked: Asked) -> Result<Response, Problem> {
    if !wish.wait && !search.is_finished() {
        search.keep(KEEP);
        return blocking(move || running(&search, &wish)).await;
    }
    let answer = finished(&search, wish.parsed.as_ref()).await?;
    let was_there = search.was_there();
    rendering(&Arc::clone(&answer), move || {
        let (mut response, timings) = done(&answer, &wish)?;
        asked.dress(&mut response, &answer, &timings, was_there);
        Ok(response)
    })
    .await
}

fn running(search: &Search, wish: &Wish) -> Result<Response, Problem> {
    let progress = search.progress();
    let eta = Eta::default().left(&progress);
    let page = Page {
        id: search.id(),
        generation: search.generation(),
        interpreted_as: search.query().interpreted_as(),
        notices: wish.notices(),
        state: RunState::Running,
        complete: false,
        missing: Vec::new(),
        skipped: SkippedJson::default(),
        searched: None,
        found: None,
        total: progress.matches,
        documents: 0,
        packages: 0,
        page: 0,
        per_page: wish.view.per_page,
        pages: 0,
        next: None,
        results: Results::Matches(search.best()?),
        timings: None,
        progress: Some(ProgressJson::new(progress, eta)),
        explain: None,
    };
    let mut response = json(&page);
    response.headers_mut().insert(header::CACHE_CONTROL, NEVER);
    Ok(response)
}

fn done(answer: &SearchResult, wish: &Wish) -> Result<(Response, TimingsJson), Problem> {
    let started = Instant::now();
    let (slice, items, results) = results::results(answer, wish.view)?;
    let next = slice.range.end;
    let next = (next < items).then(|| Cursor::new(answer, wish.view.group, next).encode());
    let timings = TimingsJson::new(answer, started.elapsed());
    let page = Page {
        id: answer.id(),
        generation: answer.generation(),
        interpreted_as: answer.query().interpreted_as(),
        notices: wish.notices(),
        state: RunState::Done,
        complete: answer.is_complete(),
        missing: answer.missing().iter().map(Into::into).collect(),
        skipped: SkippedJson(answer.skipped().clone()),
        searched: Some(answer.into()),
        found: Some(answer.found()),
        total: answer.len() as u64,
        documents: answer.documents(),
        packages: answer.packages(),
        page: slice.page,
        per_page: slice.per_page,
        pages: slice.pages,
        next,
        results,
        timings: Some(timings),
        progress: None,
        explain: wish.explain.then(|| answer.explain().into()),
    };
    let response = json(&page);
    measures::phase("render", started.elapsed());
    Ok((response, timings))
}

/// Plain data as an answer.
pub(super) fn json(page: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(page).expect("pages are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
