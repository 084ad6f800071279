//! Pages of matches: `/api/v2/search`.

use super::call::{Call, Posted};
use super::openapi::described as doc;
use crate::http::links::Path;
use crate::http::response::{self, KnownTags, no_store};
use crate::http::{blocking, rendering};
use crate::model::{
    IndexUse, MatchGroup, Missing, Notice, Overlaps, Page, Progress, Reached, Results, SearchState,
    Timings, TotalRelation, notices,
};
use crate::problem::Problem;
use crate::search::choice::{Copies, Group};
use crate::search::cursor::{Cursor, Route};
use crate::search::following::Eta;
use crate::search::params::Wait;
use crate::search::rendered::Rendered;
use crate::search::run::{self, Items, KEEP, Start, View};
use crate::state::App;
use crate::symbols::{Enclosing, enclosing};
use access::{LinkKeys, Viewer};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use frontend::query::ParsedQuery;
use frontend::{Match, SearchHandle, SearchResult, metrics};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For each file.
const ENCLOSING_WAIT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
struct PageRequest {
    view: View,
    wait: Wait,
    explain: bool,
    enclosing: bool,
    /// Changed files that the answer lacks; 0 with a link.
    pending: u64,
    /// `None` for a search by id.
    parsed: Option<ParsedQuery>,
    /// Cursor or link of the request. Its page is the same everywhere: with the link as id, and
    /// without timings.
    link: Option<String>,
    route: Route,
    keys: Arc<LinkKeys>,
}

impl PageRequest {
    fn parse(call: &Call, id: Option<&str>) -> Result<PageRequest, Problem> {
        let (params, keys) = (&call.params, call.options.links.current());
        let view = View::parse(params, &keys, Group::None, Copies::All)?;
        let link = id.filter(|id| run::is_link(id));
        Ok(PageRequest {
            view,
            wait: params.wait()?,
            explain: params.flag("explain", false)?,
            enclosing: params.flag("enclosing", false)?,
            pending: 0,
            parsed: None,
            link: link.or(params.text("cursor")?).map(str::to_owned),
            route: run::route(&view, params, id),
            keys,
        })
    }

    /// Key of a rendered page, besides the answer.
    fn rendered_view(&self) -> String {
        let typed = self.parsed.as_ref().map(|parsed| &parsed.notices);
        format!(
            "page {:?} {} {} {typed:?} {:?} {:?} {}",
            self.view, self.explain, self.enclosing, self.link, self.route, self.pending
        )
    }

    fn notices(&self) -> Vec<Notice> {
        let parsed = self.parsed.as_ref();
        parsed.map_or_else(Vec::new, |parsed| notices(&parsed.notices))
    }
}

/// Search by a query.
#[utoipa::path(
    get, path = "/api/v2/search", operation_id = "search", tag = "search",
    params(doc::QueryParams, doc::ViewParams),
    responses((status = 200, description = "A page of matches", body = Page<'static>), doc::Unchanged, doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_query(call: Call, known: KnownTags) -> Result<Response, Problem> {
    query(&call, known).await
}

/// Search by a query too long for an address.
#[utoipa::path(
    post, path = "/api/v2/search", operation_id = "postSearch", tag = "search",
    request_body = doc::SearchRequest,
    responses((status = 200, description = "A page of matches", body = Page<'static>), doc::Searching, doc::NotFound, doc::Body)
)]
pub(crate) async fn by_posted_query(
    State(app): State<App>,
    viewer: Viewer,
    Posted(params): Posted,
) -> Result<Response, Problem> {
    let call = Call {
        app,
        viewer,
        params,
    };
    query(&call, KnownTags::default()).await
}

async fn query(call: &Call, known: KnownTags) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES, doc::ViewParams::NAMES])?;
    let mut request = PageRequest::parse(call, None)?;
    let scope = call.viewer.scope().await?;
    if let (None, Start::Cursor(cursor)) = (call.params.bytes("q"), request.view.start) {
        let search = call.resume(&scope, &cursor, None).await?;
        return answer(call, search, request, known).await;
    }
    let mut parsed = call.params.parsed()?;
    if run::may_be_known(&call.coordinator, &call.params)
        && let Some(unchanged) = known.unless_changed(|| call.identity(&scope, &parsed.query))
    {
        return Ok(unchanged);
    }
    let search = match request.view.start {
        Start::Cursor(cursor) => call.resume(&scope, &cursor, Some(&parsed)).await?,
        Start::Page(_) => call.start(&scope, &mut parsed).await?,
    };
    request.parsed = Some(parsed);
    answer(call, search, request, known).await
}

