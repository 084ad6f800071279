//! JSON of `/api/search`. Files are written as they are read, so an answer of any length is sent in
//! bounded memory. A failure after the first batch aborts the transfer.

use super::found::{Begun, Found};
use super::shape::SearchResult;
use super::writer::LimitedFile;
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
    let text = Text::new(BEGIN.to_vec(), true);
    let files = found.first().await?;
    if found.is_at_end() {
        let bytes = text.with(files).await.bytes;
        return Ok(Body::from([bytes, end(&found.end())].concat()));
    }
    let pieces = stream::try_unfold(Some((text, files, found)), piece);
    Ok(watched.guard(Body::from_stream(pieces), None))
}

type Rest = Option<(Text, Vec<LimitedFile>, Box<Found>)>;

/// Writes files while the next are read.
async fn piece(rest: Rest) -> io::Result<Option<(Vec<u8>, Rest)>> {
    let Some((text, files, mut found)) = rest else {
        return Ok(None);
    };
    let (mut text, next) = tokio::join!(text.with(files), found.next());
    let next = next.map_err(|problem| io::Error::other(problem.to_string()))?;
    if next.is_none() {
        text.bytes.extend(end(&found.end()));
    }
    let rest = next.map(|files| (Text::new(Vec::new(), text.is_first), files, found));
    Ok(Some((text.bytes, rest)))
}

struct Text {
    bytes: Vec<u8>,
    is_first: bool,
}

impl Text {
    fn new(bytes: Vec<u8>, is_first: bool) -> Text {
        Text { bytes, is_first }
    }

    async fn with(mut self, files: Vec<LimitedFile>) -> Text {
        blocking(move || {
            for file in files {
                if !std::mem::take(&mut self.is_first) {
                    self.bytes.push(b',');
                }
                serde_json::to_writer(&mut self.bytes, &file.write())
                    .expect("shapes are plain data");
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
