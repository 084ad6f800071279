//! One connection: frames out, bytes in, and the reasons why it is lost.

use super::account::AccountError;
use super::backend::Socket;
use crate::query::BadQuery;
use crate::spool::SpoolError;
use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Failure, FailureKind, Hello, PROTOCOL};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why there is no (more) answer on a connection, in words for the person who reads the page. The
/// backend's name stands before them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    #[error("{}", words(.0))]
    Unreachable(io::Error),
    #[error("the connection broke: {}", words(.0))]
    Broken(io::Error),
    #[error("the connection was closed before the end of the answer")]
    Closed,
    #[error("nothing was heard from it for {:.1} s", .0.as_secs_f32())]
    Silent(Duration),
    #[error("it sent garbage: {0}")]
    Garbage(#[from] frame::FrameError),
    #[error("it sent garbage: {0}")]
    Message(#[from] message::MessageError),
    #[error("it sent a frame that has no place here ({0:?})")]
    Unexpected(Kind),
    #[error("it speaks protocol {0}, this frontend speaks {PROTOCOL}")]
    Protocol(u32),
    #[error("it {0}")]
    Account(#[from] AccountError),
    #[error("it could not answer: {0}")]
    Failed(String),
    #[error("it does not serve the shards any more that it was asked for: {0}")]
    Stale(String),
    #[error("the query was refused: {0}")]
    Refused(BadQuery),
    #[error("its matches could not be spooled: {0}")]
    Spool(#[from] SpoolError),
    #[error("the query was stopped")]
    Stopped,
    #[error("the search costs much")]
    Heavy,
    #[error("{0}")]
    Deadline(String),
}

/// An error's everyday name, without number and system call.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "connection reset".to_owned(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

impl PeerError {
    /// The reason in one word, of which there are few: for counting.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            PeerError::Unreachable(_) => "unreachable",
            PeerError::Broken(_) => "broken",
            PeerError::Closed | PeerError::Garbage(frame::FrameError::Truncated) => "closed",
            PeerError::Silent(_) => "silent",
            PeerError::Garbage(frame::FrameError::Checksum) => "checksum",
            PeerError::Garbage(_) => "frame",
            PeerError::Message(_) => "message",
            PeerError::Unexpected(_) => "out_of_place",
            PeerError::Protocol(_) => "protocol",
            PeerError::Account(_) => "account",
            PeerError::Failed(_) => "failed",
            PeerError::Stale(_) => "stale",
            PeerError::Refused(_) => "refused",
            PeerError::Spool(_) => "spool",
            PeerError::Heavy => "heavy",
            PeerError::Deadline(_) => "deadline",
            PeerError::Stopped => "stopped",
        }
    }

    /// There is nothing more to read.
    pub(crate) fn closed(decoder: &Decoder) -> Self {
        decoder
            .finish()
            .map_or_else(PeerError::from, |()| PeerError::Closed)
    }

    /// Counts a request that is lost: not one that was refused as it had to be, or that nobody
    /// wants an answer to.
    pub(crate) fn count(&self) {
        if matches!(
            self,
            PeerError::Refused(_) | PeerError::Stopped | PeerError::Heavy
        ) {
            return;
        }
        metrics::counter!("trawl_frontend_streams_lost_total", "reason" => self.label())
            .increment(1);
    }

    /// By what the backend said.
    pub(crate) fn by(failure: Failure) -> Self {
        match failure.kind {
            FailureKind::BadQuery => PeerError::Refused(BadQuery {
                at: failure.offset.map(|offset| offset as usize),
                atom: failure.atom.map(|atom| atom as usize),
                hint: Some(failure.hint).filter(|hint| !hint.is_empty()),
                ..BadQuery::new(failure.message)
            }),
            FailureKind::StaleShards => PeerError::Stale(failure.message),
            FailureKind::Heavy => PeerError::Heavy,
            FailureKind::Deadline => PeerError::Deadline(failure.message),
            FailureKind::Unavailable | FailureKind::Protocol => PeerError::Failed(failure.message),
        }
    }
}

/// A connection with the bytes that have arrived on it.
pub(crate) struct Connection {
    stream: Arc<Socket>,
    pub(crate) decoder: Decoder,
    silence_max: Duration,
    /// When the last whole frame came, or the connection was taken up.
    heard: Instant,
}

impl Connection {
    pub(crate) fn new(stream: Socket, silence_max: Duration) -> Result<Self, PeerError> {
        stream.set_timeout(silence_max).map_err(PeerError::Broken)?;
        Ok(Connection {
            stream: Arc::new(stream),
            decoder: Decoder::new(),
            silence_max,
            heard: Instant::now(),
        })
    }

    /// For whoever may have to end the connection from another thread.
    pub(crate) fn stream(&self) -> Arc<Socket> {
        Arc::clone(&self.stream)
    }

    /// Counts from now how long nothing has been heard.
    pub(crate) fn touch(&mut self) {
        self.heard = Instant::now();
    }

    /// How long ago something was heard, or the connection was put aside.
    pub(crate) fn age(&self) -> Duration {
        self.heard.elapsed()
    }

    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<(), PeerError> {
        (&*self.stream).write_all(frame).map_err(PeerError::Broken)
    }

    /// Whether nothing stands behind an answer but greetings, which backends send in the same write.
    /// Anything else would be read as the next answer's.
    pub(crate) fn is_at_rest(&mut self) -> bool {
        while let Ok(Some(frame)) = self.decoder.decode() {
            if frame.kind != Kind::Hello {
                return false;
            }
        }
        !self.decoder.is_inside_a_frame()
    }

    /// Reads once. Bytes that trickle without ever making a frame count as silence.
    pub(crate) fn fill(&mut self) -> Result<(), PeerError> {
        if self.age() > self.silence_max {
            return Err(PeerError::Silent(self.silence_max));
        }
        loop {
            match (&*self.stream).read(self.decoder.space()) {
                Ok(0) => return Err(PeerError::closed(&self.decoder)),
                Ok(bytes) => {
                    self.decoder.filled(bytes);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        return Err(PeerError::Silent(self.silence_max));
                    }
                    _ => return Err(PeerError::Broken(error)),
                },
            }
        }
    }

    /// The next frame that is not a HELLO, given to `take`.
    pub(crate) fn next<T>(
        &mut self,
        take: impl FnOnce(Kind, &[u8]) -> Result<T, PeerError>,
    ) -> Result<T, PeerError> {
        loop {
            while let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    Kind::Hello => drop(hello(frame.payload)?),
                    kind => return take(kind, frame.payload),
                }
            }
            self.fill()?;
        }
    }
}

/// Reads a HELLO, which must be of our protocol.
pub(crate) fn hello(payload: &[u8]) -> Result<Hello, PeerError> {
    let hello = Hello::decode(payload)?;
    if hello.protocol != PROTOCOL {
        return Err(PeerError::Protocol(hello.protocol));
    }
    Ok(hello)
}