/// Get a page of a search by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}", operation_id = "run", tag = "search",
    params(doc::IdParam, doc::ViewParams),
    responses((status = 200, description = "A page of matches", body = Page<'static>), doc::Unchanged, doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_id(
    call: Call,
    Path(id): Path<String>,
    known: KnownTags,
) -> Result<Response, Problem> {
    call.expect(&[doc::ViewParams::NAMES])?;
    let request = PageRequest::parse(&call, Some(&id))?;
    let scope = call.viewer.scope().await?;
    let search = call.by_id(&scope, &id).await?;
    if search.pending() == 0
        && let Some(unchanged) = known.unless_changed(|| search.identity().to_owned())
    {
        return Ok(unchanged);
    }
    answer(&call, search, request, known).await
}

/// Stop a search, which continues for its other clients. A finished search does not change.
#[utoipa::path(
    delete, path = "/api/v2/search/{id}", operation_id = "cancel", tag = "search",
    params(doc::IdParam),
    responses((status = 204, description = "The search has ended, or is about to"), doc::Any, doc::NotFound)
)]
pub(crate) async fn cancel(call: Call, Path(id): Path<String>) -> Result<Response, Problem> {
    call.expect(&[])?;
    let scope = call.viewer.scope().await?;
    let search = call.coordinator.get(&scope, &id);
    search.ok_or_else(|| run::unknown(&id))?.withdraw();
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn answer(
    app: &App,
    mut search: SearchHandle,
    mut request: PageRequest,
    known: KnownTags,
) -> Result<Response, Problem> {
    if request.link.is_none() {
        request.pending = search.pending();
    }
    let known = known.unless_pending(request.pending);
    if request.wait == Wait::Nothing && !search.is_finished() {
        search.keep(KEEP);
        return blocking(move || running(&search, &request)).await;
    }
    let answer = run::finished(&search, request.parsed.as_ref()).await?;
    let link = request.link.clone();
    let is_grouped = request.view.group != Group::None;
    let view = is_grouped.then(|| request.rendered_view());
    let whole = Arc::clone(&answer);
    let encloses = request.enclosing;
    let enclose = enclosing(&app.coordinator, &search, ENCLOSING_WAIT);
    let render = move || done(&whole, &request, &enclose);
    let rendered = match view {
        _ if encloses => blocking(render).await?,
        Some(view) => {
            let rendered = app.rendered.get(&search, &answer, view, Box::new(render));
            rendered.await?
        }
        None => rendering(&answer, render).await?,
    };
    let id = link.as_deref().unwrap_or(search.id());
    Ok(rendered.respond(&known, &search, &answer, id))
}

fn running(search: &SearchHandle, request: &PageRequest) -> Result<Response, Problem> {
    let progress = search.progress();
    let eta = Eta::default().left(&progress);
    let best = search.best()?;
    let page = Page {
        id: search.id().into(),
        generation: search.generation().into(),
        interpreted_as: search.query().interpreted_as(),
        notices: request.notices(),
        state: SearchState::Running,
        pending: request.pending,
        total_relation: TotalRelation::Gte,
        total: progress.matches,
        per_page: request.view.per_page,
        results: Results::Matches(best.iter().map(Into::into).collect()),
        progress: Some(Progress::new(progress, eta)),
        ..Page::default()
    };
    Ok(no_store(response::json(&page)))
}

/// Leaves the id empty.
fn done(
    answer: &SearchResult,
    request: &PageRequest,
    enclose: &dyn Fn(&[&Match]) -> Enclosing,
) -> Result<Rendered, Problem> {
    let started = Instant::now();
    let count = request.view.items(answer)?;
    let slice = request.view.slice(answer, count)?;
    let items = request.view.read(answer, slice.range.clone())?;
    let encode = |cursor: Cursor| {
        let cursor = cursor.by(request.route);
        cursor.encode(answer.query(), &request.keys)
    };
    let next = slice.range.end;
    let cursor = || Cursor::new(answer, request.view.group, request.view.copies, next);
    let next = (next < count).then(|| encode(cursor()));
    let first = Cursor::new(answer, Group::None, Copies::All, 0);
    let mut results = results(&items);
    if request.enclosing {
        let matches = items.matches();
        enclose(&matches).mark(&mut results, &matches);
    }
    let timings = Timings::new(answer, started.elapsed());
    let page = Page {
        id: "".into(),
        generation: answer.generation().into(),
        interpreted_as: answer.query().interpreted_as(),
        notices: request.notices(),
        state: SearchState::Done,
        complete: answer.is_complete(),
        pending: request.pending,
        missing: Missing::of(answer),
        skipped: answer.skipped().into(),
        overlaps: Overlaps::of(&answer.outcome.overlaps),
        searched: Some(answer.into()),
        reached: Reached::of(answer),
        found: Some(answer.found()),
        total_relation: TotalRelation::of(answer),
        total: answer.len() as u64,
        unique: answer.unique().map(|unique| unique as u64),
        documents: answer.documents(),
        packages: answer.packages(),
        page: slice.page,
        per_page: slice.per_page,
        pages: slice.pages,
        link: Some(encode(first)),
        next,
        results,
        timings: request.link.is_none().then_some(timings),
        progress: None,
        explain: request.explain.then(|| IndexUse::of(answer)),
    };
    let rendered = Rendered::json(&page, timings);
    metrics::rendered(started);
    Ok(rendered)
}

fn results(items: &Items) -> Results<'_> {
    match items {
        Items::Matches(matches) => Results::Matches(matches.iter().map(Into::into).collect()),
        Items::Packages(packages) => {
            let groups = packages.iter();
            let groups = groups.map(|(package, matches)| MatchGroup::of_package(package, matches));
            Results::Groups(groups.collect())
        }
        Items::Documents(documents) => {
            let groups = documents.iter();
            let groups = groups.map(|(total, matches)| MatchGroup::of_document(*total, matches));
            Results::Groups(groups.flatten().collect())
        }
    }
}
