//! Unfinished TLS handshakes time out, and count like half-open requests.

use crate::connections::{LONG, patient};
use crate::site::eventually_within;
use axum::Router;
use axum::routing::get;
use frontend::Serving;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::ca::Authority;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use web::ConnectionLimits;

const SHORT: Duration = Duration::from_millis(300);

/// More than the buffers of two sockets.
const LARGE: usize = 32 << 20;

const UNFINISHED: [&[u8]; 3] = [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01"];

struct Server {
    address: SocketAddr,
    ca: Authority,
    _config: watch::Sender<Arc<rustls::ServerConfig>>,
    _runtime: Runtime,
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

impl Server {
    fn start(limits: ConnectionLimits) -> Server {
        let ca = Authority::new("ours");
        let (sender, config) = watch::channel(testkit::ca::server(&ca.issue(), None));
        let runtime = Runtime::new().unwrap();
        let listening = tokio::net::TcpListener::bind("127.0.0.1:0");
        let listener = runtime.block_on(listening).unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .route("/", get("answered"))
            .route("/healthz", get("alive"))
            .route("/large", get(async || vec![b'x'; LARGE]));
        let (_, serving) = watch::channel(Serving::Open);
        let tls = Some(config);
        runtime.spawn(web::serve_until_drained(
            listener, router, limits, tls, serving,
        ));
        Server {
            address,
            ca,
            _config: sender,
            _runtime: runtime,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    fn ask(&self, path: &str) -> std::io::Result<Stream> {
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(testkit::ca::client(&self.ca, None), name).unwrap();
        let mut stream = StreamOwned::new(session, self.connect());
        let head = "host: x\r\nconnection: close";
        let request = format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }

    fn get(&self, path: &str) -> std::io::Result<String> {
        let mut answer = Vec::new();
        self.ask(path)?.read_to_end(&mut answer).or_else(cut)?;
        Ok(String::from_utf8(answer).unwrap())
    }
}

/// A server may close without close_notify.
fn cut(error: std::io::Error) -> std::io::Result<usize> {
    match error.kind() {
        ErrorKind::UnexpectedEof => Ok(0),
        _ => Err(error),
    }
}

fn wait_for_end(mut stream: TcpStream) {
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

#[test]
fn unfinished_handshakes_end_and_do_not_stop_others() {
    let server = Server::start(ConnectionLimits {
        head_max: SHORT,
        ..patient()
    });
    for bytes in UNFINISHED {
        let asked = Instant::now();
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        assert!(server.get("/").unwrap().ends_with("answered"));
        wait_for_end(stream);
        assert!(asked.elapsed() >= SHORT, "{bytes:?}");
    }
}

#[test]
fn unfinished_handshakes_count_as_connections() {
    let server = Server::start(ConnectionLimits {
        connections_max: 3,
        ..patient()
    });
    let held = UNFINISHED.map(|bytes| {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        stream
    });
    let refused = server.get("/").unwrap();
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(server.get("/healthz").unwrap().ends_with("alive"));
    drop(held);
    eventually_within(LONG, "a free connection", || {
        let answer = server.get("/");
        answer.is_ok_and(|answer| answer.ends_with("answered"))
    });
}

#[test]
fn responses_that_are_not_read_end() {
    let server = Server::start(ConnectionLimits {
        unread_max: SHORT,
        ..patient()
    });
    let mut stream = server.ask("/large").unwrap();
    let mut all = vec![0; 1];
    stream.read_exact(&mut all).unwrap();
    std::thread::sleep(4 * SHORT);
    let _ = stream.read_to_end(&mut all);
    assert!(all.len() < LARGE, "it was cut off");
}

#[test]
fn a_plain_request_is_told_to_use_https() {
    let server = Server::start(patient());
    let mut stream = server.connect();
    let request = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("ask it with https://"), "{answer}");
}
