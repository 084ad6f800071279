//! `trawl frontend`: searches backends and answers over HTTP.

use super::access::AccessFlags;
use super::authorization::AuthorizationFlags;
use super::drain::DrainFlags;
use super::listener;
use super::nodes::{self, Connector, NodesFlags};
use super::shared_cache::SharedCacheFlags;
use super::tls_flags::{BackendClientTls, ServerIdentity};
use super::traces::{SampleFlags, TraceFlags};
use crate::cache_dir::{self, read_small};
use crate::exit::Exit;
use crate::terminal::report;
use crate::{address, units};
use anyhow::{Context, Result, bail, ensure};
use frontend::{Backend, Config, Coordinator, Hints, LogQueries};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use web::{BasePath, ConnectionLimits, HostNames, TrustedProxies};

/// Each request is compared with all keys, some thousand.
const KEYS_BYTES_MAX: u64 = 256 << 10;

/// Shorter keys can be guessed.
const KEY_LEN_MIN: usize = 8;

/// Default part of rendered answers, as a divisor.
const RENDERED_SHARE: u64 = 16;

const LIMITS: &str = "Limits";
const ACCESS: &str = "Access";

/// Search backends, and answer over HTTP
///
/// Serves the search page, the JSON API and metrics. Prints the URL.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool
  trawl frontend --backend 10.0.0.1:28082 --backend 10.0.0.2:28082 --spool /var/lib/trawl/spool
                 --backend-ca CA.pem --backend-cert F.pem --backend-key F.key
  trawl frontend --nodes etcd:http://10.0.0.9:2379 --spool /var/lib/trawl/spool
                                           search the backends registered there
  trawl frontend --nodes static:b1=10.0.0.1:28082/zone=east,b2=10.0.0.2:28082/zone=west --spool S
  trawl frontend --nodes dns:backends.example.org:28082 --spool S
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool --api-keys keys --require-key \\
      --admin-listen 127.0.0.1:9090
                                           require a key; metrics on another address
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool --public 'lib*' \\
      --auth-url https://git.example.org/trawl-auth --auth-batch
                                           show lib* to all, others if the service allows
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool \\
      --auth-jwks https://id.example.org/keys --auth-claim repositories
                                           show the packages that a caller's token lists
  trawl frontend --backend 127.0.0.1:28082 --spool /var/tmp/spool --traces http://127.0.0.1:4318 \\
      --traces-sample 0.01                 send traces of one request in a hundred to a collector")]
pub(crate) struct FrontendArguments {
    /// Address of a backend; repeat for each backend. Use --nodes for backends that come and go
    #[arg(long = "backend", value_name = "HOST:PORT", value_parser = address::parse)]
    backends: Vec<String>,
    #[command(flatten)]
    nodes: NodesFlags,
    /// Address to listen on; with port 0, any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address::parse_listen)]
    listen: String,
    /// Directory for results; no other process may use it
    #[arg(long, value_name = "DIR")]
    spool: PathBuf,
    /// Memory that this process may use, approximately; the excess goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "256M")]
    memory: u64,
    #[command(flatten)]
    backend_tls: BackendClientTls,
    #[command(flatten)]
    flags: FrontendFlags,
}

pub(super) fn run(arguments: &FrontendArguments) -> Result<Exit> {
    listener::run(arguments.flags.log, serve(arguments))
}

