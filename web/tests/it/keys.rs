//! Keys of clients, and cookies of pages.

use crate::shards;
use crate::site::{Answer, AsBackend, Site, eventually};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use tempfile::TempDir;
use testkit::backend::{Fake, Fault};
use ureq::http::Method;
use web::{Access, ApiKeys, ConnectionLimits, CookieSecret, NewKey, Options, TrustedProxies};

struct Guarded {
    site: Site,
    robot: String,
    human: String,
    file: PathBuf,
    _directory: TempDir,
}

impl Guarded {
    fn new(is_required: bool) -> Guarded {
        Guarded::with(&Fake::new("one", shards(1, 2)), is_required, |_| ())
    }

    fn with(
        fake: &Arc<Fake>,
        is_required: bool,
        change: impl FnOnce(&mut frontend::Config),
    ) -> Guarded {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keys");
        let [robot, human] = ["robot", "human"].map(|name| NewKey::random(name).unwrap());
        std::fs::write(&file, format!("{}\n{}\n", robot.line, human.line)).unwrap();
        let access = Access::new(
            ApiKeys::open(&file).unwrap(),
            CookieSecret::random(),
            is_required,
        );
        let mut options = Options::new(Vec::new(), vec!["dcs-key-of-old".to_owned()]).unwrap();
        options.access = Some(Arc::new(access));
        // For requests with x-forwarded-for.
        let limits = ConnectionLimits {
            trusted_proxies: TrustedProxies::new(&["127.0.0.1".to_owned()]).unwrap(),
            ..ConnectionLimits::default()
        };
        Guarded {
            site: Site::start(vec![fake.backend()], options, limits, change),
            robot: robot.key,
            human: human.key,
            file,
            _directory: directory,
        }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.site.send(Method::GET, path, headers)
    }

    fn with_key(&self, path: &str, key: &str) -> Answer {
        self.get(path, &[("authorization", &format!("Bearer {key}"))])
    }

    fn sign_in(&self, form: &str, headers: &[(&str, &str)]) -> Answer {
        self.site.post("/sign-in", headers, form.as_bytes())
    }

    fn cookie(&self, key: &str) -> String {
        let answer = self.sign_in(&format!("key={key}&next=%2F"), &[]);
        assert_eq!(answer.status, 303, "{}", answer.text());
        sent_back(&answer)
    }
}

/// Checks a cookie, and returns it like a browser.
fn sent_back(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie");
    for part in [
        "; Path=/",
        "; Max-Age=604800",
        "; HttpOnly",
        "; SameSite=Strict",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

fn is_refused(answer: &Answer) -> bool {
    answer.status == 401 && answer.header("www-authenticate") == "Bearer"
}

#[test]
fn the_api_answers_only_to_known_keys() {
    let guarded = Guarded::new(false);
    let search = "/api/v2/search?q=arse";
    let refused = guarded.get(search, &[]);
    assert!(is_refused(&refused));
    let problem = refused.json();
    assert_eq!(problem["type"], "/problems/key-needed");
    assert_eq!(problem["detail"], "a key is needed");
    assert_eq!(refused.header("cache-control"), "no-store");
    let missing = "trawl_http_keys_refused_total{reason=\"missing\"}";
    let wrong = "trawl_http_keys_refused_total{reason=\"wrong\"}";
    let before = (guarded.site.counter(missing), guarded.site.counter(wrong));
    let line = std::fs::read_to_string(&guarded.file).unwrap();
    let hash = line.split_whitespace().nth(1).unwrap();
    let almost = &guarded.robot[..guarded.robot.len() - 1];
    for key in ["x", almost, hash, "dcs-key-of-old"] {
        let refused = guarded.with_key(search, key);
        assert!(is_refused(&refused), "{key}");
        assert!(refused.text().contains("not known"), "{}", refused.text());
    }
    for path in [
        "/api/v2/status",
        "/api/v2/limits",
        "/api/v2/events?q=x",
        "/api/v2/nothing",
    ] {
        assert!(is_refused(&guarded.get(path, &[])), "{path}");
    }
    // Other tests of this process refuse keys, too.
    assert!(guarded.site.counter(wrong) - before.1 >= 4);
    assert!(guarded.site.counter(missing) - before.0 >= 4);
    for key in [&guarded.robot, &guarded.human] {
        let answer = guarded.with_key(search, key);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("cache-control"), "private, no-cache");
        assert!(answer.header("set-cookie").is_empty());
    }
}

#[test]
fn pages_are_open_and_bring_the_cookie_with_which_they_ask() {
    let guarded = Guarded::new(false);
    let page = guarded.get("/search?q=arse", &[]);
    assert_eq!(page.status, 200);
    let cookie = sent_back(&page);
    assert!(!page.header("set-cookie").contains("Secure"));
    let ask = |cookie: &str| guarded.get("/api/v2/search?q=arse", &[("cookie", cookie)]);
    assert_eq!(ask(&cookie).status, 200);
    assert_eq!(ask(&format!("other=1; {cookie}; x=y")).status, 200);
    assert!(is_refused(&ask(&cookie[..cookie.len() - 1])));
    // A second cookie is not needed, even for an unchanged answer.
    let again = guarded.get("/search?q=arse", &[("cookie", &cookie)]);
    assert_eq!(again.header("set-cookie"), "");
    let tag = page.header("etag");
    let unchanged = guarded.get("/search?q=arse", &[("if-none-match", tag)]);
    assert_eq!(unchanged.status, 304);
    sent_back(&unchanged);
    for path in [
        "/",
        "/show?package=package2_1.2&path=src/file2.c",
        "/problems",
    ] {
        let page = guarded.get(path, &[]);
        assert_eq!(page.header("cache-control"), "private, no-cache", "{path}");
        let vary: Vec<_> = page
            .headers
            .iter()
            .filter(|(name, _)| name == "vary")
            .collect();
        assert!(
            vary.iter().any(|(_, value)| value.contains("cookie")),
            "{vary:?}"
        );
    }
    for path in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/robots.txt",
        "/assets/0/main.js",
        "/api/openapi.json",
    ] {
        let answer = guarded.get(path, &[]);
        assert_eq!(
            (answer.status, answer.header("set-cookie")),
            (200, ""),
            "{path}"
        );
    }
    let proxied = [
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-proto", "https"),
    ];
    let page = guarded.get("/", &proxied);
    assert!(page.header("set-cookie").contains("; Secure"));
    assert_eq!(guarded.get("/sign-in", &[]).status, 404);
}

