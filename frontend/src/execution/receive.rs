//! One backend's stream of one query, over a socket: ask, then read and walk until it ends.

use crate::execution::collector::Collector;
use crate::execution::driver::Execution;
use crate::execution::ingest::{Ingest, Ingested, Now, Target};
use crate::execution::state::Event;
use crate::peers::account::StreamEnd;
use crate::peers::{Connection, PeerError};
use schema::message;
use std::sync::Arc;
use std::time::SystemTime;

/// Runs a stream from the request to its end; what came in by then is in `harvest`. `heavy`: it may
/// cost what it costs.
pub(crate) fn receive(
    execution: &Arc<Execution>,
    stream: usize,
    heavy: bool,
    collector: &mut Collector,
) -> Result<StreamEnd, PeerError> {
    let handle = execution.stream_handle(stream);
    if handle.is_stopped() {
        return Err(PeerError::Stopped);
    }
    let search = message::Search {
        heavy,
        deadline_ms: execution.left_ms().ok_or(PeerError::Stopped)?,
        ..handle.search.clone()
    };
    if let Some(connection) = handle.peer.take_idle() {
        match ask(execution, stream, &search, collector, connection) {
            // It had died while it was idle. What is left on it are greetings, if anything.
            Err(PeerError::Broken(_) | PeerError::Closed) if handle.may_ask_again() => {}
            settled => return settled,
        }
    }
    ask(execution, stream, &search, collector, handle.peer.dial()?)
}

fn ask(
    execution: &Arc<Execution>,
    stream: usize,
    search: &message::Search,
    collector: &mut Collector,
    mut connection: Connection,
) -> Result<StreamEnd, PeerError> {
    let handle = execution.stream_handle(stream);
    handle.connect(connection.stream())?;
    let mut request = Vec::new();
    search.encode(&mut request)?;
    let place = Target {
        backend: handle.backend,
        search,
        meter: &handle.stats,
        spool: &execution.spool,
        skipped: Box::new(|document| execution.on(stream, Event::Skip(document))),
    };
    // What a request for a file has left is no part of this answer.
    connection.decoder.consumed();
    let mut walk = Ingest::new(place, collector, Now::read());
    let sent = connection.send(&request);
    let result = sent.and_then(|()| read(&mut connection, &mut walk));
    walk.close(&result);
    handle.disconnect();
    if connection.is_at_rest()
        && let Ok(_) | Err(PeerError::Refused(_) | PeerError::Stale(_) | PeerError::Heavy) = result
    {
        handle.peer.put_idle(connection);
    }
    result
}

fn read(connection: &mut Connection, walk: &mut Ingest<'_>) -> Result<StreamEnd, PeerError> {
    loop {
        match walk.take(&mut connection.decoder, Now::read())? {
            Ingested::End(end) => return Ok(end),
            // Only now: the time that the disk took is not the backend's silence.
            Ingested::Written => connection.touch(),
            Ingested::Nothing => {}
        }
        connection.fill()?;
    }
}

/// Returns the event for a stream that `error` has ended.
pub(crate) fn event(error: PeerError, at: SystemTime) -> Event {
    match error {
        PeerError::Refused(bad) => Event::Refused(bad),
        PeerError::Heavy => Event::Heavy,
        error => Event::Lost {
            reason: error.to_string(),
            at,
        },
    }
}
