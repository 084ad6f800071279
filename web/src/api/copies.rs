//! Documents of a search with the same text and matching lines as a match.

use super::openapi::described as doc;
use crate::http::blocking;
use crate::http::path::Path;
use crate::http::response;
use crate::model::{CopyList, SummaryHead};
use crate::problem::Problem;
use crate::search::join;
use crate::search::params::{Params, QUERY};
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::response::Response;
use frontend::page::PER_PAGE_MAX;
use frontend::query::ParsedQuery;
use frontend::{SearchHandle, SearchResult};

pub(crate) const COPIES: &[&str] = &["position", "page", "per_page"];

const PER_PAGE_DEFAULT: usize = 100;

#[derive(Clone, Copy)]
struct ListRequest {
    position: u64,
    page: u64,
    per_page: usize,
}

impl ListRequest {
    fn parse(params: &Params) -> Result<ListRequest, Problem> {
        params.required("position")?;
        Ok(ListRequest {
            position: params.number("position", 0)?,
            page: params.number("page", 0)?,
            per_page: params.bounded("per_page", PER_PAGE_DEFAULT, PER_PAGE_MAX)?,
        })
    }
}

/// List the documents with the same text and matching lines as a match, by a query.
#[utoipa::path(
    get, path = "/api/v2/copies", operation_id = "copies", tag = "search",
    params(doc::QueryParams, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_query(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY, COPIES])?;
    let request = ListRequest::parse(&params)?;
    let parsed = params.parsed()?;
    let search = join::start(&app.coordinator, &viewer.scope().await?, &params, &parsed).await?;
    answer(search, Some(parsed), request).await
}

/// List the documents with the same text and matching lines as a match, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/copies", operation_id = "runCopies", tag = "search",
    params(doc::IdParam, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_id(
    State(app): State<App>,
    viewer: Viewer,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[COPIES])?;
    let request = ListRequest::parse(&params)?;
    let scope = viewer.scope().await?;
    answer(
        join::by_id(&app.coordinator, &app.links, &scope, &params, &id).await?,
        None,
        request,
    )
    .await
}

async fn answer(
    search: SearchHandle,
    parsed: Option<ParsedQuery>,
    request: ListRequest,
) -> Result<Response, Problem> {
    let answer = join::finished(&search, parsed.as_ref()).await?;
    let notices = parsed.map_or_else(Vec::new, |parsed| parsed.notices);
    let head = SummaryHead::new(&answer, search.id(), &notices);
    blocking(move || list(&answer, head, request)).await
}

fn list(
    answer: &SearchResult,
    head: SummaryHead,
    request: ListRequest,
) -> Result<Response, Problem> {
    let ListRequest {
        position,
        page,
        per_page,
    } = request;
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
