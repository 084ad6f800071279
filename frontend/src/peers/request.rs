//! Requests that one frame answers: for a part of a document, or for a list.

use super::connection::{Connection, PeerError};
use super::peer::Peer;
use schema::frame::Kind;
use schema::message::{self, Failure, FileReply, FileRequest, ListReply, ListRequest};

/// A request and its reply.
pub(crate) trait Request {
    /// The reply.
    type Reply: Send + 'static;
    /// The kind of the reply's frame.
    const KIND: Kind;
    /// Encodes the request's frame.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), message::MessageError>;
    /// Decodes the reply.
    fn decode(payload: &[u8]) -> Result<Self::Reply, message::MessageError>;
}

impl Request for FileRequest {
    type Reply = FileReply;
    const KIND: Kind = Kind::File;

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), message::MessageError> {
        FileRequest::encode(self, out)
    }

    fn decode(payload: &[u8]) -> Result<FileReply, message::MessageError> {
        FileReply::decode(payload)
    }
}

impl Request for ListRequest {
    type Reply = ListReply;
    const KIND: Kind = Kind::List;

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), message::MessageError> {
        ListRequest::encode(self, out)
    }

    fn decode(payload: &[u8]) -> Result<ListReply, message::MessageError> {
        ListReply::decode(payload)
    }
}

/// Sends a request to one backend and waits for the reply. An idle connection may be dead, so a request
/// that fails on one is sent again on a new connection; requests are idempotent.
pub(crate) fn request<R: Request>(peer: &Peer, frame: &[u8]) -> Result<R::Reply, PeerError> {
    if let Some(connection) = peer.take_idle()
        && let Ok(reply) = ask::<R>(peer, connection, frame)
    {
        return Ok(reply);
    }
    let asked = peer
        .dial()
        .and_then(|connection| ask::<R>(peer, connection, frame));
    asked.inspect_err(PeerError::count)
}

fn ask<R: Request>(
    peer: &Peer,
    mut connection: Connection,
    frame: &[u8],
) -> Result<R::Reply, PeerError> {
    connection.send(frame)?;
    let reply = connection.next(|kind, payload| match kind {
        kind if kind == R::KIND => Ok(Ok(R::decode(payload)?)),
        Kind::Error => Ok(Err(PeerError::reported(Failure::decode(payload)?))),
        other => Err(PeerError::Unexpected(other)),
    })?;
    peer.put_idle(connection);
    reply
}
