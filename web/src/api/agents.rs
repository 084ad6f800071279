//! `/mcp`: the tools for agents, over streamable HTTP without sessions.

use crate::http::request_limits::read_body;
use crate::http::server::Client;
use crate::problem::Problem;
use crate::state::App;
use access::Viewer;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use std::sync::Arc;

/// A call has at most eight queries of 4 KiB.
const BODY_BYTES_MAX: usize = 256 << 10;

/// Each request has a server of its own, in the scope of its caller. The router's layers have
/// already checked host and origin.
pub(crate) async fn agents(
    State(app): State<App>,
    viewer: Viewer,
    request: Request,
) -> Result<Response, Problem> {
    let scope = viewer.scope().await?;
    let (parts, body) = request.into_parts();
    let body = read_body(body, BODY_BYTES_MAX, &parts.extensions).await?;
    let client = parts.extensions.get::<Client>().map_or(0, Client::key);
    let server = mcp::Server::new(Arc::clone(&app.coordinator), scope, client);
    let reply = mcp::handle(server, Request::from_parts(parts, body)).await;
    let reply =
        reply.ok_or_else(|| Problem::missing("this trawl is built without tools for agents"))?;
    Ok(reply.map(Body::new))
}
