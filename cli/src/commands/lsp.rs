//! `trawl lsp`: a server for editors, on standard input and output.

use super::index::{BuildFlags, GitFlags};
use super::listener::{self, LogFlags};
use super::serve::ServedIndex;
use super::stdio;
use crate::cache_dir;
use crate::client::{Client, Place, Target};
use crate::exit::Exit;
use crate::terminal::sentence;
use crate::work_tree::WorkTree;
use anyhow::{Context, Result, bail, ensure};
use index::corpus::{self, Source};
use index::directory::{read_manifest, read_recorded};
use lsp::{Corpus, CorpusError, Ended, Found, Workspace};
use schema::message::{RecordedSource, SourceKind};
use std::env;
use std::ffi::OsStr;
use std::io::{BufReader, Read, stdin, stdout};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use web::model::{Match, Page, Results, exact};

/// Longest wait for an index that is being built.
const READY_MAX: Duration = Duration::from_secs(10);

/// Text that is sent. Longer ones are data.
const TEXT_BYTES_MAX: usize = 32 << 20;

/// Bytes read at once: the most of a backend.
const PART_BYTES: usize = 512 << 10;

const UNEXPECTED: &str = "unexpected answer; is this a Trawl server of the same version?";

/// Serve an editor over the Language Server Protocol
///
/// An editor starts this command itself. Like `trawl mcp`, it indexes the git work tree around the
/// current directory, or without one the directory, and in a Rust project the crates that cargo has
/// downloaded; answers are of the files as they are then. It knows names, not types. Log and
/// progress are on standard error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl lsp                                this work tree
  trawl lsp --index I                      an existing index
  trawl lsp --server https://code.example.org
                                           packages without files here open as read-only copies
  nvim: vim.lsp.start({name = 'trawl', cmd = {'trawl', 'lsp'}, root_dir = vim.fn.getcwd()})")]
pub(crate) struct LspArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    log: LogFlags,
}

pub(super) fn run(arguments: &LspArguments) -> Result<Exit> {
    listener::run(arguments.log, serve(&arguments.target))
}

async fn serve(target: &Target) -> Result<Exit> {
    let (workspace, prepare) = open(target)?;
    let (ready, client) = watch::channel(None);
    let prepare = move || {
        ready.send_replace(Some(Arc::new(prepare()?)));
        Ok(())
    };
    let runtime = Handle::current();
    let corpus = Arc::new(Searched { client, runtime });
    let serve = move || lsp::serve(corpus, workspace, BufReader::new(stdin()), stdout());
    let served = async {
        let ended = tokio::task::spawn_blocking(serve).await?;
        let ended = ended.context("the connection to the editor failed")?;
        Ok(if ended == Ended::Regular {
            Exit::Success
        } else {
            Exit::Error
        })
    };
    stdio::run(prepare, served).await
}

/// Opens the index or connects.
type Prepare = Box<dyn FnOnce() -> Result<Client> + Send>;

fn open(target: &Target) -> Result<(Workspace, Prepare)> {
    Ok(match target.named()? {
        Some(Place::Server(url)) => {
            let client = Client::server(&url, target)?;
            let workspace = workspace(url.as_bytes(), own_tree(None)?);
            (workspace, Box::new(move || Ok(client)))
        }
        Some(Place::Index(directory)) => {
            let name = directory.canonicalize();
            let name = name.with_context(|| directory.display().to_string())?;
            let workspace = workspace(name.as_os_str().as_bytes(), own_tree(Some(&name))?);
            (workspace, Box::new(move || Client::in_process(&name)))
        }
        Some(Place::Tree(_)) | None => {
            let index = index_of_this_tree()?;
            let name = index.directory.as_os_str().as_bytes();
            let workspace = workspace(name, index.directories()?);
            let prepare = move || Ok(Client::of_frontend(stdio::prepare(index, true)?));
            (workspace, Box::new(prepare))
        }
    })
}

/// Index of the work tree, in which the process is from now on, or of the current directory.
fn index_of_this_tree() -> Result<ServedIndex> {
    if let Some(tree) = WorkTree::of_this_directory() {
        env::set_current_dir(&tree.root)?;
    }
    ensure!(
        !local::is_too_wide(&env::current_dir()?),
        "the current directory is the home directory or above; start the editor in a project"
    );
    let (build, git) = (BuildFlags::default(), GitFlags::default());
    ServedIndex::new(None, &[], &build, &git, None)
}

