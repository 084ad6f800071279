//! A connection: requests in, frames out.
//!
//! Input is untrusted. A malformed request ends the connection; until then it costs little memory,
//! since buffers are short. With TLS only frontends come this far.

use crate::live::LiveShards;
use index::shard::Shard;
use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Hello, PROTOCOL};
use schema::order::SEMANTICS;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tls::server::HandshakeError;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout, timeout_at};

/// A SEARCH of 3,000 shards of 40 bytes, with the longest pattern and filters. Decoded it can be 16
/// times as large, so a connection stays below about 2 MiB.
const REQUEST_BYTES_MAX: usize = 128 << 10;

/// From first to last byte. Clients send requests in one piece.
const FRAME_WAIT_MAX: Duration = Duration::from_secs(5);

/// HELLO is short, so a timeout means an abandoned connection.
const HELLO_WAIT_MAX: Duration = Duration::from_secs(10);

/// Byte stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("connection failed: {0}")]
    Io(#[from] io::Error),
    #[error("TLS: {0}")]
    Tls(String),
    #[error("invalid frame: {0}")]
    Frame(#[from] frame::FrameError),
    #[error(transparent)]
    Message(#[from] message::MessageError),
    #[error("bad request: {0}")]
    BadRequest(String),
    /// Frame that is no request, or came during another.
    #[error("unexpected frame {0:?}: it is not a request, or a search is still running")]
    UnexpectedFrame(Kind),
    /// Frame not completed in time.
    #[error("no complete frame within {} s of its first byte", FRAME_WAIT_MAX.as_secs())]
    Stalled,
    /// The other side does not read.
    #[error("HELLO could not be sent within {} s, because the other side does not read", HELLO_WAIT_MAX.as_secs())]
    Unread,
    /// The other side cancelled or closed during a search.
    #[error("the other side cancelled its request")]
    Cancelled,
}

impl From<HandshakeError> for ConnectionError {
    fn from(error: HandshakeError) -> ConnectionError {
        match error {
            HandshakeError::Io(error) => ConnectionError::Io(error),
            HandshakeError::Refused(reason) => ConnectionError::Tls(reason),
        }
    }
}

impl ConnectionError {
    /// Metric label of the error; `None` if not a fault.
    pub fn label(&self) -> Option<&'static str> {
        Some(match self {
            ConnectionError::Io(_) => "io",
            ConnectionError::Tls(_) => "tls",
            ConnectionError::Frame(frame::FrameError::TooLong { .. }) => "too_long",
            ConnectionError::Frame(frame::FrameError::Malformed) => "malformed",
            ConnectionError::Frame(frame::FrameError::UnknownKind(_)) => "unknown_kind",
            ConnectionError::Frame(frame::FrameError::Checksum) => "checksum",
            ConnectionError::Frame(frame::FrameError::Truncated) => "truncated",
            ConnectionError::Message(_) => "message",
            ConnectionError::BadRequest(_) => "bad_request",
            ConnectionError::UnexpectedFrame(_) => "out_of_place",
            ConnectionError::Stalled => "stalled",
            ConnectionError::Unread => "unread",
            ConnectionError::Cancelled => return None,
        })
    }
}

pub(super) struct Connection<S> {
    /// Announced in HELLO.
    live: Arc<LiveShards>,
    /// Repositories besides those of the index.
    has_repositories: bool,
    pub(super) reader: Reader<S>,
    writer: WriteHalf<S>,
    out: Vec<u8>,
}

pub(super) struct Reader<S> {
    half: ReadHalf<S>,
    decoder: Decoder,
    due: Option<Instant>,
}

impl<S: Duplex> Connection<S> {
    pub(super) fn new(stream: S, live: Arc<LiveShards>, has_repositories: bool) -> Self {
        let (half, writer) = tokio::io::split(stream);
        let reader = Reader {
            half,
            decoder: Decoder::with_frame_bytes_max(REQUEST_BYTES_MAX),
            due: None,
        };
        Connection {
            live,
            has_repositories,
            reader,
            writer,
            out: Vec::new(),
        }
    }

    /// Sends HELLO. A request may arrive meanwhile, so nothing is received.
    pub(super) async fn greet(&mut self) -> Result<(), ConnectionError> {
        self.out.clear();
        hello(&self.live, self.has_repositories).encode(&mut self.out)?;
        let sent = timeout(HELLO_WAIT_MAX, write(&mut self.writer, &self.out));
        Ok(sent.await.map_err(|_| ConnectionError::Unread)??)
    }

    pub(super) async fn answer(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), ConnectionError> {
        let hello = hello(&self.live, self.has_repositories);
        self.send(|out| {
            encode(out)?;
            hello.encode(out)
        })
        .await
    }

    pub(super) async fn send(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), ConnectionError> {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        encode(&mut out)?;
        let result = self.send_while_wanted(&out).await;
        self.out = out;
        result
    }

    /// Sends frames until the other side closes or cancels.
    pub(super) async fn send_while_wanted(&mut self, frames: &[u8]) -> Result<(), ConnectionError> {
        tokio::select! {
            biased;
            written = write(&mut self.writer, frames) => Ok(written?),
            error = self.reader.interrupted() => Err(error),
        }
    }
}

impl<S: AsyncRead> Reader<S> {
    /// `None` after a close.
    pub(super) async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, ConnectionError> {
        loop {
            if let Some(frame) = self.decoder.decode()? {
                let frame = (frame.kind, frame.payload.to_vec());
                self.due = None;
                return Ok(Some(frame));
            }
            // Cancel safe: bytes are in the decoder before the next await.
            let read = self.read().await?;
            if read == 0 {
                self.decoder.finish()?;
                return Ok(None);
            }
            self.decoder.filled(read);
        }
    }

    /// Waits for ever between frames, within one until its deadline.
    async fn read(&mut self) -> Result<usize, ConnectionError> {
        if !self.decoder.is_inside_a_frame() {
            return Ok(self.half.read(self.decoder.space()).await?);
        }
        let due = *self.due.get_or_insert(Instant::now() + FRAME_WAIT_MAX);
        let read = timeout_at(due, self.half.read(self.decoder.space()));
        Ok(read.await.map_err(|_| ConnectionError::Stalled)??)
    }

    /// Waits for a close, CANCEL, or unexpected frame.
    pub(super) async fn interrupted(&mut self) -> ConnectionError {
        match self.next().await {
            Ok(None | Some((Kind::Cancel, _))) => ConnectionError::Cancelled,
            Ok(Some((kind, _))) => ConnectionError::UnexpectedFrame(kind),
            Err(error) => error,
        }
    }
}

/// Writes and flushes; TLS would keep some bytes.
async fn write<W: AsyncWrite + Unpin>(writer: &mut W, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

fn hello(live: &LiveShards, has_repositories: bool) -> Hello {
    let describe = |shard: &Arc<Shard>| {
        let mut live = shard.live_counts();
        if shard.is_history() {
            // Counts are those of files.
            (live.documents, live.text_bytes) = (0, 0);
        }
        message::ShardInfo {
            id: shard.id(),
            packages: live.packages,
            parts: live.parts,
            documents: live.documents,
            blocks: live.blocks,
            text_bytes: live.text_bytes,
        }
    };
    let current = live.current();
    let indexed = current.recorded.repositories.len();
    let indexed = u32::try_from(indexed).unwrap_or(u32::MAX);
    Hello {
        protocol: PROTOCOL,
        shards: current.shards.iter().map(describe).collect(),
        updated: current.updated,
        has_repositories: has_repositories || indexed > 0,
        indexed_repositories: indexed,
        semantics: SEMANTICS,
        has_views: true,
        resumes: true,
    }
}

/// Logged ends of connections within [`WINDOW`]: port scanners, or incompatible frontends that
/// reconnect, must not fill the disk.
const LINES_MAX: u32 = 10;

const WINDOW: Duration = Duration::from_secs(60);

/// Logs ends of connections, rate limited. All errors are counted; a line has the number suppressed
/// before it.
#[derive(Debug, Default)]
pub(super) struct ErrorLog(Mutex<RateLimit>);

#[derive(Debug, Default)]
struct RateLimit {
    since: Option<Instant>,
    lines: u32,
    suppressed: u64,
}

impl ErrorLog {
    pub(super) fn log(&self, peer: SocketAddr, error: &ConnectionError) {
        if error.label().is_none() {
            tracing::debug!(%peer, %error, "connection ended");
            return;
        }
        let mut limit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = limit.line(Instant::now());
        drop(limit);
        if let Some(suppressed) = line {
            tracing::info!(%peer, %error, suppressed, "connection ended");
        }
    }
}

impl RateLimit {
    /// Errors suppressed before this line; `None` over the limit.
    fn line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |since: Instant| now.duration_since(since) >= WINDOW;
        if self.since.is_none_or(is_over) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines >= LINES_MAX {
            self.suppressed += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_lines_and_counts_suppressed_errors() {
        let (start, mut limit) = (Instant::now(), RateLimit::default());
        let at = |second| start + Duration::from_secs(second);
        let few = (0..10).all(|second| limit.line(at(second)) == Some(0));
        assert!(few && (0..1000).all(|_| limit.line(at(30)).is_none()));
        assert_eq!(limit.line(at(60)), Some(1000));
        assert_eq!(limit.line(at(61)), Some(0));
    }
}
