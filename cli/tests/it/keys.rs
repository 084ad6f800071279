//! API keys and the operators' address.

use crate::home::{Home, Server};
use crate::http::{get, get_with};
use crate::{WAIT_MAX, poll};
use std::process::Command;

fn home() -> Home {
    let home = Home::new();
    home.write("src/p_1/x.c", "needle\n");
    home.ok("index --each --index I src");
    home
}

fn new_key(home: &Home, name: &str) -> (String, String) {
    let made = home.run(&format!("key {name}"));
    made.check("key", 0, &["not shown again", "--api-keys"]);
    let lines: Vec<_> = made.text().lines().map(str::to_owned).collect();
    let [key, line] = &lines[..] else {
        panic!("{lines:?}");
    };
    (key.clone(), line.clone())
}

fn start_with(home: &Home, flags: &str) -> Server {
    let mut command = home.command(&format!("serve --index I {flags}"));
    command.env("TRAWL_LOG", "trace");
    home.start_command(command)
}

#[test]
fn the_command_line_sends_the_key_of_a_file_or_a_variable_and_the_log_has_none() {
    let home = home();
    let (key, line) = new_key(&home, "robot");
    assert!(key.starts_with("trawl_") && key.len() == 70, "{key}");
    assert!(
        line.starts_with("robot blake3:") && !line.contains(&key),
        "{line}"
    );
    home.write("keys", format!("# ours\n{line}\n"));
    let server = start_with(&home, "--api-keys keys --require-key");
    let url = format!("http://{}", server.address);
    let search = || home.command(&format!("search --server {url} needle"));
    let run = |command: &mut Command| crate::process::finish(command);
    run(&mut search()).check("no key", 2, &["a key is needed (HTTP 401)", "--key-file"]);
    run(search().env("TRAWL_KEY", "wrong")).check("wrong", 2, &["the key is not known here"]);
    home.write("key", format!("{key}\n"));
    let found = b"p_1/x.c:1:needle\n";
    assert_eq!(run(search().args(["--key-file", "key"])).ok(), found);
    assert_eq!(run(search().env("TRAWL_KEY", &key)).ok(), found);
    // The file's key is for another server.
    home.write(".config/trawl/keys", format!("http://127.0.0.1:1 {key}\n"));
    run(&mut search()).check("another server", 2, &["a key is needed"]);
    home.write(".config/trawl/keys", format!("{url}/ {key}\n"));
    assert_eq!(run(&mut search()).ok(), found);
    home.ok(&format!("status --server {url}"));
    assert_eq!(get(&server.address, "/").status, 401);
    let header = format!("Bearer {key}");
    let page = get_with(&server.address, "/", &[("authorization", &header)]);
    assert_eq!(page.status, 200);
    let log = server.log();
    assert!(!log.contains(&key) && !log.contains("wrong\""), "{log}");
    server.check_no_panic();
}

#[test]
fn files_of_keys_that_cannot_be_used_are_refused() {
    let home = home();
    let (key, line) = new_key(&home, "robot");
    home.write("keys", &line);
    home.write("secret", [7; 32]);
    home.write("short-secret", [7; 31]);
    for (name, text) in [
        ("empty", String::new()),
        ("comment", "# nobody\n".to_owned()),
        ("twice", format!("{line}\n\n{line}\n")),
        ("short", line[..line.len() - 1].to_owned()),
        ("key", format!("robot {key}\n")),
        ("key-alone", format!("#\n{key}\n")),
        ("words", format!("{line} more\n")),
    ] {
        home.write(name, text);
    }
    for (flags, says) in [
        (
            "--api-keys missing",
            &["--api-keys", "missing", "No such file"][..],
        ),
        ("--api-keys src", &["--api-keys", "src", "directory"]),
        ("--api-keys empty", &["empty", "no keys"]),
        ("--api-keys comment", &["comment", "no keys"]),
        (
            "--api-keys twice",
            &["twice", "line 3: the name robot is on line 1 already"],
        ),
        (
            "--api-keys short",
            &["line 1: the hash of robot", "64 hexadecimal digits"],
        ),
        (
            "--api-keys key",
            &["line 1: this is a key", "trawl key NAME"],
        ),
        ("--api-keys key-alone", &["line 2: this is a key"]),
        ("--api-keys words", &["line 1: expected a name and a hash"]),
        (
            "--require-key",
            &["--require-key needs a file of keys", "--api-keys FILE"],
        ),
        (
            "--cookie-secret secret",
            &["--cookie-secret needs a file of keys"],
        ),
        (
            "--api-keys keys --cookie-secret missing",
            &["--cookie-secret", "missing"],
        ),
        (
            "--api-keys keys --cookie-secret short-secret",
            &["32 to 4096 bytes, this has 31"],
        ),
        (
            "--admin-listen 127.0.0.1:7 --listen 127.0.0.1:7",
            &["--admin-listen and --listen are both 127.0.0.1:7"],
        ),
        (
            "--admin-listen nowhere",
            &["'nowhere' for '--admin-listen <HOST:PORT>': expected HOST:PORT"],
        ),
    ] {
        for command in [
            "serve --index I",
            "frontend --backend 127.0.0.1:1 --spool S",
        ] {
            let listen = if flags.contains("--listen") {
                ""
            } else {
                "--listen 127.0.0.1:0"
            };
            let refused = home.run(&format!("{command} {flags} {listen}"));
            refused.check(flags, 2, says);
            assert!(!refused.stderr.contains(&key), "{}", refused.stderr);
        }
    }
    for (arguments, says) in [
        ("key a/b", "letters, digits"),
        ("key", "NAME"),
        (
            "search --key-file missing x",
            "cannot read the key in missing",
        ),
        ("search --key-file empty x", "empty: no key"),
        (
            "search --key-file keys x",
            "expected a key and nothing else",
        ),
        ("search --key-file keys --index I x", "cannot be used with"),
    ] {
        let mut command = home.command(arguments);
        command.env("TRAWL_SERVER", "http://127.0.0.1:1");
        crate::process::finish(&mut command).check(arguments, 2, &[says]);
    }
}

