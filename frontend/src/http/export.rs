//! Everything that a search has found, in order, in a fixed amount of memory.

use super::params::Params;
use super::problem::Problem;
use super::{App, api};
use crate::answer::Answer;
use crate::render::Match;
use crate::spool::SpoolError;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Chunks that wait for a slow client.
const WAITING_MAX: usize = 2;

/// Says whether what follows is all there is.
const COMPLETE: HeaderName = HeaderName::from_static("x-trawl-complete");

#[derive(Clone, Copy)]
enum Format {
    Lines,
    Text,
}

impl Format {
    fn write(self, found: &Match, out: &mut Vec<u8>) {
        match self {
            Format::Text => found.write_text(out),
            Format::Lines => {
                serde_json::to_writer(&mut *out, found).expect("matches are plain data");
                out.push(b'\n');
            }
        }
    }
}

pub(super) async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&["format"])?;
    let (format, kind) = match params.text("format")? {
        None | Some("jsonl") => (Format::Lines, "application/x-ndjson"),
        Some("text") => (Format::Text, "application/octet-stream"),
        Some(other) => {
            let detail = format!("format={other} is neither jsonl nor text");
            return Err(Problem::bad_request(detail));
        }
    };
    let answer = api::finished(&app, &id).await?;
    let complete = if answer.is_complete() {
        "true"
    } else {
        "false"
    };
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || write(&answer, format, &sender));
    let body = Body::from_stream(ReceiverStream::new(receiver));
    let mut response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    let headers = response.headers_mut();
    headers.insert(COMPLETE, HeaderValue::from_static(complete));
    Ok(response)
}

/// Sends chunk by chunk until the end, an error (which breaks the transfer off, so that it is not
/// taken for the end), or nobody reads any more.
fn write(answer: &Arc<Answer>, format: Format, sender: &mpsc::Sender<Result<Bytes, SpoolError>>) {
    let chunk_len = answer.chunk_len();
    for start in (0..answer.len()).step_by(chunk_len) {
        let end = answer.len().min(start + chunk_len);
        let chunk = answer.matches(start..end).map(|matches| {
            let mut out = Vec::new();
            matches
                .iter()
                .for_each(|found| format.write(found, &mut out));
            Bytes::from(out)
        });
        let failed = chunk.is_err();
        if sender.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}
