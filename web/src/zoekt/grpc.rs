//! gRPC service of zoekt, for clients such as Sourcebot: `Search`, `StreamSearch` and `List`.
//!
//! Messages are filled from the shapes of the JSON API. Compressed ones are refused.

mod filled;
#[allow(clippy::all, unreachable_pub)]
mod messages;
mod tree;

use super::found::Begun;
use super::links::Links;
use super::request::{SearchOptions, message};
use super::sets::Prepared;
use super::shape::{MinimalEntry, Stats};
use super::writer::LimitedFile;
use super::{found, list};
use crate::http::request_limits::read_body;
use crate::problem::Problem;
use crate::state::{App, Call};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::post;
use frontend::query::zoekt::QueryTree;
use futures_util::stream::{self, Stream};
use messages::list_options::RepoListField;
use messages::{
    FileMatch, ListRequest, ListResponse, Progress, SearchRequest, SearchResponse,
    StreamSearchRequest, StreamSearchResponse,
};
use prost::Message;
use std::time::Duration;
use std::{mem, vec};
use tonic::server::Grpc;
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

pub(super) const SERVICE: &str = "/zoekt.webserver.v1.WebserverService/";

/// Default of gRPC's receivers.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

const KINDS: [&[u8]; 2] = [b"application/grpc", b"application/grpc+proto"];

const FRAME_BYTES: usize = 5;

const CHUNK_BYTES_MAX: usize = 1 << 20;

pub(super) fn routes() -> Router<App> {
    let path = |method: &str| format!("{SERVICE}{method}");
    Router::new()
        .route(&path("Search"), post(search))
        .route(&path("StreamSearch"), post(stream_search))
        .route(&path("List"), post(list_repositories))
        .route(&path("{method}"), post(unknown))
}

async fn unknown() -> Response {
    Status::unimplemented("the methods are Search, StreamSearch and List").into_http()
}

pub(super) fn error(problem: &Problem, _: Response) -> Response {
    Status::from(problem).into_http()
}

impl From<&Problem> for Status {
    fn from(problem: &Problem) -> Status {
        let code = match problem.status {
            400 => Code::InvalidArgument,
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            404 | 410 => Code::NotFound,
            405 | 415 => Code::Unimplemented,
            408 => Code::DeadlineExceeded,
            413 | 414 | 429 | 431 => Code::ResourceExhausted,
            503 => Code::Unavailable,
            _ => Code::Internal,
        };
        Status::new(code, message(problem))
    }
}

async fn answered<In, Out, S, F>(
    request: Request,
    answer: impl FnOnce(In, Option<Duration>) -> F,
) -> Result<Response, Problem>
where
    In: Message + Default + 'static,
    Out: Message + 'static,
    S: Stream<Item = Result<Out, Status>> + Send + 'static,
    F: Future<Output = Result<S, Problem>>,
{
    let kind = request.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| KINDS.contains(&kind.as_bytes())) {
        return Err(Problem::unsupported("expected application/grpc"));
    }
    let time = deadline(request.headers());
    let (parts, body) = request.into_parts();
    let body = read_body(body, MESSAGE_BYTES_MAX + FRAME_BYTES, &parts.extensions).await?;
    let mut answer = Some(answer);
    let service = tower::service_fn(|request: tonic::Request<In>| {
        let answer = answer.take().expect("a request has one message");
        let answer = answer(request.into_inner(), time);
        async move {
            let answer = tokio::time::timeout(time.unwrap_or(Duration::MAX), answer).await;
            let late = |_| Status::deadline_exceeded("the search did not end in time");
            let messages = answer.map_err(late)?;
            let messages = messages.map_err(|problem| Status::from(&problem))?;
            Ok::<_, Status>(tonic::Response::new(messages))
        }
    });
    let mut grpc = Grpc::new(ProstCodec::<Out, In>::default());
    let request = Request::from_parts(parts, Body::from(body));
    Ok(grpc.server_streaming(service, request).await.map(Body::new))
}

/// Time in a header such as `500m`: at most eight digits and a unit.
fn deadline(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    let number: u32 = digits.parse().ok()?;
    let one = match unit {
        "H" => Duration::from_hours(1),
        "M" => Duration::from_mins(1),
        "S" => Duration::from_secs(1),
        "m" => Duration::from_millis(1),
        "u" => Duration::from_micros(1),
        "n" => Duration::from_nanos(1),
        _ => return None,
    };
    one.checked_mul(number)
}

