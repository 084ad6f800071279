//! `trawl serve`: indexes directories, and runs backend and frontend over them.

mod served_index;
mod watching;

use super::frontend::FrontendFlags;
use super::index::{BuildFlags, GitFlags};
use super::{access, listener};
use crate::exit::Exit;
use crate::{address, cache_dir, in_process, units};
use anyhow::{Context, Result, bail, ensure};
use frontend::{Config, Coordinator};
use index::indexing::{MEMORY_BYTES, MEMORY_BYTES_MIN};
pub(super) use served_index::ServedIndex;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(super) use watching::WatchedIndex;

/// Index directories if needed, and serve a search page for them
///
/// Without SOURCE and --index it searches the current directory, and in a Rust project the sources
/// of the crates that cargo has downloaded. The index is kept in the user's cache directory; only
/// changed packages are indexed again. Prints the URL.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl serve                              this directory
  trawl serve ~/src/linux ~/src/git
  trawl serve --each /srv/debian-sources --listen 127.0.0.1:9000
  trawl serve --watch ~/src/linux          a saved file is found a moment later
  trawl serve --watch --git /srv/git/x.git the default branch, updated by pushes
  trawl serve --index I                    an existing index, without updating it
  trawl serve --index I --api-keys keys --require-key
                                           only for clients with a key: see `trawl key`
  trawl serve --index I --public 'lib*' --auth-url http://127.0.0.1:9000/check
                                           show lib* to all, others if the service allows")]
#[command(group(clap::ArgGroup::new("repositories").args(["git", "git_dir_each"]).multiple(true)))]
pub(crate) struct ServeArguments {
    /// Index directory; with SOURCE it is updated first
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Address to listen on; with port 0, any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address::parse_listen)]
    listen: String,
    /// Watch the SOURCEs and the references of the --git repositories, and index changes while
    /// serving
    #[arg(long)]
    watch: bool,
    /// Compare all files with the index this often, for changes without a file system notification
    /// [default: 100 times the duration of a comparison, from 2 to 60]
    #[arg(long, value_name = "SECS", requires = "watch", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    rescan: Option<u64>,
    /// Serve the commits of the git repositories below DIR
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Directory for results [default: in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,
    /// Memory that this process may use, approximately: a third for searches, the rest for indexing
    /// [default: 768M; 256M for searches if there is nothing to index]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,
    /// The third of --memory, given by itself
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, hide = true)]
    search_memory: Option<u64>,
    #[command(flatten)]
    flags: FrontendFlags,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    git: GitFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
}

pub(super) fn run(arguments: &ServeArguments) -> Result<Exit> {
    listener::run(arguments.flags.log, serve(arguments))
}

async fn serve(arguments: &ServeArguments) -> Result<Exit> {
    // Mistakes in these fail before the long index build.
    let (flags, listen, memory) = (&arguments.flags, &arguments.listen, arguments.memory()?);
    let opened = flags.open("trawl", listen, memory.queries).await?;
    let repositories = in_process::repositories(arguments.repos.as_deref())?;
    let index = ServedIndex::new(
        arguments.index.as_deref(),
        &arguments.sources,
        &arguments.build,
        &arguments.git,
        memory.build,
    )?;
    let directory = index.directory.clone();
    let rescan = arguments.rescan.map(Duration::from_secs);
    let watch = arguments.watch.then_some(rescan);
    let watched = prepare(index, watch, arguments.spool.as_ref())?;
    let freshness = watched.as_ref().map(|it| it.watch.freshness());
    let shards = index::directory::Index::open(&directory)?.shards;
    if let Some(authorization) = &opened.options.authorization {
        access::check_packages(authorization, &shards)?;
    }
    let text_bytes = shards.iter().map(|shard| shard.live_counts().text_bytes);
    let text_bytes = Some(text_bytes.sum());
    let backend_options = backend::server::Options {
        pattern_bytes: memory.patterns,
        ..Default::default()
    };
    let server = in_process::open(&directory, repositories, backend_options)?;
    let backend = in_process::backend(server.clone());
    let start = |spool: &Path| {
        let config = Config {
            freshness: freshness.clone(),
            ..opened.config(spool, text_bytes)
        };
        Coordinator::start(config, vec![backend.clone()])
    };
    let frontend = match &arguments.spool {
        Some(spool) => {
            cache_dir::create(spool)?;
            start(spool)?
        }
        None => cache_dir::with_free_spool(&cache_dir::cache_dir()?, "spool", start)?,
    };
    if let Some(watched) = watched {
        let started = watched.run_in_thread(&frontend, server);
        started.context("cannot start a thread")?;
    }
    opened.serve(&frontend).await
}

