//! `trawl frontend`: searches backends and answers over HTTP.

use super::access::{AccessFlags, AuthorizationFlags, SharedCacheFlags};
use super::listener::{self, DrainFlags, Signals};
use super::nodes::{self, Connector, NodesFlags};
use super::tls_flags::{BackendClientTls, ServerIdentity};
use super::traces::{self, TraceFlags};
use crate::cache_dir::{self, read_small};
use crate::exit::Exit;
use crate::terminal::{announce, report};
use crate::{address, units};
use anyhow::{Context, Result, bail, ensure};
use cluster::membership::Member;
use frontend::{Backend, Config, Coordinator, Hints, LogQueries};
use metrics_exporter_prometheus::PrometheusHandle;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tls::{Current, ServerConfig};
use tokio::net::TcpListener;
use web::{BasePath, Compat, ConnectionLimits, HostNames, TrustedProxies};

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
    let (flags, spool) = (&arguments.flags, &arguments.spool);
    let (listen, memory) = (&arguments.listen, arguments.memory);
    let opened = flags.open("trawl-frontend", listen, memory).await?;
    cache_dir::create(spool)?;
    let (backends, nodes) = match arguments.nodes.watch(spool).await? {
        None => (backends(arguments)?, None),
        Some(watcher) => {
            let (tls, map) = (&arguments.backend_tls, watcher.map());
            let hides_addresses = flags.access.admin_listen.is_some();
            let connector = Connector::new(tls, hides_addresses, &map.members)?;
            (connector.backends(map), Some((watcher, connector)))
        }
    };
    let config = Config {
        changes_backends: nodes.is_some(),
        // The size of the backends' text is unknown.
        ..opened.config(spool, None)
    };
    let frontend = Coordinator::start(config, backends)?;
    if let Some((watcher, connector)) = nodes {
        nodes::follow(watcher, connector, &frontend);
    }
    opened.serve(&frontend).await
}

fn backends(arguments: &FrontendArguments) -> Result<Vec<Backend>> {
    let mut members: Vec<Member> = (arguments.backends.iter())
        .map(|it| Member::at(it))
        .collect();
    let hides_addresses = arguments.flags.access.admin_listen.is_some();
    let connector = Connector::new(&arguments.backend_tls, hides_addresses, &members)?;
    for (number, member) in (1..).zip(&mut members).filter(|_| hides_addresses) {
        member.name = format!("backend {number}");
    }
    let backend = |member: &Member| {
        let backend = connector.backend(member);
        backend.with_context(|| format!("--backend {}", member.address))
    };
    members.iter().map(backend).collect()
}

/// Limits of a frontend, and access to it.
#[derive(Clone, clap::Args)]
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
    drain: DrainFlags,
    #[command(flatten, next_help_heading = None)]
    pub(super) log: listener::LogFlags,
    #[command(flatten)]
    traces: TraceFlags,
    /// Share of requests that are traced, from 0 to 1
    ///
    /// A request with the header traceparent is traced if its caller traces it. With 0, no request
    /// is traced.
    #[arg(long, help_heading = traces::TRACES, value_name = "RATIO", default_value_t = 1.0, value_parser = traces::ratio)]
    traces_sample: f64,
    #[command(flatten)]
    tls: ServerIdentity,
    /// Answer to this host name too; may be repeated
    ///
    /// By default, a server on a loopback address answers only to localhost and loopback addresses,
    /// and any other server to every name.
    #[arg(long = "host", value_name = "NAME", help_heading = ACCESS)]
    hosts: Vec<String>,
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
    access: AccessFlags,
    #[command(flatten)]
    authorization: AuthorizationFlags,
    #[command(flatten)]
    shared_cache: SharedCacheFlags,
    /// Interfaces of other products that are served: zoekt, sourcegraph, github, dcs (Debian Code
    /// Search), or none
    #[arg(long, value_name = "PRODUCT,...", default_value_t, help_heading = ACCESS)]
    compat: Compat,
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
    let seconds = text.parse();
    let seconds: f64 = seconds.map_err(|_| "not a number of seconds, such as 2 or 0.5")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "negative or too large".to_owned())
}

