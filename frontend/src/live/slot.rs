//! A stream's place in its run: what it is asked for, how far it is, and how to stop it.

use super::lock;
use crate::fanout::{Harvest, Lost, Peer, Stream};
use crate::rank::Best;
use schema::message;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// How far a run's search is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks that are known of.
    pub blocks_total: u64,
    /// Documents examined.
    pub documents: u64,
    /// Matches received.
    pub matches: u64,
    /// The same of each backend that takes part.
    pub backends: Vec<BackendProgress>,
}

/// How far one backend's search is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendProgress {
    /// The backend's name.
    pub name: String,
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks that are known of.
    pub blocks_total: u64,
    /// Matches received.
    pub matches: u64,
}

/// A stream's counters, written by its thread alone.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) matches: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    /// Whether anything but a greeting has arrived.
    pub(crate) answered: AtomicBool,
    blocks_done: AtomicU64,
    blocks_total: AtomicU64,
    documents: AtomicU64,
    best: Mutex<Best>,
}

impl Meter {
    pub(crate) fn progress(&self, progress: message::Progress) {
        self.blocks_done.store(progress.blocks_done, Relaxed);
        self.blocks_total.store(progress.blocks_total, Relaxed);
        self.documents.store(progress.documents, Relaxed);
    }

    pub(crate) fn publish(&self, best: &Best) {
        lock(&self.best).clone_from(best);
    }

    pub(super) fn offer_to(&self, best: &mut Best) {
        for &pointer in lock(&self.best).pointers() {
            best.offer(pointer);
        }
    }
}

/// A stream's place in its run.
pub(crate) struct Slot {
    pub(crate) peer: Arc<Peer>,
    /// The number by which pointers and spool know the stream.
    pub(crate) backend: u16,
    /// What the backend is asked for.
    pub(crate) search: message::Search,
    pub(crate) meter: Meter,
    stopped: AtomicBool,
    socket: Mutex<Option<Arc<Stream>>>,
    harvest: Mutex<Harvest>,
}

impl Slot {
    pub(crate) fn new(peer: Arc<Peer>, backend: u16, search: message::Search) -> Self {
        Slot {
            peer,
            backend,
            search,
            meter: Meter::default(),
            stopped: AtomicBool::new(false),
            socket: Mutex::default(),
            harvest: Mutex::default(),
        }
    }

    /// Lets [`stop`](Self::stop) reach the connection; an error when it came before.
    pub(crate) fn connect(&self, stream: Arc<Stream>) -> Result<(), Lost> {
        let mut socket = lock(&self.socket);
        if self.stopped.load(Relaxed) {
            return Err(Lost::Stopped);
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
        !self.meter.answered.load(Relaxed) && !self.is_stopped()
    }

    pub(super) fn put_harvest(&self, harvest: Harvest) {
        *lock(&self.harvest) = harvest;
    }

    pub(super) fn take_harvest(&self) -> Harvest {
        std::mem::take(&mut *lock(&self.harvest))
    }

    pub(super) fn add_to(&self, progress: &mut Progress) {
        let backend = BackendProgress {
            name: self.peer.name().to_owned(),
            blocks_done: self.meter.blocks_done.load(Relaxed),
            blocks_total: self.meter.blocks_total.load(Relaxed),
            matches: self.meter.matches.load(Relaxed),
        };
        progress.blocks_done += backend.blocks_done;
        progress.blocks_total += backend.blocks_total;
        progress.matches += backend.matches;
        progress.documents += self.meter.documents.load(Relaxed);
        progress.backends.push(backend);
    }
}