impl ServeArguments {
    fn memory(&self) -> Result<ServeMemory> {
        let has_sources = !self.sources.is_empty() || self.git.is_given();
        let builds = has_sources || self.index.is_none();
        ServeMemory::new(self.memory, self.search_memory, builds)
    }
}

/// Updates the index. Returns the watcher of `--watch`, for which `watch` has the time of rescans.
pub(super) fn prepare(
    index: ServedIndex,
    watch: Option<Option<Duration>>,
    spool: Option<&PathBuf>,
) -> Result<Option<WatchedIndex>> {
    let Some(rescan) = watch else {
        return index.prepare().map(|()| None);
    };
    ensure!(
        index.has_sources(),
        "--watch needs a SOURCE or --git to watch; an index alone is served as it is, and opened again when it changes"
    );
    let without = [Some(&index.directory), spool];
    let without = without.into_iter().flatten().cloned().collect();
    // Starts before the first update, so no change is missed.
    let watched = WatchedIndex::start(index, without, rescan)?;
    watched.index.prepare()?;
    Ok(Some(watched))
}

/// Default memory for searches.
const SEARCH_BYTES: u64 = 256 << 20;

/// Part for searches beside a build, as a divisor. The default leaves the build
/// [`MEMORY_BYTES`].
const SEARCH_SHARE: u64 = 3;

/// Part of the searches' memory for compiled patterns, as a divisor.
const PATTERN_SHARE: u64 = 4;

/// Parts of `--memory`.
#[derive(Debug, PartialEq, Eq)]
struct ServeMemory {
    /// `None` if nothing is indexed.
    build: Option<u64>,
    patterns: u64,
    /// Running queries and their answers.
    queries: u64,
}

impl ServeMemory {
    /// Divides `memory`. `search` sets its part for searches.
    fn new(memory: Option<u64>, search: Option<u64>, builds: bool) -> Result<ServeMemory> {
        let (build, share) = match memory {
            _ if !builds => (None, memory.unwrap_or(SEARCH_BYTES)),
            None => (Some(MEMORY_BYTES as u64), SEARCH_BYTES),
            Some(memory) => {
                let share = memory / SEARCH_SHARE;
                (Some(memory - share), share)
            }
        };
        if build.is_some_and(|build| build < MEMORY_BYTES_MIN as u64) {
            let min = units::size(MEMORY_BYTES_MIN as u64 / 2 * SEARCH_SHARE);
            bail!("--memory: indexing takes two thirds of it, so at least {min} are needed");
        }
        let search = search.unwrap_or(share);
        let patterns = search / PATTERN_SHARE;
        Ok(ServeMemory {
            build,
            patterns,
            queries: search - patterns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_divided_among_indexing_and_searches() {
        let divided = |memory: Option<u64>, search: Option<u64>, builds| {
            let bytes = |mib: u64| mib << 20;
            let memory = ServeMemory::new(memory.map(bytes), search.map(bytes), builds).unwrap();
            let mib = |bytes: u64| bytes >> 20;
            (
                memory.build.map(mib),
                mib(memory.patterns),
                mib(memory.queries),
            )
        };
        assert_eq!(divided(None, None, true), (Some(512), 64, 192));
        assert_eq!(divided(Some(768), None, true), (Some(512), 64, 192));
        assert_eq!(divided(None, None, false), (None, 64, 192));
        assert_eq!(divided(Some(768), None, false), (None, 192, 576));
        assert_eq!(divided(None, Some(512), true), (Some(512), 128, 384));
        let small = ServeMemory::new(Some(95 << 20), None, true);
        assert!(small.unwrap_err().to_string().contains("two thirds"));
    }
}
