//! Metrics and health of a backend.

use crate::home::{Home, Server};
use crate::http::get;
use crate::{WAIT_MAX, poll};
use std::collections::HashMap;

pub(crate) fn address(backend: &Server) -> String {
    poll("the address of the metrics", WAIT_MAX, || {
        let log = backend.log();
        let rest = log.split_once("metrics on http://")?.1;
        Some(rest.split_once("/metrics\n")?.0.to_owned())
    })
}

pub(crate) fn counters(address: &str) -> HashMap<String, u64> {
    let metrics = get(address, "/metrics");
    let lines = metrics.text().lines();
    let counter = |line: &str| {
        let (name, value) = line.rsplit_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    lines.filter_map(counter).collect()
}

#[test]
fn backend_reports_health_and_metrics() {
    let home = Home::new();
    home.write("src/p_1/a.c", "int main;\nint other;\n");
    home.write("src/q_2/b.c", "int b;\n");
    home.ok("index --each --index I src");
    let backend = home.start("backend --index I --metrics 127.0.0.1:0");
    let address = address(&backend);
    let health = get(&address, "/healthz");
    assert_eq!(health.status, 200);
    let health = health.json();
    assert_eq!(health["status"], "ok");
    assert_eq!(
        [&health["shards"], &health["packages"], &health["documents"]],
        [1, 2, 2]
    );
    assert_eq!(get(&address, "/readyz").status, 200);
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    let page = get(&frontend.address, "/api/v2/search?q=int").page();
    assert_eq!(page.found, Some(3));
    let metrics = get(&address, "/metrics");
    assert!(metrics.kind.starts_with("text/plain"), "{}", metrics.kind);
    for line in [
        "# HELP trawl_backend_matches_total Matches sent, of searches that were done",
        "trawl_backend_matches_total 3",
        "trawl_backend_searches_total 1",
        "trawl_panics_total 0",
        "trawl_backend_searches_running{class=\"light\"} 0",
        "trawl_backend_phase_seconds_bucket{phase=\"verify\",le=\"+Inf\"} 1",
    ] {
        let has_line = || metrics.text().lines().any(|found| found == line);
        assert!(has_line(), "{line} is not in {}", metrics.text());
    }
    assert_eq!(get(&address, "/").status, 404);
    assert_eq!(counters(&frontend.address)["trawl_panics_total"], 0);
}
