//! Peers of a frontend at a moment. Running queries keep the set they began with.

use super::backend::Backend;
use super::peer::{Peer, PeerSettings};
use cache::lock;
use std::io;
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub(crate) struct PeerSet {
    /// Peer numbers and versions are valid within one set only.
    number: u64,
    peers: Vec<Arc<Peer>>,
}

impl PeerSet {
    /// Changes with the peers, their links or shards.
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

pub(crate) struct Peers {
    settings: PeerSettings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    set: Arc<PeerSet>,
    all: Vec<Arc<Peer>>,
}

impl State {
    fn set(&mut self, is_member: impl Fn(&Arc<Peer>) -> bool) {
        let peers = self.all.iter().filter(|peer| is_member(peer)).cloned();
        self.set = Arc::new(PeerSet {
            number: self.set.number + 1,
            peers: peers.collect(),
        });
    }
}

impl Peers {
    pub(crate) fn start(backends: Vec<Backend>, settings: PeerSettings) -> io::Result<Peers> {
        let state = Mutex::default();
        let peers = Peers { settings, state };
        peers.replace(backends)?;
        Ok(peers)
    }

    pub(crate) fn current(&self) -> Arc<PeerSet> {
        Arc::clone(&lock(&self.state).set)
    }

    /// Replaces the peers. Those with the same name and address stay; others are closed after their
    /// streams. Returns the new ones. If one cannot start, nothing changes.
    ///
    /// A new peer joins the set once [admitted](Self::admit), so listing it does not make
    /// answers incomplete; at once if there was no peer before, or if it moved to another
    /// address and keeps its shards.
    pub(crate) fn replace(&self, backends: Vec<Backend>) -> io::Result<Vec<Arc<Peer>>> {
        let mut state = lock(&self.state);
        let (mut peers, mut new) = (Vec::with_capacity(backends.len()), Vec::new());
        for backend in backends {
            let is_draining = backend.is_draining;
            let mut known = state.all.iter();
            let named = known.clone().find(|peer| peer.name() == backend.name());
            let moved = named.map(|peer| peer.status());
            let peer = match known.find(|peer| peer.backend.is_same(&backend)) {
                Some(peer) => Arc::clone(peer),
                None => match Peer::start(backend, self.settings, moved) {
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
        let all = peers.into_iter().map(|(peer, _)| peer).collect();
        let before = std::mem::replace(&mut state.all, all);
        let members = Arc::clone(&state.set);
        let is_known = |peer: &Peer| members.iter().any(|known| known.name() == peer.name());
        state.set(|peer| members.is_empty() || is_known(peer));
        for peer in before {
            if !has(&state.all, &peer) {
                peer.close();
            }
        }
        Ok(new)
    }

    /// Returns false if it was removed meanwhile.
    pub(crate) fn admit(&self, newcomer: &Arc<Peer>) -> bool {
        let mut state = lock(&self.state);
        let members = Arc::clone(&state.set);
        if has(&state.all, newcomer) && !has(&members, newcomer) {
            state.set(|peer| has(&members, peer) || Arc::ptr_eq(peer, newcomer));
        }
        has(&state.all, newcomer)
    }

    pub(crate) fn close(&self) {
        lock(&self.state).all.iter().for_each(|peer| peer.close());
    }
}

fn has(peers: &[Arc<Peer>], peer: &Arc<Peer>) -> bool {
    peers.iter().any(|known| Arc::ptr_eq(known, peer))
}
