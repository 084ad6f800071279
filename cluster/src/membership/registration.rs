//! Entry of a backend in etcd. Several times per lease it is renewed and compared; after expiry,
//! deletion or a wipe it is written again. The registry has nothing that nodes do not write
//! themselves.

use super::Member;
use super::etcd::{Etcd, EtcdError};
use super::pace::{Backoff, jittered};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Time that an entry outlives its node.
const LEASE_SECONDS: u32 = 5;

const RENEW_EVERY: Duration = Duration::from_millis(1200);

/// Time for frontends to see a node leave.
const LEAVING: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Registration {
    leave: Sender<()>,
    /// Disconnected when the thread ends.
    done: Receiver<()>,
}

impl Registration {
    /// Keeps a node registered, on a thread. Does not wait.
    pub fn start(etcd: Etcd, member: Member) -> io::Result<Registration> {
        let (leave, leaves) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let mut entry = Entry {
            etcd,
            member,
            lease: None,
            fault: Some(Fault::NotYet),
        };
        let builder = thread::Builder::new().name("registration".to_owned());
        builder.spawn(move || {
            entry.keep(&leaves);
            entry.leave();
            drop(finished);
        })?;
        Ok(Registration { leave, done })
    }

    /// Announces the leave and removes the entry within `time`; else it expires.
    pub fn leave(self, time: Duration) {
        let _ = self.leave.send(());
        // Slower threads end with the process.
        let _ = self.done.recv_timeout(time);
    }
}

struct Entry {
    etcd: Etcd,
    member: Member,
    lease: Option<i64>,
    fault: Option<Fault>,
}

/// Logged on change only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Just started.
    NotYet,
    NameTaken,
    Other,
}

impl Entry {
    fn keep(&mut self, leaves: &Receiver<()>) {
        let mut backoff = Backoff::default();
        loop {
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
            match leaves.recv_timeout(pause) {
                Ok(()) => return,
                Err(RecvTimeoutError::Timeout) => {}
                // It stays registered as long as the process runs.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(pause),
            }
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

    fn leave(&mut self) {
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
    }

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
