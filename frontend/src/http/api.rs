//! Searches for programs.

use super::eta::Eta;
use super::headers::{Asked, NEVER};
use super::params::{Params, QUERY, VIEW, View};
use super::problem::Problem;
use super::{App, KEEP, blocking, rendering};
use crate::answer::Answer;
use crate::measures;
use crate::packages::Package;
use crate::page::Slice;
use crate::query::Query;
use crate::render::json::{
    GroupJson, Page, ProgressJson, Results, SkippedJson, State as RunState, TimingsJson,
};
use crate::search::Search;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Instant;

/// How the client wants the answer.
#[derive(Clone, Copy, Debug)]
struct Wish {
    view: View,
    /// At its end, not as far as it is.
    wait: bool,
    explain: bool,
}

impl Wish {
    fn parse(params: &Params) -> Result<Wish, Problem> {
        Ok(Wish {
            view: params.view()?,
            wait: params.flag("wait", true)?,
            explain: params.flag("explain", false)?,
        })
    }
}

/// A search by its query.
pub(super) async fn search(
    State(app): State<App>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY, VIEW])?;
    let wish = Wish::parse(&params)?;
    let query = params.query()?;
    if let Some(unchanged) = asked.unless_changed(|| identity(&app, &params, &query)) {
        return Ok(unchanged);
    }
    answer(start(&app, &params, query).await?, wish, asked).await
}

/// Starts the search for a query, in the time that the parameters leave it, or joins it.
pub(super) async fn start(app: &App, params: &Params, query: Query) -> Result<Search, Problem> {
    let timeout = params.timeout(app.frontend.config().timeout_max)?;
    let generation = params.generation()?;
    let search = app.frontend.search_within(query, generation, timeout);
    Ok(search.await?)
}

/// Names the run that a query over the documents of the parameters' generation would be.
pub(super) fn identity(app: &App, params: &Params, query: &Query) -> String {
    match params.generation() {
        Ok(Some(generation)) => query.identity(generation),
        _ => app.frontend.identity(query),
    }
}

/// Says in the head of an answer that is no page whether it is all there is.
pub(super) fn complete_header(answer: &Answer) -> (HeaderName, HeaderValue) {
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
        return blocking(move || running(&search, wish)).await;
    }
    let (answer, was_there) = (search.finished().await?, search.was_there());
    rendering(&Arc::clone(&answer), move || {
        let (mut response, timings) = done(&answer, wish)?;
        asked.dress(&mut response, &answer, &timings, was_there);
        Ok(response)
    })
    .await
}

fn running(search: &Search, wish: Wish) -> Result<Response, Problem> {
    let progress = search.progress();
    let eta = Eta::default().left(&progress);
    let page = Page {
        id: search.id(),
        generation: search.generation(),
        interpreted_as: search.query().interpreted_as(),
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
        results: Results::Matches(search.best()?),
        timings: None,
        progress: Some(ProgressJson::new(progress, eta)),
        explain: None,
    };
    let mut response = json(&page);
    response.headers_mut().insert(header::CACHE_CONTROL, NEVER);
    Ok(response)
}

fn done(answer: &Answer, wish: Wish) -> Result<(Response, TimingsJson), Problem> {
    let (started, view) = (Instant::now(), wish.view);
    let (slice, results) = if view.by_package {
        groups(answer, view)?
    } else {
        let slice = Slice::new(answer.len(), view.page, view.per_page)?;
        let matches = answer.matches(slice.range.clone())?;
        (slice, Results::Matches(matches))
    };
    let timings = TimingsJson::new(answer, started.elapsed());
    let page = Page {
        id: answer.id(),
        generation: answer.generation(),
        interpreted_as: answer.query().interpreted_as(),
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
        results,
        timings: Some(timings),
        progress: None,
        explain: wish.explain.then(|| answer.explain().into()),
    };
    let response = json(&page);
    measures::phase("render", started.elapsed());
    Ok((response, timings))
}

fn groups(answer: &Answer, view: View) -> Result<(Slice, Results), Problem> {
    let slice = Slice::new(answer.packages(), view.page, view.per_page)?;
    let group = |package: Package| {
        Ok(GroupJson {
            matches: answer.matches_of(&package, view.per_package)?,
            package: package.name,
            total: package.total,
        })
    };
    let packages = answer.package_list(slice.range.clone())?;
    let groups: Result<_, Problem> = packages.into_iter().map(group).collect();
    Ok((slice, Results::Groups(groups?)))
}

/// Plain data as an answer.
pub(super) fn json(page: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(page).expect("pages are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A finished answer of a run, for those who need all of it.
pub(super) async fn finished(app: &App, id: &str) -> Result<Arc<Answer>, Problem> {
    Ok(known(app, id).await?.finished().await?)
}
