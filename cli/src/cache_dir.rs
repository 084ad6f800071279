//! Default directories below the user's cache directory, default sources, and small user files.

use crate::terminal::escaped;
use anyhow::{Context, Result, ensure};
use fnv::FnvHasher;
use index::corpus::{self, Source};
use std::collections::HashSet;
use std::fs::DirBuilder;
use std::hash::Hasher;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// One for each process.
const SPOOLS_MAX: usize = 64;

pub(crate) fn cache_dir() -> Result<PathBuf> {
    Ok(user_dir("XDG_CACHE_HOME", ".cache")
        .context(
            "no cache directory: neither XDG_CACHE_HOME nor HOME is an absolute path; name the \
             directories with --index and --spool",
        )?
        .join("trawl"))
}

/// XDG directory: of `variable`, or `fallback` below HOME. Ignores relative paths, as specified.
pub(crate) fn user_dir(variable: &str, fallback: &str) -> Option<PathBuf> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let absolute = |name| path(name).filter(|path| path.is_absolute());
    absolute(variable).or_else(|| Some(absolute("HOME")?.join(fallback)))
}

pub(crate) fn index_dir<'a>(sources: impl IntoIterator<Item = &'a Path>) -> Result<PathBuf> {
    let parts = sources.into_iter();
    hashed(
        "index-",
        parts.flat_map(|it| [it.as_os_str().as_bytes(), &[0]]),
    )
}

pub(crate) fn mirror_dir(url: &str) -> Result<PathBuf> {
    hashed("mirrors/", [url.as_bytes()])
}

/// Texts that `trawl lsp` shows of an index directory or a URL.
pub(crate) fn editor_dir(corpus: &[u8]) -> Result<PathBuf> {
    hashed("lsp/", [corpus])
}

fn hashed<'a>(prefix: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Result<PathBuf> {
    let mut hasher = FnvHasher::default();
    parts.into_iter().for_each(|part| hasher.write(part));
    Ok(cache_dir()?.join(format!("{prefix}{:016x}", hasher.finish())))
}

/// Private directory below the temporary directory. Its fixed name lets later processes remove the
/// remains of killed ones.
pub(crate) fn private_temporary_dir() -> Result<PathBuf> {
    let temporary = std::env::temp_dir();
    let ours = tempfile::tempfile_in(&temporary)
        .and_then(|file| file.metadata())
        .with_context(|| format!("cannot write to {}", temporary.display()))?
        .uid();
    let private = temporary.join(format!("trawl-{ours}"));
    // Fails if it exists.
    let _ = DirBuilder::new().mode(0o700).create(&private);
    let found = std::fs::symlink_metadata(&private)
        .with_context(|| format!("cannot create the directory {}", private.display()))?;
    ensure!(
        found.is_dir() && found.uid() == ours && found.mode() & 0o077 == 0,
        "{} is not a directory that only you can use; remove it",
        private.display()
    );
    Ok(private)
}

/// Calls `start` with directories below `directory` until one is not locked.
pub(crate) fn with_free_spool<T>(
    directory: &Path,
    kind: &str,
    start: impl Fn(&Path) -> Result<T, frontend::StartError>,
) -> Result<T> {
    let mut last = None;
    for number in 0..SPOOLS_MAX {
        let spool = directory.join(format!("{kind}-{number}"));
        create(&spool)?;
        match start(&spool) {
            Ok(started) => return Ok(started),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("SPOOLS_MAX is not 0").into())
}

pub(crate) fn create(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot create the directory {}", directory.display()))
}

/// Reads a small text file. Errors call it `what`.
pub(crate) fn read_small(path: &Path, what: &str, bytes_max: u64) -> Result<String> {
    let shown = escaped(&*path.to_string_lossy()).into_owned();
    let cannot_read = || format!("cannot read {what} {shown}");
    let bytes = std::fs::metadata(path).with_context(cannot_read)?.len();
    ensure!(
        bytes <= bytes_max,
        "{shown}: at most {bytes_max} bytes are allowed, this has {bytes}"
    );
    std::fs::read_to_string(path).with_context(cannot_read)
}

/// Sources of `trawl serve`: the current directory, and downloaded crates in a Rust project. They
/// identify its index.
pub(crate) fn default_sources() -> Result<Vec<Source>> {
    let mut sources = corpus::packages(&[PathBuf::from(".")], false, false)?.sources;
    if !Path::new("Cargo.toml").exists() {
        return Ok(sources);
    }
    let mut names: HashSet<Vec<u8>> = sources.iter().map(|source| source.name.clone()).collect();
    for registry in registries() {
        // Ignore rules must not hide a dependency.
        let crates = corpus::packages(&[registry], true, true).unwrap_or_default();
        // A crate may come from two registries.
        let mut new = crates.sources;
        new.retain(|source| names.insert(source.name.clone()));
        sources.extend(new);
    }
    Ok(sources)
}

fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(Ok(entries)) = home.map(|home| std::fs::read_dir(home.join("registry/src"))) else {
        return Vec::new();
    };
    let mut registries: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    registries.sort();
    registries
}