async fn serve(arguments: &FrontendArguments) -> Result<Exit> {
    arguments.nodes.check(&arguments.backends)?;
    let memory = arguments.flags.memory(arguments.memory)?;
    let limits = arguments.flags.connection_limits()?;
    let listener = listener::bind(&arguments.listen, "--listen").await?;
    let admin = arguments.flags.access.bind_admin(&arguments.listen).await?;
    let hints = arguments.flags.hints()?;
    let address = listener.local_addr()?.ip();
    let options = arguments
        .flags
        .web_options(address, hints.as_ref(), memory)?;
    let metrics = listener::record_metrics()?;
    arguments.flags.trace("trawl-frontend", &listener)?;
    let tls = arguments.flags.tls.public()?;
    cache_dir::create(&arguments.spool)?;
    let watcher = arguments.nodes.watch(&arguments.spool).await?;
    let hides_addresses = arguments.flags.access.has_admin();
    let nodes = match watcher {
        None => None,
        Some(watcher) => {
            let connector = Connector::new(
                &arguments.backend_tls,
                hides_addresses,
                &watcher.map().members,
            );
            Some((watcher, connector?))
        }
    };
    let backends = match &nodes {
        None => backends(arguments)?,
        Some((watcher, connector)) => connector.backends(watcher.map()),
    };
    // The size of the backends' text is unknown.
    let config = arguments
        .flags
        .config(&arguments.spool, memory, None, hints);
    let config = Config {
        changes_backends: nodes.is_some(),
        ..config
    };
    let frontend = Coordinator::start(config, backends)?;
    if let Some((watcher, connector)) = nodes {
        nodes::follow(watcher, connector, &frontend);
    }
    arguments
        .flags
        .access
        .serve_admin(admin, &arguments.flags.hosts, &frontend, &metrics)?;
    let app = web::app(Arc::clone(&frontend), options, metrics);
    let drain = arguments.flags.drain;
    listener::serve(listener, app, limits, tls, &frontend, drain).await
}

fn backends(arguments: &FrontendArguments) -> Result<Vec<Backend>> {
    let tls = arguments.backend_tls.config(&arguments.backends)?;
    let backend = |(number, address): (usize, &String)| {
        let backend = match &tls {
            None => Backend::tcp(address),
            Some(tls) => Backend::tls(address, tls.clone())
                .with_context(|| format!("--backend {address}"))?,
        };
        // Addresses are for operators.
        Ok(if arguments.flags.access.has_admin() {
            backend.named(format!("backend {number}"))
        } else {
            backend
        })
    };
    (1..).zip(&arguments.backends).map(backend).collect()
}

/// Limits of a frontend, and access to it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct FrontendFlags {
    /// Disk space for the spool [default: 10G, but at most a quarter of the free disk, and with
    /// `serve` at most eight times the text of the index]
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", value_parser = units::parse_size)]
    spool_bytes: Option<u64>,
    /// Part of --memory for the matches of one query, 32 bytes each
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", value_parser = units::parse_size, default_value = "64M")]
    query_memory: u64,
    /// Expensive queries that run at once
    #[arg(long, help_heading = LIMITS, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    running: u16,
    /// Expensive queries that wait; more are refused with status 503
    #[arg(long, help_heading = LIMITS, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(0..=200))]
    queued: u16,
    /// Exports that run at once; more are refused with status 503. Each takes 1 MiB of
    /// --memory
    #[arg(long, help_heading = LIMITS, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    exports: u16,
    /// Part of --memory for rendered answers that are expensive: facets, lists of packages, and
    /// pages by package of large results [default: a sixteenth of the memory for searches]
    ///
    /// Each is rendered once for all clients; with 0, again for each client.
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", value_parser = units::parse_size)]
    rendered_memory: Option<u64>,
    /// Connections of all clients at once; a few more are served for /healthz, /readyz and /metrics
    #[arg(long, help_heading = LIMITS, value_name = "N", default_value_t = 12_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Connections of one client at once; a client is an address
    #[arg(long, help_heading = LIMITS, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections_per_client: u32,
    /// Longest time that a client may set with `timeout=`
    #[arg(long, help_heading = LIMITS, value_name = "SECS", value_parser = seconds, default_value = "300")]
    timeout_max: Duration,
    /// Log queries that take this long or longer
    #[arg(long, help_heading = LIMITS, value_name = "SECS", value_parser = seconds, default_value = "1")]
    slow_query: Duration,
    /// Form of slow queries in the log: text and plan (full), a hash of the text, or nothing (off)
    #[arg(long, help_heading = LIMITS, value_name = "WHAT", value_enum, default_value_t = LoggedQuery::Hash)]
    log_queries: LoggedQuery,
    #[command(flatten, next_help_heading = LIMITS)]
    pub(super) drain: DrainFlags,
    #[command(flatten, next_help_heading = None)]
    pub(super) log: listener::LogFlags,
    #[command(flatten)]
    traces: TraceFlags,
    #[command(flatten)]
    sample: SampleFlags,
    #[command(flatten)]
    pub(super) tls: ServerIdentity,
    /// Answer to this host name too; may be repeated
    ///
    /// By default, a server on a loopback address answers only to localhost and loopback addresses,
    /// and any other server to every name.
    #[arg(long = "host", value_name = "NAME", help_heading = ACCESS)]
    pub(super) hosts: Vec<String>,
    /// Trust the header x-forwarded-for of proxies in this network, such as 127.0.0.1 or
    /// 10.0.0.0/8; may be repeated
    #[arg(long = "trusted-proxy", value_name = "CIDR", help_heading = ACCESS)]
    trusted_proxies: Vec<String>,
    /// Allow pages of this origin to read the API, such as https://code.example.org, or * for all;
    /// may be repeated
    #[arg(long = "cors-origin", value_name = "URL", help_heading = ACCESS)]
    cors_origins: Vec<String>,
    /// Serve the pages below this path of a proxy, such as /code; the proxy may strip the path or
    /// not
    #[arg(long, value_name = "PATH", default_value = "/", help_heading = ACCESS)]
    base_path: BasePath,
    #[command(flatten)]
    pub(super) access: AccessFlags,
    #[command(flatten)]
    authorization: AuthorizationFlags,
    #[command(flatten)]
    shared_cache: SharedCacheFlags,
    /// Require a key from FILE, which has one on each line, for /api/v1 (Debian Code Search's API)
    #[arg(long, value_name = "FILE", help_heading = ACCESS)]
    dcs_api_keys: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LoggedQuery {
    Full,
    Hash,
    Off,
}

