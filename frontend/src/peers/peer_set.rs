//! The peers of a frontend at a moment. They may be replaced while queries run, which keep the set they began with.

use super::backend::Backend;
use super::peer::{Peer, PeerSettings};
use crate::lock::lock;
use std::io;
use std::sync::{Arc, Mutex};

/// Peers in the order of their numbers.
pub(crate) struct PeerSet {
    /// Which set this is. Numbers of peers and versions mean something within one set only.
    number: u64,
    peers: Vec<Arc<Peer>>,
}

impl PeerSet {
    /// Changes whenever the peers, or the link or the shards of one of them, change.
    pub(crate) fn versions(&self) -> Vec<u64> {
        let versions = self.peers.iter().map(|peer| peer.version());
        [self.number].into_iter().chain(versions).collect()
    }
}

impl std::ops::Deref for PeerSet {
    type Target = [Arc<Peer>];

    fn deref(&self) -> &[Arc<Peer>] {
        &self.peers
    }
}

/// The current set.
pub(crate) struct Peers {
    settings: PeerSettings,
    set: Mutex<Arc<PeerSet>>,
}

impl Peers {
    /// Starts to connect to backends, without waiting for them.
    pub(crate) fn start(backends: Vec<Backend>, settings: PeerSettings) -> io::Result<Peers> {
        let start = |backend| Peer::start(backend, settings);
        let peers = backends.into_iter().map(start).collect::<io::Result<_>>()?;
        let number = 0;
        Ok(Peers {
            settings,
            set: Mutex::new(Arc::new(PeerSet { number, peers })),
        })
    }

    pub(crate) fn current(&self) -> Arc<PeerSet> {
        Arc::clone(&lock(&self.set))
    }

    /// Replaces the peers. Those whose name and address are among the backends stay; the others are closed, once the
    /// streams that they have are finished. Returns those that are new. If one cannot be started, nothing changes.
    pub(crate) fn replace(&self, backends: Vec<Backend>) -> io::Result<Vec<Arc<Peer>>> {
        let mut set = lock(&self.set);
        let (mut peers, mut new) = (Vec::with_capacity(backends.len()), Vec::new());
        for backend in backends {
            let is_draining = backend.is_draining();
            let known = set.iter().find(|peer| peer.backend().is_same(&backend));
            let peer = match known {
                Some(peer) => Arc::clone(peer),
                None => match Peer::start(backend, self.settings) {
                    Ok(peer) => {
                        new.push(Arc::clone(&peer));
                        peer
                    }
                    Err(error) => {
                        new.iter().for_each(|peer: &Arc<Peer>| peer.close());
                        return Err(error);
                    }
                },
            };
            peers.push((peer, is_draining));
        }
        for (peer, is_draining) in &peers {
            peer.set_draining(*is_draining);
        }
        let peers: Vec<Arc<Peer>> = peers.into_iter().map(|(peer, _)| peer).collect();
        let number = set.number + 1;
        let before = std::mem::replace(&mut *set, Arc::new(PeerSet { number, peers }));
        for peer in before.iter() {
            if !set.iter().any(|stays| Arc::ptr_eq(stays, peer)) {
                peer.close();
            }
        }
        Ok(new)
    }
}
