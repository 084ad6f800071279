//! Everything that a search has found, in a fixed amount of memory: best first, when the search is done,
//! or, with [`found`], as it is found.

pub(super) mod found;

use super::openapi::params as doc;
use super::openapi::problems::{NotFound, Searching};
use super::params::{Params, QUERY};
use super::path::Path;
use super::problem::Problem;
use super::{App, api};
use crate::render::csv;
use crate::render::json::MatchJson;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frontend::Match;
use frontend::SearchResult;
use frontend::SpoolError;
use frontend::query::{BadQuery, Notice, Query};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use schema::message::Want;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// Bytes that are sent at a time.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// Chunks that wait for a slow client.
pub(super) const WAITING_MAX: usize = 2;

/// How the query was understood.
const QUERY_HEADER: HeaderName = HeaderName::from_static("x-trawl-query");

/// What in the query may have been meant otherwise; one for each.
const NOTICE_HEADER: HeaderName = HeaderName::from_static("x-trawl-notice");

/// What a header does not have as it is.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// Parameters of an export beside those of its query.
pub(super) const EXPORT: &[&str] = &["format", "null", "order"];

/// What is written of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Lines,
    Csv,
    Text,
    /// The names of documents alone, each with this byte behind it.
    Paths(u8),
}

impl Format {
    fn parse(params: &Params) -> Result<Format, Problem> {
        let null = params.flag("null", false)?;
        let format = match params.text("format")? {
            None | Some("jsonl") => Format::Lines,
            Some("csv") => Format::Csv,
            Some("text") => Format::Text,
            Some("paths") => Format::Paths(if null { 0 } else { b'\n' }),
            Some(other) => {
                let detail = format!("format={other} is none of jsonl, csv, paths and text");
                return Err(Problem::bad_request(detail));
            }
        };
        if null && format != Format::Paths(0) {
            let detail = "null is for format=paths: what else is exported has lines of its own";
            return Err(Problem::bad_request(detail));
        }
        Ok(format)
    }

    /// Appends a match as a line of JSON.
    fn write_json(found: &Match, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, &MatchJson(found)).expect("matches are plain data");
        out.push(b'\n');
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Format::Lines => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8; header=present",
            // Bytes from a repository are not to be taken for a page of this site, whatever they say.
            Format::Text | Format::Paths(_) => "application/octet-stream",
        })
    }

    /// The query whose answer is written: a document has one match in that for paths.
    fn query(self, query: Query) -> Result<Query, BadQuery> {
        match (self, query.want()) {
            (Format::Paths(_), Want::Matches) => {
                let limit = query.limit();
                query.wanting(Want::Documents, limit)
            }
            (Format::Paths(_), Want::Count | Want::Estimate) => {
                Err(BadQuery::new("a count has no paths").hint("leave out want"))
            }
            _ => Ok(query),
        }
    }
}

/// In which order matches are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Best first, once all are there.
    Rank,
    /// As they are found.
    Found,
}

impl Order {
    fn parse(params: &Params, format: Format, query: &Query) -> Result<Order, Problem> {
        match params.text("order")? {
            None | Some("rank") => return Ok(Order::Rank),
            Some("found") => {}
            Some(other) => {
                let detail = format!("order={other} is neither rank nor found");
                return Err(Problem::bad_request(detail));
            }
        }
        if !matches!(format, Format::Lines | Format::Text) {
            let detail = "order=found is for format=jsonl and format=text";
            return Err(Problem::bad_request(detail).hint("leave out order, or the format"));
        }
        if query.limit() > 0 {
            let detail = "which matches are the best is not known while they are found";
            return Err(Problem::bad_request(detail).hint("leave out the limit, or order=found"));
        }
        Ok(Order::Found)
    }
}

/// Everything that a search has found, by its query.
///
/// With `order=found` the matches come while the search runs, file by file, in no order. The answer begins
/// with the first of them, and whether it is all there is stands at its end, not in `x-trawl-complete`: of
/// `jsonl` the last line is `{"done": …}`, an `ExportEnd`, and without that line the answer is cut off. Text
/// has no such line: what is not all there is breaks off, without the end of the transfer.
#[utoipa::path(
    get, path = "/api/v2/export", operation_id = "export", tag = "search",
    params(doc::Query, doc::Export),
    responses((status = 200, description = "Every match", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/octet-stream")
    ), headers(
        ("x-trawl-complete" = bool, description = "Whether it is all there is; not with `order=found`"),
        ("x-trawl-search" = String, description = "The id of the search"),
        ("x-trawl-query" = String, description = "The query as it was understood, percent-encoded")
    )), Searching)
)]
pub(super) async fn search(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[QUERY, EXPORT])?;
    let (format, mut parsed) = (Format::parse(&params)?, params.parsed()?);
    parsed.query = format.query(parsed.query)?;
    let order = Order::parse(&params, format, &parsed.query)?;
    let search = api::start(&app, &params, &parsed).await?;
    if order == Order::Found {
        return found::export(search, format, Some(parsed)).await;
    }
    let answer = api::finished(&search, Some(&parsed)).await?;
    export(answer, format, &parsed.notices).await
}

