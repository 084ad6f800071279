//! HTTP API client of a server, or of a frontend in this process.
//!
//! Both give the same bytes, so commands have one implementation. Errors are RFC 9457 problems.

mod key;

use crate::terminal::{complain, escaped};
use crate::work_tree::WorkTree;
use crate::{address, cache_dir, in_process, units};
use anyhow::{Context, Result, anyhow, ensure};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::response::Parts;
use axum::http::{Request, StatusCode, header};
use frontend::{BadQuery, Coordinator, Scope};
use metrics_exporter_prometheus::PrometheusBuilder;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use std::io::{Cursor, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tls::files::{provider, trusted};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tower_service::Service;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use web::model::ProblemDocument;

/// Responses have no timeout: a search may take long.
const SERVER_CONNECT_MAX: Duration = Duration::from_secs(5);

/// Retries while draining.
const DRAINING_TRIES_MAX: usize = 10;

const DRAINING_PAUSE: Duration = Duration::from_millis(500);

const VARIABLE: &str = "TRAWL_SERVER";

const SERVER_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Connecting takes milliseconds.
const BACKEND_CONNECT_MAX: Duration = Duration::from_secs(1);

/// Pages have some kilobytes, but a match may have a long line.
pub(crate) const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// Size of a problem, and of other bodies in errors.
const PROBLEM_BYTES_MAX: u64 = 256 << 10;
const SHOWN_BYTES_MAX: usize = 400;

/// Server or index to search.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Target {
    /// Search with this server [default: $TRAWL_SERVER; in a git work tree, its index, which is
    /// brought up to date first; else http://127.0.0.1:8080, or if nothing listens there, the index
    /// that `trawl serve` has made of this directory]
    #[arg(long, value_name = "URL", value_parser = address::parse_server)]
    server: Option<String>,
    /// Send the server the key in FILE [default: $TRAWL_KEY, or the key on the line of the server
    /// in trawl/keys in the user's configuration directory]
    #[arg(long, value_name = "FILE", conflicts_with = "index")]
    key_file: Option<PathBuf>,
    /// Search the index in DIR, without a server
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    index: Option<PathBuf>,
    /// Trust the CAs in FILE (PEM) for https [default: $SSL_CERT_FILE, or the system's]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Place {
    Index(PathBuf),
    Server(String),
    /// Its index may be missing or stale.
    Tree(WorkTree),
}

impl Target {
    /// Work tree around the current directory, unless a server or an index is named.
    pub(crate) fn work_tree(&self) -> Option<WorkTree> {
        let is_named = self.index.is_some() || self.server.is_some() || variable().is_some();
        (!is_named).then(WorkTree::of_this_directory).flatten()
    }

    /// Returns the named server or index, or the work tree around the current directory. Outside of
    /// one, returns the local server; if that does not answer, the index of the current directory,
    /// if any, and prints a note.
    pub(crate) fn place(&self) -> Result<Place> {
        let named = self.named()?;
        let default = || self.work_tree().map_or_else(default_place, Place::Tree);
        Ok(named.unwrap_or_else(default))
    }

    /// Server or index that a flag or the variable names.
    pub(crate) fn named(&self) -> Result<Option<Place>> {
        if let Some(index) = &self.index {
            return Ok(Some(Place::Index(index.clone())));
        }
        if let Some(url) = &self.server {
            return Ok(Some(Place::Server(url.clone())));
        }
        let Some(text) = variable() else {
            return Ok(None);
        };
        let url = address::parse_server(&text).map_err(anyhow::Error::msg);
        let url = url.with_context(|| format!("{VARIABLE}={}", escaped(&text)))?;
        Ok(Some(Place::Server(url)))
    }
}

fn variable() -> Option<String> {
    let text = std::env::var(VARIABLE).ok();
    text.filter(|text| !text.is_empty())
}

fn default_place() -> Place {
    if TcpStream::connect_timeout(&SERVER_DEFAULT, SERVER_CONNECT_MAX).is_err()
        && let Some((index, age)) = index_of_this_directory()
    {
        complain(format_args!(
            "no server at http://{SERVER_DEFAULT}; searching the index of this directory, which was \
             updated {age} ago: `trawl serve` updates it"
        ));
        return Place::Index(index);
    }
    Place::Server(format!("http://{SERVER_DEFAULT}"))
}

