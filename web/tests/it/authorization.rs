//! Callers who may see different packages: who decides, what is kept of it, and what becomes of it.
//!
//! The corpus has `package0` to `package4`; `package0` is public.

use crate::shards;
use crate::site::{Answer, Site, eventually};
use fake_authorization::{FakeService, Mode, Signer, claims};
use fake_backend::{Fake, Fault};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use ureq::http::Method;
use web::{Authorization, AuthorizationOptions, ConnectionLimits, Options};

const PUBLIC: &str = "package0";
const ANN: &str = "user=ann";
const BOB: &str = "user=bob";
const FILE: &str = "/api/v2/file?package=package2_1.2&path=src/file2.c";
const PUBLIC_FILE: &str = "/api/v2/file?package=package0_1.10&path=src/file10.c";

struct Guarded {
    site: Site,
    service: FakeService,
    fake: Arc<Fake>,
}

pub(crate) fn tls() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let roots = rustls::RootCertStore::empty();
    tls.with_root_certificates(roots).with_no_client_auth()
}

fn site(fake: &Arc<Fake>, options: &AuthorizationOptions) -> Site {
    fake.names_packages.store(true, SeqCst);
    let mut web = Options::default();
    let authorization = Authorization::new(options, tls(), None).unwrap();
    web.authorization = authorization.map(Arc::new);
    let limits = ConnectionLimits::default();
    Site::start(vec![fake.backend()], web, limits, |config| {
        config.has_scopes = true;
        // Views of results on the disk are kept as they were rendered.
        config.result_memory_bytes = 0;
    })
}

impl Guarded {
    fn new(change: impl FnOnce(&mut AuthorizationOptions)) -> Guarded {
        Guarded::over(Fake::new("one", shards(1, 2)), change)
    }

    fn over(fake: Arc<Fake>, change: impl FnOnce(&mut AuthorizationOptions)) -> Guarded {
        let service = FakeService::start();
        service.allow(ANN, &["package2"]);
        service.allow(BOB, &["package2", "package3"]);
        let mut options = AuthorizationOptions {
            url: Some(service.url()),
            batch: true,
            ttl: Duration::from_secs(30),
            public: vec![PUBLIC.to_owned()],
            ..AuthorizationOptions::default()
        };
        change(&mut options);
        Guarded {
            site: site(&fake, &options),
            service,
            fake,
        }
    }

    fn get(&self, path: &str, cookie: &str) -> Answer {
        self.site.send(Method::GET, path, &[("cookie", cookie)])
    }

