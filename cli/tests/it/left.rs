//! Clients that go away at any moment: when all have gone, the processes hold what they held
//! before the first came, and do nothing.

use crate::home::{Home, Server};
use crate::process::Process;
use crate::{WAIT_MAX, http, poll};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Clients, of which each has a query of its own.
const CLIENTS: usize = 200;

/// Clients that are there at once.
const AT_ONCE: usize = 4;

/// The time after which processes must be idle, and the CPU time they may use in it all the same.
const IDLE: Duration = Duration::from_millis(250);
const IDLE_CPU_MAX: Duration = Duration::from_millis(20);

/// A backend and a frontend over 20,000 lines that match.
fn start(home: &Home) -> [Server; 2] {
    for file in 0..40 {
        let line = format!("wanted {}\n", "x ".repeat(100));
        home.write(&format!("source/{file}.c"), line.repeat(500));
    }
    home.ok("index --out good source");
    let backend = home.start("backend --index good");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    [backend, frontend]
}

/// Asks, and goes away after `stays`.
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
                    // From the request's arrival to after the answer.
                    let stays = Duration::from_micros((number as u64 * 7919) % 40_000);
                    leave(frontend, number, stays);
                }
            });
        }
    });
}

/// Sockets, and all descriptors but those of files in the spool.
fn descriptors(process: &Process) -> [usize; 2] {
    let all = process.descriptors();
    let sockets = all.iter().filter(|to| to.starts_with("socket:"));
    let others = all.iter().filter(|to| !to.contains("/spool/"));
    [sockets.count(), others.count()]
}

/// Waits until no query runs.
fn settled(frontend: &Server) {
    poll("an end of all queries", WAIT_MAX, || {
        let metrics = http::get(&frontend.address, "/metrics");
        let running = "trawl_frontend_queries_running 0";
        metrics
            .text()
            .lines()
            .any(|line| line == running)
            .then_some(())
    });
}

#[test]
fn nothing_is_left_of_clients_that_went_away() {
    let home = Home::new();
    let [backend, frontend] = start(&home);
    let all = http::get(&frontend.address, "/api/v2/search?q=wanted").json();
    assert_eq!(all["total"], 20_000);
    // Connections that are kept for the next query are closed when there is none for so long.
    std::thread::sleep(Duration::from_secs(6));
    let processes = [&backend.process, &frontend.process];
    let before = processes.map(descriptors);
    leave_all(&frontend.address);
    settled(&frontend);
    let started = Instant::now();
    poll("descriptors as before", Duration::from_secs(15), || {
        std::thread::sleep(IDLE);
        let now = processes.map(descriptors);
        let is_less = |at: usize| {
            now[at]
                .iter()
                .zip(&before[at])
                .all(|(now, before)| now <= before)
        };
        (is_less(0) && is_less(1)).then_some(())
    });
    println!("{before:?} descriptors again after {:?}", started.elapsed());
    let used = processes.map(Process::cpu_time);
    std::thread::sleep(IDLE);
    for (process, used) in processes.into_iter().zip(used) {
        let more = process.cpu_time() - used;
        assert!(more <= IDLE_CPU_MAX, "{more:?} of CPU time in {IDLE:?}");
    }
    let again = http::get(&frontend.address, "/api/v2/search?q=wanted&path=-no").json();
    assert_eq!(
        (&again["complete"], &again["total"]),
        (&true.into(), &all["total"])
    );
    for server in [&backend, &frontend] {
        assert!(!server.log().contains("panicked"), "{}", server.log());
    }
}
