//! A stream's place in its run: what it is asked for, where it is counted, and how to stop it.

use crate::execution::collector::Collector;
use crate::execution::stream_stats::{Progress, StreamStats};
use crate::lock::lock;
use crate::peers::{Peer, PeerError, Socket};
use schema::message;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A stream's place in its run.
pub(crate) struct StreamHandle {
    pub(crate) peer: Arc<Peer>,
    /// The number by which pointers and spool know the stream.
    pub(crate) backend: u16,
    /// What the backend is asked for.
    pub(crate) search: message::Search,
    pub(crate) stats: StreamStats,
    stopped: AtomicBool,
    socket: Mutex<Option<Arc<Socket>>>,
    collector: Mutex<Option<Collector>>,
}

impl StreamHandle {
    pub(crate) fn new(peer: Arc<Peer>, backend: u16, search: message::Search) -> Self {
        StreamHandle {
            peer,
            backend,
            search,
            stats: StreamStats::default(),
            stopped: AtomicBool::new(false),
            socket: Mutex::default(),
            collector: Mutex::default(),
        }
    }

    /// Lets [`stop`](Self::stop) reach the connection; an error when it came before.
    pub(crate) fn connect(&self, stream: Arc<Socket>) -> Result<(), PeerError> {
        let mut socket = lock(&self.socket);
        if self.stopped.load(Relaxed) {
            return Err(PeerError::Stopped);
        }
        *socket = Some(stream);
        Ok(())
    }

    /// The connection is not the stream's any more.
    pub(crate) fn disconnect(&self) {
        *lock(&self.socket) = None;
    }

    pub(super) fn stop(&self) {
        let socket = lock(&self.socket);
        self.stopped.store(true, Relaxed);
        if let Some(stream) = &*socket {
            stream.shutdown();
        }
    }

    /// Whether the stream is to end, or not to begin.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Whether nothing has come of the request, and nobody wants the stream to end.
    pub(crate) fn may_ask_again(&self) -> bool {
        !self.stats.answered.load(Relaxed) && !self.is_stopped()
    }

    /// What has come so far, for the thread that asks the backend, which has said nothing yet.
    pub(super) fn begin(&self) -> Option<Collector> {
        self.stats.answered.store(false, Relaxed);
        self.take_collector()
    }

    pub(super) fn put_collector(&self, collector: Collector) {
        *lock(&self.collector) = Some(collector);
    }

    pub(super) fn take_collector(&self) -> Option<Collector> {
        lock(&self.collector).take()
    }

    pub(super) fn add_to(&self, progress: &mut Progress) {
        progress.add(self.stats.read(self.peer.name()));
    }
}
