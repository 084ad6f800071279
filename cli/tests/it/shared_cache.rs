//! Redis shared by frontends: flags and servers.

use crate::home::{Home, Server};
use crate::http::{Reply, get, get_with};
use std::time::{Duration, Instant};
use testkit::authorization::FakeService;
use testkit::redis::{FakeRedis, Fault};

const PATH: &str = "/raw/p/closed_1/x.c";

fn home() -> Home {
    let home = Home::new();
    home.write("src/open_1/x.c", "needle open\n");
    home.write("src/closed_1/x.c", "needle closed\n");
    home.write("secret", "s".repeat(32));
    home.write("short", "secret");
    home.ok("index --each --index I src");
    home
}

fn raw(server: &Server, cookie: &str) -> Reply {
    get_with(&server.address, PATH, &[("cookie", cookie)])
}

#[test]
fn two_servers_share_decisions_and_need_no_redis() {
    let home = home();
    let (service, redis) = (FakeService::start(), FakeRedis::start());
    service.allow("user=ann", &["closed"]);
    service.allow("user=bob", &["closed"]);
    let (service_url, url) = (service.url(), redis.url().replace("//", "//:hunter2@"));
    let text = format!(
        "[serve]\nauth-url = \"{service_url}\"\nauth-batch = true\ncache-redis = \"{url}\"\n\
         cache-redis-secret = \"secret\"\n"
    );
    home.write("c.toml", &text);
    let shown = String::from_utf8(home.ok("config show --config c.toml")).unwrap();
    assert!(shown.contains("redis://:***@127.0.0.1"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let command = "serve --index I --config c.toml --admin-listen 127.0.0.1:0 --spool";
    let one = home.start(&format!("{command} S1"));
    let two = home.start(&format!("{command} S2"));
    let until = Instant::now() + Duration::from_secs(60);
    // The service is finally not asked.
    for number in 0.. {
        assert!(Instant::now() < until, "nothing is shared: {}", two.log());
        let cookie = format!("user=ann{number}");
        service.allow(&cookie, &["closed"]);
        let writes = redis.commands("SET");
        assert_eq!(raw(&one, &cookie).status, 200);
        while redis.commands("SET") == writes && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let asked = service.requests();
        assert_eq!(raw(&two, &cookie).status, 200);
        if service.requests() == asked {
            break;
        }
    }
    redis.set_fault(Fault::Down);
    assert_eq!(raw(&one, "user=bob").status, 200);
    assert_eq!(raw(&two, "user=eve").status, 404);
    for server in [one, two] {
        let log = server.log();
        let admin = log.split_once("for operators: http://").unwrap().1;
        let admin = admin.split_once("/metrics").unwrap().0;
        let metrics = get(admin, "/metrics");
        assert!(metrics.text().contains("trawl_frontend_hints_total{"));
        let log = server.log();
        assert!(!log.contains("hunter2"), "{log}");
    }
}

#[test]
fn mistakes_in_the_flags_of_redis_are_named_without_its_password() {
    let home = home();
    for (flags, says) in [
        ("--cache-redis http://x", "--cache-redis: expected redis://"),
        (
            "--cache-redis rediss://u:hunter2@localhost",
            "TLS is not supported",
        ),
        (
            "--cache-redis redis://u:hunter2@localhost/x",
            "Invalid database number",
        ),
        (
            "--cache-redis-secret secret",
            "--cache-redis-secret needs --cache-redis",
        ),
        (
            "--cache-redis redis://localhost --cache-redis-secret short",
            "a secret has 32 to 4096 bytes",
        ),
        (
            "--cache-redis redis://localhost --cache-redis-secret missing",
            "cannot read the secret missing",
        ),
    ] {
        let run = home.run(&format!("serve --index I --listen 127.0.0.1:0 {flags}"));
        run.check(flags, 2, &[says]);
        assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    }
}

#[test]
fn a_server_says_that_decisions_are_not_shared_without_a_secret() {
    let home = home();
    let server = home.start(
        "serve --index I --auth-url http://127.0.0.1:1/ --cache-redis redis://127.0.0.1:1 --admin-listen 127.0.0.1:0",
    );
    let log = server.log();
    assert!(log.contains("needs --cache-redis-secret FILE"), "{log}");
}
