//! A package in shards of two backends is searched once and reported.

use crate::home::{Home, Server};
use crate::http::{get, search_all};
use std::fs::File;
use std::time::{Duration, SystemTime};

/// `p_1` is newer in the second.
fn home() -> Home {
    let home = Home::new();
    home.write("a/p_1/x.c", "needle old\n");
    home.write("a/only-a_1/x.c", "needle of a\n");
    home.write("b/p_1/x.c", "needle new\nneedle newer\n");
    home.write("b/only-b_1/x.c", "needle of b\n");
    for name in ["a", "b"] {
        home.ok(&format!("index --each --index I{name} {name}"));
    }
    let written = SystemTime::now() - Duration::from_secs(3600);
    let shard = File::open(home.shard("Ia")).unwrap();
    shard.set_modified(written).unwrap();
    home
}

fn frontend(home: &Home, spool: &str, backends: [&Server; 2]) -> Server {
    let [first, second] = backends.map(|server| &server.address);
    home.start(&format!(
        "frontend --backend {first} --backend {second} --spool {spool}"
    ))
}

#[test]
fn a_package_on_two_backends_is_counted_once() {
    let home = home();
    let (a, b) = (
        home.start("backend --index Ia"),
        home.start("backend --index Ib"),
    );
    let mut answers = Vec::new();
    for (spool, backends) in [("S1", [&a, &b]), ("S2", [&b, &a])] {
        let server = frontend(&home, spool, backends);
        let (page, mut lines) = search_all(&server.address, "needle");
        assert!(page.complete, "{page:?}");
        assert_eq!((page.total, page.found, page.documents), (4, Some(4), 3));
        let overlaps = page.overlaps.expect("the answer says so");
        let package = &overlaps.packages[0];
        assert_eq!((overlaps.count, &package.package[..]), (1, "p_1"));
        assert_eq!(
            (&package.searched, &package.superseded[..]),
            (&b.address, &[a.address.clone()][..])
        );
        lines.sort();
        assert_eq!(
            lines,
            [
                "only-a_1/x.c:1:needle of a",
                "only-b_1/x.c:1:needle of b",
                "p_1/x.c:1:needle new",
                "p_1/x.c:2:needle newer",
            ]
        );
        let searched = page.searched.unwrap();
        assert_eq!((searched.documents, searched.of), (3, 3));
        answers.push((page.generation.into_owned(), lines));
        let file = get(&server.address, "/api/v2/file?package=p_1&path=x.c");
        assert_eq!(file.text(), "needle new\nneedle newer\n");
        check_told(&home, &server, [&a.address, &b.address]);
    }
    assert_eq!(answers[0], answers[1]);
}

fn check_told(home: &Home, server: &Server, backends: [&String; 2]) {
    let log = server.log_with("several backends");
    let line = log.lines().find(|line| line.contains("several backends"));
    let line = line.unwrap();
    let health = get(&server.address, "/readyz");
    let status = home.run(&format!("status --server http://{}", server.address));
    let search = home.run(&format!("search --server http://{} needle", server.address));
    for (what, text) in [
        ("log", line),
        ("readiness", health.text()),
        ("status", status.text()),
        ("search", &search.stderr),
    ] {
        for part in ["p_1", backends[0], backends[1]] {
            assert!(text.contains(part), "{what}: no {part} in {text}");
        }
    }
    assert_eq!((status.code, search.code), (Some(0), Some(0)));
    assert!(status.text().contains("3 packages"), "{}", status.text());
}

#[test]
fn a_package_on_two_backends_is_logged_before_any_search_and_its_bytes_count_once() {
    let home = home();
    let (a, b) = (
        home.start("backend --index Ia"),
        home.start("backend --index Ib"),
    );
    let server = frontend(&home, "S", [&a, &b]);
    crate::poll("the overlap in the log", crate::WAIT_MAX, || {
        server.log().contains("several backends").then_some(())
    });
    let status = get(&server.address, "/api/v2/status").json();
    let backends = [&status["backends"][0], &status["backends"][1]];
    assert_eq!(
        backends.map(|backend| backend["bytes"].as_u64()),
        [Some(23), Some(36)]
    );
    // Excludes `needle old` and its line feed.
    assert_eq!(status["bytes"], 48);
    assert!(get(&server.address, "/").text().contains("48 bytes"));
}

#[test]
fn a_superseded_package_is_searched_again_when_its_rival_is_gone() {
    let home = home();
    let (a, b) = (
        home.start("backend --index Ia"),
        home.start("backend --index Ib"),
    );
    let server = frontend(&home, "S", [&a, &b]);
    let total = || get(&server.address, "/api/v2/search?q=needle").json()["total"].clone();
    assert_eq!(total(), 4);
    home.ok("index --index Ib --remove p_1");
    crate::poll("the new index", crate::WAIT_MAX, || {
        (total() == 3).then_some(())
    });
    let page = get(&server.address, "/api/v2/search?q=needle").json();
    assert_eq!(
        (&page["complete"], &page["overlaps"]),
        (&true.into(), &serde_json::Value::Null)
    );
}