    /// The lines of a stream of events, as BOB gets them.
    fn events(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.site.connect();
        let request = format!(
            "GET /api/v2/events?q=arse HTTP/1.1\r\nhost: localhost\r\ncookie: {BOB}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        BufReader::new(stream).lines().map(Result::unwrap)
    }

    /// The names of packages, without versions, that a search finds.
    fn finds(&self, cookie: &str) -> BTreeSet<String> {
        let answer = self.get("/api/v2/packages?q=arse&format=text", cookie);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        let names = text
            .lines()
            .map(|line| line.split('_').next().unwrap().to_owned());
        names.collect()
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn callers_find_what_the_service_allows_them_and_what_is_public() {
    for batch in [true, false] {
        let guarded = Guarded::new(|options| options.batch = batch);
        assert_eq!(guarded.finds(ANN), names(&[PUBLIC, "package2"]));
        assert_eq!(guarded.finds(BOB), names(&[PUBLIC, "package2", "package3"]));
        assert_eq!(guarded.finds("user=nobody"), names(&[PUBLIC]));
        assert_eq!(guarded.get(FILE, ANN).status, 200);
        let hidden = "/api/v2/file?package=package3_1.38&path=src/file38.c";
        assert_eq!(guarded.get(hidden, BOB).status, 200);
        let missing = "/api/v2/file?package=package9_1.38&path=src/file38.c";
        let (hidden, missing) = (guarded.get(hidden, ANN), guarded.get(missing, ANN));
        assert_eq!((hidden.status, missing.status), (404, 404));
        let masked = missing.text().replace("package9", "package3");
        assert_eq!(hidden.text(), masked);
        let private: usize = guarded.service.batches().iter().sum();
        assert_eq!(private > 0, batch, "{:?}", guarded.service.batches());
        let singles = guarded.service.singles();
        assert!(!singles.iter().any(|name| name == PUBLIC), "{singles:?}");
    }
}

#[test]
fn the_service_gets_the_credentials_of_the_caller_and_nothing_else() {
    let guarded = Guarded::new(|options| options.headers = vec!["X-Team".to_owned()]);
    guarded.service.allow("Basic YTpi", &["*"]);
    let headers = [
        ("authorization", "Basic YTpi"),
        ("x-team", "red"),
        ("x-other", "y"),
        ("accept", "text/html"),
    ];
    assert_eq!(guarded.site.send(Method::GET, FILE, &headers).status, 200);
    let sent = |name| guarded.service.last_header(name);
    assert_eq!(sent("authorization").unwrap(), "Basic YTpi");
    assert_eq!(sent("x-team").unwrap(), "red");
    assert_eq!((sent("cookie"), sent("x-other")), (None, None));
    let blue = [("authorization", "Basic YTpi"), ("x-team", "blue")];
    let before = guarded.service.requests();
    guarded.site.send(Method::GET, FILE, &blue);
    assert_eq!(guarded.service.requests(), before + 1, "another principal");
}

#[test]
fn headers_with_control_characters_are_refused_before_anybody_is_asked() {
    let guarded = Guarded::new(|_| ());
    for path in ["/api/v2/search?q=arse", FILE, "/search?q=arse", "/"] {
        let answer = guarded.get(path, "user=\tann");
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.text().contains("control characters"), "{path}");
    }
    for bytes in [&b"a\x01b"[..], b"a\x00b", b"a\x7fb"] {
        let request = [
            b"GET / HTTP/1.1\r\nhost: x\r\ncookie: ",
            bytes,
            b"\r\nconnection: close\r\n\r\n",
        ];
        let answer = guarded.site.raw(&request.concat());
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    assert_eq!(guarded.service.requests(), 0);
}

#[test]
fn no_shared_cache_keeps_what_depends_on_the_caller() {
    let guarded = Guarded::new(|options| options.headers = vec!["X-Team".to_owned()]);
    for path in [
        "/",
        "/search?q=arse",
        "/api/v2/tree?package=package2_1.2",
        FILE,
        "/api/v2/file?package=none&path=x",
    ] {
        let answer = guarded.get(path, ANN);
        let control = answer.header("cache-control");
        assert!(
            control == "no-store" || control.starts_with("private"),
            "{path}: {control}"
        );
        let vary = answer.headers.iter().filter(|(name, _)| name == "vary");
        let vary: Vec<_> = vary.map(|(_, value)| &value[..]).collect();
        assert!(
            vary.contains(&"authorization, cookie, x-team"),
            "{path}: {vary:?}"
        );
    }
}

#[test]
fn a_decision_is_asked_for_once_while_it_is_fresh() {
    let guarded = Guarded::new(|_| ());
    for _ in 0..20 {
        assert_eq!(guarded.get(FILE, ANN).status, 200);
        guarded.finds(ANN);
    }
    assert_eq!(
        guarded.service.requests(),
        2,
        "one about the file, one about all"
    );
    let uncached = Guarded::new(|options| options.ttl = Duration::ZERO);
    for _ in 0..5 {
        assert_eq!(uncached.get(FILE, ANN).status, 200);
    }
    assert_eq!(uncached.service.requests(), 5);
}

#[test]
fn many_requests_at_once_ask_the_service_once() {
    let guarded = Guarded::new(|_| ());
    guarded.service.set_latency(Duration::from_millis(300));
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..24)
            .map(|_| scope.spawn(|| guarded.get(FILE, ANN).status))
            .collect();
        for caller in callers {
            assert_eq!(caller.join().unwrap(), 200);
        }
    });
    assert_eq!(guarded.service.requests(), 1);
}

