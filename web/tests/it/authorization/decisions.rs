//! Decisions of the service, their cache, and its isolation of callers.

use super::{ANN, BOB, FILE, Guarded, PUBLIC, names, site, tls};
use crate::site::eventually;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::authorization::FakeService;
use testkit::backend::Fake;
use ureq::http::Method;
use web::{Authorization, AuthorizationOptions};

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
fn a_hidden_package_is_no_repository_of_github() {
    let guarded = Guarded::new(|_| ());
    let search = "/search/code?q=parse&per_page=100";
    let found = guarded.get(search, ANN).text();
    assert!(found.contains("pkg/package2_") && !found.contains("package3_"));
    for path in [
        "/repos/pkg/package3_1.38",
        "/repos/x/package3/git/trees/HEAD",
        "/repos/pkg/package3_1.38/contents/src/file38.c",
        "/repos/pkg/package3_1.38/contents/src",
        "/repos/pkg/package3_1.38/commits",
        "/repos/pkg/package3_1.38/git/ref/heads/main",
        "/search/code?q=parse+repo:pkg/package3_1.38",
        "/pkg/package3_1.38/blob/main/src/file38.c",
    ] {
        let other = path.replace("package3", "package9");
        let (hidden, missing) = (guarded.get(path, ANN), guarded.get(&other, ANN));
        let masked = missing.text().replace("package9", "package3");
        assert_eq!((hidden.status, hidden.text()), (missing.status, masked));
        assert!(hidden.status >= 400, "{path}");
    }
}

#[test]
fn places_of_a_name_are_in_visible_packages() {
    let guarded = Guarded::new(|_| ());
    let request = |file: &str| format!("/api/v2/definitions?{file}&name=parse_1");
    let answer = guarded.get(&request("package=package2_1.2&path=src/file2.c"), ANN);
    let places = answer.json()["places"].as_array().unwrap().clone();
    let package = |place: &serde_json::Value| {
        let package = place["package"].as_str().unwrap();
        package.split('_').next().unwrap().to_owned()
    };
    let found: BTreeSet<String> = places.iter().map(package).collect();
    assert_eq!(found, names(&[PUBLIC, "package2"]));
    let page = |file: &str| guarded.get(&format!("/symbol?{file}&q=parse_1"), ANN);
    let text = page("package=package2_1.2&path=src/file2.c").text();
    assert!(text.contains("package2_") && !text.contains("package3_"));
    let hidden = page("package=package3_1.38&path=src/file38.c");
    assert_eq!(hidden.status, 404);
    for endpoint in ["symbols", "definitions", "references"] {
        let get = |package: &str| {
            let name = if endpoint == "symbols" { "" } else { "&name=x" };
            let file = format!("package={package}_1.38&path=src/file38.c{name}");
            guarded.get(&format!("/api/v2/{endpoint}?{file}"), ANN)
        };
        let (hidden, missing) = (get("package3"), get("package9"));
        assert_eq!((hidden.status, missing.status), (404, 404), "{endpoint}");
        let masked = missing.text().replace("package9", "package3");
        assert_eq!(hidden.text(), masked, "{endpoint}");
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
    // A busy machine may pause until a decision has expired.
    let mut rounds = (0..3).map(|_| slowest_of_two_refreshes());
    assert!(rounds.any(|slowest| slowest < Duration::from_millis(1500)));
}

fn slowest_of_two_refreshes() -> Duration {
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
    slowest
}

#[test]
fn a_decision_that_nobody_uses_is_not_asked_for_again() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(1));
    guarded.get(FILE, ANN);
    let mut last = (guarded.service.requests(), Instant::now());
    // The earlier use causes one refresh.
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
fn a_denial_of_one_name_takes_it_out_of_searches_too() {
    let guarded = Guarded::new(|options| options.ttl = Duration::from_secs(2));
    assert_eq!(guarded.get(FILE, BOB).status, 200);
    assert_eq!(guarded.finds(BOB), names(&[PUBLIC, "package2", "package3"]));
    guarded.service.allow(BOB, &["package3"]);
    eventually("the denial", || guarded.get(FILE, BOB).status == 404);
    // The denial also evicts the decisions about all names.
    assert_eq!(guarded.finds(BOB), names(&[PUBLIC, "package3"]));
    guarded.service.allow(BOB, &["package2"]);
    eventually("the right that came back", || {
        guarded.get(FILE, BOB).status == 200
    });
}

#[test]
fn without_batches_many_private_packages_are_refused_with_the_way_out() {
    let documents = |number: usize| testkit::backend::Document {
        package: format!("p{number:02}x").into_bytes(),
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
    let names = (0..66).map(|number| format!("p{number:02}x"));
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
fn a_search_with_a_limit_does_not_tell_its_work() {
    let guarded = Guarded::new(|_| ());
    for (limit, is_told) in [("", true), ("&limit=1", false)] {
        let path = format!("/api/v2/search?q=arse&explain=true{limit}");
        let explain = guarded.get(&path, BOB).json()["explain"].clone();
        assert!(explain["blocks"].as_u64().unwrap() > 0, "{explain}");
        for count in ["candidates", "documents"] {
            assert_eq!(explain[count] != 0, is_told, "{limit} {count}: {explain}");
        }
    }
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
    eventually("a backend", || guarded.get("/readyz", BOB).status == 200);
    let ready = guarded.get("/readyz", BOB);
    assert_eq!(
        (ready.status, ready.text()),
        (200, r#"{"status":"ok"}"#.to_owned())
    );
    assert_eq!(guarded.get("/healthz", BOB).status, 200);
}

#[test]
fn an_invisible_package_is_compared_like_one_that_does_not_exist() {
    let guarded = Guarded::new(|_| ());
    let ask = |other: &str, cookie: &str| {
        let path = format!("/api/v2/diff?from=package0_1.10&to={other}");
        let answer = guarded.get(&path, cookie);
        (answer.status, answer.text().replace(other, "OTHER"))
    };
    assert_eq!(ask("package2_1.2", ANN).0, 200);
    let hidden = ask("package3_1.3", ANN);
    assert_eq!(hidden.0, 404, "{}", hidden.1);
    assert_eq!(hidden, ask("nosuch_1.3", ANN));
}
