//! The whole frontend over a backend that is well: whatever is asked, the answer is one that is
//! described.
//!
//! Requests go to the router and what it asks to a backend in this process over a small index; there is
//! no listener. What a backend may say wrong is `answers`'; here a fault is ours, and so is an answer
//! that lacks something without having been stopped.

mod names;
mod requests;
mod seeds;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use frontend::{Config, Coordinator};
use index::corpus;
use index::indexing::{BuildOptions, Progress, build};
use metrics_exporter_prometheus::PrometheusBuilder;
use requests::Known;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

pub(super) use seeds::seeds;

#[path = "../../../../src/local.rs"]
mod local;

/// What a query may take here. The index has a few kilobytes, so that only a pattern can take long.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What an answer may take, on a busy machine. Below what `scripts/fuzz` lets an input take.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// Bytes of matches in memory: answers of a few dozen matches are on the disk.
const RUN_MEMORY_BYTES: u64 = 2 << 10;

/// Bytes of the spool: old answers make way, as they do elsewhere after days.
const SPOOL_BYTES_MAX: u64 = 32 << 20;

/// What no page has as it is, wherever it comes from.
const SCRIPT: &str = "<script>alert";

/// Files with what must not reach a page, paths and lines.
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

/// A frontend and its backend, one for all inputs.
struct Site {
    runtime: Runtime,
    app: Router,
    _there: tempfile::TempDir,
}

fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let there = tempfile::tempdir().expect("a temporary directory");
        write_index(there.path());
        let mut threads = Builder::new_multi_thread();
        let runtime = threads.worker_threads(2).enable_all().build();
        let runtime = runtime.expect("threads");
        let app = runtime.block_on(async {
            let backend = local::backend(&there.path().join("index")).expect("an index");
            let frontend = Coordinator::start(config(there.path()), vec![backend]);
            let frontend = frontend.expect("a free directory");
            connected(&frontend).await;
            web::app(
                frontend,
                web::Options::default(),
                PrometheusBuilder::new().build_recorder().handle(),
            )
        });
        Site {
            runtime,
            app,
            _there: there,
        }
    })
}

/// One package has many matches, so that there are pages, and answers on the disk.
fn write_index(there: &Path) {
    let source = there.join("source");
    let many = (0..200).map(|line| format!("needle {line} <script>alert({line})\n"));
    let many = ("delta_4/many.c", many.collect::<String>().into_bytes());
    let files = FILES.map(|(path, text)| (path, text.to_vec()));
    for (path, text) in files.into_iter().chain([many]) {
        let path = source.join(path);
        fs::create_dir_all(path.parent().expect("a package")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }
    let options = BuildOptions {
        jobs: 1,
        ..BuildOptions::default()
    };
    let sources = corpus::sources(&[source], true).expect("packages");
    let out = there.join("index");
    build(sources, &out, &options, &Progress::default()).expect("it can be built");
}

fn config(there: &Path) -> Config {
    let mut config = Config::new(there.join("spool"));
    config.silence_max = ANSWER_MAX;
    config.timeout = TIMEOUT;
    config.timeout_max = TIMEOUT;
    config.result_memory_bytes = RUN_MEMORY_BYTES;
    config.spool_bytes_max = SPOOL_BYTES_MAX;
    config.durable = false;
    config
}

async fn connected(frontend: &Arc<Coordinator>) {
    while !frontend.backends().iter().all(|backend| backend.connected) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// An answer, and what of it is to be looked at.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Site {
    fn ask(&self, request: Request<Body>) -> Answer {
        let mut app = self.app.clone();
        self.runtime.block_on(async {
            let asking = async {
                let (head, body) = app
                    .call(request)
                    .await
                    .expect("it cannot fail")
                    .into_parts();
                let body = to_bytes(body, usize::MAX).await.expect("a whole answer");
                Answer {
                    status: head.status,
                    headers: head.headers,
                    body,
                }
            };
            let answer = tokio::time::timeout(ANSWER_MAX, asking).await;
            answer.expect("it is answered in time")
        })
    }
}

impl Answer {
    fn kind(&self) -> &str {
        let kind = self.headers.get(header::CONTENT_TYPE);
        kind.map_or("", |kind| kind.to_str().expect("ours are of ASCII"))
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("it says that it is JSON")
    }

    /// Whether there is a body, and as it is.
    fn is_plain(&self) -> bool {
        !self.body.is_empty() && !self.headers.contains_key(header::CONTENT_ENCODING)
    }

    fn check(&self, path: &str, known: &Known) {
        self.check_status();
        let is_error = self.status.is_client_error() || self.status.is_server_error();
        if is_error && path.starts_with("/api/v1/") {
            assert!(self.kind().starts_with("text/plain"), "{}", self.kind());
        } else if is_error && path.starts_with("/api/") {
            self.check_problem();
        } else if self.kind() == "application/json" && self.is_plain() {
            self.check_whole(known);
        } else if self.kind().starts_with("text/html") && self.is_plain() {
            self.check_page();
        }
    }

    /// Nothing fails, and what is not available is so for a while.
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
            let kind = problem["type"].as_str().expect("it has one");
            assert!(kind.starts_with("/problems/"), "{problem}");
            let detail = problem["detail"].as_str().expect("it is said");
            assert!(!detail.is_empty(), "{problem}");
        }
    }

    /// What lacks nothing says so; what lacks something was stopped by whoever asked.
    fn check_whole(&self, known: &Known) {
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
        assert!(page.trim_end().ends_with("</html>"), "{page}");
    }
}

/// A few requests, of which a later one may use what an earlier one was answered.
pub(super) fn http(data: &[u8]) {
    statuses(data);
}

fn statuses(data: &[u8]) -> Vec<StatusCode> {
    let mut known = Known::default();
    let requests = requests::requests(data);
    let answered = requests.filter_map(|asked| {
        let request = asked.request(&mut known)?;
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

/// What the mutations are made of reaches what is behind the addresses.
#[test]
fn the_last_request_of_a_seed_is_answered() {
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

/// What is described is asked for, and a page shows what was typed.
#[test]
fn nothing_is_left_out() {
    let get = |path: &str| site().ask(Request::get(path).body(Body::empty()).expect("a path"));
    let description = get("/api/openapi.json").json();
    for path in description["paths"].as_object().expect("there are").keys() {
        let route = path.replace("{id}", "{}");
        assert!(names::ROUTES.contains(&&route[..]), "{path}");
    }
    let page = get("/search?q=%22%3Cscript%3Ealert%22").body;
    let page = str::from_utf8(&page).expect("pages are UTF-8");
    assert!(page.contains("&#60;script&#62;alert"), "{page}");
}