#[test]
fn no_reader_waits_while_a_decision_is_refreshed() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    assert_eq!(guarded.get(FILE, ANN).status, 200);
    guarded.service.set_latency(Duration::from_secs(2));
    let (asked, began) = (guarded.service.requests(), Instant::now());
    let mut slowest = Duration::ZERO;
    while guarded.service.requests() < asked + 2 {
        let started = Instant::now();
        assert_eq!(guarded.get(FILE, ANN).status, 200);
        slowest = slowest.max(started.elapsed());
        assert!(began.elapsed() < Duration::from_secs(30));
    }
    assert!(slowest < Duration::from_millis(1500), "{slowest:?}");
}

#[test]
fn a_decision_that_nobody_uses_is_not_asked_for_again() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.get(FILE, ANN);
    let mut last = (guarded.service.requests(), Instant::now());
    // One refresh is for the use that there was.
    eventually("the end of refreshes", || {
        let requests = guarded.service.requests();
        if requests != last.0 {
            last = (requests, Instant::now());
        }
        last.1.elapsed() > Duration::from_secs(3)
    });
    assert!(last.0 <= 2, "{}", last.0);
}

#[test]
fn whatever_the_service_answers_unknown_is_never_allowed() {
    for batch in [true, false] {
        let guarded = Guarded::new(|options| options.batch = batch);
        guarded.service.allow("user=x", &["*"]);
        let mut modes = vec![
            Mode::Redirect,
            Mode::HugeBody,
            Mode::HugeHeaders,
            Mode::CloseEarly,
            Mode::NotHttp,
            Mode::Status(500),
            Mode::Status(503),
            Mode::Status(301),
            Mode::Status(304),
            Mode::Status(400),
            Mode::Status(429),
        ];
        if batch {
            modes.extend([Mode::Garbage, Mode::WrongType]);
        }
        for (number, mode) in modes.into_iter().enumerate() {
            // A service of its own each time, so that the breaker does not answer for it.
            let guarded = Guarded::new(|options| options.batch = batch);
            guarded.service.set_mode(mode);
            let caller = format!("user={number}");
            let answer = guarded.get(FILE, &caller);
            assert_eq!(answer.status, 503, "{mode:?}: {}", answer.text());
            assert!(!answer.header("retry-after").is_empty(), "{mode:?}");
            assert_eq!(answer.json()["type"], "/problems/authorization-unknown");
            let details = answer.text().contains("500");
            assert!(!details, "no details: {}", answer.text());
            assert_eq!(guarded.finds(&caller), names(&[PUBLIC]), "{mode:?}");
            assert_eq!(guarded.get(PUBLIC_FILE, &caller).status, 200, "{mode:?}");
        }
    }
}

#[test]
fn a_service_that_hangs_or_drips_costs_its_time_and_public_files_none() {
    for mode in [Mode::Hang, Mode::Drip] {
        let guarded = Guarded::new(|options| options.batch = false);
        guarded.service.set_mode(mode);
        std::thread::scope(|scope| {
            let hidden = scope.spawn(|| guarded.get(FILE, ANN));
            let started = Instant::now();
            assert_eq!(guarded.get(PUBLIC_FILE, ANN).status, 200);
            assert!(started.elapsed() < Duration::from_secs(2), "{mode:?}");
            let hidden = hidden.join().unwrap();
            assert_eq!(hidden.status, 503, "{mode:?}");
        });
    }
}

/// Requests that show everything that a caller may see.
const ALL: [&str; 9] = [
    "/api/v2/search?q=arse",
    "/api/v2/search?q=arse&group=package",
    "/api/v2/packages?q=arse",
    "/api/v2/facets?q=arse",
    "/api/v2/explain?q=arse",
    "/api/v2/index/packages",
    "/api/v2/status",
    "/api/v2/export?q=arse&format=csv",
    "/search?q=arse",
];

/// Whether an answer has a package that is not public, and whether it says that something is missing.
fn shows(answer: &Answer) -> (bool, bool) {
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    let has_private = (1..5).any(|number| text.contains(&format!("package{number}")));
    let reason = "packages that are not public were not searched";
    let is_export = !answer.header("content-disposition").is_empty();
    let says_so = if is_export {
        answer.header("x-trawl-complete") == "false"
    } else {
        let is_marked = text.contains("\"complete\":false") || text.contains("role=\"alert\"");
        assert_eq!(text.contains(reason), is_marked, "{text}");
        is_marked
    };
    (has_private, says_so)
}

