//! One backend's stream of one query, over a socket: ask, then read and walk until it ends.

use super::connection::{Connection, PeerError};
use super::ingest::{Ingest, Ingested, Now, Target};
use crate::harvest::Harvest;
use crate::live::Live;
use crate::run::{Event, StreamEnd};
use schema::message;
use std::sync::Arc;

/// Runs a stream from the request to its end; what came in by then is in `harvest`. `heavy`: it may
/// cost what it costs.
pub(crate) fn receive(
    live: &Arc<Live>,
    stream: usize,
    heavy: bool,
    harvest: &mut Harvest,
) -> Result<StreamEnd, PeerError> {
    let slot = live.slot(stream);
    if slot.is_stopped() {
        return Err(PeerError::Stopped);
    }
    let search = message::Search {
        heavy,
        deadline_ms: live.left_ms().ok_or(PeerError::Stopped)?,
        ..slot.search.clone()
    };
    if let Some(connection) = slot.peer.take_idle() {
        match ask(live, stream, &search, harvest, connection) {
            // It had died while it was idle. What is left on it are greetings, if anything.
            Err(PeerError::Broken(_) | PeerError::Closed) if slot.may_ask_again() => {}
            settled => return settled,
        }
    }
    ask(live, stream, &search, harvest, slot.peer.dial()?)
}

fn ask(
    live: &Arc<Live>,
    stream: usize,
    search: &message::Search,
    harvest: &mut Harvest,
    mut connection: Connection,
) -> Result<StreamEnd, PeerError> {
    let slot = live.slot(stream);
    slot.connect(connection.stream())?;
    let mut request = Vec::new();
    search.encode(&mut request)?;
    let place = Target {
        backend: slot.backend,
        search,
        meter: &slot.meter,
        spool: &live.spool,
        skipped: Box::new(|document| live.on(stream, Event::Skip(document))),
    };
    // What a request for a file has left is no part of this answer.
    connection.decoder.consumed();
    let mut walk = Ingest::new(place, harvest, Now::read());
    let sent = connection.send(&request);
    let result = sent.and_then(|()| read(&mut connection, &mut walk));
    walk.close(&result);
    slot.disconnect();
    if connection.is_at_rest()
        && let Ok(_) | Err(PeerError::Refused(_) | PeerError::Stale(_) | PeerError::Heavy) = result
    {
        slot.peer.put_idle(connection);
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
