//! Malformed requests end only their connection, within bounded memory.

use crate::home::{Home, Server};
use crate::http;
use crate::{WAIT_MAX, poll};
use schema::frame::{Kind, encode};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

const CONNECTIONS: usize = 200;

const CONNECTION_BYTES_MAX: usize = 2 << 20;

/// Log lines about connections within a minute.
const LINES_MAX: usize = 10;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

const TLS: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

fn start(home: &Home) -> (Server, Server) {
    home.write("source/a.c", "int wanted;\n");
    home.ok("index --index good source");
    let backend = home.start("backend --index good");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    (backend, frontend)
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream.set_write_timeout(Some(WAIT_MAX)).unwrap();
    stream
}

fn send(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // Fails if the other side has closed.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    let mut part = [0; 4096];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return said,
            Ok(bytes) => said.extend_from_slice(&part[..bytes]),
            Err(error) => {
                let kind = error.kind();
                assert_eq!(kind, std::io::ErrorKind::ConnectionReset, "{error}");
                return said;
            }
        }
    }
}

fn check_works(frontend: &Server, number: usize) {
    let path = format!("/api/v2/search?q=wanted&context={number}");
    let page = http::get(&frontend.address, &path).page();
    assert_eq!((page.complete, page.total), (true, 1), "{:?}", page.missing);
}

/// Frames of the maximum length, and eight bytes longer.
fn long_frames() -> [Vec<u8>; 2] {
    [16, 8].map(|less| {
        let mut frame = Vec::new();
        encode(Kind::Search, &vec![1; (128 << 10) - less], &mut frame).unwrap();
        frame
    })
}

#[test]
fn backend_closes_malformed_connections_and_logs_why() {
    let home = Home::new();
    let (backend, frontend) = start(&home);
    let [longest, too_long] = long_frames();
    let mut wrong = longest.clone();
    wrong[9] ^= 1;
    let garbage = [
        GET,
        TLS,
        &[0xff; 5000],
        &wrong,
        &too_long,
        &longest[..100],
        &longest,
    ];
    for (number, bytes) in garbage.into_iter().enumerate() {
        let said = send(&backend.address, bytes);
        assert!(said.len() < 4096, "{} bytes", said.len());
        check_works(&frontend, number);
    }
    for _ in 0..50 {
        send(&backend.address, GET);
    }
    let log = poll("the last line", WAIT_MAX, || {
        let log = backend.log();
        (log.matches("connection ended").count() >= LINES_MAX).then_some(log)
    });
    let ends: Vec<_> = log
        .lines()
        .filter(|line| line.contains("connection ended"))
        .collect();
    assert_eq!(ends.len(), LINES_MAX, "{log}");
    let reasons = [
        "exceeds the limit of 131072",
        "checksum",
        "inside a frame",
        "malformed message",
    ];
    for reason in reasons {
        assert!(
            ends.iter().any(|line| line.contains(reason)),
            "no {reason} in {log}"
        );
    }
    assert!(!log.contains("panicked"), "{log}");
}

/// Waits until it stops growing.
fn settled_memory(server: &Server) -> usize {
    let mut before = 0;
    poll("memory to stop growing", WAIT_MAX, || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let now = server.process.memory_bytes();
        let grew = now > before;
        before = now;
        (!grew).then_some(now)
    })
}

#[test]
fn unfinished_requests_use_little_memory_and_time_out() {
    let home = Home::new();
    let (backend, frontend) = start(&home);
    check_works(&frontend, 0);
    let before = settled_memory(&backend);
    let [longest, _] = long_frames();
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| connect(&backend.address))
        .collect();
    for stream in &mut streams {
        stream.write_all(&longest[..longest.len() - 1]).unwrap();
    }
    check_works(&frontend, 1);
    let each = settled_memory(&backend).saturating_sub(before) / CONNECTIONS;
    println!(
        "{} KiB for a connection with an unfinished request",
        each >> 10
    );
    assert!((64 << 10..CONNECTION_BYTES_MAX).contains(&each), "{each}");
    for mut stream in streams {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    check_works(&frontend, 2);
    backend.log_with("no complete frame within 5 s");
}

fn request(line: &str, headers: &[&str]) -> Vec<u8> {
    let mut request = format!("{line}\r\nHost: localhost\r\nConnection: close\r\n");
    headers
        .iter()
        .for_each(|header| request.push_str(&format!("{header}\r\n")));
    (request + "\r\n").into_bytes()
}

#[test]
fn frontend_rejects_malformed_requests() {
    let home = Home::new();
    let (_backend, frontend) = start(&home);
    let long = "x".repeat(1 << 20);
    let many: Vec<String> = (0..1000).map(|number| format!("X-{number}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let garbage = [
        TLS.to_vec(),
        vec![0xff; 100_000],
        b"GET".to_vec(),
        request(&format!("GET /{long} HTTP/1.1"), &[]),
        request(&format!("GET /search?q={long} HTTP/1.1"), &[]),
        request("GET / HTTP/1.1", &[&format!("X: {long}")]),
        request("GET / HTTP/1.1", &many),
        request("GET / HTTP/9.9", &[]),
        request("FROB / HTTP/1.1", &[]),
        request("PRI * HTTP/2.0", &[]),
        request("CONNECT localhost:22 HTTP/1.1", &[]),
        request("DELETE /search HTTP/1.1", &[]),
        request(
            "POST /search HTTP/1.1",
            &["Content-Length: 99999999999999999999"],
        ),
        request(
            "POST /search HTTP/1.1",
            &["Transfer-Encoding: chunked", "Content-Length: 3"],
        ),
        request(
            "GET /api/v2/search?q=%00%ff%zz HTTP/1.1",
            &["Cookie: \u{1}"],
        ),
        request("GET //////../../etc/passwd HTTP/1.1", &[]),
    ];
    for (number, bytes) in garbage.iter().enumerate() {
        let said = send(&frontend.address, bytes);
        let begins = &said[..said.len().min(12)];
        let refused = [&b"HTTP/1.1 4"[..], b"HTTP/1.0 4", b"HTTP/1.1 5"];
        let is_refused = refused.iter().any(|refused| begins.starts_with(refused));
        let said = String::from_utf8_lossy(&said);
        assert!(begins.is_empty() || is_refused, "{number}: {said}");
    }
    check_works(&frontend, 0);
    assert!(!frontend.log().contains("panicked"), "{}", frontend.log());
}