/// Checked flags and bound addresses of a frontend.
pub(super) struct OpenFrontend<'a> {
    flags: &'a FrontendFlags,
    pub(super) options: web::Options,
    hints: Option<Arc<Hints>>,
    /// Memory for running queries.
    queries: u64,
    limits: ConnectionLimits,
    listener: TcpListener,
    admin: Option<TcpListener>,
    metrics: PrometheusHandle,
    tls: Option<Current<ServerConfig>>,
}

impl OpenFrontend<'_> {
    /// `text_bytes` is the corpus size, if known. Logs a reduced spool bound.
    pub(super) fn config(&self, spool: &Path, text_bytes: Option<u64>) -> Config {
        let (flags, authorization) = (self.flags, &self.flags.authorization);
        let spool_bytes_max = flags.spool_bytes.unwrap_or_else(|| {
            // Unknown on some file systems.
            let disk = rustix::fs::statvfs(spool).ok();
            let free = disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
            let (bytes, reason) = spool_bound(free, text_bytes);
            if let Some(reason) = reason {
                let size = units::size(bytes);
                report(format_args!(
                    "the spool may have {size}, {reason}; set another bound with --spool-bytes"
                ));
            }
            bytes
        });
        Config {
            spool_bytes_max,
            memory_bytes: self.queries,
            query_memory_bytes: flags.query_memory,
            running_max: flags.running.into(),
            queued_max: flags.queued.into(),
            timeout_max: flags.timeout_max,
            slow_query: flags.slow_query,
            // Sets of repositories in a call restrict its scope.
            has_scopes: cfg!(feature = "grpc")
                || authorization.auth_url.is_some()
                || authorization.auth_jwks.is_some(),
            log_queries: match flags.log_queries {
                LoggedQuery::Full => LogQueries::Full,
                LoggedQuery::Hash => LogQueries::Hash,
                LoggedQuery::Off => LogQueries::Off,
            },
            hints: self.hints.clone(),
            ..Config::new(spool)
        }
    }

    /// Prints the URL, and serves HTTP or HTTPS until a signal.
    pub(super) async fn serve(self, frontend: &Arc<Coordinator>) -> Result<Exit> {
        let (flags, metrics) = (self.flags, self.metrics);
        let (listener, tls) = (self.listener, self.tls);
        let access = &flags.access;
        access.serve_admin(self.admin, &flags.hosts, frontend, &metrics)?;
        let app = web::app(Arc::clone(frontend), self.options, metrics);
        let signals = Signals::new();
        let scheme = if tls.is_some() { "https" } else { "http" };
        announce(format_args!("{scheme}://{}/", listener.local_addr()?))?;
        listener::notify_ready();
        tokio::select! {
            () = web::serve_until_drained(listener, app, self.limits, tls, frontend.serving()) => {}
            () = flags.drain.frontend(signals, frontend) => {}
        }
        Ok(Exit::Success)
    }
}

