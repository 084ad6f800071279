//! A race between a backend that is slow and another one that is asked for the rest of its answer.
//!
//! The stream's own thread goes on reading from the slow backend. A second thread asks the other one; with its first frame
//! it wins, unless the slow one has delivered meanwhile, and shuts down the slow connection, which wakes the first thread.
//!
//! **Invariant:** one of both delivers, and the other's bytes are never looked at. What the winner sends follows what had
//! arrived when the race began.

use crate::execution::stream_trace::StreamTrace;
use crate::lock::lock;
use crate::peers::{Connection, Peer, PeerError, Socket};
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a thread that waits for the second backend looks whether the stream was stopped.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A race, as the slow backend's thread sees it. Dropping it ends it.
pub(crate) struct Race {
    shared: Arc<Shared>,
    pub(crate) peer: Arc<Peer>,
    /// The shards that the second backend was asked for.
    pub(crate) shards: Vec<u32>,
    /// Its number among the backends of the stream.
    pub(crate) number: usize,
    pub(crate) trace: StreamTrace,
}

/// What has become of the second backend.
pub(crate) enum RaceEnd {
    /// It answers on this connection.
    Won(Box<Connection>),
    /// It was too late.
    Cancelled,
    /// It cannot answer.
    Failed,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    /// The second backend is asked.
    #[default]
    Asking,
    /// It was asked on this connection.
    Asked(Arc<Socket>),
    /// It has answered first.
    Won(Box<Connection>),
    /// It cannot answer.
    Failed,
    /// The slow backend has delivered, or nobody wants the answer.
    Over,
}

impl Race {
    /// Sends a request to a second backend. `slow` is the connection of the first one.
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

    /// Ends the race: the slow backend has delivered something.
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

    /// The slow backend is lost. Waits for the second one.
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

    /// Returns the connection once the first frame of the answer is there.
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
