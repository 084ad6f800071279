//! Unused connections time out, and their number is limited.

use crate::shards;
use crate::site::{Answer, AsBackend, Site, eventually};
use crate::slow_readers::large;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use testkit::backend::{Fake, Fault};
use web::{ConnectionLimits, TrustedProxies};

const SHORT: Duration = Duration::from_millis(300);
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn patient() -> ConnectionLimits {
    ConnectionLimits {
        head_max: LONG,
        idle_max: LONG,
        unread_max: LONG,
        ..ConnectionLimits::default()
    }
}

fn site(limits: ConnectionLimits) -> Site {
    Site::with_limits(vec![Fake::new("one", shards(1, 2)).backend()], limits)
}

fn end(mut stream: TcpStream) -> String {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection did not end: {error}"),
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn sent(site: &Site, bytes: &str) -> TcpStream {
    let mut stream = site.connect();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

fn answers(mut stream: &TcpStream, path: &str) -> bool {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut start = [0; 12];
    let asked = stream.write_all(request.as_bytes());
    asked.and_then(|()| stream.read_exact(&mut start)).is_ok() && start.ends_with(b" 200")
}

#[test]
fn half_open_requests_end() {
    let site = site(ConnectionLimits {
        head_max: SHORT,
        ..patient()
    });
    for bytes in ["", "GET / HTT", "GET / HTTP/1.1\r\nhost: x\r\n"] {
        let asked = Instant::now();
        end(sent(&site, bytes));
        assert!(asked.elapsed() >= SHORT, "{bytes:?}");
    }
    // Occasional bytes do not extend the time.
    let mut slow = site.connect();
    slow.set_nodelay(true).unwrap();
    let ended = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        slow.write_all(b"a").is_err()
    });
    assert!(ended);
}

#[test]
fn a_body_that_arrives_too_slowly_ends_with_a_problem() {
    let site = site(ConnectionLimits {
        body_max: SHORT,
        ..patient()
    });
    let head = "POST /api/v2/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json";
    let mut slow = sent(&site, &format!("{head}\r\ncontent-length: 1000\r\n\r\n"));
    let asked = Instant::now();
    let mut dripping = slow.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        while asked.elapsed() < 2 * SHORT && dripping.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let mut first = [0; 4096];
    let read = slow.read(&mut first).unwrap();
    let answer = String::from_utf8_lossy(&first[..read]).into_owned();
    drip.join().unwrap();
    assert!(asked.elapsed() >= SHORT);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("/problems/slow-body"), "{answer}");
    end(slow);
    let body = r#"{"q": "arse"}"#;
    let whole = sent(
        &site,
        &format!(
            "{head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    );
    assert!(end(whole).starts_with("HTTP/1.1 200"));
}

#[test]
fn idle_connections_end_but_not_those_that_wait_for_a_search() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let limits = ConnectionLimits {
        head_max: SHORT,
        idle_max: SHORT,
        unread_max: SHORT,
        ..patient()
    };
    let site = Site::with_limits(vec![fake.backend()], limits);
    let waiting = sent(
        &site,
        "GET /api/v2/search?q=arse HTTP/1.1\r\nhost: x\r\n\r\n",
    );
    let idle = site.connect();
    // Before the answer: this thread may pause.
    let asked = Instant::now();
    assert!(answers(&idle, "/healthz"));
    end(idle);
    assert!(asked.elapsed() >= SHORT);
    std::thread::sleep(2 * SHORT);
    fake.open_gate();
    let answer = end(waiting);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn unread_responses_end_and_give_back_their_export() {
    let limits = ConnectionLimits {
        unread_max: SHORT,
        ..patient()
    };
    let site = Site::with_limits(vec![Fake::new("one", large()).backend()], limits);
    let path = "/api/v2/export?q=arse&context=0&format=text";
    let unread: Vec<_> = (0..64)
        .map(|_| {
            sent(
                &site,
                &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"),
            )
        })
        .collect();
    eventually("room for another export", || {
        site.get("/api/v2/export?q=nowhere").status == 200
    });
    for mut stream in unread {
        let mut all = Vec::new();
        let read = stream.read_to_end(&mut all);
        assert!(read.is_err() || all.len() < 10 << 20, "it was cut off");
    }
}

#[test]
fn connections_past_the_limit_are_refused_except_for_health() {
    for (connections_max, per_client_max) in [(8, 100), (100, 8)] {
        let site = site(ConnectionLimits {
            connections_max,
            per_client_max,
            ..patient()
        });
        let held: Vec<_> = (0..8).map(|_| site.connect()).collect();
        assert!(held.iter().all(|stream| answers(stream, "/api/v2/limits")));
        let refused = site.raw(b"GET /api/v2/limits HTTP/1.1\r\nhost: x\r\n\r\n");
        assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
        assert!(refused.contains("retry-after: ") && refused.contains("/problems/busy"));
        assert!(answers(&site.connect(), "/healthz"));
        assert!(answers(&site.connect(), "/metrics"));
        // A client does not get all kept connections either.
        let more: Vec<_> = (0..20).map(|_| site.connect()).collect();
        assert!(
            more.iter()
                .filter(|stream| answers(stream, "/healthz"))
                .count()
                < 8
        );
        drop((held, more));
        eventually("a free connection", || {
            answers(&site.connect(), "/api/v2/limits")
        });
    }
}

#[test]
fn clients_behind_a_trusted_proxy_are_counted_by_request() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let limits = ConnectionLimits {
        per_client_max: 2,
        trusted_proxies: TrustedProxies::new(&["127.0.0.1".to_owned()]).unwrap(),
        ..patient()
    };
    let site = Site::with_limits(vec![fake.backend()], limits);
    let ask = |client: &str, path: &str| {
        let head = format!("host: x\r\nx-forwarded-for: {client}\r\nconnection: close");
        sent(&site, &format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n"))
    };
    // The head of a stream comes at once, its end after the search.
    let mut streams = [(); 2].map(|()| ask("192.0.2.1", "/api/v2/events?q=arse"));
    for stream in &mut streams {
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
    }
    let refused = end(ask("192.0.2.1", "/api/v2/limits"));
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    let other = end(ask("192.0.2.2", "/api/v2/limits"));
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    fake.open_gate();
    for stream in streams {
        assert!(end(stream).contains("event: done"));
    }
}

#[test]
fn loopback_answers_only_to_its_own_names() {
    let mut options = web::Options::default();
    options.hosts = web::HostNames::new([127, 0, 0, 1].into(), &[]);
    let site = Site::with_options(vec![Fake::new("one", shards(1, 2)).backend()], options);
    let get = |host| -> Answer {
        site.send(
            ureq::http::Method::GET,
            "/api/v2/search?q=arse",
            &[("host", host)],
        )
    };
    assert_eq!(get("localhost:8080").status, 200);
    let rebound = get("evil.example");
    assert_eq!(rebound.status, 421);
    assert_eq!(rebound.json()["type"], "/problems/misdirected");
    let headers = [("host", "localhost"), ("origin", "https://evil.example")];
    let delete = site.send(ureq::http::Method::DELETE, "/api/v2/search/0", &headers);
    assert_eq!(delete.status, 403);
}
