//! A backend in this process. It exchanges the same frames as in a process of its own, over pairs of
//! connected sockets: there is no second code path for local searches.

use anyhow::Result;
use backend::repositories::LookUp;
use frontend::{Backend, Socket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Name of the backend in answers.
const NAME: &str = "local";

/// Opens the index in `directory` and serves it to this process, and `repositories` if there are any. Needs a
/// tokio runtime.
pub(crate) fn backend(directory: &Path, repositories: Option<Arc<dyn LookUp>>) -> Result<Backend> {
    let live = backend::LiveShards::open(directory)?;
    let server = backend::Backend::start(live, repositories, Default::default());
    let runtime = Handle::current();
    Ok(Backend::new(NAME, move || {
        let (ours, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let _guard = runtime.enter();
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        let server = server.clone();
        runtime.spawn(async move {
            if let Err(error) = server.serve(theirs).await {
                tracing::debug!(%error, "in-process connection ended");
            }
        });
        Ok(Socket::Unix(ours))
    }))
}