/// Packages that this work tree may be in an index: itself, and those recorded below it.
fn own_tree(index: Option<&Path>) -> Result<Vec<(Vec<u8>, PathBuf)>> {
    let here = env::current_dir()?.canonicalize()?;
    let root = WorkTree::of_this_directory().map_or(here, |tree| tree.root);
    let own = corpus::packages(slice::from_ref(&root), false, false);
    // An empty directory has none.
    let mut sources = own.unwrap_or_default().sources;
    for recorded in index.map_or(Ok(Vec::new()), recorded)? {
        let location = PathBuf::from(OsStr::from_bytes(&recorded.location));
        let each = recorded.kind == SourceKind::Directories;
        let is_below = location.starts_with(&root) && location.is_dir();
        if is_below && (each || recorded.kind == SourceKind::Directory) {
            let below = corpus::packages(&[location], each, true);
            sources.extend(below.unwrap_or_default().sources);
        }
    }
    let directory = |source: Source| (source.name, source.directory);
    Ok(sources.into_iter().map(directory).collect())
}

fn recorded(index: &Path) -> Result<Vec<RecordedSource>> {
    let manifest = read_manifest(index)?;
    let recorded = manifest.recorded.map(|named| read_recorded(index, &named));
    Ok(recorded.transpose()?.unwrap_or_default().sources)
}

fn workspace(corpus: &[u8], packages: Vec<(Vec<u8>, PathBuf)>) -> Workspace {
    Workspace {
        packages,
        cache: cache(corpus).ok(),
    }
}

fn cache(corpus: &[u8]) -> Result<PathBuf> {
    let directory = cache_dir::editor_dir(corpus)?;
    cache_dir::create(&directory)?;
    Ok(directory.canonicalize()?)
}

/// Server or frontend, once its index is ready.
struct Searched {
    client: watch::Receiver<Option<Arc<Client>>>,
    runtime: Handle,
}

impl Searched {
    fn client(&self) -> Result<Arc<Client>> {
        let mut client = self.client.clone();
        let ready = async {
            let ready = client.wait_for(Option::is_some);
            let ready = tokio::time::timeout(READY_MAX, ready).await.ok()?;
            ready.ok()?.clone()
        };
        let ready = self.runtime.block_on(ready);
        ready.context("the index is being built; try again soon")
    }

    fn matches(&self, query: &str, matches_max: usize) -> Result<Vec<Found>> {
        let count = matches_max.to_string();
        let parameters: [(&str, &[u8]); 6] = [
            ("q", query.as_bytes()),
            ("per_page", count.as_bytes()),
            ("limit", count.as_bytes()),
            ("total", b"estimate"),
            ("context", b"0"),
            ("wait", b"fresh"),
        ];
        let client = self.client()?;
        let page = client.get_whole("/api/v2/search", &parameters)?;
        let page: Page<'_> = serde_json::from_slice(&page).context(UNEXPECTED)?;
        match page.results {
            Results::Matches(matches) => matches.into_iter().map(found).collect(),
            Results::Groups(_) => bail!(UNEXPECTED),
        }
    }

    /// Reads part after part. `None` if the corpus has no such text, or a longer one.
    fn whole(&self, package: &[u8], path: &[u8]) -> Result<Option<Vec<u8>>> {
        let (client, count) = (self.client()?, PART_BYTES.to_string());
        let mut text = Vec::new();
        while text.len() <= TEXT_BYTES_MAX {
            let offset = text.len().to_string();
            let parameters: [(&str, &[u8]); 4] = [
                ("package", package),
                ("path", path),
                ("offset", offset.as_bytes()),
                ("count", count.as_bytes()),
            ];
            let before = text.len();
            let part = client.get("/api/v2/file", &parameters)?;
            part.take(PART_BYTES as u64).read_to_end(&mut text)?;
            if text.len() == before {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

impl Corpus for Searched {
    fn search(&self, query: &str, matches_max: usize) -> Result<Vec<Found>, CorpusError> {
        self.matches(query, matches_max).map_err(failed)
    }

    fn text(&self, package: &[u8], path: &[u8]) -> Result<Option<Vec<u8>>, CorpusError> {
        self.whole(package, path).map_err(failed)
    }
}

fn failed(error: anyhow::Error) -> CorpusError {
    CorpusError(sentence(&error))
}

fn found(it: Match<'_>) -> Result<Found> {
    Ok(Found {
        package: exact(it.package, it.package_base64.as_deref())?,
        path: exact(it.path, it.path_base64.as_deref())?,
        hash: it.hash,
        line: it.line,
        text: exact(it.text, it.text_base64.as_deref())?,
        start: it.window.map_or(0, |window| window.start as usize),
        ranges: it.ranges,
    })
}
