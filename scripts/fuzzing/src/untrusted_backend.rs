//! Backend with arbitrary bytes, clients with arbitrary query strings.

use crate::router::router;
use crate::{samples, wire};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use frontend::{Backend, Config, Coordinator, Socket};
use schema::frame::{Decoder, Kind};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;
use tower_service::Service;

/// The backend sends no heartbeat.
const SILENCE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The backend always answers [`REPLY`].
struct Site {
    runtime: Runtime,
    app: Router,
    _spool: tempfile::TempDir,
}

static REPLY: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Locked by both targets, as they set [`REPLY`].
static RUNNING: Mutex<()> = Mutex::new(());

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
            router(frontend)
        });
        Site {
            runtime,
            app,
            _spool: spool,
        }
    })
}

fn backend() -> Backend {
    Backend::new("untrusted", |_| {
        let (ours, theirs) = UnixStream::pair()?;
        thread::spawn(move || serve(ours));
        Ok(Socket::Unix(theirs))
    })
}

/// One request per connection.
fn serve(mut stream: UnixStream) -> Option<()> {
    let mut hello = Vec::new();
    samples::hello().encode(&mut hello).ok()?;
    stream.write_all(&hello).ok()?;
    let mut decoder = Decoder::new();
    loop {
        match decoder.decode().ok()?.map(|frame| frame.kind) {
            Some(Kind::Search | Kind::File) => {
                let reply = REPLY.lock().unwrap_or_else(PoisonError::into_inner).clone();
                return stream.write_all(&reply).ok();
            }
            Some(Kind::List | Kind::Lookup) => return None,
            Some(_) => {}
            None => match stream.read(decoder.space()).ok()? {
                0 => return None,
                read => decoder.filled(read),
            },
        }
    }
}

impl Site {
    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let request = Request::get(path).header("host", "localhost");
        let request = request.body(Body::empty());
        let request = request.expect("the target escapes the path");
        let mut app = self.app.clone();
        self.runtime.block_on(async {
            let response = app
                .call(request)
                .await
                .expect("the router returns no error");
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await;
            // A damaged spool ends an export early.
            (status, body.unwrap_or_default().to_vec())
        })
    }
}

fn reply_with(bytes: Vec<u8>) {
    *REPLY.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
}

/// The input is the backend's answer, with corrected checksums, for pages, exports and files.
pub(crate) fn reply(data: &[u8]) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stream = data.to_vec();
    wire::correct_checksums(&mut stream);
    reply_with(stream);
    let site = site();
    // The spool would answer an old query.
    let q = format!("needle{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let (status, body) = site.get(&format!("/api/v2/search?q={q}&explain=true"));
    assert!(matches!(status, 200 | 400 | 503), "{status}");
    if status != 200 {
        return;
    }
    let page: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let complete = page["complete"].as_bool().expect("every page has it");
    let missing = page["missing"].as_array().expect("every page has it");
    assert_eq!(complete, missing.is_empty());
    let id = page["id"].as_str().expect("every page has one");
    for path in [
        format!("/api/v2/search/{id}?group=package&per_package=2"),
        format!("/api/v2/search/{id}/export?format=text"),
        format!("/api/v2/search/{id}/export?format=jsonl"),
        format!("/search?q={q}"),
        "/show?package=p_1&path=a/b.c&line=3".to_owned(),
        "/api/v2/file?package=p_1&path=a/b.c".to_owned(),
        "/raw/p/p_1/a/b.c".to_owned(),
        "/raw/g/p/main/a/b.c".to_owned(),
    ] {
        let (status, _) = site.get(&path);
        assert_ne!(status, 500, "{path}");
    }
}

pub(crate) fn reply_seeds() -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    let _ = samples::batch(&mut whole);
    let mut seeds = vec![whole.clone()];
    let _ = samples::skip().encode(&mut whole);
    let _ = samples::end().encode(&mut whole);
    seeds.push(whole);
    seeds.extend(samples::samples());
    seeds
}

/// The first input byte selects the page.
pub(crate) fn query_string(data: &[u8]) {
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    reply_with(reply_seeds().remove(1));
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
    let query: String = query.iter().map(|&byte| in_url(byte)).collect();
    let path = format!("{}?{query}", pages[usize::from(page) % pages.len()]);
    let (status, body) = site().get(&path);
    assert_ne!(status, 500, "{path}");
    assert!(!body.is_empty() || matches!(status, 300..400), "{path}");
}

pub(crate) fn in_url(byte: u8) -> String {
    match byte {
        b'%' | b'&' | b'=' | b'+' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).into(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).into(),
        _ => format!("%{byte:02x}"),
    }
}

pub(crate) fn query_string_seeds() -> Vec<Vec<u8>> {
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

/// Seeds reach the code behind a valid answer.
#[test]
fn valid_reply_gives_a_complete_page() {
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    reply_with(reply_seeds().remove(1));
    let (status, body) = site().get("/api/v2/search?q=right");
    let page: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(
        (status, &page["complete"], &page["total"]),
        (200, &true.into(), &2.into()),
        "{page}"
    );
    reply_with(samples::samples().remove(7));
    let (status, text) = site().get("/api/v2/file?package=p_1&path=a/b.c");
    assert_eq!((status, &text[..]), (200, &b"int needle;\n"[..]));
}
