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

pub(crate) enum RaceEnd {
    Won(Box<Connection>),
    Cancelled,
    Failed,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Asking,
    Asked(Arc<Socket>),
    Won(Box<Connection>),
    Failed,
    /// The slow backend has delivered, or the stream was stopped.
    Over,
}

impl Race {
    /// Sends a request to a second backend. `slow` is the first one's connection.
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

    pub(crate) fn end(&self) -> RaceEnd {
        let state = std::mem::replace(&mut *lock(&self.shared.state), State::Over);
        match state {
            State::Won(connection) => RaceEnd::Won(connection),
            State::Failed => RaceEnd::Failed,
            State::Asked(socket) => {
                socket.shutdown();
                RaceEnd::Cancelled
            }
            State::Asking | State::Over => RaceEnd::Cancelled,
        }
    }

    pub(crate) fn wait(&self, is_stopped: impl Fn() -> bool) -> RaceEnd {
        let mut state = lock(&self.shared.state);
        while let State::Asking | State::Asked(_) = *state {
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
        if !matches!(*state, State::Asking | State::Asked(_)) {
            return;
        }
        *state = match answered {
            Ok(connection) => {
                slow.shutdown();
                State::Won(Box::new(connection))
            }
            Err(error) => {
                tracing::debug!(backend = %peer.log_name(), %error, "a second backend cannot answer");
                State::Failed
            }
        };
        self.changed.notify_all();
    }

    /// Returns the connection once the answer's first frame is there.
    fn ask(&self, peer: &Peer, request: &[u8]) -> Result<Connection, PeerError> {
        let mut connection = peer.dial()?;
        {
            let mut state = lock(&self.state);
            if !matches!(*state, State::Asking) {
                return Err(PeerError::Stopped);
            }
            *state = State::Asked(connection.stream());
        }
        connection.send(request)?;
        while !connection.has_answer()? {
            connection.fill()?;
        }
        Ok(connection)
    }
}
