//! A request for a part of a document.

use super::Peer;
use super::connection::{Connection, Lost};
use schema::frame::Kind;
use schema::message::{Failure, FileReply, FileRequest};

/// Asks one backend. An idle connection may have died without a word, so a request that fails on
/// one is made again on a new connection; it has no effects that could happen twice.
pub(crate) fn request(peer: &Peer, request: &FileRequest) -> Result<FileReply, Lost> {
    let mut frame = Vec::new();
    request.encode(&mut frame)?;
    if let Some(connection) = peer.take_idle()
        && let Ok(reply) = ask(peer, connection, &frame)
    {
        return Ok(reply);
    }
    let asked = peer
        .dial()
        .and_then(|connection| ask(peer, connection, &frame));
    asked.inspect_err(Lost::count)
}

fn ask(peer: &Peer, mut connection: Connection, frame: &[u8]) -> Result<FileReply, Lost> {
    connection.send(frame)?;
    let reply = connection.next(|kind, payload| match kind {
        Kind::File => Ok(Ok(FileReply::decode(payload)?)),
        Kind::Error => Ok(Err(Lost::by(Failure::decode(payload)?))),
        other => Err(Lost::Unexpected(other)),
    })?;
    peer.put_idle(connection);
    reply
}
