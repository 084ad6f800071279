//! An export as matches are found, while the search runs.
//!
//! Nothing is made before the client takes it: a part is read from the spool, behind the streams that
//! write it, when the one before is on its way. So a slow client has a part and a document in memory,
//! holds no thread, and holds up nobody else who waits for the same search.
//! **Invariant:** who gets a clean end got everything, or reads there what is missing.

use super::format::{Format, head};
use crate::api::model::ExportEnd;
use crate::join;
use crate::problem::Problem;
use crate::state::blocking;
use crate::stream_body::CHUNK_BYTES;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frontend::Answer;
use frontend::Follower;
use frontend::Match;
use frontend::SearchHandle;
use frontend::SpoolError;
use frontend::query::Parsed;
use futures_util::StreamExt;
use futures_util::stream::{self, TryStreamExt};
use std::ops::ControlFlow;
use std::{io, vec};
use tokio::sync::watch;

/// Sends what the search finds. The head waits for the first of it, so that what has no answer at all is
/// a problem with a status.
pub(crate) async fn export(
    search: SearchHandle,
    format: Format,
    parsed: Option<Parsed>,
) -> Result<Response, Problem> {
    let notices = parsed.as_ref().map(|parsed| &parsed.notices[..]);
    let about = head(
        search.id(),
        search.query(),
        format,
        notices.unwrap_or_default(),
    );
    let body = match Export::new(search, format, parsed).part().await? {
        None => Body::empty(),
        Some((first, rest)) => {
            let rest = stream::try_unfold(rest, Export::part);
            let rest = rest.map_err(|problem| io::Error::other(problem.to_string()));
            Body::from_stream(stream::iter([Ok(first)]).chain(rest))
        }
    };
    let mut response = body.into_response();
    response.headers_mut().extend(about);
    Ok(response)
}

/// An export that is under way.
struct Export {
    search: SearchHandle,
    format: Format,
    parsed: Option<Parsed>,
    follower: Follower,
    news: watch::Receiver<()>,
    /// What is left of the document that is being written.
    document: vec::IntoIter<Match>,
    /// Matches that were written.
    written: u64,
    /// The end is written too.
    is_over: bool,
}

impl Export {
    fn new(search: SearchHandle, format: Format, parsed: Option<Parsed>) -> Export {
        Export {
            follower: search.follower(),
            news: search.news(),
            search,
            format,
            parsed,
            document: Vec::new().into_iter(),
            written: 0,
            is_over: false,
        }
    }

    /// The next part, once there is one, and the rest; nothing behind the end.
    async fn part(mut self) -> Result<Option<(Bytes, Export)>, Problem> {
        while !self.is_over {
            // Asked first: what comes after the answer is read the next time.
            let has_ended = self.search.is_finished();
            if has_ended || self.follower.has_more() || self.document.len() > 0 {
                let (read, part) = blocking(move || {
                    let part = self.read(has_ended);
                    (self, part)
                })
                .await;
                let part = part?;
                if !part.is_empty() {
                    return Ok(Some((part.into(), read)));
                }
                self = read;
            }
            match has_ended {
                true => return self.end().await,
                false => self.search.more(&mut self.news).await,
            }
        }
        Ok(None)
    }

    /// What there is, about as much as is sent at a time.
    fn read(&mut self, has_ended: bool) -> Result<Vec<u8>, SpoolError> {
        let mut out = Vec::new();
        if self.write_document(&mut out).is_continue() {
            let Export {
                follower,
                document,
                written,
                format,
                ..
            } = self;
            // Nothing is left out by a break: what is not written stays in `document`.
            let _ = follower.read(has_ended, &mut |matches| {
                *document = matches.into_iter();
                write(*format, document, written, &mut out)
            })?;
        }
        Ok(out)
    }

    fn write_document(&mut self, out: &mut Vec<u8>) -> ControlFlow<()> {
        write(self.format, &mut self.document, &mut self.written, out)
    }

    /// The last part, when the search has ended and all that it has found is written.
    async fn end(mut self) -> Result<Option<(Bytes, Export)>, Problem> {
        let answer = join::finished(&self.search, self.parsed.as_ref()).await?;
        self.is_over = true;
        match self.format {
            Format::Lines => {
                let end = ExportEnd::new(&answer, self.written);
                let mut line = serde_json::to_vec(&end).expect("an end is plain data");
                line.push(b'\n');
                Ok(Some((line.into(), self)))
            }
            _ if answer.is_complete() => Ok(None),
            _ => Err(incomplete(&answer)),
        }
    }
}

/// Appends matches until there are enough for a part.
fn write(
    format: Format,
    document: &mut vec::IntoIter<Match>,
    written: &mut u64,
    out: &mut Vec<u8>,
) -> ControlFlow<()> {
    while out.len() < CHUNK_BYTES {
        let Some(found) = document.next() else {
            return ControlFlow::Continue(());
        };
        *written += 1;
        match format {
            Format::Text => found.write_text(out),
            _ => Format::write_json(&found, out),
        }
    }
    ControlFlow::Break(())
}

/// Text has no place to say it: the transfer breaks off, or does not begin.
fn incomplete(answer: &Answer) -> Problem {
    let each = answer.missing().iter();
    let missing: Vec<_> = each
        .map(|missing| format!("{} ({})", missing.backend, missing.reason))
        .collect();
    let detail = format!("not all could be searched: {}", missing.join(", "));
    Problem::unavailable(detail).hint("format=jsonl says at its end what is missing")
}