/// Parses `2` or `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds, such as 2 or 0.5")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "negative or too large".to_owned())
}

/// Parts of a frontend's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrontendMemory {
    queries: u64,
    rendered: u64,
}

impl FrontendFlags {
    /// Divides `bytes` among running queries and rendered answers.
    pub(super) fn memory(&self, bytes: u64) -> Result<FrontendMemory> {
        let rendered = self.rendered_memory.unwrap_or(bytes / RENDERED_SHARE);
        ensure!(
            rendered < bytes,
            "--rendered-memory {rendered}: leaves nothing of --memory for queries; it must be less than {bytes}"
        );
        Ok(FrontendMemory {
            queries: bytes - rendered,
            rendered,
        })
    }

    /// `text_bytes` is the corpus size, if known. Logs a reduced spool bound.
    pub(super) fn config(
        &self,
        spool: &Path,
        memory: FrontendMemory,
        text_bytes: Option<u64>,
        hints: Option<Arc<Hints>>,
    ) -> Config {
        let spool_bytes_max = self.spool_bytes.unwrap_or_else(|| {
            let bound = SpoolBound::new(free_bytes(spool), text_bytes);
            if let Some(reason) = bound.reason {
                let size = units::size(bound.bytes);
                report(format_args!(
                    "the spool may have {size}, {reason}; set another bound with --spool-bytes"
                ));
            }
            bound.bytes
        });
        Config {
            spool_bytes_max,
            memory_bytes: memory.queries,
            query_memory_bytes: self.query_memory,
            running_max: self.running.into(),
            queued_max: self.queued.into(),
            timeout_max: self.timeout_max,
            slow_query: self.slow_query,
            has_scopes: self.authorization.is_configured(),
            log_queries: match self.log_queries {
                LoggedQuery::Full => LogQueries::Full,
                LoggedQuery::Hash => LogQueries::Hash,
                LoggedQuery::Off => LogQueries::Off,
            },
            hints,
            ..Config::new(spool)
        }
    }

    pub(super) fn trace(&self, service: &str, listener: &TcpListener) -> Result<()> {
        let address = listener.local_addr()?;
        self.traces.start(service, address, self.sample.ratio())
    }

    pub(super) fn hints(&self) -> Result<Option<Arc<Hints>>> {
        self.shared_cache.start(self.authorization.has_service())
    }

    pub(super) fn web_options(
        &self,
        address: IpAddr,
        hints: Option<&Arc<Hints>>,
        memory: FrontendMemory,
    ) -> Result<web::Options> {
        let keys = match &self.dcs_api_keys {
            Some(path) => parse_keys(&read_small(path, "the keys in", KEYS_BYTES_MAX)?)
                .with_context(|| path.display().to_string())?,
            None => Vec::new(),
        };
        let options = web::Options::new(self.cors_origins.clone(), keys);
        let mut options = options.context("--cors-origin")?;
        options.exports_max = self.exports.into();
        options.rendered_bytes_max = memory.rendered;
        options.base_path = self.base_path.clone();
        options.hosts = HostNames::new(address, &self.hosts);
        options.access = self.access.keys()?.map(Arc::new);
        if self.authorization.has_tokens() && options.access.is_some() {
            bail!(
                "--auth-jwks and --api-keys both read the header authorization; give one of them"
            );
        }
        options.authorization = self.authorization.authorization(hints)?.map(Arc::new);
        options.links = self.shared_cache.links()?;
        options.has_admin = self.access.has_admin();
        Ok(options)
    }

