//! Summaries of an answer: facets, the list of all packages, and documents of a search with the
//! same text and matching lines as a match.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::links::Path;
use crate::http::response::KnownTags;
use crate::http::{blocking, response};
use crate::model::{CopyList, Facets, Packages, SummaryHead, Timings, kind_counts, symbol_counts};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::rendered::Rendered;
use crate::search::run;
use axum::response::Response;
use frontend::page::PER_PAGE_MAX;
use frontend::{FacetsSoFar, SearchResult, SpoolError};
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
        let choices = [("json", Summary::Packages), ("text", Summary::PackageNames)];
        params.choice("format", Summary::Packages, &choices)
    }
}

/// Count matches by package, language, kind and directory, by a query.
#[utoipa::path(
    get, path = "/api/v2/facets", operation_id = "facets", tag = "search",
    params(doc::QueryParams),
    responses((status = 200, description = "Numbers of matches", body = Facets), doc::Unchanged, doc::Searching)
)]
pub(crate) async fn facets(call: Call, known: KnownTags) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES])?;
    summarize(&call, None, known, Summary::Facets).await
}

/// Count matches by package, language, kind and directory, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/facets", operation_id = "runFacets", tag = "search",
    params(doc::IdParam),
    responses((status = 200, description = "Numbers of matches", body = Facets), doc::Unchanged, doc::Searching, doc::NotFound)
)]
pub(crate) async fn facets_by_id(
    call: Call,
    Path(id): Path<String>,
    known: KnownTags,
) -> Result<Response, Problem> {
    call.expect(&[])?;
    summarize(&call, Some(&id), known, Summary::Facets).await
}

/// List the packages with a match by their best match, by a query.
#[utoipa::path(
    get, path = "/api/v2/packages", operation_id = "packages", tag = "search",
    params(doc::QueryParams, doc::FormatParam),
    responses((status = 200, description = "The packages with a match", content(
        (Packages = "application/json"), (String = "application/octet-stream")
    )), doc::Unchanged, doc::Searching)
)]
pub(crate) async fn packages(call: Call, known: KnownTags) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES, doc::FormatParam::NAMES])?;
    summarize(&call, None, known, Summary::packages(&call.params)?).await
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
    call: Call,
    Path(id): Path<String>,
    known: KnownTags,
) -> Result<Response, Problem> {
    call.expect(&[doc::FormatParam::NAMES])?;
    summarize(&call, Some(&id), known, Summary::packages(&call.params)?).await
}

async fn summarize(
    call: &Call,
    id: Option<&str>,
    known: KnownTags,
    summary: Summary,
) -> Result<Response, Problem> {
    let mut parsed = id.is_none().then(|| call.params.parsed()).transpose()?;
    let scope = call.viewer.scope().await?;
    if let Some(parsed) = &parsed
        && let Some(unchanged) = known.unless_changed(|| call.identity(&scope, &parsed.query))
    {
        return Ok(unchanged);
    }
    let search = match &mut parsed {
        Some(parsed) => call.start(&scope, parsed).await?,
        None => call.by_id(&scope, id.unwrap_or_default()).await?,
    };
    let answer = run::finished(&search, parsed.as_ref()).await?;
    let notices = parsed.map_or_else(Vec::new, |parsed| parsed.notices);
    let view = format!("{summary:?} {notices:?}");
    let whole = Arc::clone(&answer);
    let rendered = move || {
        let head = SummaryHead::new(&whole, "", &notices);
        render(&whole, head, summary)
    };
    let rendered = call
        .rendered
        .get(&search, &answer, view, Box::new(rendered));
    let mut response = rendered
        .await?
        .respond(&known, &search, &answer, search.id());
    let about = [
        response::search_header(search.id()),
        response::complete_header(&answer),
    ];
    response.headers_mut().extend(about);
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
            let packages = all()?;
            let packages = Packages {
                head,
                packages_total: packages.len(),
                packages: packages.iter().map(Into::into).collect(),
            };
            Ok(Rendered::json(&packages, timings()))
        }
        // Keeps browsers from showing repository bytes as a page.
        Summary::PackageNames => {
            let (packages, kind) = (all()?, "application/octet-stream");
            let lines = packages
                .iter()
                .map(|package| [&package.name[..], b"\n"].concat());
            let lines: Vec<Vec<u8>> = lines.collect();
            Ok(Rendered::plain(kind, lines.concat(), timings()))
        }
    }
}