fn admin_address(server: &Server) -> String {
    let log = server.log();
    let line = log
        .lines()
        .find_map(|line| line.strip_prefix("for operators: http://"));
    let address = line.and_then(|line| line.strip_suffix("/metrics"));
    address
        .unwrap_or_else(|| panic!("no address: {log}"))
        .to_owned()
}

#[test]
fn only_operators_see_metrics_and_the_addresses_of_backends() {
    let home = home();
    let a = home.start("backend --index I");
    // One has foreign error texts, one is closed.
    let (lost, unknown) = ("127.0.0.1:1", "backend-7.invalid:28082");
    let server = home.start(&format!(
        "frontend --backend {} --backend {lost} --backend {unknown} --spool S --admin-listen 127.0.0.1:0",
        a.address
    ));
    let admin = admin_address(&server);
    let secrets = [&a.address[..], lost, "backend-7.invalid"];
    let page = get(&server.address, "/api/v2/search?q=needle");
    let mut names: Vec<_> = page
        .page()
        .missing
        .into_iter()
        .map(|it| it.backend)
        .collect();
    names.sort();
    assert_eq!(names, ["backend 2", "backend 3"], "{}", page.text());
    for path in [
        "/",
        "/search?q=needle",
        "/api/v2/search?q=needle",
        "/api/v2/events?q=needle",
        "/api/v2/export?q=needle&order=found",
        "/api/v2/index/packages",
        "/api/v2/explain?q=needle",
        "/api/v2/file?package=q&path=x",
        "/api/v2/tree?package=q",
        "/api/v2/skipped?package=q",
        "/show?package=q&path=x",
        "/api/v2/status",
        "/readyz",
    ] {
        let reply = get(&server.address, path);
        let text = reply.text();
        assert!(
            !secrets.iter().any(|secret| text.contains(secret)),
            "{path}: {text}"
        );
    }
    let status = get(&server.address, "/api/v2/status").json();
    assert_eq!(status["backends"][0]["name"], "backend 1");
    assert_eq!(get(&server.address, "/metrics").status, 404);
    assert_eq!(get(&server.address, "/healthz").status, 200);
    let full = get(&admin, "/api/v2/status").json();
    let shown: Vec<_> = (0..3)
        .map(|at| full["backends"][at]["name"].clone())
        .collect();
    assert_eq!(shown, [a.address.as_str(), lost, unknown]);
    for path in ["/readyz", "/healthz", "/metrics"] {
        assert_eq!(get(&admin, path).status, 200, "{path}");
    }
    assert!(get(&admin, "/readyz").text().contains(lost));
    assert!(
        get(&admin, "/metrics")
            .text()
            .contains("trawl_frontend_backends_connected 1")
    );
    assert_eq!(get(&admin, "/api/v2/search?q=needle").status, 404);
    assert_eq!(
        get_with(&admin, "/metrics", &[("host", "evil.example")]).status,
        421
    );
    home.run(&format!("status --server http://{admin}"))
        .check("status", 3, &[]);
    poll("the lost backend in the log", WAIT_MAX, || {
        server
            .log()
            .contains("backend 2 (127.0.0.1:1)")
            .then_some(())
    });
}