/// Index that `trawl serve` keeps of the current directory, and its age.
fn index_of_this_directory() -> Option<(PathBuf, String)> {
    let sources = cache_dir::default_sources().ok()?;
    let directories = sources.iter().map(|source| &*source.directory);
    let index = cache_dir::index_dir(directories).ok()?;
    let built = index.join("manifest").metadata().ok()?.modified().ok()?;
    let age = SystemTime::now().duration_since(built).unwrap_or_default();
    Some((index, units::age(age.as_secs())))
}

pub(crate) enum Client {
    Server {
        agent: ureq::Agent,
        url: String,
        key: Option<String>,
    },
    /// Calls the routes without a socket.
    InProcess {
        runtime: Handle,
        router: Router,
        cancelled: watch::Sender<bool>,
    },
}

impl Client {
    /// Client with the key of `target`. Connects on the first request.
    pub(crate) fn server(url: &str, target: &Target) -> Result<Client> {
        let url = url.trim_end_matches('/');
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(SERVER_CONNECT_MAX));
        if url.starts_with("https:") {
            config = config.tls_config(https_config(target.ca.as_deref(), "--ca")?);
        }
        Ok(Client::Server {
            agent: config.build().into(),
            url: url.to_owned(),
            key: key::find(target.key_file.as_deref(), url)?,
        })
    }

    /// Starts a frontend over an index.
    pub(crate) fn in_process(directory: &Path) -> Result<Client> {
        let runtime = in_process::runtime()?;
        let _guard = runtime.enter();
        let frontend = in_process::frontend(directory, true)?;
        let started = Instant::now();
        let backends = || frontend.backends(&Scope::everything());
        let connected = || backends().iter().all(|backend| backend.connected);
        // `trawl status` reports unconnected backends.
        while !connected() && started.elapsed() < BACKEND_CONNECT_MAX {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Client::of_frontend(frontend))
    }

    /// Client of a frontend. Needs a tokio runtime.
    pub(crate) fn of_frontend(frontend: Arc<Coordinator>) -> Client {
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let router = web::app(frontend, web::Options::default(), metrics);
        Client::of_router(Handle::current(), router)
    }

    fn of_router(runtime: Handle, router: Router) -> Client {
        Client::InProcess {
            runtime,
            router,
            cancelled: watch::Sender::new(false),
        }
    }

    pub(crate) fn separate(&self) -> Client {
        match self {
            Client::Server { agent, url, key } => Client::Server {
                agent: agent.config().clone().into(),
                url: url.clone(),
                key: key.clone(),
            },
            Client::InProcess {
                runtime, router, ..
            } => Client::of_router(runtime.clone(), router.clone()),
        }
    }

    /// Ends running calls; later ones fail.
    pub(crate) fn cancel(&self) {
        match self {
            Client::Server { agent, .. } => agent.clone().shutdown(),
            Client::InProcess { cancelled, .. } => {
                cancelled.send_replace(true);
            }
        }
    }

    /// Returns the body of an answer, also of a 503 without any backend. Other responses are
    /// errors: a [`BadQuery`] if the query is wrong. Retries while the server drains, as another
    /// one takes over.
    pub(crate) fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>> {
        let uri = path_with(path, parameters);
        let mut answer = self.try_get(path, &uri);
        let mut has_drained = false;
        for _ in 0..DRAINING_TRIES_MAX {
            has_drained |= matches!(answer, Ok(Err(_)));
            // The server may restart soon.
            if !has_drained || matches!(answer, Ok(Ok(_))) {
                break;
            }
            std::thread::sleep(DRAINING_PAUSE);
            answer = self.try_get(path, &uri);
        }
        answer.flatten()
    }

    /// Reads the body of [`get`](Self::get) within a bound.
    pub(crate) fn get_whole(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        let (mut body, most) = (Vec::new(), RESPONSE_BYTES_MAX as u64);
        let answer = self.get(path, parameters)?;
        answer.take(most + 1).read_to_end(&mut body)?;
        ensure!(
            body.len() <= RESPONSE_BYTES_MAX,
            "{path}: the answer has more than {}; is this a Trawl server?",
            units::size(most)
        );
        Ok(body)
    }

    /// The inner error is of a server that drains.
    fn try_get(&self, path: &str, uri: &str) -> Result<Result<Box<dyn Read>>> {
        let (head, body): (Parts, Box<dyn Read>) = match self {
            Client::Server { agent, url, key } => {
                let mut request = agent.get(format!("{url}{uri}"));
                if let Some(key) = key {
                    request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
                }
                let response = request.call().map_err(plain);
                let response = response.with_context(|| {
                    format!(
                        "cannot reach the server at {url}; start one with `trawl serve`, name another \
                         with --server URL, call this in a git work tree, or search an index with \
                         --index DIR"
                    )
                })?;
                let (head, body) = response.into_parts();
                (head, Box::new(body.into_reader()))
            }
            Client::InProcess {
                runtime,
                router,
                cancelled,
            } => {
                let request = Request::get(uri).header(header::HOST, "localhost");
                let request = request.body(Body::empty())?;
                let mut cancelled = cancelled.subscribe();
                let answer = async {
                    let Ok(response) = router.clone().call(request).await;
                    let (head, body) = response.into_parts();
                    (head, to_bytes(body, RESPONSE_BYTES_MAX).await)
                };
                let answer = runtime.block_on(async {
                    tokio::select! {
                        answer = answer => Some(answer),
                        _ = cancelled.wait_for(|it| *it) => None,
                    }
                });
                let (head, body) = answer.context("the request was cancelled")?;
                let body = body.with_context(|| format!("{path}: the response broke off"))?;
                (head, Box::new(Cursor::new(body)))
            }
        };
        let is_unavailable = head.status == StatusCode::SERVICE_UNAVAILABLE;
        let kind = head.headers.get(header::CONTENT_TYPE);
        // Exports name their search; other errors are problems or foreign.
        let is_answer = kind.is_some_and(|kind| kind == "application/json")
            || head.headers.contains_key("x-trawl-search");
        if head.status.is_success() || (is_unavailable && is_answer) {
            return Ok(Ok(body));
        }
        let mut text = Vec::new();
        body.take(PROBLEM_BYTES_MAX).read_to_end(&mut text)?;
        let problem = serde_json::from_slice::<ProblemDocument>(&text);
        let is_draining = (problem.as_ref()).is_ok_and(|it| it.r#type == "/problems/draining");
        let error = error(head.status.as_u16(), problem.ok(), &text);
        if is_unavailable && is_draining {
            return Ok(Err(error));
        }
        Err(error)
    }
}