    pub(super) fn connection_limits(&self) -> Result<ConnectionLimits> {
        Ok(ConnectionLimits {
            connections_max: self.connections as usize,
            per_client_max: self.connections_per_client as usize,
            trusted_proxies: TrustedProxies::new(&self.trusted_proxies)
                .context("--trusted-proxy")?,
            ..ConnectionLimits::default()
        })
    }
}

/// Usual bound of the spool.
const SPOOL_BYTES_MAX: u64 = 10 << 30;

/// Results of a small corpus can be many times its size.
const SPOOL_BYTES_MIN: u64 = 256 << 20;

/// Results of single letters, the largest, need about two.
const SPOOL_BY_TEXT: u64 = 8;

#[derive(Debug, PartialEq, Eq)]
struct SpoolBound {
    bytes: u64,
    /// Reason for a reduced bound.
    reason: Option<&'static str>,
}

impl SpoolBound {
    fn new(free_bytes: Option<u64>, text_bytes: Option<u64>) -> SpoolBound {
        let by_disk = free_bytes.map(|free| (free / 4, Some("a quarter of the free disk")));
        let by_text = text_bytes.map(|text| {
            let bytes = text.saturating_mul(SPOOL_BY_TEXT).max(SPOOL_BYTES_MIN);
            (bytes, Some("in proportion to the text of the index"))
        });
        let usual = Some((SPOOL_BYTES_MAX, None));
        let bounds = [usual, by_disk, by_text].into_iter().flatten();
        let (bytes, reason) = bounds
            .min_by_key(|(bytes, _)| *bytes)
            .expect("one is usual");
        SpoolBound { bytes, reason }
    }
}

/// Bytes free for this user; `None` if unknown.
fn free_bytes(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// One key per line. Skips empty lines and `#` comments.
fn parse_keys(text: &str) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let key = line.trim();
        if key.is_empty() || key.starts_with('#') {
            continue;
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("line {number}: a key may have only ASCII letters, digits and punctuation");
        }
        if key.len() < KEY_LEN_MIN {
            bail!("line {number}: a key must have at least {KEY_LEN_MIN} characters");
        }
        keys.push(key.to_owned());
    }
    if keys.is_empty() {
        bail!("no keys, so no client could use the API; add one, or leave out --dcs-api-keys");
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::{SPOOL_BYTES_MAX, SPOOL_BYTES_MIN, SpoolBound, parse_keys};

    #[test]
    fn the_spool_is_bounded_by_the_free_disk_and_the_corpus() {
        let bytes = |free, text| SpoolBound::new(free, text).bytes;
        let many = Some(1 << 50);
        assert_eq!(bytes(many, many), SPOOL_BYTES_MAX);
        assert_eq!(bytes(None, None), SPOOL_BYTES_MAX);
        assert_eq!(SpoolBound::new(many, None).reason, None);
        assert_eq!(bytes(Some(4 << 30), many), 1 << 30);
        assert_eq!(bytes(many, Some(1 << 30)), 8 << 30);
        assert_eq!(bytes(many, Some(1)), SPOOL_BYTES_MIN);
        assert_eq!(bytes(Some(0), Some(1)), 0);
        assert!(
            SpoolBound::new(Some(4 << 30), many)
                .reason
                .unwrap()
                .contains("free disk")
        );
    }

    #[test]
    fn reads_a_key_on_each_line_and_rejects_bad_ones() {
        let keys = parse_keys("# of the build robots\nfirst-key\r\n\n  second-key \n").unwrap();
        assert_eq!(keys, ["first-key", "second-key"]);
        for (text, expected) in [
            ("", "no keys"),
            ("# none\n", "no keys"),
            ("long enough", "line 1"),
            ("first-key\nshort", "line 2: a key must have at least 8"),
            ("schlüssel", "only ASCII"),
        ] {
            let error = parse_keys(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
