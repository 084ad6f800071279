//! HTTP requests to a frontend with a healthy backend: responses must conform to the API
//! description.
//!
//! Uses the router without a socket. Incomplete answers are faults unless stopped; for bad backends
//! see `untrusted_backend`.

mod agents;
mod calls;
mod names;
mod requests;
mod seeds;

use crate::router::router;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use frontend::{Config, Coordinator, Scope};
use index::corpus;
use index::indexing::{BuildOptions, Progress, build};
use requests::Known;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

pub(crate) use agents::{agent_seeds, agents};
pub(crate) use calls::{call_seeds, calls};
pub(crate) use seeds::seeds;

#[path = "../../../cli/src/in_process/backend.rs"]
mod local;

/// The index is small, so only a pattern can be slow.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Less than the limit of `scripts/ci/fuzz` for an input.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// A few dozen matches spill to disk.
const RUN_MEMORY_BYTES: u64 = 2 << 10;

/// Small, so old results are evicted.
const SPOOL_BYTES_MAX: u64 = 32 << 20;

/// Addresses with problems in the shape of GitHub.
const GITHUB: [&str; 4] = ["/api/v3/", "/api/graphql", "/search/code", "/repos/"];

/// Every page must escape it.
const SCRIPT: &str = "<script>alert";

/// Files with [`SCRIPT`] and other text to escape.
const FILES: [(&str, &[u8]); 7] = [
    (
        "alpha_1.0-1/src/main.c",
        b"int main(void) {\n\treturn needle(1);\n}\n",
    ),
    (
        "alpha_1.0-1/web/<script>alert(2)<.html",
        b"<script>alert(1)</script> needle \x1b[31m\xff\n",
    ),
    ("alpha_1.0-1/x.bin", b"\0needle"),
    ("alpha_2.0-1/src/main.c", b"int main(void) { needle; }"),
    (
        "beta_3/README",
        b"needle \xe2\x80\xae &amp; na\xc3\xafve\n=cmd\n\n",
    ),
    ("beta_3/empty", b""),
    ("<b>gamma/a b.py", b"import needle\nif needle: pass\r\n"),
];

struct Site {
    runtime: Runtime,
    app: Router,
    _directory: tempfile::TempDir,
}

fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        write_index(directory.path());
        let mut threads = Builder::new_multi_thread();
        let runtime = threads.worker_threads(2).enable_all().build();
        let runtime = runtime.expect("threads");
        let app = runtime.block_on(async {
            let backend = local::open(&directory.path().join("index"), None, Default::default())
                .expect("an index");
            let backend = local::backend(backend);
            let frontend = Coordinator::start(config(directory.path()), vec![backend]);
            let frontend = frontend.expect("a free directory");
            connected(&frontend).await;
            router(frontend)
        });
        Site {
            runtime,
            app,
            _directory: directory,
        }
    })
}

/// One package fills several pages and spills.
fn write_index(directory: &Path) {
    let source = directory.join("source");
    let many = (0..200).map(|line| format!("needle {line} <script>alert({line})\n"));
    let many = ("delta_4/many.c", many.collect::<String>().into_bytes());
    let files = FILES.map(|(path, text)| (path, text.to_vec()));
    for (path, text) in files.into_iter().chain([many]) {
        let path = source.join(path);
        fs::create_dir_all(path.parent().expect("a package")).expect("it is writable");
        fs::write(path, text).expect("it is writable");
    }
    let options = BuildOptions {
        jobs: 1,
        ..BuildOptions::default()
    };
    let sources = corpus::sources(&[source], true).expect("packages");
    let out = directory.join("index");
    build(sources, &out, &options, &Progress::default()).expect("the sources are valid");
}

fn config(directory: &Path) -> Config {
    let mut config = Config::new(directory.join("spool"));
    config.silence_max = ANSWER_MAX;
    config.timeout = TIMEOUT;
    config.timeout_max = TIMEOUT;
    config.result_memory_bytes = RUN_MEMORY_BYTES;
    config.spool_bytes_max = SPOOL_BYTES_MAX;
    config.durable = false;
    config
}

