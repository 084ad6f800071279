//! SIGTERM refuses new searches and finishes running ones. A second signal ends at once.

use crate::home::{Home, Server};
use crate::lost_backend::Stage;
use crate::{WAIT_MAX, http, poll};
use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use testkit::net::HttpRequest;

fn check_ended(server: &mut Server) {
    let status = server.process.wait(WAIT_MAX);
    assert!(status.success(), "{status}: {}", server.log());
    server.check_no_panic();
}

#[test]
fn a_search_that_runs_ends_while_its_frontend_drains() {
    let (mut stage, _backend) = Stage::new();
    let (sender, held_back) = mpsc::channel();
    let frontend = stage.frontend.process.signals();
    let _cut = stage.proxy.cut_after_first_batch(move || {
        // Other backends finish the search.
        frontend.send("TERM");
        let _ = sender.send(());
    });
    let address = stage.frontend.address.clone();
    let found = http::get(&address, "/api/v2/search?q=wanted");
    held_back.recv_timeout(WAIT_MAX).expect("a first BATCH");
    assert_eq!(found.status, 200, "{}", found.text());
    check_ended(&mut stage.frontend);
}

#[test]
fn a_second_signal_ends_a_server_at_once() {
    for second in ["TERM", "INT"] {
        let (mut stage, backend) = Stage::new();
        let (sender, stopped) = mpsc::channel();
        let signals = backend.process.signals();
        let _cut = stage.proxy.cut_after_first_batch(move || {
            signals.send("STOP");
            let _ = sender.send(());
        });
        let address = stage.frontend.address.clone();
        let waiting = thread::spawn(move || {
            let _ = std::panic::catch_unwind(|| http::get(&address, "/api/v2/search?q=wanted"));
        });
        stopped.recv_timeout(WAIT_MAX).expect("a first BATCH");
        stage.frontend.process.signal("TERM");
        poll("the frontend to drain", WAIT_MAX, || {
            stage
                .frontend
                .log()
                .contains("no more searches")
                .then_some(())
        });
        stage.frontend.process.signal(second);
        check_ended(&mut stage.frontend);
        waiting.join().unwrap();
        backend.process.signal("CONT");
    }
}

#[test]
fn searches_go_on_with_the_other_replica_while_a_backend_drains() {
    let home = Home::new();
    for file in 0..50 {
        home.write(&format!("src/{file}.c"), "wanted\n".repeat(20));
    }
    home.ok("index --index index src");
    let mut backends = [(); 2].map(|()| home.start("backend --index index"));
    let frontend = home.start(&format!(
        "frontend --backend {} --backend {} --spool spool",
        backends[0].address, backends[1].address
    ));
    let check = |number: usize| {
        let page = http::get(
            &frontend.address,
            &format!("/api/v2/search?q=wanted+-x{number}"),
        );
        let page = page.page();
        assert!(page.complete, "{number}: {:?}", page.missing);
        assert_eq!(page.found, Some(1000));
    };
    (0..20).for_each(check);
    backends[0].process.signal("TERM");
    (20..60).for_each(check);
    check_ended(&mut backends[0]);
    (60..80).for_each(check);
}

#[test]
fn a_client_asks_again_when_a_server_is_about_to_stop() {
    let home = Home::new();
    home.write("src/a.c", "wanted\n");
    home.ok("index --index index src");
    let server = home.start("serve --index index");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let real = server.address.clone();
    // Acts like a draining, a restarting, and then a working server.
    let balancer = thread::spawn(move || {
        for (number, stream) in listener.incoming().take(3).enumerate() {
            let mut stream = stream.unwrap();
            let asked = HttpRequest::read(&mut BufReader::new(&stream))
                .unwrap()
                .unwrap();
            let (status, kind, body) = match number {
                0 => (503, "problem+json", problem()),
                1 => continue,
                _ => (
                    200,
                    "json",
                    http::get(&real, &asked.target).text().to_owned(),
                ),
            };
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Type: application/{kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    let found = home.ok(&format!("search --server {address} wanted"));
    assert_eq!(String::from_utf8(found).unwrap(), "src/a.c:1:wanted\n");
    balancer.join().unwrap();
}

fn problem() -> String {
    r#"{"type":"/problems/draining","title":"The server is about to stop","status":503,"detail":"ask again"}"#
        .to_owned()
}
