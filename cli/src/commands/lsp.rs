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
use lsp::{Corpus, CorpusError, Ended, Found, Named, Workspace};
use std::env;
use std::io::{BufReader, Read, stdin, stdout};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use web::model::{Malformed, Page, Results, SymbolPlaces, exact};

/// Longest wait for an index that is being built.
const READY_MAX: Duration = Duration::from_secs(10);

/// Text that is sent. Longer ones are data.
const TEXT_BYTES_MAX: usize = 32 << 20;

/// Bytes read at once: the most of a backend.
const PART_BYTES: usize = 512 << 10;

const UNEXPECTED: &str = "unexpected answer; is this a Trawl server of the same version?";

macro_rules! found {
    ($it:expr) => {{
        let it = $it;
        Ok::<_, Malformed>(Found {
            place: lsp::Place {
                package: exact(it.package, it.package_base64.as_deref())?,
                path: exact(it.path, it.path_base64.as_deref())?,
            },
            hash: it.hash,
            line: it.line,
            text: exact(it.text, it.text_base64.as_deref())?,
            start: it.window.map_or(0, |window| window.start as usize),
            ranges: it.ranges,
        })
    }};
}

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
    let idle = Arc::default();
    let corpus = move || -> Arc<dyn Corpus> {
        Arc::new(Searched {
            ready: client.clone(),
            client: OnceLock::new(),
            idle: Arc::clone(&idle),
            cancelled: watch::Sender::new(false),
            runtime: runtime.clone(),
        })
    };
    let serve = move || lsp::serve(corpus, workspace, BufReader::new(stdin()), stdout());
    let served = async {
        let ended = tokio::task::spawn_blocking(serve).await?;
        let ended = ended.context("the connection to the editor failed")?;
        Ok(match ended {
            Ended::Regular => Exit::Success,
            // By the protocol.
            Ended::Abrupt => Exit::NothingFound,
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
            let workspace = workspace(url.as_bytes(), Vec::new());
            (workspace, Box::new(move || Ok(client)))
        }
        Some(Place::Index(directory)) => {
            let name = directory.canonicalize();
            let name = name.with_context(|| directory.display().to_string())?;
            let workspace = workspace(name.as_os_str().as_bytes(), Vec::new());
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

/// Server or frontend of one request, once its index is ready.
struct Searched {
    ready: watch::Receiver<Option<Arc<Client>>>,
    client: OnceLock<Client>,
    /// With open connections.
    idle: Arc<Mutex<Vec<Client>>>,
    cancelled: watch::Sender<bool>,
    runtime: Handle,
}

impl Searched {
    fn client(&self) -> Result<&Client> {
        if self.client.get().is_none() {
            let (mut ready, mut cancelled) = (self.ready.clone(), self.cancelled.subscribe());
            let ready = self.runtime.block_on(async {
                tokio::select! {
                    ready = ready.wait_for(Option::is_some) => ready.ok()?.clone(),
                    _ = cancelled.wait_for(|it| *it) => None,
                    () = tokio::time::sleep(READY_MAX) => None,
                }
            });
            let ready = ready.context("the index is being built; try again soon")?;
            let idle = || {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .pop()
            };
            self.client
                .get_or_init(|| idle().unwrap_or_else(|| ready.separate()));
        }
        ensure!(!*self.cancelled.borrow(), "the request was cancelled");
        self.client.get().context("it was set above")
    }

    fn lines(&self, it: &Named<'_>, path: Option<&[u8]>, lines_max: usize) -> Result<Vec<Found>> {
        let limit = lines_max.to_string();
        let mut parameters: Vec<(&str, &[u8])> = vec![
            ("name", it.name.as_bytes()),
            ("limit", limit.as_bytes()),
            ("wait", b"fresh"),
        ];
        parameters.extend(it.from.map(|place| ("package", &place.package[..])));
        parameters.extend(path.map(|path| ("path", path)));
        parameters.extend((it.definitions && it.uses).then_some(("definitions", &b"true"[..])));
        let endpoint = if it.uses {
            "/api/v2/references"
        } else {
            "/api/v2/definitions"
        };
        let found = self.client()?.get_whole(endpoint, &parameters)?;
        let found: SymbolPlaces = serde_json::from_slice(&found).context(UNEXPECTED)?;
        let places = found.places.into_iter().map(|it| found!(it));
        Ok(places.collect::<Result<_, _>>()?)
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
            Results::Matches(matches) => {
                let found = matches.into_iter().map(|it| found!(it));
                Ok(found.collect::<Result<_, _>>()?)
            }
            Results::Groups(_) => bail!(UNEXPECTED),
        }
    }

    /// Reads part after part. `None` if it is longer than the limit.
    fn whole(&self, place: &lsp::Place) -> Result<Option<Vec<u8>>> {
        let (client, count) = (self.client()?, PART_BYTES.to_string());
        let mut text = Vec::new();
        while text.len() <= TEXT_BYTES_MAX {
            let offset = text.len().to_string();
            let parameters: [(&str, &[u8]); 4] = [
                ("package", &place.package),
                ("path", &place.path),
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

    fn named(&self, it: &Named<'_>, lines_max: usize) -> Result<Vec<Found>, CorpusError> {
        let path = it.from.map(|place| &place.path[..]);
        let found = self.lines(it, path, lines_max);
        // New files have only a package.
        let of_package = |error| match path {
            Some(_) => self.lines(it, None, lines_max).map_err(|_| error),
            None => Err(error),
        };
        found.or_else(of_package).map_err(failed)
    }

    fn text(&self, place: &lsp::Place) -> Result<Option<Vec<u8>>, CorpusError> {
        self.whole(place).map_err(failed)
    }

    fn cancel(&self) {
        self.cancelled.send_replace(true);
        if let Some(client) = self.client.get() {
            client.cancel();
        }
    }
}

impl Drop for Searched {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|_| !*self.cancelled.borrow()) {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(client);
        }
    }
}

fn failed(error: anyhow::Error) -> CorpusError {
    CorpusError(sentence(&error))
}