#[test]
fn while_the_service_fails_public_packages_are_searched_at_once_and_answers_say_so() {
    for mode in [Mode::Status(500), Mode::Hang] {
        let guarded = Guarded::new(|_| {});
        guarded.service.set_mode(mode);
        let started = Instant::now();
        for path in ALL {
            let answer = guarded.get(path, ANN);
            assert_eq!(shows(&answer), (false, true), "{mode:?} {path}");
        }
        let took = started.elapsed();
        // The first one waits for a second, and then nobody more than a moment.
        assert!(took < Duration::from_secs(5), "{mode:?} {took:?}");
        // A name answers the same whether it exists or not.
        let missing = FILE.replace("package2", "package9");
        let (hidden, missing) = (guarded.get(FILE, ANN), guarded.get(&missing, ANN));
        assert_eq!((hidden.status, missing.status), (503, 503));
        assert_eq!(hidden.text(), missing.text());
        assert_eq!(hidden.header("retry-after"), missing.header("retry-after"));
        guarded.service.set_mode(Mode::Rules);
        eventually("everything that the caller may see", || {
            guarded.finds(ANN) == names(&[PUBLIC, "package2"])
        });
        for path in ALL {
            let answer = guarded.get(path, ANN);
            let is_counted_only = path.contains("status") || path.contains("explain");
            assert_eq!(shows(&answer), (!is_counted_only, false), "{mode:?} {path}");
        }
    }
}

#[test]
fn with_nothing_public_a_search_without_the_service_is_refused() {
    let guarded = Guarded::new(|options| options.public = Vec::new());
    guarded.service.set_mode(Mode::Status(500));
    for path in ALL {
        let answer = guarded.get(path, ANN);
        assert_eq!(answer.status, 503, "{path}: {}", answer.text());
        assert!(!answer.header("retry-after").is_empty(), "{path}");
    }
}

#[test]
fn without_the_service_nobody_can_tell_whether_there_are_private_packages() {
    let with = Guarded::new(|_| {});
    let mut public = shards(1, 2);
    for (_, documents) in &mut public {
        documents.retain(|document| document.package.starts_with(PUBLIC.as_bytes()));
    }
    let without = Guarded::over(Fake::new("one", public), |_| {});
    for guarded in [&with, &without] {
        guarded.service.set_mode(Mode::Status(500));
    }
    for path in ALL {
        let [one, other] = [&with, &without].map(|guarded| guarded.get(path, ANN));
        assert_eq!(shows(&one), (false, true), "{path}");
        assert_eq!(shows(&other), (false, true), "{path}");
    }
    let missing =
        |guarded: &Guarded| guarded.get(ALL[0], ANN).json()["missing"][0]["reason"].clone();
    assert_eq!(missing(&with), missing(&without));
}

#[test]
fn a_service_without_tls_or_behind_no_port_allows_nothing() {
    let service = FakeService::start();
    let https = service.url().replace("http:", "https:");
    for url in [
        https,
        "http://127.0.0.1:1/".to_owned(),
        "http://no-such-host.invalid/".to_owned(),
    ] {
        let guarded = Guarded::new(|options| options.url = Some(url.clone()));
        assert_eq!(guarded.get(FILE, ANN).status, 503, "{url}");
        assert_eq!(guarded.get(PUBLIC_FILE, ANN).status, 200, "{url}");
    }
}

#[test]
fn the_last_allow_stays_while_the_service_fails() {
    // A decision that nobody uses until it is to be refreshed is dropped: a busy machine must not be so slow.
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(4));
    assert_eq!(guarded.get(FILE, ANN).status, 200);
    assert_eq!(guarded.finds(ANN), names(&[PUBLIC, "package2"]));
    guarded.service.set_mode(Mode::Status(500));
    let until = Instant::now() + Duration::from_secs(9);
    while Instant::now() < until {
        assert_eq!(guarded.get(FILE, ANN).status, 200);
        assert_eq!(guarded.finds(ANN), names(&[PUBLIC, "package2"]));
    }
    assert_eq!(
        guarded.get(FILE, BOB).status,
        503,
        "about whom nothing is known"
    );
}

