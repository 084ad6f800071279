//! Exports of all matches in a fixed amount of memory: ranked, or as found ([`found`]).

mod csv;
pub(crate) mod format;
pub(crate) mod found;

use super::call::Call;
use super::openapi::described as doc;
use crate::http::links::Path;
use crate::http::response;
use crate::http::stream_body::{Export, MatchSource};
use crate::http::watched::Watched;
use crate::model::BrokenOff;
use crate::problem::Problem;
use crate::search::run;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use format::{End, Format, Order, head};
use frontend::query::Notice;
use frontend::{Renderer, SearchHandle, SearchResult, WriteMatch};
use schema::message::TextOrder;
use std::sync::Arc;

/// Get all matches of a query.
///
/// With `order=found`, matches are sent while the search runs, file by file, in no particular
/// order. The end of the response, not `x-trawl-complete`, tells whether it is complete. With
/// `jsonl`, the last line is `{"done": …}`, an `ExportEnd`; a response without it was cut off. Text
/// has such a line with `end=true`; without it, an incomplete export breaks the transfer off.
#[utoipa::path(
    get, path = "/api/v2/export", operation_id = "export", tag = "search",
    params(doc::QueryParams, doc::ExportParams, doc::WaitParam),
    responses((status = 200, description = "All matches", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/octet-stream")
    ), headers(
        ("x-trawl-complete" = bool, description = "Whether the answer is complete; absent with `order=found`"),
        ("x-trawl-search" = String, description = "The id of the search"),
        ("x-trawl-query" = String, description = "The query as it was understood, percent-encoded")
    )), doc::Searching)
)]
pub(crate) async fn by_query(call: Call) -> Result<Response, Problem> {
    let params = &call.params;
    params.expect(&[
        doc::QueryParams::NAMES,
        doc::ExportParams::NAMES,
        doc::WaitParam::NAMES,
    ])?;
    let (format, mut parsed) = (Format::parse(params)?, params.parsed()?);
    parsed.query = format.query(parsed.query)?;
    let order = Order::parse(params, format, &parsed.query)?;
    parsed.query = parsed.query.with_text(order.of_text(format));
    let end = End::parse(params, format)?;
    let scope = call.viewer.scope().await?;
    let export = match order {
        Order::Found => Some(call.exports.begin()?),
        Order::Rank => None,
    };
    let search = call.start(&scope, &mut parsed).await?;
    let watched = call.watched(&scope);
    let response = if let Some(export) = export {
        found::export(export, search, format, end, Some(parsed)).await?
    } else {
        let answer = run::finished(&search, Some(&parsed)).await?;
        let export = call.exports.begin()?;
        respond(export, &search, answer, (format, end), &parsed.notices).await?
    };
    Ok(guarded(response, watched, format))
}

/// Get all matches of a search by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/export", operation_id = "runExport", tag = "search",
    params(doc::IdParam, doc::ExportParams),
    responses((status = 200, description = "All matches", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/octet-stream")
    ), headers(
        ("x-trawl-complete" = bool, description = "Whether the answer is complete; absent with `order=found`"),
        ("x-trawl-search" = String, description = "The id of the search"),
        ("x-trawl-query" = String, description = "The query as it was understood, percent-encoded")
    )), doc::Searching, doc::NotFound)
)]
pub(crate) async fn by_id(call: Call, Path(id): Path<String>) -> Result<Response, Problem> {
    let params = &call.params;
    params.expect(&[doc::ExportParams::NAMES])?;
    let format = Format::parse(params)?;
    let scope = call.viewer.scope().await?;
    let export = call.exports.begin()?;
    let watched = call.watched(&scope);
    let mut search = call.export_by_id(&scope, &id).await?;
    let order = Order::parse(params, format, search.query())?;
    let end = End::parse(params, format)?;
    let mut query = format.query(search.query().clone())?;
    // A search for matches has their text too.
    let text = order.of_text(format);
    if query.text != TextOrder::None && query.text != text {
        query = query.with_text(text);
    }
    if query != *search.query() {
        search = call.rerun(&search, query, &id).await?;
    }
    let response = if order == Order::Found {
        found::export(export, search, format, end, None).await?
    } else {
        let answer = run::finished(&search, None).await?;
        respond(export, &search, answer, (format, end), &[]).await?
    };
    Ok(guarded(response, watched, format))
}

/// Breaks off once the caller loses access.
fn guarded(response: Response, watched: Watched, format: Format) -> Response {
    let reason = (format == Format::Lines).then_some(last_line as fn(&Problem) -> Vec<u8>);
    response.map(|body| watched.guard(body, reason))
}

fn last_line(problem: &Problem) -> Vec<u8> {
    let problem = problem.document();
    let mut line = serde_json::to_vec(&BrokenOff { problem }).expect("a problem is plain data");
    line.push(b'\n');
    line
}

async fn respond(
    export: Export,
    search: &SearchHandle,
    answer: Arc<SearchResult>,
    (format, end): (Format, End),
    notices: &[Notice],
) -> Result<Response, Problem> {
    let of = Arc::clone(&answer);
    let mut about = head(search.id(), answer.query(), format, notices);
    about.extend([response::complete_header(&answer)]);
    let head = match format {
        Format::Csv => csv::HEADER,
        _ => b"",
    };
    let source = match renderer(format) {
        Some(renderer) => MatchSource::new(answer, renderer, head),
        None => {
            let end_of = || (search.id().to_owned(), search.pending(), notices.to_vec());
            let end = (end == End::Line).then(end_of);
            MatchSource::text(answer, end)
        }
    };
    let body = export.body(Box::new(source), search.scope()).await?;
    let mut response = body.into_response();
    let headers = response.headers_mut();
    if format == Format::Csv {
        let name = HeaderValue::from_static("attachment; filename=\"matches.csv\"");
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    headers.extend(about);
    response::mark_unavailable(&mut response, &of);
    Ok(response)
}

/// `None` for text.
fn renderer(format: Format) -> Option<Renderer> {
    let write: Box<WriteMatch> = match format {
        Format::Text => return None,
        Format::Csv => Box::new(csv::write),
        Format::Lines => Box::new(Format::write_json),
        Format::Paths(end) => Box::new(move |found, out| {
            let document = &found.document;
            for part in [&document.package[..], b"/", &document.path, &[end]] {
                out.extend_from_slice(part);
            }
        }),
    };
    Some(Renderer::new(write))
}
