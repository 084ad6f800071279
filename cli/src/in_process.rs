//! A frontend and a backend in this process, for commands that need no server.

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

/// The kind of its spool directories.
const SPOOL: &str = "search";

/// Memory for what was found before it spills to disk. A command runs one search.
const RESULT_BYTES: u64 = 256 << 20;

/// Memory for pointers before they spill to disk.
const POINTER_BYTES: u64 = 64 << 20;

/// Starts a frontend over the index in `directory`, whose spool is not kept. The spool is in the user's
/// cache directory; or if that cannot be written, in the system's temporary directory; or else there is
/// none, and a result must fit in memory. If results are not `ordered`, their matches can only be followed as
/// they are found. Needs a tokio runtime.
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

/// Opens the directory of git repositories that a flag names, if it is given.
pub(crate) fn repositories(repos: Option<&Path>) -> Result<Option<Arc<dyn LookUp>>> {
    let Some(directory) = repos else {
        return Ok(None);
    };
    let repositories = GitRepositories::open(directory)
        .with_context(|| format!("--repos {} cannot be used", directory.display()))?;
    Ok(Some(Arc::new(repositories)))
}

/// A runtime that only forwards frames: searching has threads of its own. It is never dropped, because
/// that would wait for the connections to the backend, which end with the process.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    Ok(Box::leak(Box::new(runtime)))
}
