//! Race between a slow backend and a second one that is asked for the rest of its answer.
//!
//! The stream's thread keeps reading from the slow backend. The second one, on another thread, wins
//! with its first frame unless the slow one has delivered, and shuts down the slow connection.
//!
//! **Invariant:** only one of both delivers; the other's bytes are never read. The winner's frames
//! follow those that had arrived when the race began.

use crate::execution::stream_trace::StreamTrace;
use crate::peers::{Connection, Peer, PeerError, Socket};
use cache::lock;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which a waiting thread checks for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A race as seen by the slow backend's thread. Dropping it ends it.
pub(crate) struct Race {
    shared: Arc<Shared>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) shards: Vec<u32>,
    pub(crate) number: usize,
    pub(crate) trace: StreamTrace,
}

#[derive(Default)]
struct Shared {
    state: Mutex<RaceState>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) enum RaceState {
    #[default]
    Asking,
    Asked(Arc<Socket>),
    /// The second backend delivers.
    Won(Box<Connection>),
    /// The second backend cannot answer.
    Failed,
    Over,
}

impl Race {
    /// `slow` is the first one's connection.
    pub(crate) fn start(
        (peer, number): (&Arc<Peer>, usize),
        shards: Vec<u32>,
        request: Vec<u8>,
        slow: Arc<Socket>,
        trace: StreamTrace,
    ) -> io::Result<Race> {
        let race = Race {
            shared: Arc::default(),
            peer: Arc::clone(peer),
            shards,
            number,
            trace,
        };
        let (shared, peer) = (Arc::clone(&race.shared), Arc::clone(peer));
        thread::Builder::new()
            .name("hedge".to_owned())
            .spawn(move || shared.run(&peer, &request, &slow))?;
        Ok(race)
    }

    /// Returns how far it was.
    pub(crate) fn end(&self) -> RaceState {
        let state = std::mem::replace(&mut *lock(&self.shared.state), RaceState::Over);
        if let RaceState::Asked(socket) = &state {
            socket.shutdown();
        }
        state
    }

    pub(crate) fn wait(&self, is_stopped: impl Fn() -> bool) -> RaceState {
        let mut state = lock(&self.shared.state);
        while let RaceState::Asking | RaceState::Asked(_) = *state {
            if is_stopped() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, LOOK_EVERY);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.end()
    }
}

impl Drop for Race {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn run(&self, peer: &Peer, request: &[u8], slow: &Socket) {
        let answered = self.ask(peer, request);
        let mut state = lock(&self.state);
        if !matches!(*state, RaceState::Asking | RaceState::Asked(_)) {
            return;
        }
        *state = match answered {
            Ok(connection) => {
                slow.shutdown();
                RaceState::Won(Box::new(connection))
            }
            Err(error) => {
                tracing::debug!(backend = %peer.log_name(), %error, "a second backend cannot answer");
                RaceState::Failed
            }
        };
        self.changed.notify_all();
    }

    /// Returns the connection once the answer's first frame is there.
    fn ask(&self, peer: &Peer, request: &[u8]) -> Result<Connection, PeerError> {
        let mut connection = peer.dial(Duration::MAX)?;
        {
            let mut state = lock(&self.state);
            if !matches!(*state, RaceState::Asking) {
                return Err(PeerError::Stopped);
            }
            *state = RaceState::Asked(Arc::clone(&connection.stream));
        }
        connection.send(request)?;
        while !connection.has_answer()? {
            connection.fill()?;
        }
        Ok(connection)
    }
}
