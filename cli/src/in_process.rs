//! Frontend and backend in this process, for commands without a server.

mod backend;

pub(crate) use backend::backend;

use crate::cache_dir;
use ::backend::GitRepositories;
use ::backend::repositories::LookUp;
use ::backend::server::Options;
use anyhow::{Context, Result};
use frontend::{Config, Coordinator};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Prefix of its spool directories.
const SPOOL: &str = "search";

/// Memory for results before they spill to disk. A command runs one search.
const RESULT_BYTES: u64 = 256 << 20;

/// Memory for pointers before they spill to disk.
const POINTER_BYTES: u64 = 64 << 20;

/// Starts a frontend over the index in `directory`. Its temporary spool is in the user's cache
/// directory, else in the system's temporary directory; without either, results must fit in memory.
/// Unless `ordered`, matches can only be streamed. Needs a tokio runtime.
pub(crate) fn frontend(directory: &Path, ordered: bool) -> Result<Arc<Coordinator>> {
    let backend = backend(directory, None, Options::default())?;
    let start = |spool: &Path| {
        let config = Config {
            durable: false,
            ordered,
            result_memory_bytes: RESULT_BYTES,
            query_memory_bytes: POINTER_BYTES,
            ..Config::new(spool)
        };
        Coordinator::start(config, vec![backend.clone()])
    };
    cache_dir::with_free_spool(SPOOL, start)
        .or_else(|_| cache_dir::with_temporary_spool(SPOOL, start))
        .or_else(|_| Ok(start(Path::new(""))?))
}

/// Opens the directory of git repositories, if given.
pub(crate) fn repositories(repos: Option<&Path>) -> Result<Option<Arc<dyn LookUp>>> {
    let Some(directory) = repos else {
        return Ok(None);
    };
    let repositories = GitRepositories::open(directory)
        .with_context(|| format!("--repos {} cannot be used", directory.display()))?;
    Ok(Some(Arc::new(repositories)))
}

/// A runtime that only forwards frames: searches have their own threads. Never dropped, as that
/// would wait for backend connections, which end with the process.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    Ok(Box::leak(Box::new(runtime)))
}
