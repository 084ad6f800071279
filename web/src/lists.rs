//! What a search has found in short: how many matches have which package, language and directory, and
//! the list of the packages.

use super::headers::Asked;
use super::openapi::params as doc;
use super::openapi::problems::{NotFound, Searching, Unchanged};
use super::params::{FORMAT, Params, QUERY};
use super::path::Path;
use super::problem::Problem;
use super::{App, api, blocking};
use crate::render::json::TimingsJson;
use crate::render::lists::{FacetsJson, PackagesJson};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use frontend::PackageGroup;
use frontend::Search;
use frontend::SearchResult;
use frontend::SpoolError;
use frontend::query::{Notice, ParsedQuery};
use schema::message::Want;
use std::time::Instant;

/// Packages among the facets: those with the most matches. The list has all.
const PACKAGES_SHOWN_MAX: usize = 100;

/// What is rendered of an answer.
#[derive(Clone, Copy)]
enum List {
    Facets,
    Packages,
    /// Names alone, one a line.
    PackageNames,
}

impl List {
    fn packages(params: &Params) -> Result<List, Problem> {
        match params.text("format")? {
            None | Some("json") => Ok(List::Packages),
            Some("text") => Ok(List::PackageNames),
            Some(other) => {
                let detail = format!("format={other} is neither json nor text");
                Err(Problem::bad_request(detail))
            }
        }
    }
}

/// Numbers of matches by what they have in common, by a query.
#[utoipa::path(
    get, path = "/api/v2/facets", operation_id = "facets", tag = "search",
    params(doc::Query),
    responses((status = 200, description = "How many matches have what in common", body = FacetsJson), Unchanged, Searching)
)]
pub(super) async fn facets(
    State(app): State<App>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY])?;
    search(&app, asked, &params, List::Facets).await
}

/// The same, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/facets", operation_id = "runFacets", tag = "search",
    params(doc::Id),
    responses((status = 200, description = "How many matches have what in common", body = FacetsJson), Unchanged, Searching, NotFound)
)]
pub(super) async fn run_facets(
    State(app): State<App>,
    Path(id): Path<String>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    answer(api::known(&app, &id).await?, None, asked, List::Facets).await
}

/// The packages with a match, the one with the best match first, by a query.
#[utoipa::path(
    get, path = "/api/v2/packages", operation_id = "packages", tag = "search",
    params(doc::Query, doc::Format),
    responses((status = 200, description = "The packages with a match, by their best one", content(
        (PackagesJson = "application/json"), (String = "application/octet-stream")
    )), Unchanged, Searching)
)]
pub(super) async fn packages(
    State(app): State<App>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY, FORMAT])?;
    search(&app, asked, &params, List::packages(&params)?).await
}

/// The same, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/packages", operation_id = "runPackages", tag = "search",
    params(doc::Id, doc::Format),
    responses((status = 200, description = "The packages with a match, by their best one", content(
        (PackagesJson = "application/json"), (String = "application/octet-stream")
    )), Unchanged, Searching, NotFound)
)]
pub(super) async fn run_packages(
    State(app): State<App>,
    Path(id): Path<String>,
    asked: Asked,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[FORMAT])?;
    let list = List::packages(&params)?;
    answer(api::known(&app, &id).await?, None, asked, list).await
}

async fn search(app: &App, asked: Asked, params: &Params, list: List) -> Result<Response, Problem> {
    let parsed = params.parsed()?;
    if let Some(unchanged) = asked.unless_changed(|| api::identity(app, params, &parsed.query)) {
        return Ok(unchanged);
    }
    let search = api::start(app, params, &parsed).await?;
    answer(search, Some(parsed), asked, list).await
}

/// Waits for the end, and renders what is wanted of it.
async fn answer(
    search: Search,
    parsed: Option<ParsedQuery>,
    asked: Asked,
    list: List,
) -> Result<Response, Problem> {
    let answer = api::finished(&search, parsed.as_ref()).await?;
    let was_there = search.was_there();
    let notices = parsed.map_or_else(Vec::new, |parsed| parsed.notices);
    blocking(move || {
        let started = Instant::now();
        let mut response = render(&answer, &notices, list)?;
        let about = [
            api::search_header(answer.id()),
            api::complete_header(&answer),
        ];
        response.headers_mut().extend(about);
        let timings = TimingsJson::new(&answer, started.elapsed());
        asked.dress(&mut response, &answer, &timings, was_there);
        Ok(response)
    })
    .await
}

fn render(answer: &SearchResult, notices: &[Notice], list: List) -> Result<Response, Problem> {
    let all = || answer.package_list(0..answer.packages());
    match list {
        List::Facets => match facets_of(answer, notices)? {
            Some(facets) => Ok(api::json(&facets)),
            None => {
                let detail =
                    "matches that are not sent are not counted by what they have in common";
                Err(Problem::bad_request(detail).hint("leave out limit and want=count"))
            }
        },
        List::Packages => Ok(api::json(&PackagesJson::new(answer, notices, all()?))),
        List::PackageNames => Ok(names(&all()?)),
    }
}

/// What the matches of an answer have in common, when they are all there. Blocks on the disk.
pub(super) fn facets_of(
    answer: &SearchResult,
    notices: &[Notice],
) -> Result<Option<FacetsJson>, SpoolError> {
    if matches!(answer.query().want(), Want::Count | Want::Estimate) {
        return Ok(None);
    }
    let Some(facets) = answer.facets()? else {
        return Ok(None);
    };
    let packages = answer.package_list(0..answer.packages())?;
    let facets = FacetsJson::new(answer, notices, packages, PACKAGES_SHOWN_MAX, facets);
    Ok(Some(facets))
}

fn names(packages: &[PackageGroup]) -> Response {
    let mut out = Vec::new();
    for package in packages {
        out.extend_from_slice(&package.name);
        out.push(b'\n');
    }
    // Bytes from a repository are not to be taken for a page of this site, whatever they say.
    ([(header::CONTENT_TYPE, "application/octet-stream")], out).into_response()
}
