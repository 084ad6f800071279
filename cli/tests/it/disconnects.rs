//! Disconnecting clients leave no search and no descriptor behind.

use crate::home::{Home, Server};
use crate::process::Process;
use crate::{WAIT_MAX, http, metrics, poll};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

const CLIENTS: usize = 200;

const AT_ONCE: usize = 4;

const LINES: u64 = 20_000;

const WORK: [&str; 3] = [
    "trawl_backend_searches_total",
    "trawl_backend_matches_total",
    "trawl_backend_verified_bytes_total",
];

fn start(home: &Home) -> (Server, Server, String) {
    for file in 0..40 {
        let line = format!("wanted {}\n", "x ".repeat(100));
        home.write(
            &format!("source/{file}.c"),
            line.repeat(LINES as usize / 40),
        );
    }
    home.ok("index --index good source");
    let backend = home.start("backend --index good --metrics 127.0.0.1:0");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    let address = metrics::address(&backend);
    (backend, frontend, address)
}

fn leave(frontend: &str, number: usize, stays: Duration) {
    let mut stream = TcpStream::connect(frontend).unwrap();
    let query = format!("q=wanted&path=-no{number}");
    let path = match number % 3 {
        0 => format!("/api/v2/search?{query}"),
        1 => format!("/api/v2/export?{query}"),
        _ => format!("/search?{query}"),
    };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    std::thread::sleep(stays);
}

fn leave_all(frontend: &str) {
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            scope.spawn(move || {
                for number in (first..CLIENTS).step_by(AT_ONCE) {
                    // Ranges from before the request is read until after the answer.
                    let stays = Duration::from_micros((number as u64 * 7919) % 40_000);
                    leave(frontend, number, stays);
                }
            });
        }
    });
}

/// Sockets, and others without spool files.
fn descriptors(process: &Process) -> [usize; 2] {
    let all = process.descriptors();
    let sockets = all.iter().filter(|to| to.starts_with("socket:"));
    let others = all.iter().filter(|to| !to.contains("/spool/"));
    [sockets.count(), others.count()]
}

fn wait_until_idle(frontend: &Server, backend_metrics: &str) {
    poll("the frontend to have no query", WAIT_MAX, || {
        let counters = metrics::counters(&frontend.address);
        let is_zero = |name| counters.get(name) == Some(&0);
        let is_idle = is_zero("trawl_frontend_queries_running");
        is_idle.then_some(())
    });
    poll("the backend to have no search", WAIT_MAX, || {
        let counters = metrics::counters(backend_metrics);
        let mut running = counters
            .iter()
            .filter(|(name, _)| name.starts_with("trawl_backend_searches_running"));
        running.all(|(_, &count)| count == 0).then_some(())
    });
}

/// Growth of [`WORK`] by one search.
fn cost(frontend: &Server, backend_metrics: &str, without: &str) -> [u64; 3] {
    let work = || {
        let counters = metrics::counters(backend_metrics);
        WORK.map(|name| counters.get(name).copied().unwrap_or(0))
    };
    let before = work();
    let path = format!("/api/v2/search?q=wanted&path=-{without}");
    let answer = http::get(&frontend.address, &path).page();
    assert_eq!((answer.complete, answer.total), (true, LINES));
    wait_until_idle(frontend, backend_metrics);
    // A search is counted just after its end.
    poll("the search to be counted", WAIT_MAX, || {
        let after = work();
        (after[1] >= before[1] + LINES).then(|| [0, 1, 2].map(|at| after[at] - before[at]))
    })
}

#[test]
fn clients_that_disconnect_leave_nothing_behind() {
    let home = Home::new();
    let (backend, frontend, backend_metrics) = start(&home);
    let processes = [&backend.process, &frontend.process];
    poll("the backend to be connected", WAIT_MAX, || {
        let counters = metrics::counters(&frontend.address);
        (counters.get("trawl_frontend_backends_connected") == Some(&1)).then_some(())
    });
    let expected = cost(&frontend, &backend_metrics, "first");
    assert_eq!(expected[..2], [1, LINES]);
    // Own connections close meanwhile, so minima count.
    let samples = (0..100).map(|_| processes.map(descriptors));
    let before = samples.reduce(|a, b| {
        [0, 1].map(|process| [0, 1].map(|kind| a[process][kind].min(b[process][kind])))
    });
    let before = before.expect("there are samples");
    leave_all(&frontend.address);
    wait_until_idle(&frontend, &backend_metrics);
    poll("descriptors as before", WAIT_MAX, || {
        let now = processes.map(descriptors);
        let mut pairs = now.as_flattened().iter().zip(before.as_flattened());
        pairs.all(|(now, before)| now <= before).then_some(())
    });
    // A leaked search would be counted too.
    assert_eq!(cost(&frontend, &backend_metrics, "last"), expected);
    for server in [&backend, &frontend] {
        server.check_no_panic();
    }
}