impl FrontendFlags {
    /// Divides `memory` among running queries and rendered answers.
    pub(super) async fn open(
        &self,
        service: &str,
        listen: &str,
        memory: u64,
    ) -> Result<OpenFrontend<'_>> {
        let rendered = self.rendered_memory.unwrap_or(memory / RENDERED_SHARE);
        ensure!(
            rendered < memory,
            "--rendered-memory {rendered}: leaves nothing of --memory for queries; it must be less than {memory}"
        );
        let proxies = TrustedProxies::new(&self.trusted_proxies);
        let limits = ConnectionLimits {
            connections_max: self.connections as usize,
            per_client_max: self.connections_per_client as usize,
            trusted_proxies: proxies.context("--trusted-proxy")?,
            ..ConnectionLimits::default()
        };
        let listener = listener::bind(listen, "--listen").await?;
        let admin = self.access.bind_admin(listen).await?;
        let hints = (self.shared_cache).start(self.authorization.auth_url.is_some())?;
        let address = listener.local_addr()?;
        let options = self.web_options(address.ip(), hints.as_ref(), rendered)?;
        let metrics = listener::record_metrics()?;
        self.traces.start(service, address, self.traces_sample)?;
        Ok(OpenFrontend {
            flags: self,
            options,
            hints,
            queries: memory - rendered,
            limits,
            listener,
            admin,
            metrics,
            tls: self.tls.public()?,
        })
    }

    fn web_options(
        &self,
        address: IpAddr,
        hints: Option<&Arc<Hints>>,
        rendered_bytes_max: u64,
    ) -> Result<web::Options> {
        let keys = match &self.dcs_api_keys {
            Some(path) => parse_keys(&read_small(path, "the keys in", KEYS_BYTES_MAX)?)
                .with_context(|| path.display().to_string())?,
            None => Vec::new(),
        };
        let options = web::Options::new(self.cors_origins.clone(), keys);
        let mut options = options.context("--cors-origin")?;
        options.compat = self.compat;
        options.exports_max = self.exports.into();
        options.rendered_bytes_max = rendered_bytes_max;
        options.base_path = self.base_path.clone();
        options.hosts = HostNames::new(address, &self.hosts);
        options.access = self.access.keys()?.map(Arc::new);
        ensure!(
            self.authorization.auth_jwks.is_none() || options.access.is_none(),
            "--auth-jwks and --api-keys both read the header authorization; give one of them"
        );
        options.authorization = self.authorization.build(hints)?.map(Arc::new);
        options.links = self.shared_cache.links()?;
        options.has_admin = self.access.admin_listen.is_some();
        Ok(options)
    }
}

/// Usual bound of the spool.
const SPOOL_BYTES_MAX: u64 = 10 << 30;

/// Results of a small corpus can be many times its size.
const SPOOL_BYTES_MIN: u64 = 256 << 20;

/// Results of single letters, the largest, need about two.
const SPOOL_BY_TEXT: u64 = 8;

/// Bytes, and the reason for a reduced bound.
fn spool_bound(free: Option<u64>, text: Option<u64>) -> (u64, Option<&'static str>) {
    let by_disk = free.map(|free| (free / 4, Some("a quarter of the free disk")));
    let by_text = text.map(|text| {
        let bytes = text.saturating_mul(SPOOL_BY_TEXT).max(SPOOL_BYTES_MIN);
        (bytes, Some("in proportion to the text of the index"))
    });
    let usual = Some((SPOOL_BYTES_MAX, None));
    let bounds = [usual, by_disk, by_text].into_iter().flatten();
    let least = bounds.min_by_key(|(bytes, _)| *bytes);
    least.expect("one is usual")
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
    use super::{SPOOL_BYTES_MAX, SPOOL_BYTES_MIN, parse_keys, spool_bound};

    #[test]
    fn the_spool_is_bounded_by_the_free_disk_and_the_corpus() {
        let bytes = |free, text| spool_bound(free, text).0;
        let many = Some(1 << 50);
        assert_eq!(bytes(many, many), SPOOL_BYTES_MAX);
        assert_eq!(bytes(None, None), SPOOL_BYTES_MAX);
        assert_eq!(spool_bound(many, None).1, None);
        assert_eq!(bytes(Some(4 << 30), many), 1 << 30);
        assert_eq!(bytes(many, Some(1 << 30)), 8 << 30);
        assert_eq!(bytes(many, Some(1)), SPOOL_BYTES_MIN);
        assert_eq!(bytes(Some(0), Some(1)), 0);
        assert!(
            spool_bound(Some(4 << 30), many)
                .1
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