/// `None` if matches are missing. Blocks on the disk.
pub(crate) fn facets_of(
    answer: &SearchResult,
    head: SummaryHead,
) -> Result<Option<Facets>, SpoolError> {
    let Some(FacetsSoFar { packages, others }) = run::facets(answer)? else {
        return Ok(None);
    };
    let packages = packages.iter().take(PACKAGES_SHOWN_MAX);
    Ok(Some(Facets {
        head,
        total: answer.len() as u64,
        packages_total: answer.packages(),
        packages: packages.map(Into::into).collect(),
        languages: others.languages.iter().map(Into::into).collect(),
        kinds: kind_counts(others.kinds),
        symbol_kinds: symbol_counts(&others.symbols)
            .iter()
            .map(Into::into)
            .collect(),
        directories: others.directories.iter().map(Into::into).collect(),
        other_directories: others.other_directories,
    }))
}

const PER_PAGE_DEFAULT: usize = 100;

/// List the documents with the same text and matching lines as a match, by a query.
#[utoipa::path(
    get, path = "/api/v2/copies", operation_id = "copies", tag = "search",
    params(doc::QueryParams, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn copies(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES, doc::CopiesParams::NAMES])?;
    copies_of(&call, None).await
}

/// List the documents with the same text and matching lines as a match, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/copies", operation_id = "runCopies", tag = "search",
    params(doc::IdParam, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn copies_by_id(call: Call, Path(id): Path<String>) -> Result<Response, Problem> {
    call.expect(&[doc::CopiesParams::NAMES])?;
    copies_of(&call, Some(&id)).await
}

async fn copies_of(call: &Call, id: Option<&str>) -> Result<Response, Problem> {
    let params = &call.params;
    params.required("position")?;
    let position = params.number("position", 0)?;
    let page = params.number("page", 0)?;
    let per_page = params.bounded("per_page", PER_PAGE_DEFAULT, PER_PAGE_MAX)?;
    let parsed = id.is_none().then(|| params.parsed()).transpose()?;
    let scope = call.viewer.scope().await?;
    let search = match &parsed {
        Some(parsed) => run::start(&call.coordinator, &scope, params, parsed).await?,
        None => call.by_id(&scope, id.unwrap_or_default()).await?,
    };
    let answer = run::finished(&search, parsed.as_ref()).await?;
    let notices = parsed.map_or_else(Vec::new, |parsed| parsed.notices);
    let head = SummaryHead::new(&answer, search.id(), &notices);
    blocking(move || list(&answer, head, position, (page, per_page))).await
}

fn list(
    answer: &SearchResult,
    head: SummaryHead,
    position: u64,
    (page, per_page): (u64, usize),
) -> Result<Response, Problem> {
    if position >= answer.len() as u64 {
        let detail = format!(
            "position={position}: number of matches in the answer, counted from 0: {}",
            answer.len()
        );
        return Err(Problem::missing(detail).hint("use `copies.position` of a match"));
    }
    let start = page.saturating_mul(per_page as u64);
    let range = start..start.saturating_add(per_page as u64);
    let (documents, total) = answer.documents_with_text(position, range)?;
    if start >= total {
        let last = total.div_ceil(per_page as u64) - 1;
        let detail =
            format!("there is no page={page}: pages count from 0, and the last one is page={last}");
        return Err(Problem::missing(detail));
    }
    Ok(response::json(&CopyList {
        head,
        total,
        page,
        per_page,
        pages: total.div_ceil(per_page as u64),
        documents: documents.iter().map(Into::into).collect(),
    }))
}