#[test]
fn a_denial_of_one_name_takes_it_out_of_searches_too() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    assert_eq!(guarded.get(FILE, BOB).status, 200);
    assert_eq!(guarded.finds(BOB), names(&[PUBLIC, "package2", "package3"]));
    guarded.service.allow(BOB, &["package3"]);
    eventually("the denial", || guarded.get(FILE, BOB).status == 404);
    // The next search already: what was known about all names is forgotten with the denial.
    assert_eq!(guarded.finds(BOB), names(&[PUBLIC, "package3"]));
    guarded.service.allow(BOB, &["package2"]);
    eventually("the right that came back", || {
        guarded.get(FILE, BOB).status == 200
    });
}

#[test]
fn a_stream_ends_with_the_reason_when_its_caller_loses_a_right() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.fake.set(Fault::Gate);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    let ended = revoked.elapsed();
    let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let done: Value = serde_json::from_str(&data.unwrap()).unwrap();
    assert_eq!(done["type"], "/problems/access-changed", "{done}");
    // The decision lives for a second, and is then asked again in the background.
    assert!(ended < Duration::from_secs(11), "{ended:?}");
    guarded.fake.open_gate();
}

#[test]
fn a_stream_keeps_the_decisions_that_it_depends_on_however_short_their_life() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    guarded.fake.set(Fault::Gate);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    // Long enough for a decision that nobody uses to be forgotten.
    let asked = guarded.service.requests();
    eventually("the decision is asked for again", || {
        guarded.service.requests() >= asked + 3
    });
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    assert!(revoked.elapsed() < Duration::from_secs(8));
    guarded.fake.open_gate();
}

#[test]
fn a_denial_that_another_request_learns_ends_a_stream_at_once() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    guarded.fake.set(Fault::Gate);
    assert_eq!(guarded.get(FILE, BOB).status, 200);
    let mut lines = guarded.events();
    assert!(lines.any(|line| line == "event: progress"));
    guarded.service.allow(BOB, &["package3"]);
    eventually("the denial", || guarded.get(FILE, BOB).status == 404);
    let learned = Instant::now();
    assert!(lines.any(|line| line == "event: done"));
    // Milliseconds on an idle machine. Without the denial it would look again after ten seconds.
    assert!(learned.elapsed() < Duration::from_secs(3));
    guarded.fake.open_gate();
}

#[test]
fn an_export_breaks_off_with_a_last_line_when_its_caller_loses_a_right() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.fake.set(Fault::Gate);
    let mut stream = guarded.site.connect();
    let path = "/api/v2/export?q=arse&format=jsonl&order=found";
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {BOB}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("package") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0);
    }
    guarded.service.allow(BOB, &["package3"]);
    let revoked = Instant::now();
    let mut rest = Vec::new();
    // The transfer breaks off, which is no clean end of its chunks.
    let _ = reader.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert!(rest.contains("/problems/access-changed"), "{rest}");
    assert!(
        !rest.contains("{\"done\"") && !rest.ends_with("0\r\n\r\n"),
        "{rest}"
    );
    assert!(revoked.elapsed() < Duration::from_secs(11));
    guarded.fake.open_gate();
}

#[test]
fn without_batches_many_private_packages_are_refused_with_the_way_out() {
    let documents = |number: usize| fake_backend::Document {
        package: format!("p{number:02}x_1").into_bytes(),
        path: b"a.c".to_vec(),
        lines: vec![b"arse".to_vec()],
        split: false,
    };
    let fake = Fake::new("one", vec![(1, (0..66).map(documents).collect())]);
    let service = FakeService::start();
    service.allow(ANN, &["*"]);
    let options = |public: &str, batch| AuthorizationOptions {
        url: Some(service.url()),
        batch,
        ttl: Duration::from_secs(30),
        public: vec![public.to_owned()],
        ..AuthorizationOptions::default()
    };
    let search = "/api/v2/search?q=arse";
    for (public, batch, status) in [
        ("p00x", false, 503),
        ("p0?x", false, 200),
        ("p00x", true, 200),
    ] {
        let site = site(&fake, &options(public, batch));
        let answer = site.send(Method::GET, search, &[("cookie", ANN)]);
        assert_eq!(answer.status, status, "{public} {batch}: {}", answer.text());
        assert_eq!(answer.text().contains("--auth-batch"), status == 503);
    }
    let names = (0..66).map(|number| format!("p{number:02}x_1"));
    let names: Vec<String> = names.collect();
    let names = frontend::PackageNames::new(names.iter().map(|name| name.as_bytes()));
    let check = |public: &str, batch| {
        let authorization = Authorization::new(&options(public, batch), tls(), None).unwrap();
        authorization.unwrap().check_names(&names)
    };
    let refused = check("p00x", false).unwrap_err().to_string();
    assert!(
        refused.contains("65 packages") && refused.contains("--auth-batch"),
        "{refused}"
    );
    assert!(check("p0?x", false).is_ok() && check("p00x", true).is_ok());
}

