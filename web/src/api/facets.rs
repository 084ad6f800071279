//! Facets, and the list of all packages.

use super::openapi::described as doc;
use crate::http::conditional::KnownTags;
use crate::http::path::Path;
use crate::http::response;
use crate::model::{Facets, Packages, SummaryHead, Timings};
use crate::problem::Problem;
use crate::search::join;
use crate::search::params::{FORMAT, Params, QUERY};
use crate::search::rendered::Rendered;
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::response::Response;
use frontend::query::ParsedQuery;
use frontend::{PackageGroup, SearchHandle, SearchResult, SpoolError};
use schema::message::Want;
use std::sync::Arc;
use std::time::Instant;

/// The list of packages has all.
const PACKAGES_SHOWN_MAX: usize = 100;

#[derive(Clone, Copy, Debug)]
enum Summary {
    Facets,
    Packages,
    /// One a line.
    PackageNames,
}

impl Summary {
    fn packages(params: &Params) -> Result<Summary, Problem> {
        match params.text("format")? {
            None | Some("json") => Ok(Summary::Packages),
            Some("text") => Ok(Summary::PackageNames),
            Some(other) => {
                let detail = format!("format={other}: expected json or text");
                Err(Problem::bad_request(detail))
            }
        }
    }
}

/// Count matches by package, language, kind and directory, by a query.
#[utoipa::path(
    get, path = "/api/v2/facets", operation_id = "facets", tag = "search",
    params(doc::QueryParams),
    responses((status = 200, description = "Numbers of matches", body = Facets), doc::Unchanged, doc::Searching)
)]
pub(crate) async fn facets(
    State(app): State<App>,
    viewer: Viewer,
    known: KnownTags,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY])?;
    by_query(&app, &viewer, known, &params, Summary::Facets).await
}

/// Count matches by package, language, kind and directory, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/facets", operation_id = "runFacets", tag = "search",
    params(doc::IdParam),
    responses((status = 200, description = "Numbers of matches", body = Facets), doc::Unchanged, doc::Searching, doc::NotFound)
)]
pub(crate) async fn facets_by_id(
    State(app): State<App>,
    viewer: Viewer,
    Path(id): Path<String>,
    known: KnownTags,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    let scope = viewer.scope().await?;
    let search = join::by_id(&app.coordinator, &app.links, &scope, &params, &id).await?;
    answer(&app, search, None, known, Summary::Facets).await
}

/// List the packages with a match by their best match, by a query.
#[utoipa::path(
    get, path = "/api/v2/packages", operation_id = "packages", tag = "search",
    params(doc::QueryParams, doc::FormatParam),
    responses((status = 200, description = "The packages with a match", content(
        (Packages = "application/json"), (String = "application/octet-stream")
    )), doc::Unchanged, doc::Searching)
)]
pub(crate) async fn packages(
    State(app): State<App>,
    viewer: Viewer,
    known: KnownTags,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY, FORMAT])?;
    by_query(&app, &viewer, known, &params, Summary::packages(&params)?).await
}

/// List the packages with a match by their best match, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/packages", operation_id = "runPackages", tag = "search",
    params(doc::IdParam, doc::FormatParam),
    responses((status = 200, description = "The packages with a match", content(
        (Packages = "application/json"), (String = "application/octet-stream")
    )), doc::Unchanged, doc::Searching, doc::NotFound)
)]
pub(crate) async fn packages_by_id(
    State(app): State<App>,
    viewer: Viewer,
    Path(id): Path<String>,
    known: KnownTags,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[FORMAT])?;
    let summary = Summary::packages(&params)?;
    let scope = viewer.scope().await?;
    answer(
        &app,
        join::by_id(&app.coordinator, &app.links, &scope, &params, &id).await?,
        None,
        known,
        summary,
    )
    .await
}

async fn by_query(
    app: &App,
    viewer: &Viewer,
    known: KnownTags,
    params: &Params,
    summary: Summary,
) -> Result<Response, Problem> {
    let mut parsed = params.parsed()?;
    let scope = &viewer.scope().await?;
    if let Some(unchanged) =
        known.unless_changed(|| join::identity(&app.coordinator, scope, params, &parsed.query))
    {
        return Ok(unchanged);
    }
    let search = join::start_noticing(&app.coordinator, scope, params, &mut parsed).await?;
    answer(app, search, Some(parsed), known, summary).await
}

async fn answer(
    app: &App,
    search: SearchHandle,
    parsed: Option<ParsedQuery>,
    known: KnownTags,
    summary: Summary,
) -> Result<Response, Problem> {
    let answer = join::finished(&search, parsed.as_ref()).await?;
    let was_there = search.was_there();
    let notices = parsed.map_or_else(Vec::new, |parsed| parsed.notices);
    let view = format!("{summary:?} {notices:?}");
    let whole = Arc::clone(&answer);
    let rendered = app.rendered.get(&search, &answer, view, move || {
        let head = SummaryHead::new(&whole, "", &notices);
        render(&whole, head, summary)
    });
    let rendered = rendered.await?;
    let timings = rendered.timings;
    let mut response = rendered.response(search.id());
    let about = [
        response::search_header(search.id()),
        response::complete_header(&answer),
    ];
    response.headers_mut().extend(about);
    known.finish(&mut response, &answer, &timings, was_there);
    Ok(response)
}

/// Leaves the id empty.
fn render(answer: &SearchResult, head: SummaryHead, summary: Summary) -> Result<Rendered, Problem> {
    let started = Instant::now();
    let all = || answer.package_list(0..answer.packages());
    let timings = || Timings::new(answer, started.elapsed());
    match summary {
        Summary::Facets => {
            let facets = facets_of(answer, head)?.ok_or_else(|| {
                Problem::bad_request("facets count matches that were sent, and limits reduce those")
                    .hint("leave out limit and want=count")
            })?;
            Ok(Rendered::json(&facets, timings()))
        }
        Summary::Packages => {
            let packages = Packages::new(head, all()?);
            Ok(Rendered::json(&packages, timings()))
        }
        // Keeps browsers from showing repository bytes as a page.
        Summary::PackageNames => {
            let names = names(&all()?);
            Ok(Rendered::plain(
                "application/octet-stream",
                names,
                timings(),
            ))
        }
    }
}

/// `None` if matches are missing. Blocks on the disk.
pub(crate) fn facets_of(
    answer: &SearchResult,
    head: SummaryHead,
) -> Result<Option<Facets>, SpoolError> {
    if matches!(answer.query().want, Want::Count | Want::Estimate) {
        return Ok(None);
    }
    let Some(facets) = answer.facets()? else {
        return Ok(None);
    };
    let packages = answer.package_list(0..answer.packages())?;
    let facets = Facets::new(answer, head, packages, PACKAGES_SHOWN_MAX, facets);
    Ok(Some(facets))
}

fn names(packages: &[PackageGroup]) -> Vec<u8> {
    let mut out = Vec::new();
    for package in packages {
        out.extend_from_slice(&package.name);
        out.push(b'\n');
    }
    out
}
