//! `trawl serve`: indexes directories, and runs a backend and a frontend over them in one process.

use super::frontend::FrontendFlags;
use super::index::{self as index_command, BuildFlags};
use super::listener;
use crate::default_sources::default_sources;
use crate::{cache_dir, in_process, terminal, units};
use anyhow::{Result, bail};
use frontend::Coordinator;
use index::corpus::Packages;
use index::indexing::{self, Changes};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Index directories if needed, and serve a search page for them
///
/// Without SOURCE and --index it searches the current directory, and in a Rust project the sources of
/// the crates that cargo has downloaded. The index is kept in the user's cache directory; only
/// packages that have changed are indexed again. Prints the URL.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl serve                              this directory
  trawl serve ~/src/linux ~/src/git
  trawl serve --each /srv/debian-sources --listen 127.0.0.1:9000
  trawl serve --index I                    an existing index, without updating it
  trawl serve --index I --api-keys keys --require-key
                                           only for people and programs with a key: see `trawl key`")]
pub(crate) struct ServeArguments {
    /// The index directory; with SOURCE it is updated first
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Listen on this address; with port 0 on any free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Answer for the commits of the git repositories below this directory
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// The directory for results [default: in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,
    /// Memory for all running queries; what exceeds it goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "256M")]
    search_memory: u64,
    #[command(flatten)]
    flags: FrontendFlags,
    #[command(flatten)]
    build: BuildFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
}

pub(super) fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    listener::run(arguments.flags.log, serve(arguments))
}

async fn serve(arguments: &ServeArguments) -> Result<ExitCode> {
    // Keys, certificates and address come first, so that a mistake there does not cost the time of an index.
    let limits = arguments.flags.connection_limits()?;
    let listener = listener::bind(&arguments.listen, "--listen").await?;
    let admin = arguments.flags.access.bind_admin(&arguments.listen).await?;
    let options = arguments.flags.web_options(listener.local_addr()?.ip())?;
    let metrics = listener::record_metrics()?;
    let tls = arguments.flags.tls.public()?;
    let repositories = in_process::repositories(arguments.repos.as_deref())?;
    let index = updated_index(arguments)?;
    let shards = index::directory::Index::open(&index)?.shards;
    let text_bytes = shards.iter().map(|shard| shard.live_counts().text_bytes);
    let text_bytes = Some(text_bytes.sum());
    let backend = in_process::backend(&index, repositories)?;
    let start = |spool: &Path| {
        let memory = arguments.search_memory;
        let config = arguments.flags.config(spool, memory, text_bytes);
        Coordinator::start(config, vec![backend.clone()])
    };
    let frontend = match &arguments.spool {
        Some(spool) => {
            cache_dir::create(spool)?;
            start(spool)?
        }
        None => cache_dir::with_free_spool("spool", start)?,
    };
    let hosts = &arguments.flags.hosts;
    arguments
        .flags
        .access
        .serve_admin(admin, hosts, &frontend, &metrics)?;
    let app = web::app(frontend, options, metrics);
    listener::serve(listener, app, limits, tls).await
}

/// Updates the index if necessary, and returns its directory.
fn updated_index(arguments: &ServeArguments) -> Result<PathBuf> {
    let packages = match (&arguments.index, &arguments.sources[..]) {
        (Some(index), []) if arguments.build.is_given() => bail!(
            "flags for building an index need a SOURCE; name one, or leave the flags out to serve {} \
             as it is",
            index.display()
        ),
        (Some(index), []) => return Ok(index.clone()),
        (None, []) => Packages {
            sources: default_sources()?,
            ..Packages::default()
        },
        (_, sources) => arguments.build.packages(sources)?,
    };
    let directory = match &arguments.index {
        Some(index) => index.clone(),
        None => cache_dir::index_dir(packages.sources.iter().map(|source| &*source.directory))?,
    };
    let changes = Changes {
        // An index in the cache belongs to `serve` alone.
        prune: arguments.index.is_none(),
        ..Changes::default()
    };
    let options = arguments.build.options()?;
    // This check needs no lock; another `serve` of the same directories may hold it.
    if indexing::is_current(packages.sources.clone(), &changes, &directory, &options) {
        terminal::report(format_args!(
            "the index in {} is up to date",
            directory.display()
        ));
    } else {
        index_command::update(packages, changes, &directory, &options)?;
    }
    Ok(directory)
}
