//! A response body of any length, rendered piece by piece as the client takes it.
//!
//! No thread waits for a client: matches are read and rendered on a blocking thread, and a task waits until
//! a piece is taken. While a client is fast, the source may read ahead; what it read is dropped when the client
//! becomes slow, and read again in small pieces later.
//!
//! A line that is too long for the result is fetched from a backend, piece by piece ([`LongLine`]).
//!
//! **Invariant:** a slow client holds [`EXPORT_BYTES`] at most, and one of the process's exports. Both are
//! given back when its response ends or its connection closes.

mod long_line;
mod match_source;

pub(crate) use long_line::LongLine;
pub(crate) use match_source::MatchSource;

use crate::problem::Problem;
use crate::state::{App, blocking};
use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use frontend::{Coordinator, Need, Reservation, Scope, SpoolError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{self, OwnedPermit};
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tracing::Instrument;

/// Bytes that are rendered at a time, approximately.
pub(crate) const PIECE_BYTES: usize = 128 << 10;

/// Pieces that wait for the client, besides the one that is being rendered.
const WAITING_MAX: usize = 1;

/// Memory of an export, reserved while it runs: the pieces and what is read for them, where escapes make a
/// piece several times as long as what was read.
pub(crate) const EXPORT_BYTES: u64 = 1 << 20;

/// Memory for what a source reads at once for a slow client, a part of [`EXPORT_BYTES`].
const READ_BYTES: usize = 256 << 10;

/// Memory for what a source reads at once for a fast client, in two windows: one is sent while the next one
/// is rendered. The order of matches jumps from frame to frame, so a larger window reads each frame less
/// often: 385,000 matches as text took 0.27 s in windows of 16 MiB, and 0.94 s in windows of 512 KiB, when
/// one thread did everything. The first of these that is free.
const AHEAD_BYTES: [usize; 2] = [28 << 20, 12 << 20];

/// A client that takes longer for a piece is slow.
const SLOW: Duration = Duration::from_millis(200);

/// A client that took this many pieces without being slow is fast.
const FAST_PIECES: u32 = 4;

/// Seconds after which a client that found no room may try again.
const RETRY_AFTER_S: u64 = 5;

/// A piece, or why it cannot be read.
type Piece = Result<Bytes, BoxError>;

/// What is rendered.
pub(crate) trait Source: Send + 'static {
    /// Whether the next piece is rendered in a moment, without a look at the disk.
    fn is_quick(&self) -> bool;

    /// Renders the next piece, of [`PIECE_BYTES`] or a little more; only the last one, and one before a long line,
    /// are shorter. `None` after the last one. What is read at once fits in `memory`, and what is not rendered of it
    /// stays for the next piece.
    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError>;

    /// The rest of a long line, if the last piece ends with its beginning.
    fn long_line(&mut self) -> Option<LongLine> {
        None
    }

    /// Drops what was read ahead.
    fn forget(&mut self);
}

/// Memory for what a source reads at once.
pub(crate) struct ReadMemory {
    bytes: usize,
    /// `None`: the memory is a part of the [`EXPORT_BYTES`] of its export.
    ahead: Option<Reservation>,
}

impl ReadMemory {
    /// Memory to read ahead for a fast client; `None` if there is no room.
    fn ahead(coordinator: &Arc<Coordinator>) -> Option<ReadMemory> {
        AHEAD_BYTES.into_iter().find_map(|bytes| {
            let ahead = coordinator.reserve(bytes as u64, Need::Optional)?;
            Some(ReadMemory {
                bytes,
                ahead: Some(ahead),
            })
        })
    }

    /// Memory for a slow client.
    fn slow() -> ReadMemory {
        ReadMemory {
            bytes: READ_BYTES,
            ahead: None,
        }
    }

    /// Whether it is for a fast client, for which the next window is rendered while one is sent.
    fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Memory for a window, of which there are two if one is rendered ahead.
    fn window_bytes(&self) -> usize {
        if self.is_ahead() {
            self.bytes / 2
        } else {
            self.bytes
        }
    }
}

/// The right to run one export.
pub(crate) struct Export {
    coordinator: Arc<Coordinator>,
    _permit: OwnedSemaphorePermit,
    _memory: Reservation,
}

impl Export {
    /// Begins an export; a problem if as many run as may, or their memory is used up.
    pub(crate) fn begin(app: &App) -> Result<Export, Problem> {
        let permit = Arc::clone(&app.exports).try_acquire_owned();
        let memory = app.coordinator.reserve(EXPORT_BYTES, Need::Required);
        match (permit, memory) {
            (Ok(permit), Some(memory)) => Ok(Export {
                coordinator: Arc::clone(&app.coordinator),
                _permit: permit,
                _memory: memory,
            }),
            _ => Err(Problem::busy("too many exports are running", RETRY_AFTER_S)),
        }
    }

    pub(crate) fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Returns the body that `source` renders. A body of less than a piece has a length; a failure before the
    /// first piece is a problem with a status, and a later one breaks the transfer off, so that the client
    /// does not take it for the end. Long lines are fetched within `scope`.
    pub(crate) async fn body(self, source: impl Source, scope: &Scope) -> Result<Body, Problem> {
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

    /// Sends pieces until the end, or until the client disconnects.
    async fn send(
        self,
        mut source: impl Source,
        mut line: Option<LongLine>,
        scope: Scope,
        mut sender: mpsc::Sender<Piece>,
    ) {
        let mut memory = Arc::new(ReadMemory::slow());
        // Every client counts as fast at first: most results are a few pieces.
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
                let (next, piece) = next_piece(source, &memory).await;
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
            // An error: the client has disconnected.
            let Ok(permit) = permit else { return };
            sender = OwnedPermit::send(permit, piece);
            if is_last {
                return;
            }
        }
    }
}

/// The number of line ends in a text.
pub(crate) fn lines_of(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Renders the next piece of `source`, and gives it back. A piece that takes time is rendered on a blocking
/// thread.
async fn next_piece<S: Source>(
    mut source: S,
    memory: &Arc<ReadMemory>,
) -> (S, Result<Option<Bytes>, SpoolError>) {
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
