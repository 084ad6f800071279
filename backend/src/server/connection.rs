//! A connection's two directions: requests in, frames out; and why one ends.
//!
//! Whoever finds the port may say anything on it. What is no request ends the connection with a
//! reason, and until then it costs little: requests are short, so the buffer for them is
//! (measured: 200 connections that each hold back the end of the longest request, 135 KiB each).

use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Hello};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout, timeout_at};

/// Bytes of a request's frame, at most. The longest is a SEARCH of many shards, 40 bytes each:
/// this is 3,000 of them, with the longest pattern and filters. A request can be made that takes
/// 16 times its length once it is decoded, so this also keeps a connection below 2 MiB or so.
const REQUEST_BYTES_MAX: usize = 128 << 10;

/// How long a request's frame may take from its first byte to its last. They are sent in one piece.
const FRAME_WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a greeting may take to be sent. They are short: when one does not go, nobody has read
/// for longer than any frontend leaves a connection alone.
const GREETING_WAIT_MAX: Duration = Duration::from_secs(10);

/// Why a connection ended, other than by the other side's closing it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network's reason.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// What came is no stream of frames.
    #[error("what came is not Trawl's protocol: {0}")]
    Frame(#[from] frame::FrameError),
    /// A message could not be made.
    #[error(transparent)]
    Message(#[from] message::MessageError),
    /// A request that makes no sense here.
    #[error("a bad request: {0}")]
    Request(String),
    /// A frame that has no place here, or none in the midst of an answer.
    #[error("{0:?} came, which is no request or came in the midst of an answer")]
    OutOfPlace(Kind),
    /// A frame began and did not come to its end.
    #[error("no whole frame came within {} s of its first byte", FRAME_WAIT_MAX.as_secs())]
    Stalled,
    /// The other side does not read.
    #[error("a greeting could not be sent for {} s", GREETING_WAIT_MAX.as_secs())]
    Unread,
    /// Told to stop.
    #[error("the other side cancelled its request")]
    Cancelled,
}

impl Error {
    /// The same in one word, of which there are few: for counting. `None` for what is no fault.
    pub fn label(&self) -> Option<&'static str> {
        Some(match self {
            Error::Io(_) => "io",
            Error::Frame(frame::FrameError::TooLong { .. }) => "too_long",
            Error::Frame(frame::FrameError::Malformed) => "malformed",
            Error::Frame(frame::FrameError::UnknownKind(_)) => "unknown_kind",
            Error::Frame(frame::FrameError::Checksum) => "checksum",
            Error::Frame(frame::FrameError::Truncated) => "truncated",
            Error::Message(_) => "message",
            Error::Request(_) => "bad_request",
            Error::OutOfPlace(_) => "out_of_place",
            Error::Stalled => "stalled",
            Error::Unread => "unread",
            Error::Cancelled => return None,
        })
    }
}

pub(super) struct Connection<S> {
    reader: Reader<S>,
    writer: WriteHalf<S>,
    /// Frames to be sent, reused.
    out: Vec<u8>,
}

struct Reader<S> {
    half: ReadHalf<S>,
    decoder: Decoder,
    /// When the frame that is not whole yet must be.
    due: Option<Instant>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S) -> Self {
        let (half, writer) = tokio::io::split(stream);
        let reader = Reader {
            half,
            decoder: Decoder::with_frame_bytes_max(REQUEST_BYTES_MAX),
            due: None,
        };
        Connection {
            reader,
            writer,
            out: Vec::new(),
        }
    }

    /// The next frame; `None` when the other side has closed.
    pub(super) async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        self.reader.next().await
    }

    /// Sends HELLO. The other side need not wait for it before it asks, so what comes meanwhile is
    /// left for [`next`](Self::next).
    pub(super) async fn greet(&mut self, hello: &Hello) -> Result<(), Error> {
        self.out.clear();
        hello.encode(&mut self.out)?;
        let sent = timeout(GREETING_WAIT_MAX, self.writer.write_all(&self.out));
        Ok(sent.await.map_err(|_| Error::Unread)??)
    }

    /// Sends what `encode` makes.
    pub(super) async fn send(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), message::MessageError>,
    ) -> Result<(), Error> {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        encode(&mut out)?;
        let result = self.send_while_wanted(&out).await;
        self.out = out;
        result
    }

    /// Sends frames, however slowly they are read, unless the other side closes or cancels.
    pub(super) async fn send_while_wanted(&mut self, frames: &[u8]) -> Result<(), Error> {
        tokio::select! {
            biased;
            written = self.writer.write_all(frames) => Ok(written?),
            gone = self.reader.unwanted() => gone,
        }
    }

    /// Waits until the other side closes or cancels, or says something that it may not say now.
    pub(super) async fn unwanted(&mut self) -> Result<(), Error> {
        self.reader.unwanted().await
    }
}

impl<S: AsyncRead> Reader<S> {
    async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        loop {
            if let Some(frame) = self.decoder.decode()? {
                let frame = (frame.kind, frame.payload.to_vec());
                self.due = None;
                return Ok(Some(frame));
            }
            // Cancel safe: what has been read is in the decoder before anything else is awaited.
            let read = self.read().await?;
            if read == 0 {
                self.decoder.finish()?;
                return Ok(None);
            }
            self.decoder.filled(read);
        }
    }

    /// Reads once: without end between frames, and within a frame until it is due.
    async fn read(&mut self) -> Result<usize, Error> {
        if !self.decoder.is_inside_a_frame() {
            return Ok(self.half.read(self.decoder.space()).await?);
        }
        let due = *self.due.get_or_insert(Instant::now() + FRAME_WAIT_MAX);
        let read = timeout_at(due, self.half.read(self.decoder.space()));
        Ok(read.await.map_err(|_| Error::Stalled)??)
    }

    async fn unwanted(&mut self) -> Result<(), Error> {
        match self.next().await? {
            None | Some((Kind::Cancel, _)) => Err(Error::Cancelled),
            Some((kind, _)) => Err(Error::OutOfPlace(kind)),
        }
    }
}
