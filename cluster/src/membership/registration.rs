//! A backend's entry in etcd.
//!
//! Its lease is kept, and the entry compared, several times in the life of a lease. Whatever happened to it meanwhile, be
//! it that the lease expired, the key was deleted or the whole store wiped, it is written again. The registry has nothing
//! that the nodes do not write by themselves.

use super::Member;
use super::etcd::{Etcd, EtcdError};
use super::pace::{Backoff, jittered};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long an entry outlives its node.
const LEASE_SECONDS: u32 = 5;

/// The pause between two renewals.
const RENEW_EVERY: Duration = Duration::from_millis(1200);

/// How long the entry says that the node leaves before it is removed: time for frontends to see it.
const LEAVING: Duration = Duration::from_millis(500);

/// A backend that is registered.
#[derive(Debug)]
pub struct Registration {
    leaves: Arc<AtomicBool>,
    thread: Thread,
    done: Receiver<()>,
}

impl Registration {
    /// Begins to register a node, and to keep it registered, on a thread of its own. Waits for nothing.
    pub fn start(etcd: Etcd, member: Member) -> io::Result<Registration> {
        let leaves = Arc::new(AtomicBool::new(false));
        let (finished, done) = mpsc::channel();
        let mut entry = Entry {
            etcd,
            member,
            lease: None,
            fault: Some(Fault::NotYet),
            leaves: Arc::clone(&leaves),
        };
        let builder = thread::Builder::new().name("registration".to_owned());
        let handle = builder.spawn(move || {
            entry.keep();
            entry.leave(&finished);
        })?;
        Ok(Registration {
            leaves,
            thread: handle.thread().clone(),
            done,
        })
    }

    /// Says that the node leaves, and removes its entry, in at most `time`. The entry ends by itself otherwise.
    pub fn leave(self, time: Duration) {
        self.leaves.store(true, Ordering::Relaxed);
        self.thread.unpark();
        // A thread that takes longer ends with the process.
        let _ = self.done.recv_timeout(time);
    }
}

struct Entry {
    etcd: Etcd,
    member: Member,
    lease: Option<i64>,
    /// What keeps it from being registered; `None` if it is.
    fault: Option<Fault>,
    leaves: Arc<AtomicBool>,
}

/// Why a node is not registered. The log says so when that changes, not for each attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It has just begun.
    NotYet,
    NameTaken,
    Other,
}

impl Entry {
    /// Renews the entry until the node leaves.
    fn keep(&mut self) {
        let mut backoff = Backoff::default();
        while !self.leaves.load(Ordering::Relaxed) {
            let pause = match self.renew() {
                Ok(()) => {
                    self.set_fault(None, "");
                    backoff.succeed();
                    jittered(RENEW_EVERY)
                }
                Err(error) => {
                    metrics::counter!("trawl_cluster_source_errors_total", "source" => "etcd")
                        .increment(1);
                    let fault = match error {
                        EtcdError::NameTaken { .. } => Fault::NameTaken,
                        _ => Fault::Other,
                    };
                    self.set_fault(Some(fault), &error.to_string());
                    // The lease may have ended.
                    if matches!(error, EtcdError::Refused { .. }) {
                        self.lease = None;
                    }
                    backoff.fail()
                }
            };
            self.pause(pause);
        }
    }

    /// Sleeps until the time has passed or the node leaves.
    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.leaves.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
        }
    }

    fn renew(&mut self) -> Result<(), EtcdError> {
        let lease = match self.lease {
            Some(lease) if self.etcd.keep(lease)? => lease,
            _ => {
                self.lease = None;
                self.etcd.grant(LEASE_SECONDS)?
            }
        };
        self.lease = Some(lease);
        self.etcd.ensure(&self.member, lease)
    }

    fn leave(&mut self, finished: &Sender<()>) {
        if let Some(lease) = self.lease {
            self.member.draining = true;
            let left = self.etcd.ensure(&self.member, lease).and_then(|()| {
                thread::sleep(LEAVING);
                self.etcd.revoke(lease)
            });
            match left {
                Ok(()) => tracing::info!(node = self.member.name, "left the list of nodes"),
                Err(error) => {
                    tracing::warn!(%error, "cannot leave the list of nodes; the entry ends in {LEASE_SECONDS} s")
                }
            }
        }
        // Nobody may wait any more.
        let _ = finished.send(());
    }

    /// Logs why the node is not registered, when that changes.
    fn set_fault(&mut self, fault: Option<Fault>, reason: &str) {
        metrics::gauge!("trawl_cluster_registered").set(f64::from(u8::from(fault.is_none())));
        if self.fault == fault {
            return;
        }
        let node = &self.member.name;
        match (fault, self.fault) {
            (None, _) => tracing::info!(node, address = self.member.address, "registered"),
            (Some(_), None) => {
                tracing::warn!(
                    node,
                    reason,
                    "cannot renew the registration; frontends keep the node"
                );
            }
            (Some(_), Some(_)) => tracing::warn!(node, reason, "cannot register"),
        }
        self.fault = fault;
    }
}
