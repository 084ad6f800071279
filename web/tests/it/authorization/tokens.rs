//! Signed tokens of callers, and the keys that sign them.

use super::{FILE, PUBLIC, PUBLIC_FILE, site};
use crate::shards;
use crate::site::{Answer, Site, eventually};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::authorization::{Signer, claims};
use testkit::backend::Fake;
use ureq::http::Method;
use web::AuthorizationOptions;

struct Issued {
    site: Site,
    file: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl Issued {
    fn new(keys: &[Value]) -> Issued {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keys.json");
        std::fs::write(&file, json!({ "keys": keys }).to_string()).unwrap();
        let options = AuthorizationOptions {
            jwks: Some(file.to_str().unwrap().to_owned()),
            claim: Some("repositories".to_owned()),
            ttl: Duration::from_secs(30),
            public: vec![PUBLIC.to_owned()],
            ..AuthorizationOptions::default()
        };
        Issued {
            site: site(&Fake::new("one", shards(1, 2)), &options),
            file,
            _directory: directory,
        }
    }

    fn get(&self, path: &str, token: &str) -> Answer {
        let value = format!("Bearer {token}");
        self.site
            .send(Method::GET, path, &[("authorization", &value)])
    }
}

#[test]
fn bearers_of_tokens_see_what_these_list() {
    let signer = Signer::ed25519("ours");
    let issued = Issued::new(&[signer.public()]);
    let list = "/api/v2/packages?q=arse&format=text";
    let open = issued.site.get(list).text();
    assert!(
        open.contains("package0_") && !open.contains("package2_"),
        "{open}"
    );
    assert_eq!(issued.site.get(FILE).status, 404);
    let token = signer.sign(&claims(&["package[23]"], 100));
    let text = issued.get(list, &token).text();
    assert!(
        text.contains("package2_") && text.contains("package3_") && !text.contains("package4_")
    );
    assert_eq!(issued.get(FILE, &token).status, 200);
    let basic = [("authorization", "Basic YTpi")];
    assert_eq!(
        issued.site.send(Method::GET, FILE, &basic).status,
        404,
        "not a token"
    );
}

#[test]
fn tokens_that_are_not_accepted_get_401_with_the_reason() {
    let (signer, other) = (Signer::p256("ours"), Signer::p256("other"));
    let issued = Issued::new(&[signer.public()]);
    let none = signer.sign_with(
        &json!({"alg": "none", "kid": "ours"}),
        &claims(&["**"], 100),
    );
    for (token, says) in [
        (signer.sign(&claims(&["**"], -100)), "has expired"),
        (other.sign(&claims(&["**"], 100)), "unknown key"),
        (none, "alg: none"),
        ("x.y.z".to_owned(), "not a signed token"),
        ("x".repeat(17 << 10), "more than 16384 bytes"),
    ] {
        for path in ["/api/v2/search?q=arse", FILE, PUBLIC_FILE, "/search?q=arse"] {
            let answer = issued.get(path, &token);
            assert_eq!(answer.status, 401, "{says} {path}: {}", answer.text());
            assert!(
                answer.text().contains(says),
                "{says} {path}: {}",
                answer.text()
            );
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    let twice = [
        ("authorization", "Bearer a.b.c"),
        ("authorization", "Bearer d.e.f"),
    ];
    assert_eq!(issued.site.send(Method::GET, FILE, &twice).status, 401);
}

#[test]
fn a_rotated_key_ends_its_tokens_without_a_restart() {
    let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
    let issued = Issued::new(&[old.public()]);
    let [of_old, of_new] = [&old, &new].map(|signer| signer.sign(&claims(&["**"], 100)));
    assert_eq!(issued.get(FILE, &of_old).status, 200);
    assert_eq!(issued.get(FILE, &of_new).status, 401);
    std::fs::write(&issued.file, json!({"keys": [new.public()]}).to_string()).unwrap();
    eventually("the new key", || issued.get(FILE, &of_old).status == 401);
    assert_eq!(issued.get(FILE, &of_new).status, 200);
}

#[test]
fn keys_at_an_address_are_fetched_and_a_token_with_an_unknown_key_asks_again_once() {
    let signer = Signer::ed25519("ours");
    let set = json!({"keys": [signer.public()]}).to_string();
    let fetched = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&fetched);
    let address = testkit::net::serve(move |stream| {
        count.fetch_add(1, SeqCst);
        answer_once(stream, &set);
    });
    let options = AuthorizationOptions {
        jwks: Some(format!("http://{address}/keys")),
        claim: Some("repositories".to_owned()),
        ttl: Duration::from_secs(30),
        ..AuthorizationOptions::default()
    };
    let site = site(&Fake::new("one", shards(1, 2)), &options);
    let get = |token: &str| {
        let value = format!("Bearer {token}");
        site.send(Method::GET, FILE, &[("authorization", &value)])
            .status
    };
    let token = signer.sign(&claims(&["**"], 100));
    eventually("the keys", || get(&token) == 200);
    let unknown = Signer::ed25519("unknown").sign(&claims(&["**"], 100));
    for _ in 0..10 {
        assert_eq!(get(&unknown), 401);
    }
    assert_eq!(fetched.load(SeqCst), 1, "asked a moment ago");
}

fn answer_once(mut stream: TcpStream, body: &str) {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head);
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
