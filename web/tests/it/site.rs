//! Frontend on a port, and a client.

use frontend::{Backend, Config, Coordinator, Socket};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use testkit::backend::Fake;
use testkit::browser;
use tokio::runtime::{Builder, Runtime};
use ureq::http::Method;
use web::{ConnectionLimits, Options, app};

/// Long enough for a busy machine, short enough for a test.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(2);

/// For tests without a silent backend.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Wait for whole pages: longer than a busy machine needs, but short for blocked searches.
const WHOLE_PAGE: Duration = Duration::from_secs(2);

/// Few, so that a test notices a thread that waits for a client.
pub(crate) const BLOCKING_THREADS: usize = 32;

/// Shared by all sites, so tests can only check growth.
static METRICS: LazyLock<PrometheusHandle> = LazyLock::new(|| {
    let installed = PrometheusBuilder::new().install_recorder();
    installed.expect("no other recorder is installed")
});

/// A fake, as a frontend sees it.
pub(crate) trait AsBackend {
    fn backend(&self) -> Backend;
}

impl AsBackend for Arc<Fake> {
    fn backend(&self) -> Backend {
        let fake = Arc::clone(self);
        Backend::new(self.name(), move |step_max| {
            fake.dial(step_max).map(Socket::Unix)
        })
    }
}

pub(crate) struct Site {
    pub(crate) frontend: Arc<Coordinator>,
    pub(crate) runtime: Runtime,
    _panics: Panics,
    pub(crate) served: tokio::task::JoinHandle<()>,
    pub(crate) spool: tempfile::TempDir,
    address: String,
    agent: ureq::Agent,
    sent: AtomicUsize,
}

static PANICS: LazyLock<Arc<Mutex<Vec<String>>>> = LazyLock::new(|| {
    let names = Arc::<Mutex<Vec<String>>>::default();
    let (report, noted) = (std::panic::take_hook(), Arc::clone(&names));
    std::panic::set_hook(Box::new(move |panic| {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        noted.lock().unwrap().push(name);
        report(panic);
    }));
    names
});

/// Fails if a thread of the site has panicked.
struct Panics {
    threads: String,
}

impl Panics {
    fn new() -> Panics {
        static SITES: AtomicUsize = AtomicUsize::new(0);
        LazyLock::force(&PANICS);
        Panics {
            threads: format!("site {}", SITES.fetch_add(1, Relaxed)),
        }
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let panics = PANICS.lock().unwrap();
        let count = panics.iter().filter(|name| **name == self.threads).count();
        assert_eq!(count, 0, "panics of the server");
    }
}

const BODY_BYTES_MAX: u64 = 64 << 20;

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn new(response: Response) -> Answer {
        let (status, headers) = (response.status, response.headers.clone());
        let mut body = Vec::new();
        let mut reader = response.reader().take(BODY_BYTES_MAX);
        reader.read_to_end(&mut body).unwrap();
        Answer {
            status,
            headers,
            body,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}

struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    is_head: bool,
    body: ureq::Body,
}

impl Response {
    fn reader(self) -> Box<dyn Read> {
        let encoding = match header(&self.headers, "content-encoding") {
            _ if self.is_head => "",
            encoding => encoding,
        };
        browser::decoded(encoding, self.body.into_reader())
    }
}

impl Site {
    pub(crate) fn new(backends: Vec<Backend>) -> Site {
        Site::with(backends, |_| ())
    }

    pub(crate) fn with_options(backends: Vec<Backend>, options: Options) -> Site {
        Site::start(backends, options, ConnectionLimits::default(), |_| ())
    }

    pub(crate) fn with_limits(backends: Vec<Backend>, limits: ConnectionLimits) -> Site {
        Site::start(backends, Options::default(), limits, |_| ())
    }

    pub(crate) fn with(backends: Vec<Backend>, change: impl FnOnce(&mut Config)) -> Site {
        let limits = ConnectionLimits::default();
        Site::start(backends, Options::default(), limits, change)
    }

    pub(crate) fn start(
        backends: Vec<Backend>,
        mut options: Options,
        limits: ConnectionLimits,
        change: impl FnOnce(&mut Config),
    ) -> Site {
        // Pages are complete unless their search is blocked.
        options.first_matches_after = options.first_matches_after.max(WHOLE_PAGE);
        let spool = tempfile::tempdir().unwrap();
        let mut config = Config::new(spool.path());
        config.silence_max = SILENCE_MAX;
        config.grace = Duration::from_millis(50);
        change(&mut config);
        let panics = Panics::new();
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .thread_name(&panics.threads)
            .max_blocking_threads(BLOCKING_THREADS)
            .build()
            .unwrap();
        LazyLock::force(&METRICS);
        let (frontend, address, served) = runtime.block_on(async {
            let frontend = Coordinator::start(config, backends).unwrap();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            let router = app(Arc::clone(&frontend), options, METRICS.clone());
            let serving = frontend.serving();
            let served = web::serve_until_drained(listener, router, limits, None, serving);
            (frontend, address, tokio::spawn(served))
        });
        Site {
            frontend,
            runtime,
            _panics: panics,
            served,
            spool,
            address,
            agent: ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build()
                .into(),
            sent: AtomicUsize::new(0),
        }
    }

