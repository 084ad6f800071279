//! `trawl serve`: everything in one process, from directories to a page in a browser.

use crate::access::Access;
use crate::index::BuildArguments;
use crate::limits::Limits;
use crate::{local, place, size, terminal};
use anyhow::{Context, Result, bail};
use frontend::Coordinator;
use index::corpus::{self, Source};
use index::indexing::{self, Changes};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Index directories if needed, and serve a search page for them
///
/// Without SOURCE and without --index it searches the directory it was started in and, when that is
/// a Rust project, the sources of the crates that cargo has downloaded. The index is kept in the
/// user's cache directory; packages in which a file has changed are read again.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl serve
  trawl serve ~/src/linux ~/src/git
  trawl serve --each /srv/debian-sources --listen 127.0.0.1:9000
  trawl serve --index I                    an index that is there, as it is")]
pub(crate) struct Arguments {
    /// The index directory; with SOURCE it is brought up to date first
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// A directory for results [default: in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,
    /// Memory for all running queries; what needs more goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "256M")]
    search_memory: u64,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    build: BuildArguments,
    /// Directories of source
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    terminal::start_log();
    tokio::runtime::Runtime::new()?.block_on(serve(arguments))
}

async fn serve(arguments: &Arguments) -> Result<ExitCode> {
    // Before the index is built: an address in use should not cost the time that takes.
    let options = arguments.access.options()?;
    let listener = crate::frontend::listen(&arguments.listen).await?;
    let metrics = crate::frontend::record_metrics()?;
    let index = prepare_index(arguments)?;
    let backend = local::backend(&index)?;
    let start = |spool: &Path| {
        let config = arguments.limits.config(spool, arguments.search_memory);
        Coordinator::start(config, vec![backend.clone()])
    };
    let frontend = match &arguments.spool {
        Some(spool) => {
            std::fs::create_dir_all(spool)
                .with_context(|| format!("{}: cannot be created", spool.display()))?;
            start(spool)?
        }
        None => place::with_free_spool("spool", start)?,
    };
    crate::frontend::answer(listener, web::app(frontend, options, metrics)).await
}

/// The directory of an index that is up to date.
fn prepare_index(arguments: &Arguments) -> Result<PathBuf> {
    let sources = match (&arguments.index, &arguments.sources[..]) {
        (Some(_), []) if arguments.build.is_given() => bail!(
            "flags that say how to build an index, and no SOURCE to build it of: name one, or leave \
             them out to serve the index as it is"
        ),
        (Some(index), []) => return Ok(index.clone()),
        (None, []) => surroundings()?,
        (_, sources) => corpus::sources(sources, arguments.build.each)?,
    };
    let directory = match &arguments.index {
        Some(index) => index.clone(),
        None => place::index_of(sources.iter().map(|source| &*source.directory))?,
    };
    let changes = Changes {
        // Nobody but `serve` puts anything into an index in the cache.
        prune: arguments.index.is_none(),
        ..Changes::default()
    };
    let options = arguments.build.options()?;
    // First without the lock, which another `serve` of the same directories may have.
    if indexing::is_current(sources.clone(), &changes, &directory, &options) {
        eprintln!("the index in {} is up to date", directory.display());
    } else {
        crate::index::update(sources, &changes, &directory, &options)?;
    }
    Ok(directory)
}

/// The working directory, and the crates that cargo has downloaded when it is a Rust project's.
fn surroundings() -> Result<Vec<Source>> {
    let mut sources = corpus::sources(&[PathBuf::from(".")], false)?;
    if !Path::new("Cargo.toml").exists() {
        return Ok(sources);
    }
    let mut known: HashSet<Vec<u8>> = sources.iter().map(|source| source.name.clone()).collect();
    for registry in registries() {
        let crates = corpus::sources(&[registry], true).unwrap_or_default();
        // The same crate from two registries is the same crate.
        sources.extend(
            crates
                .into_iter()
                .filter(|source| known.insert(source.name.clone())),
        );
    }
    Ok(sources)
}

/// Where cargo unpacks crates: a directory for each registry.
fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(home) = home else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(home.join("registry/src")) else {
        return Vec::new();
    };
    let mut registries: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    registries.sort();
    registries
}