/// Unwraps system and TLS reasons.
fn plain(error: ureq::Error) -> anyhow::Error {
    match error {
        ureq::Error::Io(reason) => match tls::faults::of_server(&reason) {
            Some(words) => anyhow!(words),
            None => reason.into(),
        },
        other => other.into(),
    }
}

/// Trusts the CAs of `flag`, else those of the system (`SSL_CERT_FILE` names another file).
pub(crate) fn https_config(ca: Option<&Path>, flag: &str) -> Result<TlsConfig> {
    let roots = trusted(ca, flag)?;
    let roots = (roots.iter()).map(|root| Certificate::from_der(root).to_owned());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(provider())
        .build())
}

fn error(status: u16, problem: Option<ProblemDocument>, body: &[u8]) -> anyhow::Error {
    match problem {
        Some(problem) if status == 400 => {
            let mut bad = BadQuery::new(problem.detail);
            (bad.at, bad.filter, bad.hint) = (problem.at, problem.filter, problem.hint);
            bad.into()
        }
        Some(ProblemDocument { detail, .. }) if status == 401 => anyhow!(
            "{} (HTTP 401); name a file with a key of this server with --key-file",
            escaped(&detail)
        ),
        Some(ProblemDocument { detail, .. }) => anyhow!("{} (HTTP {status})", escaped(&detail)),
        None => {
            let body = &body[..body.len().min(SHOWN_BYTES_MAX)];
            anyhow!("unexpected response: HTTP {status}: {}", escaped(body))
        }
    }
}

fn path_with(path: &str, parameters: &[(&str, &[u8])]) -> String {
    let mut out = path.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        let separator = if index == 0 { '?' } else { '&' };
        let value = percent_encode(value, NON_ALPHANUMERIC);
        out.push_str(&format!("{separator}{name}={value}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_cancelled_call_ends() {
        let runtime = in_process::runtime().unwrap();
        let (begun, has_begun) = mpsc::channel();
        let handler = async move || {
            begun.send(()).unwrap();
            std::future::pending::<()>().await;
        };
        let router = Router::new().route("/", get(handler));
        let client = Client::of_router(runtime.handle().clone(), router).separate();
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(|| client.get("/", &[]).map(|_| ()));
            has_begun.recv().unwrap();
            client.cancel();
            answer.join().unwrap()
        });
        assert_eq!(answer.unwrap_err().to_string(), "the request was cancelled");
    }
}
