//! JSON of `/api/search`. Files are written as they are read, so an answer of any length is sent in
//! bounded memory. A failure after the first batch aborts the transfer.

use super::found::{Begun, Found};
use super::shape::{FileMatch, SearchResult};
use crate::http::blocking;
use crate::http::watched::Watched;
use crate::problem::Problem;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::io;

const BEGIN: &[u8] = br#"{"Result":{"Files":["#;

pub(super) async fn respond(begun: Begun) -> Result<Response, Problem> {
    let body = match begun {
        Begun::Counts(counts) => Body::from([BEGIN, &end(&counts)].concat()),
        Begun::Files(found) => body(found).await?,
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

async fn body(mut found: Box<Found>) -> Result<Body, Problem> {
    let watched = Watched::new(&found.call.coordinator, &found.call.viewer, &found.scope);
    let mut text = Text::new(BEGIN.to_vec(), true);
    text = text.with(found.first().await?).await;
    if found.is_at_end() {
        text.bytes.extend(end(&found.end()));
        return Ok(Body::from(text.bytes));
    }
    let pieces = stream::try_unfold(Some((text, found)), piece);
    Ok(watched.guard(Body::from_stream(pieces), None))
}

type Rest = Option<(Text, Box<Found>)>;

/// Sends what is rendered, and renders the next files.
async fn piece(rest: Rest) -> io::Result<Option<(Vec<u8>, Rest)>> {
    let Some((text, mut found)) = rest else {
        return Ok(None);
    };
    let files = found.next().await;
    let files = files.map_err(|problem| io::Error::other(problem.to_string()))?;
    let Some(files) = files else {
        let last = [text.bytes, end(&found.end())].concat();
        return Ok(Some((last, None)));
    };
    let next = Text::new(Vec::new(), text.is_first);
    Ok(Some((text.bytes, Some((next.with(files).await, found)))))
}

struct Text {
    bytes: Vec<u8>,
    is_first: bool,
}

impl Text {
    fn new(bytes: Vec<u8>, is_first: bool) -> Text {
        Text { bytes, is_first }
    }

    async fn with(mut self, files: Vec<FileMatch>) -> Text {
        blocking(move || {
            for file in files {
                if !std::mem::take(&mut self.is_first) {
                    self.bytes.push(b',');
                }
                serde_json::to_writer(&mut self.bytes, &file).expect("shapes are plain data");
            }
            self
        })
        .await
    }
}

fn end(result: &SearchResult) -> Vec<u8> {
    let rest = serde_json::to_vec(result).expect("shapes are plain data");
    [b"],", &rest[1..], b"}"].concat()
}
