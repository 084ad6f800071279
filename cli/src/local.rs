//! A backend in this process, spoken to over the frames that others are spoken to over.

use anyhow::Result;
use frontend::{Backend, Socket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// What the backend in this process is called in answers.
const NAME: &str = "local";

/// Opens the index in `directory` and serves it to this process. Needs a tokio runtime.
pub(crate) fn backend(directory: &Path) -> Result<Backend> {
    let live = backend::LiveShards::open(directory)?;
    Ok(in_process(backend::Backend::start(
        live,
        backend::server::Options::default(),
    )))
}

/// `server` as a frontend sees it: each connection is a pair of connected sockets.
fn in_process(server: Arc<backend::Backend>) -> Backend {
    let runtime = tokio::runtime::Handle::current();
    Backend::new(NAME, move || {
        let (ours, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let _guard = runtime.enter();
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        let server = server.clone();
        runtime.spawn(async move {
            if let Err(error) = server.serve(theirs).await {
                tracing::debug!(%error, "an in-process connection ended");
            }
        });
        Ok(Socket::Unix(ours))
    })
}
