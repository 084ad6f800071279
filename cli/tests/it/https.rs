//! TLS server, with the command line as client.

use crate::home::{Home, Server};
use crate::process::finish;
use rustls::pki_types::ServerName;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use testkit::ca::{Authority, Valid};

struct Stage {
    home: Home,
    ca: Authority,
}

fn stage() -> Stage {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.ok("index --index I p");
    let ca = Authority::new("ours");
    let issued = ca.issue();
    home.write("s.pem", issued.certificate);
    home.write("s.key", issued.key);
    home.write("ca.pem", ca.pem());
    Stage { home, ca }
}

fn serve(home: &Home) -> Server {
    home.start("serve --index I --tls-cert s.pem --tls-key s.key")
}

#[test]
fn the_command_line_searches_over_https() {
    let Stage { home, .. } = stage();
    let server = serve(&home);
    let search = format!("search --server https://{} wanted", server.address);
    let found = "p/a.c:1:int wanted;\n";
    let run = home.run(&format!("{search} --ca ca.pem"));
    assert_eq!((run.text(), run.code), (found, Some(0)), "{}", run.stderr);
    let mut command = home.command(&search);
    let run = finish(command.env("SSL_CERT_FILE", home.path("ca.pem")));
    assert_eq!((run.text(), run.code), (found, Some(0)), "{}", run.stderr);
    let status = home.run(&format!(
        "status --server https://{} --ca ca.pem",
        server.address
    ));
    status.check("status", 0, &[]);
}

#[test]
fn keys_and_cookies_travel_over_https() {
    let Stage { home, ca } = stage();
    let made = home.run("key robot");
    let (key, line) = made.text().trim().split_once('\n').unwrap();
    home.write("key", key);
    home.write("keys", line);
    let server = home.start("serve --index I --tls-cert s.pem --tls-key s.key --api-keys keys");
    let url = format!("https://{}", server.address);
    let search = format!("search --server {url} --ca ca.pem wanted");
    home.run(&search)
        .check("no key", 2, &["a key is needed (HTTP 401)"]);
    home.run(&format!("{search} --key-file key"))
        .check("a key", 0, &[]);
    // The cookie requires https.
    let (_, head) = browse(&server, &ca, "/");
    assert!(head.contains("SameSite=Strict; Secure"), "{head}");
}

#[test]
fn servers_that_are_not_trusted_are_explained() {
    let Stage { home, ca } = stage();
    home.write("other.pem", Authority::new("other").pem());
    let server = serve(&home);
    let address = &server.address;
    let search = |url: &str, ca: &str, says: &str| {
        let run = home.run(&format!("search --server {url} {ca} wanted"));
        run.check(url, 2, &[says]);
    };
    let url = format!("https://{address}");
    search(&url, "", "--ca FILE");
    search(&url, "--ca other.pem", "name its CA with --ca FILE");
    search(
        &url,
        "--ca nowhere.pem",
        "cannot read the certificate in nowhere.pem",
    );
    search(
        &format!("http://{address}"),
        "",
        "this server speaks TLS: ask it with https://",
    );
    search(
        &format!("ftp://{address}"),
        "",
        "expected a URL or HOST:PORT, such as http://127.0.0.1:8080",
    );

    let elsewhere = ca.issue_for(&["other.example"], Valid::Now);
    home.write("s.pem", elsewhere.certificate);
    home.write("s.key", elsewhere.key);
    let server = serve(&home);
    let url = format!("https://{}", server.address);
    search(&url, "--ca ca.pem", "other.example");
    let plain = home.start("serve --index I");
    let url = format!("https://{}", plain.address);
    search(
        &url,
        "--ca ca.pem",
        "it does not speak TLS: ask it with http://",
    );
}

#[test]
fn the_configuration_file_names_the_certificate() {
    let Stage { home, .. } = stage();
    home.write(
        "c.toml",
        "[serve]\nindex = 'I'\ntls-cert = 's.pem'\ntls-key = 's.key'\n",
    );
    home.ok("config check c.toml");
    let server = home.start("serve --config c.toml");
    let found = home.ok(&format!(
        "search --server https://{} --ca ca.pem wanted",
        server.address
    ));
    assert_eq!(found, b"p/a.c:1:int wanted;\n");
}

/// Returns the negotiated protocol, and the response.
fn browse(server: &Server, ca: &Authority, path: &str) -> (Vec<u8>, String) {
    let mut config = Arc::unwrap_or_clone(testkit::ca::client(ca, None));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(&server.address).unwrap();
    let mut stream = rustls::Stream::new(&mut session, &mut socket);
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    // The server may close without notice.
    let _ = stream.read_to_end(&mut response);
    let protocol = session.alpn_protocol().unwrap_or_default().to_vec();
    (protocol, String::from_utf8(response).unwrap())
}

#[test]
fn browsers_are_offered_http_1_1() {
    let Stage { home, ca } = stage();
    let (protocol, response) = browse(&serve(&home), &ca, "/healthz");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert_eq!(protocol, b"http/1.1");
}
