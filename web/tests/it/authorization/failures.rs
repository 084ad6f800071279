//! A failing service: rights that stay, rights that are denied, and their reports.

use super::{ANN, BOB, FILE, Guarded, PUBLIC, PUBLIC_FILE, names};
use crate::shards;
use crate::site::{Answer, eventually};
use std::time::{Duration, Instant};
use testkit::authorization::{FakeService, Mode};
use testkit::backend::Fake;

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
            // A new service, without an open breaker.
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

/// Returns whether an answer has private packages, and whether it reports missing ones.
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
        // Only the first request waits for a second.
        assert!(took < Duration::from_secs(5), "{mode:?} {took:?}");
        // Answers do not reveal whether a name exists.
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
    // Long enough on a busy machine, since unused decisions are dropped before their refresh.
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
