//! Exports of all matches in a fixed amount of memory: ranked, or as found ([`found`]).

mod csv;
pub(crate) mod format;
pub(crate) mod found;

use super::openapi::described as doc;
use crate::http::path::Path;
use crate::http::response;
use crate::http::stream_body::{Export, MatchSource};
use crate::http::watched::Watched;
use crate::model::BrokenOff;
use crate::problem::Problem;
use crate::search::join;
use crate::search::params::{Params, QUERY, WAIT};
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use format::{End, Format, Order, head};
use frontend::query::Notice;
use frontend::{Renderer, SearchHandle, SearchRequest, SearchResult, WriteMatch};
use schema::message::TextOrder;
use std::sync::Arc;

pub(crate) const EXPORT: &[&str] = &["format", "null", "order", "end"];

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
pub(crate) async fn by_query(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY, EXPORT, WAIT])?;
    let (format, mut parsed) = (Format::parse(&params)?, params.parsed()?);
    parsed.query = format.query(parsed.query)?;
    let order = Order::parse(&params, format, &parsed.query)?;
    parsed.query = parsed.query.with_text(order.of_text(format));
    let end = End::parse(&params, format)?;
    let scope = viewer.scope().await?;
    let export = match order {
        Order::Found => Some(app.exports.begin()?),
        Order::Rank => None,
    };
    let search = join::start_noticing(&app.coordinator, &scope, &params, &mut parsed).await?;
    let watched = Watched::new(&app.coordinator, &viewer, &scope);
    let response = if let Some(export) = export {
        found::export(export, search, format, end, Some(parsed)).await?
    } else {
        let answer = join::finished(&search, Some(&parsed)).await?;
        let export = app.exports.begin()?;
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
pub(crate) async fn by_id(
    State(app): State<App>,
    viewer: Viewer,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[EXPORT])?;
    let format = Format::parse(&params)?;
    let scope = viewer.scope().await?;
    let export = app.exports.begin()?;
    let watched = Watched::new(&app.coordinator, &viewer, &scope);
    let mut search = join::export_by_id(&app.coordinator, &app.links, &scope, &params, &id).await?;
    let order = Order::parse(&params, format, search.query())?;
    let end = End::parse(&params, format)?;
    let mut query = format.query(search.query().clone())?;
    // A search for matches has their text too.
    let text = order.of_text(format);
    if query.text != TextOrder::None && query.text != text {
        query = query.with_text(text);
    }
    if query != *search.query() {
        let request = SearchRequest {
            client: join::client_of(&params, &id),
            generation: Some(search.generation().to_owned()),
            ..SearchRequest::new(search.scope(), query)
        };
        search = app.coordinator.search(request).await?;
    }
    if order == Order::Found {
        let response = found::export(export, search, format, end, None).await?;
        return Ok(guarded(response, watched, format));
    }
    let answer = join::finished(&search, None).await?;
    let response = respond(export, &search, answer, (format, end), &[]).await?;
    Ok(guarded(response, watched, format))
}

/// Breaks off once the caller loses access.
fn guarded(response: Response, watched: Watched, format: Format) -> Response {
    let reason: Option<fn(&Problem) -> Vec<u8>> = match format {
        Format::Lines => Some(last_line),
        _ => None,
    };
    response.map(|body| watched.guard(body, reason))
}

fn last_line(problem: &Problem) -> Vec<u8> {
    let broken_off = BrokenOff {
        problem: problem.document(),
    };
    let mut line = serde_json::to_vec(&broken_off).expect("a problem is plain data");
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
    let body = export.body(source, search.scope()).await?;
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
