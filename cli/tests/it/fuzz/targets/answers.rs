//! The frontend between two strangers: what a backend answers, and what a browser asks for.

use super::wire;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use frontend::{Backend, Config, Coordinator, Socket};
use metrics_exporter_prometheus::PrometheusBuilder;
use schema::frame::{Decoder, Kind};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;
use tower_service::Service;

/// Far longer than a target runs: who says nothing here has nothing to say.
const SILENCE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A frontend with one backend, which answers everything with [`ANSWER`].
struct Site {
    runtime: Runtime,
    app: Router,
    _spool: tempfile::TempDir,
}

/// What the backend says, whatever it is asked for.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Held while a target runs: both use the one site.
static TURN: Mutex<()> = Mutex::new(());

fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let spool = tempfile::tempdir().expect("a temporary directory");
        let mut config = Config::new(spool.path());
        config.silence_max = SILENCE_MAX;
        config.grace = Duration::ZERO;
        let runtime = Runtime::new().expect("threads");
        let app = runtime.block_on(async {
            let frontend = Coordinator::start(config, vec![backend()]).expect("a free directory");
            web::app(
                frontend,
                web::Options::default(),
                PrometheusBuilder::new().build_recorder().handle(),
            )
        });
        Site {
            runtime,
            app,
            _spool: spool,
        }
    })
}

fn backend() -> Backend {
    Backend::new("stranger", || {
        let (ours, theirs) = UnixStream::pair()?;
        thread::spawn(move || serve(ours));
        Ok(Socket::Unix(theirs))
    })
}

/// Greets, waits for a request, answers it, and hangs up.
fn serve(mut stream: UnixStream) -> Option<()> {
    let mut hello = Vec::new();
    wire::hello().encode(&mut hello).ok()?;
    stream.write_all(&hello).ok()?;
    let mut decoder = Decoder::new();
    loop {
        match decoder.decode().ok()?.map(|frame| frame.kind) {
            Some(Kind::Search | Kind::File) => {
                let answer = ANSWER
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                return stream.write_all(&answer).ok();
            }
            Some(_) => {}
            None => match stream.read(decoder.space()).ok()? {
                0 => return None,
                read => decoder.filled(read),
            },
        }
    }
}

impl Site {
    /// Asks for a path, and gives back the status and the body.
    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let request = Request::get(path).body(Body::empty());
        let request = request.expect("a path is what it is given");
        let mut app = self.app.clone();
        self.runtime.block_on(async {
            let response = app.call(request).await.expect("it cannot fail");
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await;
            // An export that finds its spool damaged breaks off.
            (status, body.unwrap_or_default().to_vec())
        })
    }
}

fn answer_with(bytes: Vec<u8>) {
    *ANSWER.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
}

/// What a backend sends after it was asked, its frames' checksums made good: pages, exports and
/// files are had, whatever it is.
pub(super) fn answer(data: &[u8]) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stream = data.to_vec();
    wire::make_good(&mut stream);
    answer_with(stream);
    let site = site();
    // Each time another query: the same one would be had from the spool.
    let q = format!("needle{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let (status, body) = site.get(&format!("/api/v2/search?q={q}&explain=true"));
    assert!(matches!(status, 200 | 400 | 503), "{status}");
    if status != 200 {
        return;
    }
    let page: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let complete = page["complete"].as_bool().expect("it is said");
    let missing = page["missing"].as_array().expect("it is said");
    assert_eq!(complete, missing.is_empty());
    let id = page["id"].as_str().expect("it has one");
    for path in [
        format!("/api/v2/search/{id}?group=package&per_package=2"),
        format!("/api/v2/search/{id}/export?format=text"),
        format!("/api/v2/search/{id}/export?format=jsonl"),
        format!("/search?q={q}"),
        "/show?package=p_1&path=a/b.c&line=3".to_owned(),
        "/api/v2/file?package=p_1&path=a/b.c".to_owned(),
    ] {
        let (status, _) = site.get(&path);
        assert_ne!(status, 500, "{path}");
    }
}

pub(super) fn answer_seeds() -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    let _ = wire::batch(&mut whole);
    let mut seeds = vec![whole.clone()];
    let _ = wire::skip().encode(&mut whole);
    let _ = wire::end().encode(&mut whole);
    seeds.push(whole);
    seeds.extend(wire::samples());
    seeds
}

/// The part of an address behind `?`, for every page that has one.
pub(super) fn request(data: &[u8]) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    answer_with(answer_seeds().remove(1));
    let Some((&page, query)) = data.split_first() else {
        return;
    };
    let pages = [
        "/api/v2/search",
        "/search",
        "/show",
        "/api/v2/file",
        "/api/v2/search/0123456789abcdef",
        "/",
    ];
    let query: String = query.iter().map(|&byte| in_address(byte)).collect();
    let path = format!("{}?{query}", pages[usize::from(page) % pages.len()]);
    let (status, body) = site().get(&path);
    assert_ne!(status, 500, "{path}");
    assert!(!body.is_empty(), "{path}");
}

/// A byte as an address may hold it.
pub(super) fn in_address(byte: u8) -> String {
    match byte {
        b'%' | b'&' | b'=' | b'+' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).into(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).into(),
        _ => format!("%{byte:02x}"),
    }
}

pub(super) fn request_seeds() -> Vec<Vec<u8>> {
    let queries = [
        (
            0,
            "q=needle&mode=regexp&case=no&context=3&page=0&per_page=5&explain=true",
        ),
        (1, "q=ne%65dle+%22x%22&group=package&per_package=2"),
        (2, "package=p_1&path=a/b.c&line=3"),
        (3, "package=p_1&path=a%2fb.c&offset=1&count=100"),
        (4, "page=1&per_page=1000&group=none&wait=false"),
        (1, "q=(%5b&mode=regexp&pag=2"),
        (0, "q=needle&package=-alpha&path=%5evendor/&lang=c++"),
        (1, "q=needle+package:i3-wm+-path:%22a+b%22+lang:c"),
    ];
    queries
        .map(|(page, query)| [&[page], query.as_bytes()].concat())
        .into()
}

/// What the mutations are made of reaches all that follows a right answer.
#[test]
fn an_answer_that_is_right_is_complete() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    answer_with(answer_seeds().remove(1));
    let (status, body) = site().get("/api/v2/search?q=right");
    let page: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(
        (status, &page["complete"], &page["total"]),
        (200, &true.into(), &2.into()),
        "{page}"
    );
    answer_with(wire::samples().remove(7));
    let (status, text) = site().get("/api/v2/file?package=p_1&path=a/b.c");
    assert_eq!((status, &text[..]), (200, &b"int needle;\n"[..]));
}