    /// Returns the spool directory.
    pub(crate) fn stop(self) -> tempfile::TempDir {
        drop(self.runtime);
        drop(self.frontend);
        self.spool
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[])
    }

    pub(crate) fn get_without_following(&self, path: &str) -> Answer {
        Answer::new(self.run(&not_following(), Method::GET, path, &[], ()))
    }

    pub(crate) fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::new(self.call(method, path, headers))
    }

    /// Does not follow redirects.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        Answer::new(self.run(&not_following(), Method::POST, path, headers, body))
    }

    pub(crate) fn connect(&self) -> std::net::TcpStream {
        let address = self.address.strip_prefix("http://").unwrap();
        std::net::TcpStream::connect(address).unwrap()
    }

    pub(crate) fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn call(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let has_body = method != Method::GET && method != Method::HEAD;
        // A server closes the connection of a refused request.
        let close = has_body.then_some(("connection", "close"));
        let headers: Vec<_> = close.into_iter().chain(headers.iter().copied()).collect();
        self.run(&self.agent, method, path, &headers, ())
    }

    /// `headers` override those of a browser.
    fn run(
        &self,
        agent: &ureq::Agent,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl ureq::AsSendBody,
    ) -> Response {
        let sent = self.sent.fetch_add(1, Relaxed);
        let is_head = method == Method::HEAD;
        let uri = format!("{}{path}", self.address);
        let mut request = ureq::http::Request::builder().method(method).uri(uri);
        for (name, value) in browser::headers(path, sent, headers) {
            request = request.header(name, value);
        }
        let response = agent.run(request.body(body).unwrap()).unwrap();
        let (head, body) = response.into_parts();
        let headers = head.headers.iter();
        let headers = headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        Response {
            status: head.status.as_u16(),
            headers,
            is_head,
            body,
        }
    }

    pub(crate) fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> T {
        let answer = self.get(path);
        let read = serde_json::from_slice(&answer.body);
        read.unwrap_or_else(|error| panic!("{path}: {error}: {}", answer.text()))
    }

    pub(crate) fn search(&self, q: &str) -> serde_json::Value {
        self.get(&format!("/api/v2/search?q={q}")).json()
    }

    /// Names and data, up to the first `last`.
    pub(crate) fn events(&self, path: &str, last: &str) -> Vec<(String, serde_json::Value)> {
        let response = self.call(Method::GET, path, &[]);
        let mut name = String::new();
        let mut events = Vec::new();
        for line in BufReader::new(response.reader()).lines() {
            let line = line.unwrap();
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                events.push((name.clone(), serde_json::from_str(data).unwrap()));
                if name == last {
                    break;
                }
            }
        }
        events
    }

    /// Ends with an error if the body breaks off.
    pub(crate) fn lines(
        &self,
        path: &str,
    ) -> impl Iterator<Item = std::io::Result<String>> + use<> {
        self.lines_with(path, &[])
    }

    pub(crate) fn lines_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> impl Iterator<Item = std::io::Result<String>> + use<> {
        let response = self.call(Method::GET, path, headers);
        assert_eq!(response.status, 200, "{path}");
        let lines = BufReader::new(response.reader()).split(b'\n');
        // The reader repeats its error.
        let mut is_broken = false;
        let lines = lines.map_while(move |line| {
            let first = !is_broken;
            is_broken |= line.is_err();
            first.then_some(line)
        });
        lines.map(|line| Ok(String::from_utf8_lossy(&line?).into_owned()))
    }

    /// 0 if the counter is missing.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let text = self.get("/metrics").text();
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().unwrap())
    }

    pub(crate) fn spooled(&self) -> usize {
        std::fs::read_dir(self.spool.path()).unwrap().count() - 1
    }
}

fn not_following() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build();
    config.into()
}

/// Polls for 20 s, which only a busy machine needs.
pub(crate) fn eventually(what: &str, condition: impl FnMut() -> bool) {
    eventually_within(Duration::from_secs(20), what, condition);
}

pub(crate) fn eventually_within(time: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    testkit::poll(what, time, || condition().then_some(()));
}
