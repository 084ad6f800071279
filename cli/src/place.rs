//! Where things are kept when nobody says: below the user's cache directory.

use anyhow::{Context, Result};
use fnv::FnvHasher;
use std::hash::Hasher;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Spool directories that may be in use at once: one a running process.
const SPOOLS_MAX: usize = 64;

/// `trawl` below the user's cache directory.
fn cache() -> Result<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    Ok(cache
        .context("neither XDG_CACHE_HOME nor HOME is set: say where with a flag")?
        .join("trawl"))
}

/// The index of these sources.
pub(crate) fn index_of<'a>(sources: impl IntoIterator<Item = &'a Path>) -> Result<PathBuf> {
    let mut hasher = FnvHasher::default();
    for source in sources {
        hasher.write(source.as_os_str().as_bytes());
        hasher.write(&[0]);
    }
    Ok(cache()?.join(format!("index-{:016x}", hasher.finish())))
}

/// Starts a frontend on the first spool directory of this kind that no other process has.
pub(crate) fn with_free_spool<T>(
    kind: &str,
    start: impl Fn(&Path) -> Result<T, ::frontend::StartError>,
) -> Result<T> {
    let cache = cache()?;
    let mut last = None;
    for number in 0..SPOOLS_MAX {
        let spool = cache.join(format!("{kind}-{number}"));
        std::fs::create_dir_all(&spool)
            .with_context(|| format!("{}: cannot be created", spool.display()))?;
        match start(&spool) {
            Ok(started) => return Ok(started),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("at least one was tried").into())
}