async fn search(call: Call, links: Links, request: Request) -> Result<Response, Problem> {
    let found = async |message: SearchRequest, time| {
        let (prepared, options) = prepare(&call, message, time).await?;
        let found = found::whole(&call, links, prepared, &options).await?;
        Ok(tokio_stream::once(Ok(SearchResponse::from(found))))
    };
    answered(request, found).await
}

async fn stream_search(call: Call, links: Links, request: Request) -> Result<Response, Problem> {
    let found = async |message: StreamSearchRequest, time| {
        let request = message.request.unwrap_or_default();
        let (prepared, options) = prepare(&call, request, time).await?;
        let chunks = Chunks::begin(found::begin(&call, links, prepared, &options).await?).await?;
        Ok(stream::try_unfold(Some(chunks), Chunks::next))
    };
    answered(request, found).await
}

async fn prepare(
    call: &Call,
    request: SearchRequest,
    time: Option<Duration>,
) -> Result<(Prepared, SearchOptions), Problem> {
    let query = request.query.filter(|it| it.query.is_some());
    let query = query.ok_or_else(|| Problem::bad_request("missing query"))?;
    let mut options = SearchOptions::from(request.opts.unwrap_or_default());
    // Leaves time to send.
    let in_time = time.map(|time| time - time / 10);
    options.timeout = options.timeout.into_iter().chain(in_time).min();
    let tree = tree::read(call, query).await?;
    let prepared = list::prepare(call, tree, options.context_lines).await?;
    Ok((prepared, options))
}

/// Messages of a stream. The last has the counts.
struct Chunks {
    begun: Begun,
    files: vec::IntoIter<LimitedFile>,
}

impl Chunks {
    async fn begin(mut begun: Begun) -> Result<Chunks, Problem> {
        let files = match &mut begun {
            Begun::Files(found) => found.first().await?,
            Begun::Counts(_) => Vec::new(),
        };
        let files = files.into_iter();
        Ok(Chunks { begun, files })
    }

    async fn next(
        chunks: Option<Chunks>,
    ) -> Result<Option<(StreamSearchResponse, Option<Chunks>)>, Status> {
        let Some(mut chunks) = chunks else {
            return Ok(None);
        };
        let (files, end) = chunks
            .read()
            .await
            .map_err(|problem| Status::from(&problem))?;
        // Clients wait for more while the pending priority is not lower.
        let is_last = end.is_some();
        let pending = if is_last { f64::NEG_INFINITY } else { 0.0 };
        let response = SearchResponse {
            stats: end.map(Into::into),
            progress: Some(Progress {
                priority: 0.0,
                max_pending_priority: pending,
            }),
            files,
        };
        let message = StreamSearchResponse {
            response_chunk: Some(response),
        };
        Ok(Some((message, (!is_last).then_some(chunks))))
    }

    async fn read(&mut self) -> Result<(Vec<FileMatch>, Option<Stats>), Problem> {
        let found = match &mut self.begun {
            Begun::Files(found) => found,
            Begun::Counts(counts) => return Ok((Vec::new(), Some(mem::take(&mut counts.stats)))),
        };
        let (mut files, mut bytes) = (Vec::new(), 0);
        while bytes < CHUNK_BYTES_MAX
            && let Some(file) = self.files.next()
        {
            let file = FileMatch::from(file.write());
            bytes += file.encoded_len();
            files.push(file);
        }
        if self.files.len() == 0 {
            match found.next().await? {
                Some(batch) => self.files = batch.into_iter(),
                None => return Ok((files, Some(found.end().stats))),
            }
        }
        Ok((files, None))
    }
}

async fn list_repositories(
    call: Call,
    links: Links,
    request: Request,
) -> Result<Response, Problem> {
    let listed = async |message: ListRequest, _| {
        let tree = match message.query {
            Some(query) if query.query.is_some() => tree::read(&call, query).await?,
            _ => QueryTree::constant(true),
        };
        let prepared = list::prepare(&call, tree, 0).await?;
        let found = list::find(&call, &prepared).await?;
        let mut answer = ListResponse {
            crashes: found.missing as i64,
            stats: Some(list::sum(&found.entries).into()),
            ..ListResponse::default()
        };
        let entries = found.entries.iter();
        let opts = message.opts.unwrap_or_default();
        if opts.field() == RepoListField::ReposMap {
            let minimal = |entry| (list::id(entry), MinimalEntry::from(entry).into());
            answer.repos_map = entries.map(minimal).collect();
        } else {
            answer.repos = entries.map(|entry| filled::listed(entry, &links)).collect();
        }
        Ok(tokio_stream::once(Ok(answer)))
    };
    answered(request, listed).await
}
