//! Everything that a search has found, in order, in a fixed amount of memory.

use super::params::{FORMAT, Params, QUERY};
use super::problem::Problem;
use super::{App, api};
use crate::answer::Answer;
use crate::spool::SpoolError;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// Bytes that are sent at a time.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// Chunks that wait for a slow client.
pub(super) const WAITING_MAX: usize = 2;

#[derive(Clone, Copy)]
enum Format {
    Lines,
    Text,
}

impl Format {
    fn parse(params: &Params) -> Result<Format, Problem> {
        match params.text("format")? {
            None | Some("jsonl") => Ok(Format::Lines),
            Some("text") => Ok(Format::Text),
            Some(other) => {
                let detail = format!("format={other} is neither jsonl nor text");
                Err(Problem::bad_request(detail))
            }
        }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Format::Lines => "application/x-ndjson",
            Format::Text => "application/octet-stream",
        })
    }
}

/// Everything that a search has found, by its query.
pub(super) async fn search(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[QUERY, FORMAT])?;
    let format = Format::parse(&params)?;
    let search = api::start(&app, &params, params.query()?).await?;
    export(search.finished().await?, format).await
}

/// The same, by its id.
pub(super) async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[FORMAT])?;
    let format = Format::parse(&params)?;
    export(api::finished(&app, &id).await?, format).await
}

async fn export(answer: Arc<Answer>, format: Format) -> Result<Response, Problem> {
    let about = [
        api::search_header(answer.id()),
        api::complete_header(&answer),
    ];
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || write(&answer, format, &sender));
    let mut response = body(receiver).await?.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, format.content_type());
    headers.extend(about);
    Ok(response)
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
fn write(answer: &Arc<Answer>, format: Format, sender: &mpsc::Sender<Result<Bytes, SpoolError>>) {
    let result = match format {
        Format::Text => write_text(answer, sender),
        Format::Lines => write_lines(answer, sender),
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

fn write_text(answer: &Answer, sender: &Sender) -> Result<(), Broken> {
    answer.for_each_text(|texts| {
        let mut bytes = Bytes::from(texts.into_bytes());
        while !bytes.is_empty() {
            send(sender, bytes.split_to(bytes.len().min(CHUNK_BYTES)))?;
        }
        Ok(())
    })
}

fn write_lines(answer: &Answer, sender: &Sender) -> Result<(), Broken> {
    let chunk_len = answer.chunk_len();
    for start in (0..answer.len()).step_by(chunk_len) {
        let end = answer.len().min(start + chunk_len);
        let mut out = Vec::new();
        for found in answer.matches(start..end)? {
            serde_json::to_writer(&mut out, &found).expect("matches are plain data");
            out.push(b'\n');
            if out.len() >= CHUNK_BYTES {
                send(sender, std::mem::take(&mut out))?;
            }
        }
        send(sender, out)?;
    }
    Ok(())
}
