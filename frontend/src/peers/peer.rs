//! The standing connection to a backend: what it serves, and whether it is there.
//!
//! One thread a backend connects, listens for HELLO frames, and connects again after a pause when
//! the connection is lost; a query that finds the backend lost ends the pause. Idle connections of
//! earlier queries are kept here for the next ones.

use super::backend::{Backend, Socket};
use super::connection::{Connection, PeerError, hello};
use schema::frame::Kind;
use schema::message::{Hello, ShardInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// The pause before a lost backend is tried again, doubled each time up to the longest one.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How long a query waits for a backend that is not connected.
const READY_MAX: Duration = Duration::from_secs(1);

/// Idle connections that are kept: as many as queries run at once by default.
const IDLE_MAX: usize = 8;

/// How long a connection stays idle. The backend greets on it every second, and nobody reads that:
/// for longer it would fill up.
const IDLE_AGE_MAX: Duration = Duration::from_secs(4);

/// Whether a backend is there.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    Connected,
    Lost { reason: String, since: SystemTime },
}

/// What is known of a backend.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) link: Link,
    /// The shards it announced last; none before it did for the first time.
    pub(crate) shards: Option<Arc<[ShardInfo]>>,
    /// When the manifest that it serves was written, in seconds since 1970, as it said last.
    pub(crate) updated: Option<u64>,
    /// Attempts to connect that have come to an end, either way.
    attempts: u64,
    /// When the attempt under way began.
    attempting: Option<Instant>,
    /// Counts changes of the link and the shards.
    version: u64,
}

/// A backend and the connections to it.
pub(crate) struct Peer {
    backend: Backend,
    silence_max: Duration,
    status: watch::Sender<Status>,
    idle: Mutex<Vec<Connection>>,
    /// The standing connection, to be shut down from outside.
    standing: Mutex<Option<Arc<Socket>>>,
    closed: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Peer {
    /// Starts the thread that keeps the standing connection.
    pub(crate) fn start(backend: Backend, silence_max: Duration) -> std::io::Result<Arc<Peer>> {
        let status = Status {
            link: Link::Lost {
                reason: "not connected yet".to_owned(),
                since: SystemTime::now(),
            },
            shards: None,
            updated: None,
            attempts: 0,
            attempting: None,
            version: 0,
        };
        let peer = Arc::new(Peer {
            backend,
            silence_max,
            status: watch::Sender::new(status),
            idle: Mutex::default(),
            standing: Mutex::default(),
            closed: AtomicBool::new(false),
            thread: OnceLock::new(),
        });
        let listener = Arc::clone(&peer);
        let thread = thread::Builder::new()
            .name(format!("backend {}", peer.name()))
            .spawn(move || listener.stand())?;
        let _ = peer.thread.set(thread.thread().clone());
        Ok(peer)
    }

    pub(crate) fn name(&self) -> &str {
        self.backend.name()
    }

    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Another number whenever the link or the shards of [`status`](Self::status) are others.
    pub(crate) fn version(&self) -> u64 {
        self.status.borrow().version
    }

    /// Waits until the backend is connected, or one more attempt has failed, or time is up. Of an
    /// attempt that has hung for so long already nothing is expected.
    pub(crate) async fn ready(&self, deadline: tokio::time::Instant) {
        let mut status = self.status.subscribe();
        let attempts = {
            let now = status.borrow();
            let hangs = |began: Instant| began.elapsed() >= READY_MAX;
            if matches!(now.link, Link::Connected) || now.attempting.is_some_and(hangs) {
                return;
            }
            now.attempts
        };
        self.wake();
        let settled = status.wait_for(|status| status.attempts > attempts);
        let _ = tokio::time::timeout_at(deadline, settled).await;
    }

    /// When a query that starts now stops waiting for backends.
    pub(crate) fn ready_deadline() -> tokio::time::Instant {
        tokio::time::Instant::now() + READY_MAX
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// A connection for one request: an idle one, or `None`.
    pub(crate) fn take_idle(&self) -> Option<Connection> {
        let mut idle = lock(&self.idle);
        let mut connection = idle.pop().filter(|found| found.age() < IDLE_AGE_MAX)?;
        connection.touch();
        Some(connection)
    }

    /// A new connection.
    pub(crate) fn dial(&self) -> Result<Connection, PeerError> {
        let stream = (self.backend.dial)().map_err(PeerError::Unreachable)?;
        Connection::new(stream, self.silence_max)
    }

    /// Keeps a connection whose request has been answered to its end.
    pub(crate) fn put_idle(&self, mut connection: Connection) {
        connection.touch();
        connection.decoder.shrink();
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE_MAX && !self.closed.load(Ordering::Relaxed) {
            idle.push(connection);
        }
    }

    /// Ends the thread and all connections that no request holds.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some(stream) = &*lock(&self.standing) {
            stream.shutdown();
        }
        lock(&self.idle).clear();
        self.wake();
    }