#[test]
fn with_required_keys_everything_but_health_needs_one() {
    let guarded = Guarded::new(true);
    let show = "/show?package=package2_1.2&path=src/file2.c";
    let pages = [
        "/",
        "/search?q=arse",
        show,
        "/problems",
        "/metrics",
        "/api/openapi.json",
        "/openapi.yaml",
    ];
    let api = [
        "/api/v2/search?q=arse",
        "/api/v2/export?q=arse",
        "/api/v2/tree?package=package2_1.2",
    ];
    for path in pages
        .into_iter()
        .chain(api)
        .chain(["/nothing", "/results/x/page_0"])
    {
        let refused = guarded.get(path, &[]);
        assert!(is_refused(&refused), "{path}: {}", refused.status);
        assert_eq!(refused.header("set-cookie"), "", "{path}");
        assert_eq!(refused.header("cache-control"), "no-store", "{path}");
        let text = refused.text();
        assert!(
            !text.contains("arse</") && !text.contains("trawl_"),
            "{path}: {text}"
        );
    }
    let cookie = guarded.cookie(&guarded.human);
    for path in pages.into_iter().chain(api) {
        assert_eq!(guarded.with_key(path, &guarded.robot).status, 200, "{path}");
        assert_eq!(
            guarded.get(path, &[("cookie", &cookie)]).status,
            200,
            "{path}"
        );
    }
    for path in [
        "/healthz",
        "/readyz",
        "/robots.txt",
        "/assets/0/main.js",
        "/sign-in",
    ] {
        assert_eq!(guarded.get(path, &[]).status, 200, "{path}");
    }
    assert_eq!(guarded.get("/readyz", &[]).text(), r#"{"status":"ok"}"#);
    let ready = guarded.with_key("/readyz", &guarded.robot);
    assert_eq!(ready.json()["backends"][0]["name"], "one");
    // Cookies of open sites grant no access here.
    let open = Guarded::new(false);
    let cookie = sent_back(&open.get("/", &[]));
    assert!(is_refused(&guarded.get("/", &[("cookie", &cookie)])));
}

#[test]
fn the_interface_of_debian_code_search_is_no_side_door() {
    let path = "/api/v1/search?query=arse";
    for is_required in [false, true] {
        let guarded = Guarded::new(is_required);
        let own = |key| guarded.get(path, &[("x-dcs-apikey", key)]).status;
        assert_eq!((own("dcs-key-of-old"), own("wrong")), (200, 403));
        assert_eq!(guarded.get(path, &[]).status, 403);
        assert_eq!(guarded.with_key(path, &guarded.robot).status, 200);
        assert_eq!(guarded.with_key(path, "wrong").status, 403);
    }
}

#[test]
fn a_page_asks_for_a_key_once_and_leads_back() {
    let guarded = Guarded::new(true);
    let asked = guarded.get("/search?q=%3Cb%3E&page=2", &[]);
    let form = asked.text();
    assert!(
        form.contains(r#"action="/sign-in" method="post""#),
        "{form}"
    );
    assert!(
        form.contains(r#"name="next" value="/search?q=%3Cb%3E&#38;page=2""#),
        "{form}"
    );
    assert!(!form.contains("http-equiv"), "{form}");
    let linked = guarded.get("/", &[("sec-fetch-site", "cross-site")]);
    assert!(
        linked.text().contains(r#"http-equiv="refresh""#),
        "the browser sends the cookie then"
    );
    let form = format!("key=+{}%0A&next=%2Fsearch%3Fq%3Darse", guarded.human);
    let back = guarded.sign_in(&form, &[]);
    assert_eq!(
        (back.status, back.header("location")),
        (303, "/search?q=arse")
    );
    let cookie = sent_back(&back);
    let page = guarded.get("/search?q=arse", &[("cookie", &cookie)]);
    assert!(page.text().contains("Sign out"));
    let signed_in = guarded
        .get("/sign-in?next=/", &[("cookie", &cookie)])
        .text();
    assert!(signed_in.contains("<b>human</b>"), "{signed_in}");
    let out = guarded.site.post("/sign-out", &[("cookie", &cookie)], b"");
    assert_eq!((out.status, out.header("location")), (303, "/sign-in"));
    assert!(out.header("set-cookie").contains("=; Path=/; Max-Age=0;"));
    let wrong = guarded.sign_in("key=wrong&next=%2Fshow", &[]);
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    assert!(wrong.text().contains("This key is not known here"));
    assert!(wrong.text().contains(r#"value="/show""#));
    for next in [
        "//evil.example",
        "https://evil.example",
        "/%5Cevil.example",
        "/%09/evil.example",
        "",
    ] {
        let back = guarded.sign_in(&format!("key={}&next={next}", guarded.human), &[]);
        assert_eq!(back.header("location"), "/", "{next}");
    }
    let foreign = [("origin", "https://evil.example")];
    let refused = guarded.sign_in(&form, &foreign);
    assert_eq!((refused.status, refused.header("set-cookie")), (403, ""));
    for bad in ["key=%", "key=%ff%", "\u{e9}=%e"] {
        assert_eq!(guarded.sign_in(bad, &[]).status, 400, "{bad}");
    }
}

#[test]
fn wrong_keys_in_the_form_are_limited_by_client() {
    let guarded = Guarded::new(true);
    let try_key = |client: &str, key: &str| {
        guarded.sign_in(&format!("key={key}"), &[("x-forwarded-for", client)])
    };
    for _ in 0..10 {
        assert_eq!(try_key("192.0.2.1", "wrong").status, 401);
    }
    let limited = try_key("192.0.2.1", &guarded.human);
    assert_eq!(limited.status, 429);
    let seconds: u64 = limited.header("retry-after").parse().unwrap();
    assert!((1..=61).contains(&seconds), "{seconds}");
    assert_eq!(try_key("192.0.2.2", &guarded.human).status, 303);
}

#[test]
fn a_revoked_key_ends_with_its_cookies_and_without_a_restart() {
    let guarded = Guarded::new(true);
    let cookie = guarded.cookie(&guarded.human);
    let path = "/api/v2/limits";
    assert_eq!(guarded.get(path, &[("cookie", &cookie)]).status, 200);
    let lines = std::fs::read_to_string(&guarded.file).unwrap();
    let robot = lines.lines().next().unwrap();
    // Invalid files change nothing.
    std::fs::write(&guarded.file, "robot").unwrap();
    assert_eq!(guarded.with_key(path, &guarded.human).status, 200);
    std::fs::write(&guarded.file, robot).unwrap();
    eventually("the end of the key", || {
        is_refused(&guarded.with_key(path, &guarded.human))
    });
    assert!(is_refused(&guarded.get(path, &[("cookie", &cookie)])));
    assert_eq!(guarded.with_key(path, &guarded.robot).status, 200);
}

#[test]
fn heavy_slots_are_shared_by_key_and_not_by_address() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    fake.is_costly.store(true, SeqCst);
    let guarded = Guarded::with(&fake, false, |config| {
        (config.running_max, config.queued_max) = (2, 2);
    });
    let start = |q: &str, key: &str, from: &str| {
        let path = format!("/api/v2/search?q={q}&wait=false");
        let key = format!("Bearer {key}");
        let headers = [("authorization", &key[..]), ("x-forwarded-for", from)];
        assert_eq!(guarded.get(&path, &headers).status, 200);
        path
    };
    // Addresses of one client share all slots but one.
    start("arse", &guarded.robot, "192.0.2.1");
    eventually("the first search", || fake.searches.load(SeqCst) == 1);
    start("parse", &guarded.robot, "192.0.2.2");
    eventually("its refusal by the backend", || {
        fake.refused.load(SeqCst) == 1
    });
    start("int", &guarded.human, "192.0.2.1");
    eventually("the search of another key", || {
        fake.searches.load(SeqCst) == 2
    });
    fake.open_gate();
}
