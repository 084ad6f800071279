//! Mutual TLS between frontends and backends: rejections and renewal.

use crate::home::{Home, Server};
use crate::{WAIT_MAX, http, poll};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use testkit::ca::{Authority, Issued, Valid};

const RENEWED: &str = "certificates were read again";

/// Exceeds a frontend's idle connections, so some searches open new ones.
const CLIENTS: u64 = 12;

const BACKEND: &str =
    "backend --index I --tls-cert b.pem --tls-key b.key --client-ca client-ca.pem";

/// Certificates of a backend (`b`) and a frontend (`f`).
struct Stage {
    home: Home,
    ca: Authority,
}

impl Stage {
    fn new() -> Stage {
        let home = Home::new();
        home.write("p/a.c", "int wanted;\n");
        home.ok("index --index I p");
        let ca = Authority::new("ours");
        let stage = Stage { home, ca };
        stage.write_identity("b", &stage.ca.issue());
        stage.write_identity("f", &stage.ca.issue());
        stage.replace("client-ca.pem", &stage.ca.pem());
        stage.replace("backend-ca.pem", &stage.ca.pem());
        stage
    }

    fn write_identity(&self, name: &str, issued: &Issued) {
        self.replace(&format!("{name}.key"), &issued.key);
        self.replace(&format!("{name}.pem"), &issued.certificate);
    }

    /// Atomic, as in renewal tools.
    fn replace(&self, name: &str, text: &str) {
        self.home.write("new", text);
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(self.home.path("new"), private).unwrap();
        std::fs::rename(self.home.path("new"), self.home.path(name)).unwrap();
    }

    fn backend(&self) -> Server {
        self.home.start(BACKEND)
    }

    fn frontend(&self, backend: &Server) -> Server {
        let flags = "--backend-ca backend-ca.pem --backend-cert f.pem --backend-key f.key";
        self.frontend_with(backend, flags)
    }

    fn frontend_with(&self, backend: &Server, flags: &str) -> Server {
        let address = &backend.address;
        self.home.start(&format!(
            "frontend --backend {address} --spool spool {flags}"
        ))
    }
}

fn wait_for_reason(frontend: &Server, says: &str) {
    let mut last = String::new();
    let given = || {
        let status = http::get(&frontend.address, "/api/v2/status").json();
        last = status["backends"][0]["reason"].to_string();
        last.contains(says).then_some(())
    };
    poll(&format!("the reason `{says}`"), WAIT_MAX, given);
}

fn wait_for_log(server: &Server, says: &str, times: usize) {
    poll(&format!("`{says}` in the log"), WAIT_MAX, || {
        (server.log().matches(says).count() >= times).then_some(())
    });
}

fn check_complete(frontend: &Server) {
    let page = http::get(&frontend.address, "/api/v2/search?q=wanted").page();
    assert!(page.complete, "{:?}", page.missing);
    assert_eq!(page.total, 1);
}

