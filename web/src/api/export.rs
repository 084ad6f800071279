//! Exports: all matches of a search, written in a fixed amount of memory. Best first, once the search has
//! ended, or as they are found ([`found`]).

mod csv;
pub(crate) mod format;
pub(crate) mod found;

use super::openapi::described as doc;
use crate::join;
use crate::params::{Params, Path, QUERY};
use crate::problem::Problem;
use crate::response;
use crate::state::App;
use crate::stream_body::{Broken, CHUNK_BYTES, Sender, send, stream_body};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use format::{Format, Order, head};
use frontend::query::Notice;
use frontend::{Match, SearchResult};
use std::sync::Arc;

/// Parameters of an export besides those of its query.
pub(crate) const EXPORT: &[&str] = &["format", "null", "order"];

/// Get all matches of a query.
///
/// With `order=found`, matches are sent while the search runs, file by file, in no particular order. The
/// response then begins with the first match, and says at its end, not in `x-trawl-complete`, whether it is
/// complete. With `jsonl`, the last line is `{"done": …}`, an `ExportEnd`; without that line the response was
/// cut off. Text has no such line: an incomplete export breaks the transfer off.
#[utoipa::path(
    get, path = "/api/v2/export", operation_id = "export", tag = "search",
    params(doc::QueryParams, doc::ExportParams),
    responses((status = 200, description = "All matches", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/octet-stream")
    ), headers(
        ("x-trawl-complete" = bool, description = "Whether the answer is complete; absent with `order=found`"),
        ("x-trawl-search" = String, description = "The id of the search"),
        ("x-trawl-query" = String, description = "The query as it was understood, percent-encoded")
    )), doc::Searching)
)]
pub(crate) async fn by_query(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[QUERY, EXPORT])?;
    let (format, mut parsed) = (Format::parse(&params)?, params.parsed()?);
    parsed.query = format.query(parsed.query)?;
    let order = Order::parse(&params, format, &parsed.query)?;
    let search = join::start(&app, &params, &parsed).await?;
    if order == Order::Found {
        return found::export(search, format, Some(parsed)).await;
    }
    let answer = join::finished(&search, Some(&parsed)).await?;
    export(answer, search.id(), format, &parsed.notices).await
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
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[EXPORT])?;
    let format = Format::parse(&params)?;
    let mut search = join::by_id(&app, &id).await?;
    if Order::parse(&params, format, search.query())? == Order::Found {
        return found::export(search, format, None).await;
    }
    let query = format.query(search.query().clone())?;
    if query != *search.query() {
        let generation = search.generation().to_owned();
        let another = app
            .coordinator
            .search_within(query, Some(&generation), None);
        search = another.await?;
    }
    let answer = join::finished(&search, None).await?;
    export(answer, search.id(), format, &[]).await
}

async fn export(
    answer: Arc<SearchResult>,
    id: &str,
    format: Format,
    notices: &[Notice],
) -> Result<Response, Problem> {
    let mut about = head(id, answer.query(), format, notices);
    about.extend([response::complete_header(&answer)]);
    let body = stream_body(move |sender| write(&answer, format, sender)).await?;
    let mut response = body.into_response();
    let headers = response.headers_mut();
    if format == Format::Csv {
        let name = HeaderValue::from_static("attachment; filename=\"matches.csv\"");
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    headers.extend(about);
    Ok(response)
}

/// Writes all matches of an answer, best first.
fn write(answer: &SearchResult, format: Format, sender: &Sender) -> Result<(), Broken> {
    match format {
        Format::Text => write_text(answer, sender),
        Format::Lines => write_each(answer, sender, Vec::new(), Format::write_json),
        Format::Csv => write_each(answer, sender, csv::HEADER.to_vec(), csv::write),
        Format::Paths(end) => write_each(answer, sender, Vec::new(), |found, out| {
            let document = &found.document;
            for part in [&document.package[..], b"/", &document.path, &[end]] {
                out.extend_from_slice(part);
            }
        }),
    }
}

fn write_text(answer: &SearchResult, sender: &Sender) -> Result<(), Broken> {
    answer.for_each_text(|texts| {
        let mut bytes = Bytes::from(texts.into_bytes());
        while !bytes.is_empty() {
            send(sender, bytes.split_to(bytes.len().min(CHUNK_BYTES)))?;
        }
        Ok(())
    })
}

/// Sends `out`, followed by what `each` appends for every match.
fn write_each(
    answer: &SearchResult,
    sender: &Sender,
    mut out: Vec<u8>,
    each: impl Fn(&Match, &mut Vec<u8>),
) -> Result<(), Broken> {
    let chunk_len = answer.chunk_len();
    for start in (0..answer.len()).step_by(chunk_len) {
        let end = answer.len().min(start + chunk_len);
        for found in answer.matches(start..end)? {
            each(&found, &mut out);
            if out.len() >= CHUNK_BYTES {
                send(sender, std::mem::take(&mut out))?;
            }
        }
    }
    send(sender, out)
}