    /// The thread: connect, listen, pause, again.
    fn stand(&self) {
        let mut pause = PAUSE_MIN;
        while !self.closed.load(Ordering::Relaxed) {
            let lost = self.listen();
            let was_connected = matches!(self.status.borrow().link, Link::Connected);
            self.lose(&lost);
            pause = if was_connected {
                PAUSE_MIN
            } else {
                (pause * 2).min(PAUSE_MAX)
            };
            thread::park_timeout(pause);
        }
    }

    /// Connects and hears HELLO frames until the connection is lost.
    fn listen(&self) -> PeerError {
        self.status
            .send_modify(|status| status.attempting = Some(Instant::now()));
        let mut connection = match self.dial() {
            Ok(connection) => connection,
            Err(lost) => return lost,
        };
        let stream = connection.stream();
        *lock(&self.standing) = Some(stream);
        if self.closed.load(Ordering::Relaxed) {
            return PeerError::Stopped;
        }
        loop {
            if let Err(lost) = connection.fill().and_then(|()| self.hear(&mut connection)) {
                return lost;
            }
            lock(&self.idle).retain(|connection| connection.age() < IDLE_AGE_MAX);
        }
    }

    fn hear(&self, connection: &mut Connection) -> Result<(), PeerError> {
        let mut heard = None;
        while let Some(frame) = connection.decoder.decode()? {
            match frame.kind {
                Kind::Hello => heard = Some(hello(frame.payload)?),
                kind => return Err(PeerError::Unexpected(kind)),
            }
        }
        if let Some(hello) = heard {
            connection.touch();
            self.announce(hello);
        }
        Ok(())
    }

    fn announce(&self, hello: Hello) {
        let shards = hello.shards;
        self.status.send_if_modified(|status| {
            // Nobody waits for this alone, and it changes no plan.
            status.updated = Some(hello.updated).filter(|&updated| updated > 0);
            let connected = matches!(status.link, Link::Connected);
            let same = status.shards.as_deref() == Some(&shards[..]);
            if connected && same {
                return false;
            }
            if !connected {
                status.attempts += 1;
                tracing::info!(backend = self.name(), shards = shards.len(), "connected");
            }
            status.link = Link::Connected;
            status.attempting = None;
            status.shards = Some(shards.into());
            status.version += 1;
            true
        });
    }

    fn lose(&self, lost: &PeerError) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        lock(&self.idle).clear();
        let reason = lost.to_string();
        self.status.send_modify(|status| {
            status.attempts += 1;
            let since = match &status.link {
                Link::Lost { since, .. } if status.attempts > 1 => *since,
                _ => {
                    tracing::warn!(backend = self.name(), reason, "lost");
                    metrics::counter!("trawl_frontend_backends_lost_total", "reason" => lost.label())
                        .increment(1);
                    SystemTime::now()
                }
            };
            status.link = Link::Lost { reason, since };
            status.attempting = None;
            status.version += 1;
        });
    }
}

/// Locks, whatever happened to whoever held the lock: no list here can be left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
