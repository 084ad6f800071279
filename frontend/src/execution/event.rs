//! The events that the state of an execution takes, and the actions that it returns.

use crate::query::BadQuery;
use crate::results::{Outcome, SkippedDocument, Timings};
use schema::message::End;
use std::time::{Duration, Instant, SystemTime};

/// One moment, by the monotonic clock and by the calendar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) time: SystemTime,
}

/// When an execution is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The time that the client gave the query, for the message.
    pub(crate) timeout: Duration,
}

/// Distinguishes the clients of an execution.
pub(crate) type ClientKey = u128;

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The driver is ready.
    Start,
    /// A client joined. The deadline is moved to its own if that is later.
    Join { deadline: Option<Deadline> },
    /// A client left, and may come back within `grace`.
    Leave { client: ClientKey, grace: Duration },
    /// A client has no more interest. So many of its requests are open, and about to leave.
    Withdraw { client: ClientKey, open: usize },
    /// Ends the execution, even if clients wait for its result.
    Cancel,
    /// The time of [`Action::SetTimer`] has come.
    Timer,
    /// The execution may begin: with a slot for heavy queries, or only with a light place.
    Admitted { heavy: bool },
    /// Too many heavy queries run and wait.
    Shed,
    /// Something happened on the stream with this index.
    Stream(usize, StreamEvent),
    /// The pointers are in order, or cannot be put in order for this reason.
    Finalized { failure: Option<String> },
}

/// What happened on a stream. All but `Skip` close it or let it wait.
#[derive(Clone, Debug)]
pub(crate) enum StreamEvent {
    /// The backend skipped a document.
    Skip(SkippedDocument),
    /// The stream ended, and everything that was sent has arrived.
    End(End),
    /// The stream ended in any other way.
    Lost { reason: String },
    /// The spool could not keep what arrived. The backend is not at fault.
    Unspooled { reason: String },
    /// The backend cannot search for this query.
    Refused(BadQuery),
    /// The backend finds the query heavy and did not begin it.
    Heavy,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Take a slot for heavy queries if one is free, otherwise wait for a light place.
    /// `Admitted` is expected.
    Acquire,
    /// Give the light place back and wait for a slot for heavy queries. `Admitted` or `Shed` is
    /// expected.
    AcquireHeavy,
    /// Send the request of this stream.
    Open { stream: usize, heavy: bool },
    /// Close the connection of this stream. An event that closes the stream is expected.
    Stop(usize),
    /// Send `Timer` at this time instead of the one set before.
    SetTimer(Option<Instant>),
    /// Put the collected pointers in order. `Finalized` is expected.
    Finalize,
    /// Make the result known.
    Publish(Box<Publication>),
}

/// How an execution ended, and how long it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    pub(crate) outcome: Outcome,
    pub(crate) timings: Timings,
}
