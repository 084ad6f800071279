//! A connection to a backend: sends frames, receives bytes, detects losses.

use super::account::AccountError;
use super::backend::{Backend, Socket};
use query::BadQuery;
use results::spool::SpoolError;
use results::{ShardId, io_words};
use schema::frame::{self, Decoder, Kind};
use schema::message::{Failure, FailureKind, Hello, MessageError, PROTOCOL};
use schema::order::SEMANTICS;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::faults;

/// Shown after the backend's name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    #[error("{}", words(.0))]
    Unreachable(io::Error),
    #[error("connection lost: {}", words(.0))]
    Broken(io::Error),
    #[error("{0}")]
    Tls(String),
    #[error("connection closed before the end of the answer")]
    Closed,
    #[error(
        "the backend closed the connection without a greeting; if it expects TLS, give --backend-ca, --backend-cert and --backend-key"
    )]
    Ungreeted,
    #[error("no data for {:.1} s", .0.as_secs_f32())]
    Silent(Duration),
    /// It sends, but makes no progress.
    #[error("no progress for {:.1} s", .0.as_secs_f32())]
    Stuck(Duration),
    #[error("malformed frame: {0}")]
    Malformed(#[from] frame::FrameError),
    #[error("malformed frame: {0}")]
    Message(#[from] MessageError),
    #[error("unexpected frame ({0:?})")]
    Unexpected(Kind),
    #[error("the backend speaks protocol {0}, this frontend speaks {PROTOCOL}")]
    Protocol(u32),
    #[error("{}", semantics_differ(*.0))]
    Semantics(u32),
    #[error("the backend {0}")]
    Account(#[from] AccountError),
    #[error("the backend failed: {0}")]
    Failed(String),
    #[error("the backend no longer serves the requested shards: {0}")]
    Stale(String),
    #[error("the query was refused: {0}")]
    Refused(BadQuery),
    #[error("cannot spool the matches: {0}")]
    Spool(#[from] SpoolError),
    #[error("the query was stopped")]
    Stopped,
    #[error("the query is heavy")]
    Heavy,
    #[error("{0}")]
    Deadline(String),
}

fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "connection reset".to_owned(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        _ => io_words(error),
    }
}

fn semantics_differ(theirs: u32) -> String {
    let older = if theirs < SEMANTICS {
        "backend"
    } else {
        "frontend"
    };
    format!("it ranks by semantics {theirs}, this frontend by {SEMANTICS}: update the {older}")
}

impl PeerError {
    /// True if another backend can continue: the connection is lost or the backend cannot answer,
    /// and its earlier frames are not in doubt.
    pub(crate) fn is_fault(&self) -> bool {
        match self {
            PeerError::Account(error) => {
                matches!(error, AccountError::Repeated | AccountError::Overlap)
            }
            PeerError::Refused(_)
            | PeerError::Spool(_)
            | PeerError::Stopped
            | PeerError::Heavy
            | PeerError::Deadline(_) => false,
            _ => true,
        }
    }

    pub(crate) fn is_late(&self) -> bool {
        use io::ErrorKind::{TimedOut, WouldBlock};
        matches!(self, PeerError::Unreachable(error) if matches!(error.kind(), TimedOut | WouldBlock))
    }

    pub(crate) fn label(&self) -> &'static str {
        match self {
            PeerError::Unreachable(_) => "unreachable",
            PeerError::Broken(_) => "broken",
            PeerError::Tls(_) => "tls",
            PeerError::Ungreeted => "ungreeted",
            PeerError::Closed | PeerError::Malformed(frame::FrameError::Truncated) => "closed",
            PeerError::Silent(_) => "silent",
            PeerError::Stuck(_) => "stuck",
            PeerError::Malformed(frame::FrameError::Checksum) => "checksum",
            PeerError::Malformed(_) => "frame",
            PeerError::Message(_) => "message",
            PeerError::Unexpected(_) => "out_of_place",
            PeerError::Protocol(_) => "protocol",
            PeerError::Semantics(_) => "semantics",
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

    pub(crate) fn unreachable(error: io::Error) -> Self {
        faults::of_backend(&error).map_or(PeerError::Unreachable(error), PeerError::Tls)
    }

    fn broken(error: io::Error) -> Self {
        faults::of_backend(&error).map_or(PeerError::Broken(error), PeerError::Tls)
    }

    pub(crate) fn closed(decoder: &Decoder) -> Self {
        decoder
            .finish()
            .map_or_else(PeerError::from, |()| PeerError::Closed)
    }

    /// Counts a lost request, unless refused or stopped.
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

    pub(crate) fn reported(failure: Failure) -> Self {
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

/// Shortest socket timeout, since zero means none.
const WAIT_MIN: Duration = Duration::from_millis(1);

pub(crate) type Decode<T> = fn(&[u8]) -> Result<T, MessageError>;

pub(crate) struct Connection {
    pub(crate) stream: Arc<Socket>,
    pub(crate) decoder: Decoder,
    silence_max: Duration,
    wait: Duration,
    /// Arrival of the last useful data, or start of use.
    heard: Instant,
    /// Arrival of the last bytes of any kind.
    fed: Option<Instant>,
    /// Bytes that were there at the timeout have been read.
    is_drained: bool,
}

impl Connection {
    pub(crate) fn new(stream: Socket, silence_max: Duration) -> Result<Self, PeerError> {
        stream.set_timeout(silence_max).map_err(PeerError::Broken)?;
        Ok(Connection {
            stream: Arc::new(stream),
            decoder: Decoder::new(),
            silence_max,
            wait: silence_max,
            heard: Instant::now(),
            fed: None,
            is_drained: false,
        })
    }

    /// Restarts the silence timeout after useful data.
    pub(crate) fn touch(&mut self) {
        self.heard = Instant::now();
        self.is_drained = false;
    }

    /// Time since [`touch`](Self::touch).
    pub(crate) fn age(&self) -> Duration {
        self.heard.elapsed()
    }

    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<(), PeerError> {
        self.set_wait(self.silence_max)?;
        (&*self.stream).write_all(frame).map_err(PeerError::broken)
    }

    /// True if only HELLO frames follow the answer. Others would be read as part of the next one.
    pub(crate) fn is_at_rest(&mut self) -> bool {
        while let Ok(Some(frame)) = self.decoder.decode() {
            if frame.kind != Kind::Hello {
                return false;
            }
        }
        !self.decoder.is_inside_a_frame()
    }

    /// Only [`touch`](Self::touch) restarts the timeout.
    pub(crate) fn fill(&mut self) -> Result<(), PeerError> {
        self.fill_for(self.silence_max)
    }

    /// Like [`fill`](Self::fill), but returns `false` if nothing arrives for this time.
    pub(crate) fn fill_within(&mut self, wait: Duration) -> Result<bool, PeerError> {
        match self.fill_for(wait) {
            Err(PeerError::Silent(_) | PeerError::Stuck(_)) if self.age() < self.silence_max => {
                Ok(false)
            }
            read => read.map(|()| true),
        }
    }

    fn fill_for(&mut self, wait: Duration) -> Result<(), PeerError> {
        let left = self.silence_max.saturating_sub(self.age());
        if left.is_zero() {
            // This thread may have been delayed itself, with data waiting.
            if self.is_drained {
                return Err(self.silence());
            }
            self.is_drained = true;
        }
        // Unchanged while most is left, since setting it costs as much as reading.
        let left = if left > self.silence_max * 7 / 8 {
            self.silence_max
        } else {
            left.max(WAIT_MIN)
        };
        self.set_wait(wait.min(left))?;
        self.read()
    }

    fn set_wait(&mut self, wait: Duration) -> Result<(), PeerError> {
        if self.wait != wait {
            self.stream.set_timeout(wait).map_err(PeerError::Broken)?;
            self.wait = wait;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), PeerError> {
        loop {
            match (&*self.stream).read(self.decoder.space()) {
                Ok(0) if self.is_maybe_plain() => return Err(PeerError::Ungreeted),
                Ok(0) => return Err(PeerError::closed(&self.decoder)),
                Ok(bytes) => {
                    self.fed = Some(Instant::now());
                    self.decoder.filled(bytes);
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        return Err(self.silence());
                    }
                    _ => return Err(PeerError::broken(error)),
                },
            }
        }
    }

    fn silence(&self) -> PeerError {
        let is_fed = |fed: Instant| fed.elapsed() < self.silence_max / 2;
        if self.fed.is_some_and(is_fed) {
            PeerError::Stuck(self.silence_max)
        } else {
            PeerError::Silent(self.silence_max)
        }
    }

    /// True if the backend may have closed while waiting for a TLS handshake.
    fn is_maybe_plain(&self) -> bool {
        self.fed.is_none() && matches!(*self.stream, Socket::Tcp(_))
    }

    /// True once the answer's first frame is whole. Takes HELLO frames before it; an ERROR fails.
    pub(crate) fn has_answer(&mut self) -> Result<bool, PeerError> {
        while let Some(kind) = self.decoder.peek()? {
            if !matches!(kind, Kind::Hello | Kind::Error) {
                return Ok(true);
            }
            if let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    Kind::Error => {
                        return Err(PeerError::reported(Failure::decode(frame.payload)?));
                    }
                    _ => check_semantics(hello(frame.payload)?.semantics)?,
                }
            }
        }
        Ok(false)
    }

    /// Waits for a reply of this kind. The inner error is the backend's, which may be asked again.
    pub(crate) fn reply<T>(
        &mut self,
        kind: Kind,
        decode: Decode<T>,
    ) -> Result<Result<T, PeerError>, PeerError> {
        loop {
            while let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    received if received == kind => return Ok(Ok(decode(frame.payload)?)),
                    Kind::Hello => drop(hello(frame.payload)?),
                    Kind::Error => {
                        return Ok(Err(PeerError::reported(Failure::decode(frame.payload)?)));
                    }
                    other => return Err(PeerError::Unexpected(other)),
                }
            }
            self.fill()?;
        }
    }
}

/// Shards that a backend announces, for commands without searches. No step may take longer than
/// `step_max`. Blocks.
///
/// # Errors
/// The reason in words.
pub fn announced_shards(backend: &Backend, step_max: Duration) -> Result<Vec<ShardId>, String> {
    let greeting = || {
        let socket = backend.connect(step_max).map_err(PeerError::unreachable)?;
        let mut connection = Connection::new(socket, step_max)?;
        connection.reply(Kind::Hello, Hello::decode)?
    };
    let hello = greeting().and_then(check_protocol);
    let shards = hello.map_err(|error| error.to_string())?.shards;
    Ok(shards.iter().map(|shard| shard.id).collect())
}

pub(crate) fn hello(payload: &[u8]) -> Result<Hello, PeerError> {
    check_protocol(Hello::decode(payload)?)
}

fn check_protocol(hello: Hello) -> Result<Hello, PeerError> {
    if hello.protocol != PROTOCOL {
        return Err(PeerError::Protocol(hello.protocol));
    }
    Ok(hello)
}

/// Fails if a backend finds or orders matches differently.
pub(crate) fn check_semantics(theirs: u32) -> Result<(), PeerError> {
    if theirs == SEMANTICS {
        Ok(())
    } else {
        Err(PeerError::Semantics(theirs))
    }
}