/// The same, by its id.
#[utoipa::path(
    get, path = "/api/v2/search/{id}/export", operation_id = "runExport", tag = "search",
    params(doc::Id, doc::Export),
    responses((status = 200, description = "Every match", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/octet-stream")
    ), headers(
        ("x-trawl-complete" = bool, description = "Whether it is all there is; not with `order=found`"),
        ("x-trawl-search" = String, description = "The id of the search"),
        ("x-trawl-query" = String, description = "The query as it was understood, percent-encoded")
    )), Searching, NotFound)
)]
pub(super) async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[EXPORT])?;
    let format = Format::parse(&params)?;
    let mut search = api::known(&app, &id).await?;
    if Order::parse(&params, format, search.query())? == Order::Found {
        return found::export(search, format, None).await;
    }
    let query = format.query(search.query().clone())?;
    if query != *search.query() {
        let generation = search.generation().to_owned();
        let another = app.frontend.search_within(query, Some(&generation), None);
        search = another.await?;
    }
    export(api::finished(&search, None).await?, format, &[]).await
}

async fn export(
    answer: Arc<SearchResult>,
    format: Format,
    notices: &[Notice],
) -> Result<Response, Problem> {
    let mut about = head(answer.id(), answer.query(), format, notices);
    about.extend([api::complete_header(&answer)]);
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || write(&answer, format, &sender));
    let mut response = body(receiver).await?.into_response();
    let headers = response.headers_mut();
    if format == Format::Csv {
        let name = HeaderValue::from_static("attachment; filename=\"matches.csv\"");
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    headers.extend(about);
    Ok(response)
}

/// What an export's head says in either order.
fn head(id: &str, query: &Query, format: Format, notices: &[Notice]) -> HeaderMap {
    let about = [
        api::search_header(id),
        (QUERY_HEADER, escaped(&query.interpreted_as())),
        (header::CONTENT_TYPE, format.content_type()),
    ];
    let mut headers = HeaderMap::from_iter(about);
    for notice in notices {
        headers.append(NOTICE_HEADER, escaped(&notice.reason));
    }
    headers
}

/// Text as a header can have it: percent-encoded.
fn escaped(text: &str) -> HeaderValue {
    let text = utf8_percent_encode(text, ESCAPED).to_string();
    HeaderValue::from_str(&text).expect("what is left is ASCII that can be shown")
}

/// What comes, as it comes; all at once, with its length, when it is no more than a chunk, and a
/// problem when there is not even that.
pub(super) async fn body(
    mut receiver: mpsc::Receiver<Result<Bytes, SpoolError>>,
) -> Result<Body, Problem> {
    let Some(first) = receiver.recv().await.transpose()? else {
        return Ok(Body::empty());
    };
    let Some(second) = receiver.recv().await else {
        return Ok(Body::from(first));
    };
    let begun = tokio_stream::iter([Ok(first), second]);
    Ok(Body::from_stream(
        begun.chain(ReceiverStream::new(receiver)),
    ))
}

/// Sends chunk by chunk until the end, an error (which breaks the transfer off, so that it is not
/// taken for the end), or nobody reads any more.
fn write(answer: &Arc<SearchResult>, format: Format, sender: &Sender) {
    let result = match format {
        Format::Text => write_text(answer, sender),
        Format::Lines => write_each(answer, sender, Vec::new(), Format::write_json),
        Format::Csv => write_each(answer, sender, csv::HEADER.to_vec(), csv::write),
        Format::Paths(end) => write_each(answer, sender, Vec::new(), |found, out| {
            let document = &found.document;
            for part in [&document.package[..], b"/", &document.path, &[end]] {
                out.extend_from_slice(part);
            }
        }),
    };
    if let Err(Broken::Spool(error)) = result {
        // Nobody reads it any more when this fails too.
        let _ = sender.blocking_send(Err(error));
    }
}

/// Why an export ends early.
pub(super) enum Broken {
    Spool(SpoolError),
    Gone,
}

impl From<SpoolError> for Broken {
    fn from(error: SpoolError) -> Self {
        Broken::Spool(error)
    }
}

pub(super) type Sender = mpsc::Sender<Result<Bytes, SpoolError>>;

pub(super) fn send(sender: &Sender, bytes: impl Into<Bytes>) -> Result<(), Broken> {
    let sent = sender.blocking_send(Ok(bytes.into()));
    sent.map_err(|_| Broken::Gone)
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

/// Sends `out` and behind it what `each` appends of every match.
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
