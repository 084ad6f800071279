//! Requests with a one-frame reply: part of a document, or a list.

use super::connection::{Connection, PeerError};
use super::peer::Peer;
use schema::frame::Kind;
use schema::message::{Failure, MessageError};

pub(crate) type Decode<T> = fn(&[u8]) -> Result<T, MessageError>;

/// Sends a frame and waits for its reply of the same kind. Requests are idempotent: one that fails
/// on an idle connection is sent again on a new one.
pub(crate) fn request<T>(
    peer: &Peer,
    frame: &[u8],
    kind: Kind,
    decode: Decode<T>,
) -> Result<T, PeerError> {
    let ask = |mut connection: Connection| {
        connection.send(frame)?;
        let reply = connection.next(|received, payload| match received {
            received if received == kind => Ok(Ok(decode(payload)?)),
            Kind::Error => Ok(Err(PeerError::reported(Failure::decode(payload)?))),
            other => Err(PeerError::Unexpected(other)),
        })?;
        peer.put_idle(connection);
        reply
    };
    if let Some(connection) = peer.take_idle()
        && let Ok(reply) = ask(connection)
    {
        return Ok(reply);
    }
    let asked = peer.dial().and_then(ask);
    asked.inspect_err(PeerError::count)
}
