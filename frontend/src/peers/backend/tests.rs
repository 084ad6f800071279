use super::*;
use crate::peers::connection::PeerError;
use rustls::{ServerConfig, ServerConnection, Stream};
use std::net::TcpListener;
use std::thread;
use std::time::Instant;
use testkit::ca::{Authority, Issued, Valid};
use tokio::sync::watch;

const GREETING: &[u8] = b"greeting";

fn backend(config: Arc<ServerConfig>) -> String {
    let serve = move |mut socket: TcpStream| {
        let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
        // Fails if a certificate is refused.
        if session.complete_io(&mut socket).is_ok() {
            let mut stream = Stream::new(&mut session, &mut socket);
            let _ = stream.write_all(GREETING).and_then(|()| stream.flush());
            let _ = stream.read(&mut [0]);
        }
    };
    testkit::net::serve(serve).to_string()
}

fn greeting(address: &str, config: Arc<ClientConfig>) -> Result<Vec<u8>, String> {
    let (_sender, config) = watch::channel(config);
    let backend = Backend::tls(address, config).unwrap();
    let reason = |error| PeerError::unreachable(error).to_string();
    let socket = backend.connect(Duration::MAX).map_err(reason)?;
    let mut greeting = vec![0; GREETING.len()];
    (&socket).read_exact(&mut greeting).map_err(reason)?;
    Ok(greeting)
}

/// Checks the refusal between a frontend with `identity` and a backend with
/// `shown`, both trusting `ours`.
fn check(ours: &Authority, shown: &Issued, identity: Option<&Issued>, says: &str) {
    let address = backend(testkit::ca::server(shown, Some(ours)));
    let refused = greeting(&address, testkit::ca::client(ours, identity)).unwrap_err();
    assert!(refused.contains(says), "no `{says}` in: {refused}");
}

#[test]
fn right_certificates_are_accepted() {
    let ours = Authority::new("ours");
    let address = backend(testkit::ca::server(&ours.issue(), Some(&ours)));
    let config = testkit::ca::client(&ours, Some(&ours.issue()));
    assert_eq!(greeting(&address, config).unwrap(), GREETING);
}

#[test]
fn wrong_certificates_of_a_backend_are_explained() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let identity = ours.issue();
    let expired = ours.issue_valid(Valid::Past);
    let early = ours.issue_valid(Valid::Future);
    let elsewhere = ours.issue_for(&["backend.example", "10.9.9.9"], Valid::Now);
    for (shown, says) in [
        (&other.issue(), "issued by another CA"),
        (&expired, "the backend's certificate has expired; renew it"),
        (&early, "not valid yet; compare the clocks"),
        (&elsewhere, "backend.example"),
        (&elsewhere, "10.9.9.9, not for 127.0.0.1; issue one"),
    ] {
        check(&ours, shown, Some(&identity), says);
    }
}

#[test]
fn a_wrong_name_does_not_show_an_address_that_is_hidden() {
    let ours = Authority::new("ours");
    let elsewhere = ours.issue_for(&["backend.example"], Valid::Now);
    let address = backend(testkit::ca::server(&elsewhere, None));
    let (_sender, config) = watch::channel(testkit::ca::client(&ours, None));
    let backend = Backend::tls(address, config).unwrap().named("backend 1");
    let hidden = PeerError::unreachable(backend.connect(Duration::MAX).unwrap_err()).to_string();
    assert_eq!(hidden, faults::OTHER_NAME);
}

#[test]
fn backends_that_refuse_this_frontend_are_explained() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let shown = ours.issue();
    let expired = ours.issue_valid(Valid::Past);
    for (identity, says) in [
        (Some(&other.issue()), "issued by another CA"),
        (
            Some(&expired),
            "it has expired or is not valid yet; renew it (--backend-cert)",
        ),
        (None, "there is none; give --backend-cert"),
    ] {
        check(&ours, &shown, identity, says);
    }
}

#[test]
fn a_backend_without_tls_is_explained() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let hello = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(&[0x40; 64]).unwrap();
        let _ = socket.read(&mut [0]);
    });
    let ours = Authority::new("ours");
    let refused = greeting(&address, testkit::ca::client(&ours, None)).unwrap_err();
    assert!(
        refused.contains("does not speak TLS; start it with --tls-cert"),
        "{refused}"
    );
    hello.join().unwrap();
}

#[test]
fn a_silent_backend_ends_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Instant::now();
    let config = testkit::ca::client(&Authority::new("ours"), None);
    assert_eq!(greeting(&address, config).unwrap_err(), "no answer in time");
    assert!(asked.elapsed() >= Duration::from_secs(2));
}

#[test]
fn addresses_without_a_host_are_refused() {
    let config = testkit::ca::client(&Authority::new("ours"), None);
    let (_sender, config) = watch::channel(config);
    for good in ["[::1]:1", "10.0.0.1:1", "host.example:1", "localhost:1"] {
        assert!(Backend::tls(good, config.clone()).is_ok(), "{good}");
    }
    for bad in ["", ":1", "two words:1"] {
        assert!(Backend::tls(bad, config.clone()).is_err(), "{bad}");
    }
}