#[test]
fn ids_and_cursors_of_other_callers_lead_nowhere() {
    let guarded = Guarded::new(|_| ());
    let page = guarded.get("/api/v2/search?q=arse&per_page=2", BOB).json();
    let id = page["id"].as_str().unwrap();
    let cursor = page["next"].as_str().unwrap();
    for path in [
        format!("/api/v2/search/{id}"),
        format!("/api/v2/search/{id}/facets"),
        format!("/api/v2/search/{id}/packages"),
        format!("/api/v2/search/{id}/export"),
        format!("/api/v2/search/{id}/events"),
        format!("/api/v2/search/{id}/copies?position=0"),
    ] {
        assert_eq!(guarded.get(&path, BOB).status, 200, "{path}");
        let other = guarded.get(&path, ANN);
        assert_eq!(other.status, 404, "{path}: {}", other.text());
    }
    let path = format!("/api/v2/search/{id}");
    let headers = [("cookie", ANN)];
    assert_eq!(
        guarded.site.send(Method::DELETE, &path, &headers).status,
        404
    );
    let path = format!("/api/v2/search?cursor={cursor}&per_page=2");
    assert_eq!(guarded.get(&path, BOB).status, 200);
    let other = guarded.get(&path, ANN);
    assert_eq!(other.status, 410, "{}", other.text());
    assert!(other.text().contains("the cursor has expired"));
}

#[test]
fn a_view_that_was_rendered_for_one_caller_is_not_shown_to_another() {
    let guarded = Guarded::new(|_| ());
    for view in [
        "/api/v2/facets?q=arse",
        "/api/v2/packages?q=arse",
        "/api/v2/packages?q=arse&format=text",
        "/api/v2/search?q=arse&group=package",
        "/api/v2/search?q=arse&group=document",
        "/search?q=arse&group=package",
    ] {
        let shows = |cookie| guarded.get(view, cookie).text().contains("package3");
        for _ in 0..2 {
            assert!(shows(BOB), "{view}");
            assert!(!shows(ANN), "{view}");
        }
    }
}

