//! Events taken and actions returned by an execution's state.

use query::BadQuery;
use results::{Outcome, SkippedDocument};
use schema::message::End;
use std::time::{Duration, Instant, SystemTime};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) time: SystemTime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The client's timeout, for the message.
    pub(crate) timeout: Duration,
}

pub(crate) type ClientKey = u128;

#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The driver is ready.
    Start,
    /// A later deadline replaces the current one.
    Join { deadline: Option<Deadline> },
    /// The client may come back within `grace`.
    Leave { client: ClientKey, grace: Duration },
    /// `open` of the client's requests have still to leave.
    Withdraw { client: ClientKey, open: usize },
    /// Ends the execution despite waiting clients.
    Cancel,
    /// [`Action::SetTimer`] is due.
    Timer,
    /// Admitted with a heavy slot, or with a light place.
    Admitted { heavy: bool },
    /// The queue for heavy slots is full.
    Shed,
    /// Index of the stream.
    Stream(usize, StreamEvent),
    /// The pointers are in order, or ordering failed.
    Finalized { failure: Option<String> },
}

/// Event of a stream. All but `Skip` close it or let it wait.
#[derive(Clone, Debug)]
pub(crate) enum StreamEvent {
    Skip(SkippedDocument),
    /// The stream ended, and everything sent has arrived.
    End(End),
    /// The stream ended in any other way.
    Lost(String),
    /// The spool could not store the stream; not the backend's fault.
    Unspooled(String),
    /// The backend cannot run this query.
    Refused(BadQuery),
    /// The backend finds the query heavy and did not begin it.
    Heavy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Take a free heavy slot, or wait for a light place. Expects `Admitted`.
    Acquire,
    /// Release the light place and queue for a heavy slot. Expects `Admitted` or `Shed`.
    AcquireHeavy,
    /// Send the stream's request.
    Open {
        stream: usize,
        heavy: bool,
    },
    /// Close the stream's connection. Expects an event that closes the stream.
    Stop(usize),
    /// Send `Timer` at this time, replacing the last one.
    SetTimer(Option<Instant>),
    /// Order the collected pointers. Expects `Finalized`.
    Finalize,
    Publish(Box<Outcome>),
}
