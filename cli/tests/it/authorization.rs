//! Callers with different visible packages: flags and servers.

use crate::home::{Home, Server};
use crate::http::{Reply, get, get_with};
use serde_json::json;
use testkit::authorization::{FakeService, Signer, claims};

fn home() -> Home {
    let home = Home::new();
    home.write("src/open_1/x.c", "needle open\n");
    home.write("src/closed_1/x.c", "needle closed\n");
    home.write("src/closed_1/y.c", "int hidden_name(int);\n");
    home.ok("index --each --index I src");
    home
}

fn search(server: &Server, name: &str, value: &str) -> Reply {
    let path = "/api/v2/packages?q=needle&format=text";
    get_with(&server.address, path, &[(name, value)])
}

#[test]
fn a_service_says_who_sees_what() {
    let home = home();
    let service = FakeService::start();
    service.allow("secret-of-ann", &["closed"]);
    let url = service.url();
    let server = home.start(&format!(
        "serve --index I --auth-url {url} --public open --admin-listen 127.0.0.1:0"
    ));
    let open = search(&server, "cookie", "secret-of-bob");
    assert_eq!((open.status, open.text()), (200, "open_1\n"));
    let both = search(&server, "cookie", "secret-of-ann");
    assert!(both.text().contains("closed_1") && both.text().contains("open_1"));
    let raw = |cookie| {
        get_with(
            &server.address,
            "/raw/p/closed_1/x.c",
            &[("cookie", cookie)],
        )
    };
    assert_eq!(raw("secret-of-ann").text(), "needle closed\n");
    let completed = |cookie| {
        let path = "/api/v2/complete?q=hidden_n";
        let found = get_with(&server.address, path, &[("cookie", cookie)]).json();
        found["completions"][0]["text"].clone()
    };
    assert_eq!(completed("secret-of-ann"), "hidden_name");
    assert_eq!(completed("secret-of-bob"), json!(null));
    let (hidden, status) = (raw("secret-of-bob"), "/api/v2/status");
    assert_eq!(hidden.status, 404, "{}", hidden.text());
    let status = get_with(&server.address, status, &[("cookie", "secret-of-bob")]);
    assert_eq!(status.json()["packages"], 1, "{}", status.text());
    assert_eq!(get(&server.address, "/metrics").status, 404);
    assert_eq!(get(&server.address, "/readyz").text(), r#"{"status":"ok"}"#);
    let log = server.log();
    assert!(!log.contains("secret-of"), "{log}");
    let admin = log.split_once("for operators: http://").unwrap().1;
    let admin = admin.split_once("/metrics").unwrap().0;
    let metrics = get(admin, "/metrics");
    assert!(
        metrics.text().contains("cache=\"authorization\""),
        "{}",
        metrics.text()
    );
    server.check_no_panic();
}

#[test]
fn a_frontend_takes_the_settings_from_its_file() {
    let home = home();
    let service = FakeService::start();
    service.allow("ann", &["closed"]);
    let backend = home.start("backend --index I");
    let file = format!(
        "[frontend]\nauth-url = \"{}\"\nauth-batch = true\nauth-ttl = 5\npublic = [\"open\"]\n",
        service.url()
    );
    home.write("trawl.toml", file);
    home.ok("config check trawl.toml");
    let server = home.start(&format!(
        "frontend --backend {} --spool S --config trawl.toml",
        backend.address
    ));
    assert_eq!(search(&server, "cookie", "bob").text(), "open_1\n");
    assert!(search(&server, "cookie", "ann").text().contains("closed_1"));
    assert_eq!(service.batches(), [1, 1]);
}

#[test]
fn a_signed_token_says_what_its_bearer_sees() {
    let home = home();
    let signer = Signer::ed25519("k");
    home.write("keys.json", json!({"keys": [signer.public()]}).to_string());
    let server =
        home.start("serve --index I --auth-jwks keys.json --auth-claim repositories --public open");
    assert_eq!(get(&server.address, "/raw/p/closed_1/x.c").status, 404);
    let token = signer.sign(&claims(&["closed"], 100));
    let both = search(&server, "authorization", &format!("Bearer {token}"));
    assert!(both.text().contains("closed_1"), "{}", both.text());
    let expired = signer.sign(&claims(&["closed"], -100));
    let refused = search(&server, "authorization", &format!("Bearer {expired}"));
    assert_eq!(refused.status, 401);
    assert!(refused.text().contains("has expired"), "{}", refused.text());
    let log = server.log();
    assert!(!log.contains(&token) && !log.contains(&expired), "{log}");
}

#[test]
fn settings_of_authorization_are_checked_at_the_start() {
    let home = home();
    home.write("keys", "robot blake3:x\n");
    home.write("empty.json", "{\"keys\": []}");
    for (flags, says) in [
        ("--auth-batch", "--auth-batch needs --auth-url"),
        ("--public x", "--public needs --auth-url"),
        ("--auth-url x", "--auth-url x: "),
        ("--auth-url ftp://h/", "https://"),
        ("--auth-url http://h/ --auth-ttl 61", "61 is not in 0..=60"),
        (
            "--auth-url http://h/ --auth-header host",
            "cannot be passed on",
        ),
        ("--auth-url http://h/ --public [", "--public: "),
        (
            "--auth-url http://h/ --auth-claim c",
            "--auth-claim is for signed tokens",
        ),
        ("--auth-issuer x", "--auth-issuer needs --auth-url"),
        (
            "--auth-url http://h/ --auth-audience c",
            "--auth-audience is for signed tokens",
        ),
        ("--auth-jwks keys", "--auth-jwks needs --auth-claim"),
        (
            "--auth-jwks keys --auth-claim c",
            "--auth-jwks keys: expected a JSON Web Key Set",
        ),
        ("--auth-jwks empty.json --auth-claim c", "no key for RS256"),
        (
            "--auth-jwks missing --auth-claim c",
            "--auth-jwks missing: No such file",
        ),
        (
            "--auth-jwks keys --auth-claim c --auth-url http://h/",
            "give one of them",
        ),
    ] {
        for command in [
            "serve --index I",
            "frontend --backend 127.0.0.1:1 --spool S",
        ] {
            let refused = home.run(&format!("{command} {flags} --listen 127.0.0.1:0"));
            refused.check(flags, 2, &[says]);
        }
    }
}

#[test]
fn many_packages_need_a_service_that_decides_about_many() {
    let home = Home::new();
    for number in 0..65 {
        home.write(&format!("src/p{number:02}x_1/x.c"), "needle\n");
    }
    home.ok("index --each --index I src");
    let refused = home.run("serve --index I --auth-url http://127.0.0.1:1/ --listen 127.0.0.1:0");
    refused.check(
        "65 packages",
        2,
        &["65 packages are not public", "--auth-batch"],
    );
}
