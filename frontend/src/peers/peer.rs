//! Control connection to a backend, with its shards and health; and idle connections for later
//! queries.
//!
//! One thread per backend connects, receives HELLO frames, and reconnects after a pause, which a
//! query ends early.

use super::backend::{Backend, Socket};
use super::connection::{Connection, Decode, PeerError, check_semantics, hello};
use super::health::Health;
use super::visible::{PackageInfo, PackagesByShard, ShardPackages};
use cache::lock;
use schema::frame::Kind;
use schema::message::{Hello, ListKind, ListReply, ListRequest, ShardInfo};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// Pause before reconnecting, doubled up to the maximum.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Longest wait of a query for an unconnected backend.
const READY_MAX: Duration = Duration::from_secs(1);

const IDLE_MAX: usize = 8;

/// Longest idle time. Unread HELLO frames, one per second, would fill the buffer.
const IDLE_AGE_MAX: Duration = Duration::from_secs(4);

/// Packages per request; a reply may have fewer.
const PACKAGES_AT_ONCE: u32 = 10_000;

/// Backends of earlier versions would show everything to every caller.
const NO_VIEWS: &str = "it cannot hide packages from callers; upgrade it";

#[derive(Clone, Debug, Default)]
pub(crate) struct PeerStatus {
    /// Reason and time since when the link is lost; `None`: connected.
    pub(crate) lost: Option<(String, SystemTime)>,
    /// The same of a backend that is not searched, though connected.
    unfit: Option<(String, SystemTime)>,
    /// It cannot restrict scopes.
    pub(crate) lacks_views: bool,
    /// `None` before the first announcement.
    pub(crate) shards: Option<Arc<[ShardInfo]>>,
    /// Packages of those shards; empty if not compared.
    pub(crate) packages: Arc<PackagesByShard>,
    /// It can resume answers of other backends.
    pub(crate) resumes: bool,
    /// Build time of its manifest, in seconds since 1970.
    pub(crate) updated: Option<u64>,
    /// It answers repository look-ups; `None` before the first connection.
    pub(crate) has_repositories: Option<bool>,
    pub(crate) indexed_repositories: u32,
    attempts: u64,
    attempting: Option<Instant>,
    /// Others should search its shards, if possible.
    pub(crate) is_draining: bool,
    /// Incremented when the link or the shards change, or draining begins.
    version: u64,
}

