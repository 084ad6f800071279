//! Backend in this process. Exchanges the usual frames, with the usual checks, over socket pairs or
//! on the calling thread.

use anyhow::Result;
use backend::LookUp;
use backend::server::Options;
use frontend::{Backend, Socket};
use schema::message::Search;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

const NAME: &str = "local";

/// Opens an index as a backend of `repositories`, too. Needs a tokio runtime.
pub(crate) fn open(
    directory: &Path,
    repositories: Option<Arc<dyn LookUp>>,
    options: Options,
) -> Result<Arc<backend::Backend>> {
    let live = backend::LiveShards::open(directory)?;
    Ok(backend::Backend::start(live, repositories, options))
}

/// Serves a frontend. Needs a tokio runtime.
pub(crate) fn backend(server: Arc<backend::Backend>) -> Backend {
    let runtime = Handle::current();
    let here = server.clone();
    let dial = move |_| {
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
    };
    let answer = move |search: &Search, stop: &_, send: &mut dyn FnMut(&[u8]) -> bool| {
        here.answer_here(search, stop, send)
    };
    Backend::new(NAME, dial).answering_here(answer)
}
