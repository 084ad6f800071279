//! The interface of a build without tools.

use crate::reply::Reply;
use bytes::Bytes;
use frontend::{Coordinator, Scope};
use http::Request;
use std::io::{Error, Result};
use std::sync::Arc;
use tokio::sync::watch;

/// Server of one client.
#[derive(Clone, Copy)]
pub struct Server;

impl Server {
    /// Serves nothing.
    pub fn new(_coordinator: Arc<Coordinator>, _scope: Scope, _client: u64) -> Server {
        Server
    }

    /// Serves nothing.
    pub fn begun(_: watch::Receiver<Option<Arc<Coordinator>>>, _scope: Scope) -> Server {
        Server
    }
}

/// Always fails.
pub async fn serve_stdio(_server: Server) -> Result<()> {
    let message = "this trawl is built without tools for agents: build it with `--features full`";
    Err(Error::other(message))
}

/// Returns `None`.
pub async fn handle(_server: Server, _request: Request<Bytes>) -> Option<Reply> {
    None
}
