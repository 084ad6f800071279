//! Response body of any length, rendered in pieces as the client takes them.
//!
//! Matches are rendered on blocking threads; a task, not a thread, waits for the client. Data is
//! read ahead only for a fast client. [`LongLine`] fetches lines that are too long for the result.
//!
//! **Invariant:** a slow client holds at most [`EXPORT_BYTES`] and one export permit, until its
//! response ends or its connection closes.

mod match_source;

pub(crate) use match_source::MatchSource;

use crate::http::{BodyWorkers, blocking};
use crate::problem::{Problem, RETRY_AFTER_S};
use axum::BoxError;
use axum::body::Body;
use bytes::{Buf, Bytes};
use frontend::{Coordinator, Document, Match, Need, Reservation, Scope, SpoolError};
use schema::message::{FileRange, FileRequest};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, OwnedPermit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tracing::Instrument;

/// Approximate size of a rendered piece.
pub(crate) const PIECE_BYTES: usize = 128 << 10;

/// Queued pieces, besides the one being rendered.
const WAITING_MAX: usize = 1;

/// Memory of an export. Escapes make a piece several times longer than its source.
pub(crate) const EXPORT_BYTES: u64 = 1 << 20;

/// Read buffer of a slow client, part of [`EXPORT_BYTES`].
const READ_BYTES: usize = 256 << 10;

/// Read buffers for a fast client, tried in order. Half is sent while the other half is rendered.
/// Matches jump between frames, so larger windows read each frame less often.
const AHEAD_BYTES: [usize; 2] = [28 << 20, 12 << 20];

/// Time to take a piece, above which a client is slow.
const SLOW: Duration = Duration::from_millis(200);

/// Pieces taken in time that make a client fast.
const FAST_PIECES: u32 = 4;

type Piece = Result<Bytes, BoxError>;

pub(crate) trait Source: Send + 'static {
    /// Returns true if the next piece needs no disk access.
    fn is_quick(&self) -> bool;

    /// Renders the next piece, of about [`PIECE_BYTES`]; the last one, and one before a long line,
    /// are shorter. `None` at the end. Reads at most `memory` at once, and keeps the rest.
    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError>;

    /// Rest of a long line that the last piece begins.
    fn long_line(&mut self) -> Option<LongLine> {
        None
    }

    /// Drops the data read ahead.
    fn forget(&mut self);
}

pub(crate) struct ReadMemory {
    bytes: usize,
    /// `None`: part of the [`EXPORT_BYTES`] of its export.
    ahead: Option<Reservation>,
}

impl ReadMemory {
    fn ahead(coordinator: &Arc<Coordinator>) -> Option<ReadMemory> {
        AHEAD_BYTES.into_iter().find_map(|bytes| {
            let ahead = coordinator.reserve(bytes as u64, Need::Optional)?;
            Some(ReadMemory {
                bytes,
                ahead: Some(ahead),
            })
        })
    }

    fn slow() -> ReadMemory {
        ReadMemory {
            bytes: READ_BYTES,
            ahead: None,
        }
    }

    /// The next window is rendered while one is sent.
    fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Of two windows if one is rendered ahead.
    fn window_bytes(&self) -> usize {
        self.bytes / if self.is_ahead() { 2 } else { 1 }
    }
}

#[derive(Clone)]
pub(crate) struct Exports {
    pub(crate) coordinator: Arc<Coordinator>,
    permits: Arc<Semaphore>,
    renderers: BodyWorkers,
}

impl Exports {
    pub(crate) fn new(coordinator: Arc<Coordinator>, exports_max: usize) -> Exports {
        Exports {
            coordinator,
            permits: Arc::new(Semaphore::new(exports_max)),
            renderers: BodyWorkers::default(),
        }
    }

    /// Fails at the limit of exports or of their memory.
    pub(crate) fn begin(&self) -> Result<Export, Problem> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let memory = self.coordinator.reserve(EXPORT_BYTES, Need::Required);
        match (permit, memory) {
            (Ok(permit), Some(memory)) => Ok(Export {
                coordinator: Arc::clone(&self.coordinator),
                renderers: self.renderers.clone(),
                _permit: permit,
                _memory: memory,
            }),
            _ => Err(Problem::busy("too many exports are running", RETRY_AFTER_S)),
        }
    }
}

pub(crate) struct Export {
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) renderers: BodyWorkers,
    _permit: OwnedSemaphorePermit,
    _memory: Reservation,
}

impl Export {
    /// A short body has a length. A failure before the first piece is a problem with a status; a
    /// later one aborts the transfer, so that the client does not take it for the end.
    pub(crate) async fn body(
        self,
        source: Box<dyn Source>,
        scope: &Scope,
    ) -> Result<Body, Problem> {
        let (mut source, first) = next_piece(source, &Arc::new(ReadMemory::slow())).await;
        let first = first?.unwrap_or_default();
        let line = source.long_line();
        if first.len() < PIECE_BYTES && line.is_none() {
            return Ok(Body::from(first));
        }
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let sending = self.send(source, line, scope.clone(), sender);
        tokio::spawn(sending.in_current_span());
        let first = tokio_stream::once(Ok(first));
        Ok(Body::from_stream(
            first.chain(ReceiverStream::new(receiver)),
        ))
    }

