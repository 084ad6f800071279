//! Documents of a search with the same text and matching lines as a match.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::links::Path;
use crate::http::{blocking, response};
use crate::model::{CopyList, SummaryHead};
use crate::problem::Problem;
use crate::search::join;
use axum::response::Response;
use frontend::SearchResult;
use frontend::page::PER_PAGE_MAX;

const PER_PAGE_DEFAULT: usize = 100;

/// List the documents with the same text and matching lines as a match, by a query.
#[utoipa::path(
    get, path = "/api/v2/copies", operation_id = "copies", tag = "search",
    params(doc::QueryParams, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_query(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::QueryParams::NAMES, doc::CopiesParams::NAMES])?;
    answer(&call, None).await
}

/// List the documents with the same text and matching lines as a match, by the id of a search.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/copies", operation_id = "runCopies", tag = "search",
    params(doc::IdParam, doc::CopiesParams),
    responses((status = 200, description = "The documents, this one among them", body = CopyList), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_id(call: Call, Path(id): Path<String>) -> Result<Response, Problem> {
    call.expect(&[doc::CopiesParams::NAMES])?;
    answer(&call, Some(&id)).await
}

async fn answer(call: &Call, id: Option<&str>) -> Result<Response, Problem> {
    let params = &call.params;
    params.required("position")?;
    let position = params.number("position", 0)?;
    let page = params.number("page", 0)?;
    let per_page = params.bounded("per_page", PER_PAGE_DEFAULT, PER_PAGE_MAX)?;
    let parsed = id.is_none().then(|| params.parsed()).transpose()?;
    let scope = call.viewer.scope().await?;
    let search = match &parsed {
        Some(parsed) => join::start(&call.coordinator, &scope, params, parsed).await?,
        None => call.by_id(&scope, id.unwrap_or_default()).await?,
    };
    let answer = join::finished(&search, parsed.as_ref()).await?;
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