async fn connected(frontend: &Arc<Coordinator>) {
    while !frontend
        .backends(&Scope::everything())
        .iter()
        .all(|backend| backend.connected)
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Site {
    fn ask(&self, mut request: Request<Body>) -> Answer {
        // HTTP/1.1 requires it.
        let headers = request.headers_mut();
        let host = headers.entry(header::HOST);
        host.or_insert(HeaderValue::from_static("localhost"));
        let mut app = self.app.clone();
        self.runtime.block_on(async {
            let asking = async {
                let (head, body) = app
                    .call(request)
                    .await
                    .expect("the router returns no error")
                    .into_parts();
                let body = to_bytes(body, usize::MAX)
                    .await
                    .expect("the body is complete");
                Answer {
                    status: head.status,
                    headers: head.headers,
                    body,
                }
            };
            let answer = tokio::time::timeout(ANSWER_MAX, asking).await;
            answer.expect("the response arrives in time")
        })
    }
}

impl Answer {
    fn kind(&self) -> &str {
        let kind = self.headers.get(header::CONTENT_TYPE);
        kind.map_or("", |kind| {
            kind.to_str().expect("our content types are ASCII")
        })
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON, as its content type says")
    }

    /// Uncompressed and not empty.
    fn is_plain(&self) -> bool {
        !self.body.is_empty() && !self.headers.contains_key(header::CONTENT_ENCODING)
    }

    fn check(&self, path: &str, known: &Known) {
        self.check_status();
        let is_error = self.status.is_client_error() || self.status.is_server_error();
        if is_error && path.starts_with("/api/v1/") {
            assert!(self.kind().starts_with("text/plain"), "{}", self.kind());
        } else if is_error && GITHUB.iter().any(|api| path.starts_with(api)) {
            assert!(self.kind().starts_with("application/json"));
            let message = self.is_plain().then(|| self.json()["message"].is_string());
            assert!(message.unwrap_or(true));
        } else if is_error && matches!(path, "/api/search" | "/api/list") {
            assert!(self.kind() == "application/json", "{}", self.kind());
        } else if is_error && path.starts_with("/api/") {
            self.check_problem();
        } else if self.kind() == "application/json" && self.is_plain() {
            self.check_complete(known);
        } else if self.kind().starts_with("text/html") && self.is_plain() {
            self.check_page();
        }
    }

    /// The only server error is 503 with a retry time.
    fn check_status(&self) {
        let is_busy = self.status == StatusCode::SERVICE_UNAVAILABLE
            && self.headers.contains_key(header::RETRY_AFTER);
        assert!(!self.status.is_server_error() || is_busy, "{}", self.status);
        assert_eq!(self.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    }

    fn check_problem(&self) {
        assert_eq!(self.kind(), "application/problem+json");
        if self.is_plain() {
            let problem = self.json();
            assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
            let kind = problem["type"].as_str().expect("a problem has a type");
            assert!(kind.starts_with("/problems/"), "{problem}");
            let detail = problem["detail"].as_str().expect("a problem has a detail");
            assert!(!detail.is_empty(), "{problem}");
        }
    }

    /// Complete, unless a client stopped it.
    fn check_complete(&self, known: &Known) {
        let page = self.json();
        let Some(missing) = page["missing"]
            .as_array()
            .filter(|_| page["state"] == "done")
        else {
            return;
        };
        assert_eq!(page["complete"], missing.is_empty(), "{page}");
        assert!(missing.is_empty() || known.is_stopped(), "{page}");
    }

    fn check_page(&self) {
        let page = std::str::from_utf8(&self.body).expect("pages are UTF-8");
        assert!(!page.contains(SCRIPT), "{page}");
        let end = match page.trim_start() {
            fragment if fragment.starts_with("<aside") => "</aside>",
            _ => "</html>",
        };
        assert!(page.trim_end().ends_with(end), "{page}");
    }
}

/// Values of earlier answers may be used.
pub(crate) fn http(data: &[u8]) {
    statuses(data);
}

fn statuses(data: &[u8]) -> Vec<StatusCode> {
    let mut known = Known::default();
    let requests = requests::requests(data);
    let answered = requests.filter_map(|template| {
        let request = template.request(&mut known)?;
        let path = request.uri().path().to_owned();
        let answer = site().ask(request);
        answer.check(&path, &known);
        if answer.kind() == "application/json" && answer.is_plain() {
            known.learn(&answer.json());
        }
        Some(answer.status)
    });
    answered.collect()
}

/// Seeds reach the code behind every route.
#[test]
fn last_request_of_every_seed_succeeds() {
    for seed in seeds() {
        let statuses = statuses(&seed);
        let last = statuses.last().expect("a request");
        assert!(
            !last.is_client_error(),
            "{statuses:?}: {}",
            seed.escape_ascii()
        );
    }
}

#[test]
fn every_documented_route_is_requested() {
    let get = |path: &str| site().ask(Request::get(path).body(Body::empty()).expect("a path"));
    let description = get("/api/openapi.json").json();
    for path in description["paths"]
        .as_object()
        .expect("the description has paths")
        .keys()
    {
        let route = path.replace("{id}", "{}");
        assert!(names::ROUTES.contains(&&route[..]), "{path}");
    }
    let page = get("/search?q=%22%3Cscript%3Ealert%22").body;
    let page = str::from_utf8(&page).expect("pages are UTF-8");
    assert!(page.contains("&#60;script&#62;alert"), "{page}");
}