#[test]
fn health_and_metrics_say_nothing_of_private_packages() {
    let guarded = Guarded::new(|_| ());
    assert_eq!(guarded.get("/metrics", BOB).status, 404);
    let ready = guarded.get("/readyz", BOB);
    assert_eq!(
        (ready.status, ready.text()),
        (200, r#"{"status":"ok"}"#.to_owned())
    );
    assert_eq!(guarded.get("/healthz", BOB).status, 200);
}

/// A site whose callers have tokens, and the file of keys.
struct Issued {
    site: Site,
    file: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl Issued {
    fn new(keys: &[Value]) -> Issued {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keys.json");
        std::fs::write(&file, json!({ "keys": keys }).to_string()).unwrap();
        let options = AuthorizationOptions {
            jwks: Some(file.to_str().unwrap().to_owned()),
            claim: Some("repositories".to_owned()),
            ttl: Duration::from_secs(30),
            public: vec![PUBLIC.to_owned()],
            ..AuthorizationOptions::default()
        };
        Issued {
            site: site(&Fake::new("one", shards(1, 2)), &options),
            file,
            _directory: directory,
        }
    }

    fn get(&self, path: &str, token: &str) -> Answer {
        let value = format!("Bearer {token}");
        self.site
            .send(Method::GET, path, &[("authorization", &value)])
    }
}

#[test]
fn bearers_of_tokens_see_what_these_list() {
    let signer = Signer::ed25519("ours");
    let issued = Issued::new(&[signer.public()]);
    let list = "/api/v2/packages?q=arse&format=text";
    let open = issued.site.get(list).text();
    assert!(
        open.contains("package0_") && !open.contains("package2_"),
        "{open}"
    );
    assert_eq!(issued.site.get(FILE).status, 404);
    let token = signer.sign(&claims(&["package[23]"], 100));
    let text = issued.get(list, &token).text();
    assert!(
        text.contains("package2_") && text.contains("package3_") && !text.contains("package4_")
    );
    assert_eq!(issued.get(FILE, &token).status, 200);
    let basic = [("authorization", "Basic YTpi")];
    assert_eq!(
        issued.site.send(Method::GET, FILE, &basic).status,
        404,
        "not a token"
    );
}

#[test]
fn tokens_that_are_not_accepted_get_401_with_the_reason() {
    let (signer, other) = (Signer::p256("ours"), Signer::p256("other"));
    let issued = Issued::new(&[signer.public()]);
    let none = signer.sign_with(
        &json!({"alg": "none", "kid": "ours"}),
        &claims(&["**"], 100),
    );
    for (token, says) in [
        (signer.sign(&claims(&["**"], -100)), "has expired"),
        (other.sign(&claims(&["**"], 100)), "unknown key"),
        (none, "alg: none"),
        ("x.y.z".to_owned(), "not a signed token"),
        ("x".repeat(17 << 10), "more than 16384 bytes"),
    ] {
        for path in ["/api/v2/search?q=arse", FILE, PUBLIC_FILE, "/search?q=arse"] {
            let answer = issued.get(path, &token);
            assert_eq!(answer.status, 401, "{says} {path}: {}", answer.text());
            assert!(
                answer.text().contains(says),
                "{says} {path}: {}",
                answer.text()
            );
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    let twice = [
        ("authorization", "Bearer a.b.c"),
        ("authorization", "Bearer d.e.f"),
    ];
    assert_eq!(issued.site.send(Method::GET, FILE, &twice).status, 401);
}

#[test]
fn a_rotated_key_ends_its_tokens_without_a_restart() {
    let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
    let issued = Issued::new(&[old.public()]);
    let [of_old, of_new] = [&old, &new].map(|signer| signer.sign(&claims(&["**"], 100)));
    assert_eq!(issued.get(FILE, &of_old).status, 200);
    assert_eq!(issued.get(FILE, &of_new).status, 401);
    std::fs::write(&issued.file, json!({"keys": [new.public()]}).to_string()).unwrap();
    eventually("the new key", || issued.get(FILE, &of_old).status == 401);
    assert_eq!(issued.get(FILE, &of_new).status, 200);
}

#[test]
fn keys_at_an_address_are_fetched_and_a_token_with_an_unknown_key_asks_again_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let signer = Signer::ed25519("ours");
    let set = json!({"keys": [signer.public()]}).to_string();
    let fetched = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&fetched);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, SeqCst);
            answer_once(stream, &set);
        }
    });
    let options = AuthorizationOptions {
        jwks: Some(format!("http://{address}/keys")),
        claim: Some("repositories".to_owned()),
        ttl: Duration::from_secs(30),
        ..AuthorizationOptions::default()
    };
    let site = site(&Fake::new("one", shards(1, 2)), &options);
    let get = |token: &str| {
        let value = format!("Bearer {token}");
        site.send(Method::GET, FILE, &[("authorization", &value)])
            .status
    };
    let token = signer.sign(&claims(&["**"], 100));
    eventually("the keys", || get(&token) == 200);
    let unknown = Signer::ed25519("unknown").sign(&claims(&["**"], 100));
    for _ in 0..10 {
        assert_eq!(get(&unknown), 401);
    }
    assert_eq!(fetched.load(SeqCst), 1, "asked a moment ago");
}

/// Answers one request with JSON.
fn answer_once(mut stream: TcpStream, body: &str) {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head);
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
