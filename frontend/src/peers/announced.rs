//! One-time query of a backend's shards, for commands without searches.

use super::backend::Backend;
use super::connection::{Connection, PeerError, hello};
use results::ShardId;
use schema::frame::Kind;
use schema::message::Failure;
use std::time::Duration;

/// Shards that a backend announces. No step may take longer than `step_max`. Blocks.
///
/// # Errors
/// The reason in words.
pub fn announced_shards(backend: &Backend, step_max: Duration) -> Result<Vec<ShardId>, String> {
    ask(backend, step_max).map_err(|error| error.to_string())
}

fn ask(backend: &Backend, step_max: Duration) -> Result<Vec<ShardId>, PeerError> {
    let socket = backend.connect(step_max).map_err(PeerError::unreachable)?;
    let mut connection = Connection::new(socket, step_max)?;
    loop {
        if let Some(frame) = connection.decoder.decode()? {
            return match frame.kind {
                Kind::Hello => {
                    let shards = hello(frame.payload)?.shards;
                    Ok(shards.iter().map(|shard| shard.id).collect())
                }
                Kind::Error => Err(PeerError::reported(Failure::decode(frame.payload)?)),
                kind => Err(PeerError::Unexpected(kind)),
            };
        }
        connection.fill()?;
    }
}
