//! A connection: requests come in, frames go out.
//!
//! Anybody who finds the port may send anything. A malformed request ends the connection with an
//! error. Until then it costs little memory, because requests are short and so is their buffer
//! (measured: 200 connections that each hold back the end of the longest request take 135 KiB
//! each). With TLS nobody but frontends comes this far.

use crate::live_shards::LiveShards;
use index::shard::Shard;
use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Hello, PROTOCOL};
use schema::order::SEMANTICS;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout, timeout_at};

/// Bytes of a request's frame, at most. The longest is a SEARCH of many shards with 40 bytes each;
/// this is 3,000 of them, with the longest pattern and filters. A decoded request can be up to 16
/// times as large, so this also keeps a connection below about 2 MiB.
const REQUEST_BYTES_MAX: usize = 128 << 10;

/// How long a request's frame may take from its first byte to its last. Clients send it in one
/// piece.
const FRAME_WAIT_MAX: Duration = Duration::from_secs(5);

/// How long sending a HELLO may take. It is short: if it cannot be sent, the other side has not
/// read for longer than any frontend leaves a connection alone.
const HELLO_WAIT_MAX: Duration = Duration::from_secs(10);

/// A byte stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Why a connection ended, unless the other side closed it between two requests.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The network failed.
    #[error("connection failed: {0}")]
    Io(#[from] io::Error),
    /// The TLS handshake failed.
    #[error("TLS: {0}")]
    Tls(String),
    /// Received bytes are not a frame.
    #[error("invalid frame: {0}")]
    Frame(#[from] frame::FrameError),
    /// A message could not be encoded.
    #[error(transparent)]
    Message(#[from] message::MessageError),
    /// The message of a request is malformed.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// A frame is not a request, or came before the previous request was answered.
    #[error("unexpected frame {0:?}: it is not a request, or a search is still running")]
    UnexpectedFrame(Kind),
    /// A frame began but was not completed in time.
    #[error("no complete frame within {} s of its first byte", FRAME_WAIT_MAX.as_secs())]
    Stalled,
    /// The other side does not read.
    #[error("HELLO could not be sent within {} s, because the other side does not read", HELLO_WAIT_MAX.as_secs())]
    Unread,
    /// The other side cancelled its search, or closed the connection during it.
    #[error("the other side cancelled its request")]
    Cancelled,
}

impl ConnectionError {
    /// Returns the error as a metric's label, of which there are few; `None` when it is not a
    /// fault.
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
    /// Whether there are repositories besides those that the index recorded.
    has_repositories: bool,
    pub(super) reader: Reader<S>,
    writer: WriteHalf<S>,
    /// Buffer for frames to send.
    out: Vec<u8>,
}

/// Receives frames.
pub(super) struct Reader<S> {
    half: ReadHalf<S>,
    decoder: Decoder,
    /// When the current frame must be complete.
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

    /// Sends HELLO. The other side may send a request without waiting for it, so nothing is
    /// received meanwhile.
    pub(super) async fn greet(&mut self) -> Result<(), ConnectionError> {
        self.out.clear();
        hello(&self.live, self.has_repositories).encode(&mut self.out)?;
        let sent = timeout(HELLO_WAIT_MAX, write(&mut self.writer, &self.out));
        Ok(sent.await.map_err(|_| ConnectionError::Unread)??)
    }

    /// Sends the end of an answer, and HELLO, in one write.
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

    /// Sends what `encode` appends.
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

    /// Sends frames, however slowly they are read, unless the other side closes or cancels.
    pub(super) async fn send_while_wanted(&mut self, frames: &[u8]) -> Result<(), ConnectionError> {
        tokio::select! {
            biased;
            written = write(&mut self.writer, frames) => Ok(written?),
            error = self.reader.interrupted() => Err(error),
        }
    }
}

impl<S: AsyncRead> Reader<S> {
    /// Receives the next frame; `None` when the other side has closed.
    pub(super) async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, ConnectionError> {
        loop {
            if let Some(frame) = self.decoder.decode()? {
                let frame = (frame.kind, frame.payload.to_vec());
                self.due = None;
                return Ok(Some(frame));
            }
            // Cancel safe: bytes that were read are in the decoder before the next await.
            let read = self.read().await?;
            if read == 0 {
                self.decoder.finish()?;
                return Ok(None);
            }
            self.decoder.filled(read);
        }
    }

    /// Reads once. Waits for ever between frames, and until the frame is due within one.
    async fn read(&mut self) -> Result<usize, ConnectionError> {
        if !self.decoder.is_inside_a_frame() {
            return Ok(self.half.read(self.decoder.space()).await?);
        }
        let due = *self.due.get_or_insert(Instant::now() + FRAME_WAIT_MAX);
        let read = timeout_at(due, self.half.read(self.decoder.space()));
        Ok(read.await.map_err(|_| ConnectionError::Stalled)??)
    }

    /// Waits until the other side closes, cancels, or sends a frame that it may not send now.
    pub(super) async fn interrupted(&mut self) -> ConnectionError {
        match self.next().await {
            Ok(None | Some((Kind::Cancel, _))) => ConnectionError::Cancelled,
            Ok(Some((kind, _))) => ConnectionError::UnexpectedFrame(kind),
            Err(error) => error,
        }
    }
}

/// Writes bytes to the socket; TLS would keep some of them until the next ones.
async fn write<W: AsyncWrite + Unpin>(writer: &mut W, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

fn hello(live: &LiveShards, has_repositories: bool) -> Hello {
    let describe = |shard: &Arc<Shard>| {
        let live = shard.live_counts();
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
