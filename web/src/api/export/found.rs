//! Export in the order of finding.
//!
//! A part is read once the client has taken the previous one: a slow client costs no thread, and
//! memory for a part and a document.
//!
//! **Invariant:** a client with a clean end has all matches, or a list of missing ones.

use super::format::{End, Format, head};
use crate::http::response;
use crate::http::stream_body::{Export, LongLine, PIECE_BYTES, lines_of};
use crate::model::ExportEnd;
use crate::problem::Problem;
use crate::search::run;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frontend::query::ParsedQuery;
use frontend::{FoundText, Match, MatchStream, SearchHandle, SearchResult, SpoolError};
use futures_util::StreamExt;
use futures_util::stream::{self, TryStreamExt};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::{io, vec};
use tokio::sync::watch;

/// Headers wait for the first part, so that an earlier failure has a status.
pub(crate) async fn export(
    export: Export,
    search: SearchHandle,
    format: Format,
    end: End,
    parsed: Option<ParsedQuery>,
) -> Result<Response, Problem> {
    let notices = parsed.as_ref().map(|parsed| &parsed.notices[..]);
    let notices = notices.unwrap_or_default();
    let about = head(search.id(), search.query(), format, notices);
    let export = FoundExport {
        export,
        follower: search.follower(),
        news: search.news(),
        search,
        format,
        end,
        parsed,
        document: Vec::new().into_iter(),
        line: None,
        written: 0,
        answer: None,
    };
    let mut answer = None;
    let body = match export.part().await? {
        None => Body::empty(),
        Some((first, rest)) => {
            // Present for the last part.
            answer = rest.answer.clone();
            let rest = stream::try_unfold(rest, FoundExport::part);
            let rest = rest.map_err(|problem| io::Error::other(problem.to_string()));
            Body::from_stream(stream::iter([Ok(first)]).chain(rest))
        }
    };
    let mut response = body.into_response();
    response.headers_mut().extend(about);
    if let Some(answer) = answer {
        response::mark_unavailable(&mut response, &answer);
    }
    Ok(response)
}

struct FoundExport {
    export: Export,
    search: SearchHandle,
    format: Format,
    end: End,
    parsed: Option<ParsedQuery>,
    follower: MatchStream,
    news: watch::Receiver<()>,
    document: vec::IntoIter<Match>,
    line: Option<LongLine>,
    /// Matches, or lines of text.
    written: u64,
    /// Present after the end.
    answer: Option<Arc<SearchResult>>,
}

impl FoundExport {
    async fn part(mut self) -> Result<Option<(Bytes, FoundExport)>, Problem> {
        while self.answer.is_none() {
            if let Some(line) = &mut self.line {
                let scope = self.search.scope();
                if let Some(piece) = line.piece(&self.export.coordinator, scope).await? {
                    self.written += lines_of(&piece);
                    return Ok(Some((piece.into(), self)));
                }
                self.line = None;
            }
            // Checked first, so that the next round has later matches.
            let has_ended = self.search.is_finished();
            if has_ended || self.follower.has_more() || self.document.len() > 0 {
                let renderers = self.export.renderers.clone();
                let read = move || {
                    let part = self.read(has_ended);
                    (self, part)
                };
                let (read, part) = renderers.blocking(read).await;
                let part = part?;
                if !part.is_empty() {
                    return Ok(Some((part.into(), read)));
                }
                self = read;
            }
            if has_ended {
                return self.end().await;
            }
            self.search.more(&mut self.news).await;
        }
        Ok(None)
    }

    fn read(&mut self, has_ended: bool) -> Result<Vec<u8>, SpoolError> {
        let mut out = Vec::new();
        if let Format::Text = self.format {
            let (document, line) = (&mut self.document, &mut self.line);
            if write_text(document, line, &mut out).is_continue() {
                // A break loses nothing, as below.
                let _ = self.follower.read_text(has_ended, &mut |text| match text {
                    FoundText::Lines(lines) => {
                        out.extend_from_slice(lines);
                        flow(&out)
                    }
                    FoundText::Cut(matches) => {
                        *document = matches.into_iter();
                        write_text(document, line, &mut out)
                    }
                })?;
            }
            self.written += lines_of(&out);
            return Ok(out);
        }
        let (document, written) = (&mut self.document, &mut self.written);
        if write(document, written, &mut out).is_continue() {
            // A break loses nothing: unwritten matches stay in `document`.
            let _ = self.follower.read(has_ended, &mut |matches| {
                *document = matches.into_iter();
                write(document, written, &mut out)
            })?;
        }
        Ok(out)
    }

    /// Last part, after all matches.
    async fn end(mut self) -> Result<Option<(Bytes, FoundExport)>, Problem> {
        let answer = run::finished(&self.search, self.parsed.as_ref()).await?;
        self.answer = Some(Arc::clone(&answer));
        match self.end {
            End::Line => {
                let parsed = self.parsed.as_ref();
                let notices = parsed.map_or(&[][..], |parsed| &parsed.notices);
                let about = (self.search.id(), self.search.pending());
                let end = ExportEnd::new(&answer, about, self.written, notices);
                let mut line = serde_json::to_vec(&end).expect("an end is plain data");
                line.push(b'\n');
                Ok(Some((line.into(), self)))
            }
            End::BreakOff if answer.is_complete() => Ok(None),
            End::BreakOff => Err(incomplete(&answer)),
        }
    }
}

/// Fills a chunk with lines of JSON.
fn write(
    document: &mut vec::IntoIter<Match>,
    written: &mut u64,
    out: &mut Vec<u8>,
) -> ControlFlow<()> {
    for found in document {
        *written += 1;
        Format::write_json(&found, out);
        flow(out)?;
    }
    ControlFlow::Continue(())
}

/// Fills a chunk with text, up to a split line.
fn write_text(
    document: &mut vec::IntoIter<Match>,
    line: &mut Option<LongLine>,
    out: &mut Vec<u8>,
) -> ControlFlow<()> {
    for found in document {
        *line = LongLine::begin(&found, out);
        if line.is_some() {
            return ControlFlow::Break(());
        }
        flow(out)?;
    }
    ControlFlow::Continue(())
}

fn flow(out: &[u8]) -> ControlFlow<()> {
    if out.len() < PIECE_BYTES {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

/// The transfer breaks off, or does not begin.
fn incomplete(answer: &SearchResult) -> Problem {
    let each = answer.missing().iter();
    let missing: Vec<_> = each
        .map(|missing| format!("{} ({})", missing.backend, missing.reason))
        .collect();
    let detail = format!("the answer is incomplete: {}", missing.join(", "));
    Problem::unavailable(detail).hint("format=jsonl lists at its end what is missing")
}