/// Returns the backend's certificate if it greets.
fn connect(
    backend: &Server,
    ca: &Authority,
    identity: Option<&Issued>,
) -> Result<CertificateDer<'static>, String> {
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let config = testkit::ca::client(ca, identity);
    let mut session = rustls::ClientConnection::new(config, name).unwrap();
    let mut socket = TcpStream::connect(&backend.address).unwrap();
    socket.set_read_timeout(Some(WAIT_MAX)).unwrap();
    let mut stream = rustls::Stream::new(&mut session, &mut socket);
    match stream.read_exact(&mut [0; 16]) {
        Ok(()) => Ok(session.peer_certificates().unwrap()[0].clone().into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn der(issued: &Issued) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap()
}

#[test]
fn right_certificates_answer() {
    let stage = Stage::new();
    let backend = stage.backend();
    let frontend = stage.frontend(&backend);
    check_complete(&frontend);
    assert!(!backend.log().contains("WARN"), "{}", backend.log());
}

#[test]
fn listed_nodes_need_the_same_certificates() {
    let stage = Stage::new();
    let backend = stage.backend();
    let listed = |spool: &str, flags: &str| {
        let nodes = format!("static:b1={}", backend.address);
        stage
            .home
            .start(&format!("frontend --nodes {nodes} --spool {spool} {flags}"))
    };
    let flags = "--backend-ca backend-ca.pem --backend-cert f.pem --backend-key f.key";
    check_complete(&listed("spool", flags));
    let plain = listed("plain", "");
    let page = http::get(&plain.address, "/api/v2/search?q=wanted").page();
    assert!(!page.complete);
    assert_eq!(page.missing[0].backend, "b1");
}

#[test]
fn a_frontend_of_another_ca_is_refused_and_both_sides_say_why() {
    let stage = Stage::new();
    let backend = stage.backend();
    stage.write_identity("f", &Authority::new("other").issue());
    let frontend = stage.frontend(&backend);
    wait_for_reason(
        &frontend,
        "refuses this frontend's certificate: it was issued by another CA",
    );
    wait_for_log(
        &backend,
        "issued by another CA than those in --client-ca",
        1,
    );
    let page = http::get(&frontend.address, "/api/v2/search?q=wanted").page();
    assert!(!page.complete);
    assert!(
        page.missing[0].reason.contains("another CA"),
        "{:?}",
        page.missing
    );
    // Used as soon as it exists.
    stage.write_identity("f", &stage.ca.issue());
    wait_for_log(&frontend, RENEWED, 1);
    poll("a complete answer", WAIT_MAX, || {
        let page = http::get(&frontend.address, "/api/v2/search?q=wanted").page();
        page.complete.then_some(())
    });
}

#[test]
fn clients_with_an_expired_certificate_or_none_are_refused() {
    let stage = Stage::new();
    let backend = stage.backend();
    let expired = stage.ca.issue_valid(Valid::Past);
    let refused = connect(&backend, &stage.ca, Some(&expired)).unwrap_err();
    assert!(refused.contains("CertificateExpired"), "{refused}");
    wait_for_log(
        &backend,
        "the client's certificate is refused: it has expired",
        1,
    );
    let refused = connect(&backend, &stage.ca, None).unwrap_err();
    assert!(refused.contains("CertificateRequired"), "{refused}");
    wait_for_log(&backend, "the client has no certificate", 1);
    assert!(connect(&backend, &stage.ca, Some(&stage.ca.issue())).is_ok());
}

#[test]
fn a_backend_for_another_name_or_of_another_ca_is_not_trusted() {
    let stage = Stage::new();
    let elsewhere = stage.ca.issue_for(&["backend.example"], Valid::Now);
    stage.write_identity("b", &elsewhere);
    let backend = stage.backend();
    let frontend = stage.frontend(&backend);
    wait_for_reason(&frontend, "backend.example");
    wait_for_reason(&frontend, "not for 127.0.0.1");
    wait_for_log(
        &backend,
        "the client refuses the certificate of this backend",
        1,
    );
    stage.replace("backend-ca.pem", &Authority::new("other").pem());
    wait_for_reason(&frontend, "another CA than those in --backend-ca");
}

#[test]
fn plain_and_tls_do_not_mix() {
    let stage = Stage::new();
    let backend = stage.backend();
    let plain = stage.frontend_with(&backend, "");
    wait_for_reason(&plain, "if it expects TLS, give --backend-ca");
    wait_for_log(&backend, "began no TLS handshake within 2 s", 1);
    drop(plain);
    let mut browser = TcpStream::connect(&backend.address).unwrap();
    browser.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    wait_for_log(&backend, "the client does not speak TLS", 1);

    let plain = stage.home.start("backend --index I");
    let frontend = stage.frontend(&plain);
    wait_for_reason(
        &frontend,
        "the backend does not speak TLS; start it with --tls-cert",
    );
}

#[test]
fn unfinished_handshakes_end_and_do_not_stop_others() {
    let stage = Stage::new();
    let backend = stage.backend();
    let begun = Instant::now();
    let unfinished: Vec<_> = ["", "\x16\x03\x01"]
        .iter()
        .cycle()
        .take(100)
        .map(|bytes| {
            let mut stream = TcpStream::connect(&backend.address).unwrap();
            stream.write_all(bytes.as_bytes()).unwrap();
            stream
        })
        .collect();
    let frontend = stage.frontend(&backend);
    check_complete(&frontend);
    for mut stream in unfinished {
        stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
        match stream.read_to_end(&mut Vec::new()) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    assert!(begun.elapsed() >= Duration::from_secs(2));
    check_complete(&frontend);
}

#[test]
fn files_that_cannot_be_used_leave_the_old_certificate_in_use() {
    let stage = Stage::new();
    let (old, client) = (stage.ca.issue(), stage.ca.issue());
    stage.write_identity("b", &old);
    let backend = stage.backend();
    let shown = || connect(&backend, &stage.ca, Some(&client)).unwrap();
    let check = |says: &str| {
        wait_for_log(&backend, says, 1);
        assert_eq!(shown(), der(&old), "{says}");
    };
    stage.replace("b.key", &stage.ca.issue().key);
    check("the key in b.key does not belong to the certificate in b.pem");
    stage.replace("b.pem", "-----BEGIN CERTIFICATE-----\n!\n");
    check("malformed certificate in b.pem");
    stage.write_identity("b", &stage.ca.issue_valid(Valid::Past));
    check("b.pem: the certificate expired");
    std::fs::remove_file(stage.home.path("b.pem")).unwrap();
    check("cannot read the certificate in b.pem");
    assert_eq!(backend.log().matches("cannot use changed").count(), 4);
    let new = stage.ca.issue();
    stage.write_identity("b", &new);
    wait_for_log(&backend, RENEWED, 1);
    assert_eq!(shown(), der(&new));
}

#[test]
fn certificates_and_cas_are_renewed_under_load_without_a_failed_query() {
    let stage = Stage::new();
    let (backend, next) = (stage.backend(), Authority::new("next"));
    let frontend = stage.frontend(&backend);
    check_complete(&frontend);
    let (stop, queries) = (AtomicBool::new(false), AtomicU64::new(0));
    let (old, new) = (stage.ca.issue(), next.issue());
    let search = || {
        while !stop.load(Relaxed) {
            // A new query, so no earlier result answers.
            let number = queries.fetch_add(1, Relaxed);
            let path = format!("/api/v2/search?q=wanted+or+nothing{number}");
            let reply = http::get(&frontend.address, &path);
            assert_eq!(reply.status, 200, "{}", reply.text());
            let page = reply.page();
            assert!(page.complete && page.total == 1, "{:?}", page.missing);
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(search)).collect();
        let both = format!("{}{}", stage.ca.pem(), next.pem());
        let mut renewals = 0;
        let mut renew = |ca: &str, issuer: &Authority| {
            stage.replace("client-ca.pem", ca);
            stage.replace("backend-ca.pem", ca);
            stage.write_identity("b", &issuer.issue());
            stage.write_identity("f", &issuer.issue());
            renewals += 1;
            wait_for_log(&backend, RENEWED, renewals);
            wait_for_log(&frontend, RENEWED, renewals);
        };
        renew(&stage.ca.pem(), &stage.ca);
        renew(&both, &stage.ca);
        renew(&both, &next);
        renew(&next.pem(), &next);
        assert!(connect(&backend, &next, Some(&new)).is_ok());
        assert!(connect(&backend, &next, Some(&old)).is_err());
        stop.store(true, Relaxed);
        clients
            .into_iter()
            .for_each(|client| client.join().unwrap());
    });
    let queries = queries.load(Relaxed);
    println!("{queries} queries during 4 renewals");
    assert!(queries > CLIENTS);
    check_complete(&frontend);
}
