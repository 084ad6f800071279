//! One connection: frames out, bytes in, and the reasons why it is lost.

use super::Stream;
use crate::execution::account::AccountError as Fault;
use crate::execution::state::Event;
use crate::query::BadQuery;
use crate::spool::SpoolError;
use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Failure, FailureKind, Hello, PROTOCOL};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Why there is no (more) answer on a connection, in words for the person who reads the page. The
/// backend's name stands before them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
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
    Fault(#[from] Fault),
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

impl Lost {
    /// The reason in one word, of which there are few: for counting.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Lost::Unreachable(_) => "unreachable",
            Lost::Broken(_) => "broken",
            Lost::Closed | Lost::Garbage(frame::FrameError::Truncated) => "closed",
            Lost::Silent(_) => "silent",
            Lost::Garbage(frame::FrameError::Checksum) => "checksum",
            Lost::Garbage(_) => "frame",
            Lost::Message(_) => "message",
            Lost::Unexpected(_) => "out_of_place",
            Lost::Protocol(_) => "protocol",
            Lost::Fault(_) => "account",
            Lost::Failed(_) => "failed",
            Lost::Stale(_) => "stale",
            Lost::Refused(_) => "refused",
            Lost::Spool(_) => "spool",
            Lost::Heavy => "heavy",
            Lost::Deadline(_) => "deadline",
            Lost::Stopped => "stopped",
        }
    }

    /// There is nothing more to read.
    pub(crate) fn closed(decoder: &Decoder) -> Self {
        decoder.finish().map_or_else(Lost::from, |()| Lost::Closed)
    }

    /// What it means for the run.
    pub(crate) fn into_event(self, at: SystemTime) -> Event {
        match self {
            Lost::Refused(bad) => Event::Refused(bad),
            Lost::Heavy => Event::Heavy,
            lost => Event::Lost {
                reason: lost.to_string(),
                at,
            },
        }
    }

    /// Counts a request that is lost: not one that was refused as it had to be, or that nobody
    /// wants an answer to.
    pub(crate) fn count(&self) {
        if matches!(self, Lost::Refused(_) | Lost::Stopped | Lost::Heavy) {
            return;
        }
        metrics::counter!("trawl_frontend_streams_lost_total", "reason" => self.label())
            .increment(1);
    }

    /// By what the backend said.
    pub(crate) fn by(failure: Failure) -> Self {
        match failure.kind {
            FailureKind::BadQuery => Lost::Refused(BadQuery {
                at: failure.offset.map(|offset| offset as usize),
                atom: failure.atom.map(|atom| atom as usize),
                hint: Some(failure.hint).filter(|hint| !hint.is_empty()),
                ..BadQuery::new(failure.message)
            }),
            FailureKind::StaleShards => Lost::Stale(failure.message),
            FailureKind::Heavy => Lost::Heavy,
            FailureKind::Deadline => Lost::Deadline(failure.message),
            FailureKind::Unavailable | FailureKind::Protocol => Lost::Failed(failure.message),
        }
    }
}

/// A connection with the bytes that have arrived on it.
pub(crate) struct Connection {
    stream: Arc<Stream>,
    pub(crate) decoder: Decoder,
    silence_max: Duration,
    /// When the last whole frame came, or the connection was taken up.
    heard: Instant,
}

impl Connection {
    pub(crate) fn new(stream: Stream, silence_max: Duration) -> Result<Self, Lost> {
        stream.set_timeout(silence_max).map_err(Lost::Broken)?;
        Ok(Connection {
            stream: Arc::new(stream),
            decoder: Decoder::new(),
            silence_max,
            heard: Instant::now(),
        })
    }

    /// For whoever may have to end the connection from another thread.
    pub(crate) fn stream(&self) -> Arc<Stream> {
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

    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<(), Lost> {
        (&*self.stream).write_all(frame).map_err(Lost::Broken)
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
    pub(crate) fn fill(&mut self) -> Result<(), Lost> {
        if self.age() > self.silence_max {
            return Err(Lost::Silent(self.silence_max));
        }
        loop {
            match (&*self.stream).read(self.decoder.space()) {
                Ok(0) => return Err(Lost::closed(&self.decoder)),
                Ok(bytes) => {
                    self.decoder.filled(bytes);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        return Err(Lost::Silent(self.silence_max));
                    }
                    _ => return Err(Lost::Broken(error)),
                },
            }
        }
    }

    /// The next frame that is not a HELLO, given to `take`.
    pub(crate) fn next<T>(
        &mut self,
        take: impl FnOnce(Kind, &[u8]) -> Result<T, Lost>,
    ) -> Result<T, Lost> {
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
pub(crate) fn hello(payload: &[u8]) -> Result<Hello, Lost> {
    let hello = Hello::decode(payload)?;
    if hello.protocol != PROTOCOL {
        return Err(Lost::Protocol(hello.protocol));
    }
    Ok(hello)
}