impl PeerStatus {
    pub(crate) fn unsearched(&self) -> Option<(String, SystemTime)> {
        self.lost.as_ref().or(self.unfit.as_ref()).cloned()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerSettings {
    pub(crate) silence_max: Duration,
    pub(crate) lists_packages: bool,
    pub(crate) has_scopes: bool,
}

pub(crate) struct Peer {
    pub(crate) backend: Backend,
    settings: PeerSettings,
    status: watch::Sender<PeerStatus>,
    idle: Mutex<Vec<Connection>>,
    health: Mutex<Health>,
    control: Mutex<Option<Arc<Socket>>>,
    closed: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Peer {
    /// Starts the control thread. Until connected, it has the shards of `before`, the peer of this
    /// name at another address.
    pub(crate) fn start(
        backend: Backend,
        settings: PeerSettings,
        before: Option<PeerStatus>,
    ) -> std::io::Result<Arc<Peer>> {
        let before = before.unwrap_or_default();
        let status = PeerStatus {
            lost: Some(("not connected yet".to_owned(), SystemTime::now())),
            shards: before.shards,
            packages: before.packages,
            is_draining: backend.is_draining,
            ..PeerStatus::default()
        };
        let peer = Arc::new(Peer {
            backend,
            settings,
            status: watch::Sender::new(status),
            idle: Mutex::default(),
            health: Mutex::default(),
            control: Mutex::default(),
            closed: AtomicBool::new(false),
            thread: OnceLock::new(),
        });
        let listener = Arc::clone(&peer);
        let thread = thread::Builder::new()
            .name(format!("backend {}", peer.name()))
            .spawn(move || listener.keep_connected())?;
        let _ = peer.thread.set(thread.thread().clone());
        Ok(peer)
    }

    pub(crate) fn name(&self) -> &str {
        self.backend.name()
    }

    pub(crate) fn log_name(&self) -> Cow<'_, str> {
        self.backend.log_name()
    }

    pub(crate) fn status(&self) -> PeerStatus {
        self.status.borrow().clone()
    }

    pub(crate) fn set_draining(&self, is_draining: bool) {
        self.status.send_if_modified(|status| {
            let changes = status.is_draining != is_draining;
            status.is_draining = is_draining;
            status.version += u64::from(changes);
            changes
        });
    }

    pub(crate) fn health(&self) -> MutexGuard<'_, Health> {
        lock(&self.health)
    }

    pub(crate) fn settle(&self, failure: Option<&PeerError>) {
        match failure {
            None | Some(PeerError::Refused(_) | PeerError::Heavy) => self.health().succeed(),
            Some(PeerError::Account(_)) => self.failed(failure),
            Some(PeerError::Stale(_)) => self.health().end(),
            Some(error) if error.is_fault() => self.failed(failure),
            Some(_) => self.health().end(),
        }
    }

    /// Records a failure; `None`: another backend was faster.
    pub(crate) fn failed(&self, failure: Option<&PeerError>) {
        let mut health = self.health();
        let ejected = health.fail(Instant::now());
        // An operator is told once.
        let is_first = health.failures_in_row == 1;
        drop(health);
        let backend = self.log_name();
        let reason = failure.map_or_else(
            || "another backend was faster".to_owned(),
            ToString::to_string,
        );
        if let Some(time) = ejected {
            metrics::counter!("trawl_frontend_backends_ejected_total").increment(1);
            tracing::warn!(%backend, reason, seconds = time.as_secs(), "avoided, since its streams fail");
        } else if is_first {
            tracing::warn!(%backend, reason, "a stream failed");
        }
    }

    pub(crate) fn changes(&self) -> watch::Receiver<PeerStatus> {
        self.status.subscribe()
    }

    pub(crate) fn version(&self) -> u64 {
        self.status.borrow().version
    }

    /// Waits until the backend is connected, an attempt has failed, or the deadline passes. Ignores
    /// attempts that already hang.
    pub(crate) async fn ready(&self, deadline: tokio::time::Instant) {
        let mut status = self.status.subscribe();
        let attempts = {
            let now = status.borrow();
            let hangs = |began: Instant| began.elapsed() >= READY_MAX;
            if now.lost.is_none() || now.attempting.is_some_and(hangs) {
                return;
            }
            now.attempts
        };
        self.wake();
        let settled = status.wait_for(|status| status.attempts > attempts);
        let _ = tokio::time::timeout_at(deadline, settled).await;
    }

    pub(crate) fn ready_deadline() -> tokio::time::Instant {
        tokio::time::Instant::now() + READY_MAX
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(crate) fn take_idle(&self) -> Option<Connection> {
        let mut idle = lock(&self.idle);
        let mut connection = idle.pop().filter(|found| found.age() < IDLE_AGE_MAX)?;
        connection.touch();
        Some(connection)
    }

    pub(crate) fn dial(&self, step_max: Duration) -> Result<Connection, PeerError> {
        let stream = self
            .backend
            .connect(step_max)
            .map_err(PeerError::unreachable)?;
        Connection::new(stream, self.settings.silence_max)
    }

    pub(crate) fn put_idle(&self, mut connection: Connection) {
        connection.touch();
        connection.decoder.shrink();
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE_MAX && !self.closed.load(Ordering::Relaxed) {
            idle.push(connection);
        }
    }

    /// Requests are idempotent: one that fails on an idle connection is sent again on a new one.
    pub(crate) fn request<T>(
        &self,
        frame: &[u8],
        kind: Kind,
        decode: Decode<T>,
    ) -> Result<T, PeerError> {
        let ask = |mut connection: Connection| {
            connection.send(frame)?;
            let reply = connection.reply(kind, decode)?;
            self.put_idle(connection);
            reply
        };
        if let Some(connection) = self.take_idle()
            && let Ok(reply) = ask(connection)
        {
            return Ok(reply);
        }
        let asked = self.dial(Duration::MAX).and_then(ask);
        asked.inspect_err(PeerError::count)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some(stream) = &*lock(&self.control) {
            stream.shutdown();
        }
        lock(&self.idle).clear();
        self.wake();
    }

    fn keep_connected(&self) {
        let mut pause = PAUSE_MIN;
        while !self.closed.load(Ordering::Relaxed) {
            let lost = self.listen();
            let was_connected = self.status.borrow().lost.is_none();
            self.lose(&lost);
            pause = if was_connected {
                PAUSE_MIN
            } else {
                (pause * 2).min(PAUSE_MAX)
            };
            thread::park_timeout(pause);
        }
    }

    fn listen(&self) -> PeerError {
        self.status
            .send_modify(|status| status.attempting = Some(Instant::now()));
        let mut connection = match self.dial(Duration::MAX) {
            Ok(connection) => connection,
            Err(lost) => return lost,
        };
        let stream = Arc::clone(&connection.stream);
        *lock(&self.control) = Some(stream);
        if self.closed.load(Ordering::Relaxed) {
            return PeerError::Stopped;
        }
        loop {
            if let Err(lost) = connection
                .fill()
                .and_then(|()| self.receive(&mut connection))
            {
                return lost;
            }
            lock(&self.idle).retain(|connection| connection.age() < IDLE_AGE_MAX);
        }
    }

    fn receive(&self, connection: &mut Connection) -> Result<(), PeerError> {
        let mut latest = None;
        while let Some(frame) = connection.decoder.decode()? {
            match frame.kind {
                Kind::Hello => latest = Some(hello(frame.payload)?),
                kind => return Err(PeerError::Unexpected(kind)),
            }
        }
        if let Some(hello) = latest {
            connection.touch();
            let packages = self.packages(connection, &hello.shards)?;
            self.announce(hello, packages);
        }
        Ok(())
    }

    /// Packages of these shards; asks for unknown ones, so that overlaps are known
    /// before a shard is searched.
    fn packages(
        &self,
        connection: &mut Connection,
        shards: &[ShardInfo],
    ) -> Result<Arc<PackagesByShard>, PeerError> {
        let known = Arc::clone(&self.status.borrow().packages);
        let is_known =
            known.len() == shards.len() && shards.iter().all(|shard| known.contains_key(&shard.id));
        if is_known || !self.settings.lists_packages {
            return Ok(known);
        }
        let mut packages = PackagesByShard::new();
        for shard in shards {
            let of_shard = match known.get(&shard.id) {
                Some(known) => Arc::clone(known),
                None => Arc::new(ask_packages(connection, shard)?),
            };
            packages.insert(shard.id, of_shard);
        }
        Ok(Arc::new(packages))
    }

    fn announce(&self, hello: Hello, packages: Arc<PackagesByShard>) {
        let shards = hello.shards;
        self.status.send_if_modified(|status| {
            // No notification: these change no routing.
            status.has_repositories = Some(hello.has_repositories);
            status.indexed_repositories = hello.indexed_repositories;
            status.resumes = hello.resumes;
            status.updated = Some(hello.updated).filter(|&updated| updated > 0);
            let connected = status.lost.is_none();
            let same = status.shards.as_deref() == Some(&shards[..]);
            let lacks_views = self.settings.has_scopes && !hello.has_views;
            let unfit = match check_semantics(hello.semantics) {
                Err(error) => Some(error.to_string()),
                Ok(()) => lacks_views.then(|| NO_VIEWS.to_owned()),
            };
            let is_other = status.unfit.as_ref().map(|(reason, _)| reason) != unfit.as_ref();
            if is_other {
                status.unfit = unfit.map(|reason| (reason, SystemTime::now()));
            }
            let is_other_version = is_other || status.lacks_views != lacks_views;
            status.lacks_views = lacks_views;
            if connected && same && !is_other_version {
                return false;
            }
            if is_other_version && let Some((reason, _)) = status.unsearched() {
                tracing::warn!(backend = %self.log_name(), reason, "not searched");
            }
            if !connected {
                status.attempts += 1;
                tracing::info!(backend = %self.log_name(), shards = shards.len(), "connected");
            }
            status.lost = None;
            status.attempting = None;
            status.shards = Some(shards.into());
            status.packages = packages;
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
            let since = match &status.lost {
                Some((_, since)) if status.attempts > 1 => *since,
                _ => {
                    tracing::warn!(backend = %self.log_name(), reason, "lost");
                    metrics::counter!("trawl_frontend_backends_lost_total", "reason" => lost.label())
                        .increment(1);
                    SystemTime::now()
                }
            };
            status.lost = Some((reason, since));
            status.attempting = None;
            status.version += 1;
        });
    }
}

fn ask_packages(
    connection: &mut Connection,
    shard: &ShardInfo,
) -> Result<ShardPackages, PeerError> {
    let mut found = ShardPackages::default();
    loop {
        let last = found.packages.last();
        let request = ListRequest {
            kind: ListKind::Shard,
            package: shard.id.to_vec(),
            prefix: Vec::new(),
            after: last.map_or(Vec::new(), |last| last.name.to_vec()),
            count: PACKAGES_AT_ONCE,
            visible: None,
            revision: String::new(),
        };
        let mut frame = Vec::new();
        request.encode(&mut frame)?;
        connection.send(&frame)?;
        let reply = connection.reply(Kind::List, ListReply::decode)??;
        connection.touch();
        let is_stuck = reply.more && reply.entries.is_empty();
        for entry in reply.entries {
            let last = found.packages.last();
            let is_new = last.is_none_or(|last| *last.name < entry.package[..]);
            if !is_new || found.packages.len() == shard.parts as usize {
                return Err(wrong_packages());
            }
            found.indexed = entry.indexed;
            found.packages.push(PackageInfo {
                name: entry.package.into(),
                number: entry.number,
                documents: entry.documents,
                text_bytes: entry.text_bytes,
                is_repository: entry.is_repository,
                has_own_name: entry.has_own_name,
            });
        }
        if is_stuck {
            return Err(wrong_packages());
        }
        if !reply.more {
            return Ok(found);
        }
    }
}

fn wrong_packages() -> PeerError {
    PeerError::Failed("it lists other packages of a shard than it announced".to_owned())
}
