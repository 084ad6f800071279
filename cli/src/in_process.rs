//! Frontend and backend in this process.

mod backend;

pub(crate) use backend::{backend, open};

use crate::cache_dir::{cache_dir, private_temporary_dir, with_free_spool};
use ::backend::LookUp;
use ::backend::server::Options;
use anyhow::{Context, Result};
use frontend::{Config, Coordinator, CorpusWatch};
use git::Repositories;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// A command runs one search.
const RESULT_BYTES: u64 = 256 << 20;

const POINTER_BYTES: u64 = 64 << 20;

/// The temporary spool is in the cache or temporary directory; without either, results must fit in
/// memory. Unless `ordered`, matches can only be streamed. Needs a tokio runtime.
pub(crate) fn frontend(directory: &Path, ordered: bool) -> Result<Arc<Coordinator>> {
    let server = open(directory, None, Options::default())?;
    watching_frontend(server, ordered, None)
}

/// [`frontend`] that knows the changes of its corpus.
pub(crate) fn watching_frontend(
    server: Arc<::backend::Backend>,
    ordered: bool,
    freshness: Option<Arc<dyn CorpusWatch>>,
) -> Result<Arc<Coordinator>> {
    let backend = backend(server);
    let start = |spool: &Path| {
        let config = Config {
            durable: false,
            ordered,
            result_memory_bytes: RESULT_BYTES,
            query_memory_bytes: POINTER_BYTES,
            freshness: freshness.clone(),
            ..Config::new(spool)
        };
        Coordinator::start(config, vec![backend.clone()])
    };
    let start_in = |below: Result<PathBuf>| with_free_spool(&below?, "search", start);
    start_in(cache_dir())
        .or_else(|_| start_in(private_temporary_dir()))
        .or_else(|_| Ok(start(Path::new(""))?))
}

pub(crate) fn repositories(repos: Option<&Path>) -> Result<Option<Arc<dyn LookUp>>> {
    let Some(directory) = repos else {
        return Ok(None);
    };
    let repositories = Repositories::new(directory)
        .with_context(|| format!("--repos {} cannot be used", directory.display()))?;
    Ok(Some(Arc::new(repositories)))
}

/// Runtime that forwards frames. Dropping it would wait for backend connections, so it leaks.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build()?;
    Ok(Box::leak(Box::new(runtime)))
}