    async fn send(
        self,
        mut source: Box<dyn Source>,
        mut line: Option<LongLine>,
        scope: Scope,
        mut sender: mpsc::Sender<Piece>,
    ) {
        let mut memory = Arc::new(ReadMemory::slow());
        // Clients count as fast at first: most results are a few pieces.
        let mut fast = FAST_PIECES;
        loop {
            let (piece, is_last) = if let Some(rest) = &mut line {
                let piece = rest.piece(&self.coordinator, &scope).await;
                let Some(piece) = piece.transpose() else {
                    line = None;
                    continue;
                };
                let is_last = piece.is_err();
                let piece = piece.map_err(|problem| problem.to_string().into());
                (piece.map(Bytes::from), is_last)
            } else {
                if fast >= FAST_PIECES && !memory.is_ahead() {
                    let ahead = ReadMemory::ahead(&self.coordinator);
                    memory = ahead.map_or(memory, Arc::new);
                }
                let renderer = self.renderers.permit().await;
                let (next, piece) = next_piece(source, &memory).await;
                drop(renderer);
                source = next;
                let Some(piece) = piece.transpose() else {
                    return;
                };
                line = source.long_line();
                let is_short = |piece: &Bytes| piece.len() < PIECE_BYTES && line.is_none();
                let is_last = piece.as_ref().map_or(true, is_short);
                (piece.map_err(BoxError::from), is_last)
            };
            let is_taken = timeout(SLOW, sender.clone().reserve_owned()).await;
            let permit = match is_taken {
                Ok(permit) => {
                    fast += 1;
                    permit
                }
                Err(_) => {
                    fast = 0;
                    source.forget();
                    memory = Arc::new(ReadMemory::slow());
                    sender.clone().reserve_owned().await
                }
            };
            let Ok(permit) = permit else { return };
            sender = OwnedPermit::send(permit, piece);
            if is_last {
                return;
            }
        }
    }
}

pub(crate) fn lines_of(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Renders the next piece of `source`, on a blocking thread if it is slow.
async fn next_piece(
    mut source: Box<dyn Source>,
    memory: &Arc<ReadMemory>,
) -> (Box<dyn Source>, Result<Option<Bytes>, SpoolError>) {
    let (source, piece) = if source.is_quick() {
        let piece = source.piece(memory);
        (source, piece)
    } else {
        let memory = Arc::clone(memory);
        let render = move || {
            let piece = source.piece(&memory);
            (source, piece)
        };
        blocking(render).await
    };
    (source, piece.map(|piece| piece.map(Bytes::from)))
}

const FETCHED_BYTES: u64 = PIECE_BYTES as u64;

/// Rest of a match, after its first name and number.
pub(crate) struct LongLine {
    document: Arc<Document>,
    number: u32,
    fetched: Bytes,
    /// Next offset, and the end of the match.
    at: u64,
    end: u64,
}

impl LongLine {
    /// Appends the prefix of a truncated line, and returns the rest.
    pub(crate) fn begin(found: &Match, out: &mut Vec<u8>) -> Option<LongLine> {
        // A match in a name has the whole name.
        let Some(window) = found.window.filter(|_| found.line > 0) else {
            found.write_text(out);
            return None;
        };
        let line = LongLine {
            document: Arc::clone(&found.document),
            number: found.line,
            fetched: Bytes::new(),
            at: found.offset,
            end: found.offset.saturating_add(window.line_bytes),
        };
        line.name(out);
        Some(line)
    }

    fn name(&self, out: &mut Vec<u8>) {
        let Document { package, path, .. } = &*self.document;
        let number = format!(":{}:", self.number);
        for part in [&package[..], b"/", path, number.as_bytes()] {
            out.extend_from_slice(part);
        }
    }

    /// At most [`PIECE_BYTES`] and a name. `None` at the end.
    pub(crate) async fn piece(
        &mut self,
        coordinator: &Coordinator,
        scope: &Scope,
    ) -> Result<Option<Vec<u8>>, Problem> {
        if self.fetched.is_empty() {
            if self.at == self.end {
                return Ok(None);
            }
            self.fetched = self.fetch(coordinator, scope).await?;
            self.at += self.fetched.len() as u64;
        }
        let mut out = Vec::new();
        while !self.fetched.is_empty() && out.len() < PIECE_BYTES {
            let room = self.fetched.len().min(PIECE_BYTES - out.len());
            match memchr::memchr(b'\n', &self.fetched[..room]) {
                None => {
                    out.extend_from_slice(&self.fetched[..room]);
                    self.fetched.advance(room);
                }
                Some(end) => {
                    out.extend_from_slice(&self.fetched[..=end]);
                    self.fetched.advance(end + 1);
                    self.number += 1;
                    self.name(&mut out);
                }
            }
        }
        if self.fetched.is_empty() && self.at == self.end {
            out.push(b'\n');
        }
        Ok(Some(out))
    }

    /// At least one byte.
    async fn fetch(&self, coordinator: &Coordinator, scope: &Scope) -> Result<Bytes, Problem> {
        let document = &self.document;
        let count = FETCHED_BYTES.min(self.end - self.at);
        let offset = self.at;
        let range = FileRange::Bytes { offset, count };
        let commit = &document.revisions.commit;
        let request = FileRequest::new(&document.package, &document.path, commit, range);
        let reply = coordinator.file(scope, &request).await?;
        let is_same = reply.found && reply.hash == document.hash && reply.offset == self.at;
        let mut text = reply.text;
        text.truncate(count as usize);
        if !is_same || text.is_empty() {
            let names = [&document.package, &document.path];
            let [package, path] = names.map(|name| String::from_utf8_lossy(name));
            let detail = format!("{package}/{path}: the index changed during the search");
            return Err(Problem::unavailable(detail).hint("search again"));
        }
        Ok(text.into())
    }
}
