//! `trawl serve`: from a directory to a page, and updates.

use crate::home::{Home, Server};
use crate::http::{self, get};
use serde_json::Value;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

const READY_MAX: Duration = Duration::from_secs(20);

const END_MAX: Duration = Duration::from_secs(2);

fn home() -> Home {
    let home = Home::new();
    home.write(
        "hello_1.0/src/hello.c",
        "/* <script>alert(1)</script> */\nint main(void)\n{\n\treturn wanted;\n}\n",
    );
    home
}

#[test]
fn directory_becomes_a_search_page() {
    let home = home();
    let server = home.start("serve hello_1.0");
    let get = |path| {
        let reply = get(&server.address, path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply
    };
    for start in ["/", "/search?q=wanted"] {
        let page = get(start);
        assert!(page.kind.starts_with("text/html"), "{}", page.kind);
        assert!(page.text().contains("<form"), "{}", page.text());
    }
    let page = get("/search?q=wanted");
    assert!(
        page.text().contains("</span> <mark>wanted</mark>;"),
        "{}",
        page.text()
    );
    for path in [
        "/search?q=script",
        "/search?q=%3Cscript%3Ealert",
        "/show?package=hello_1.0&path=src/hello.c&line=1",
    ] {
        let page = get(path);
        assert!(!page.text().contains("<script>"), "{path}: {}", page.text());
        assert!(page.text().contains("alert"), "{path}: {}", page.text());
    }
    let show = get("/show?package=hello_1.0&path=src/hello.c&line=4");
    assert!(show.text().contains("</span> wanted;"), "{}", show.text());
    let health = get("/readyz").json();
    assert_eq!(
        (&health["status"], &health["backends"][0]["documents"]),
        (&"ok".into(), &1.into())
    );
    assert!(get("/metrics").text().contains("trawl_frontend_"));
    check_json(&get("/api/v2/search?q=wanted").json());
}

fn check_json(page: &Value) {
    let found = &page["matches"][0];
    let expected = [
        (&page["interpreted_as"], Value::from("wanted")),
        (&page["complete"], true.into()),
        (&page["total"], 1.into()),
        (&found["package"], "hello_1.0".into()),
        (&found["path"], "src/hello.c".into()),
        (&found["line"], 4.into()),
        (&found["text"], "\treturn wanted;".into()),
        (&found["ranges"], serde_json::json!([[8, 14]])),
        (&found["context"]["before"][1]["text"], "{".into()),
        (&found["context"]["after"][0]["text"], "}".into()),
    ];
    for (field, expected) in expected {
        assert_eq!(*field, expected, "{page}");
    }
}

#[test]
fn events_end_with_done() {
    let home = home();
    let server = home.start("serve hello_1.0");
    let page = get(&server.address, "/api/v2/search?q=wanted&wait=false").page();
    let id = page.id;
    let events = get(&server.address, &format!("/api/v2/search/{id}/events"));
    assert!(
        events.kind.starts_with("text/event-stream"),
        "{}",
        events.kind
    );
    let last = events.text().trim_end().rsplit("\n\n").next().unwrap();
    let (event, data) = last.split_once('\n').unwrap();
    assert_eq!(event, "event: done");
    let done: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(
        (&done["total"], &done["complete"]),
        (&1.into(), &true.into())
    );
}

fn serve(home: &Home, sources: &str, says: &str, total: usize) -> Server {
    let server = home.start(&format!("serve {sources}"));
    assert!(
        server.log().contains(says),
        "no `{says}` in: {}",
        server.log()
    );
    let (_, lines) = http::search_all(&server.address, "wanted");
    assert_eq!(lines.len(), total, "{lines:?}");
    server
}

#[test]
fn index_is_updated_only_if_needed() {
    let home = home();
    serve(&home, "hello_1.0", "indexed 1 file of 1 package", 1);
    // The first may still hold its spool.
    let _other = serve(&home, "hello_1.0", "is up to date", 1);
    serve(&home, "hello_1.0", "is up to date", 1);
    home.write("hello_1.0/src/hello.c", "wanted\nwanted\n");
    serve(&home, "hello_1.0", "indexed 1 file", 2);
    home.write("hello_1.0/more.c", "wanted\n");
    serve(&home, "hello_1.0", "indexed 2 files", 3);
    std::fs::remove_file(home.path("hello_1.0/more.c")).unwrap();
    serve(&home, "hello_1.0", "indexed 1 file", 2);
    home.write("hello_1.0/.git/info/exclude", "hello.c\n");
    serve(&home, "hello_1.0", "indexed 0 files", 0);
    serve(&home, "hello_1.0 --no-ignore", "indexed 1 file", 2);
    serve(&home, "hello_1.0 --no-ignore", "is up to date", 2);
}

#[test]
fn default_sources_are_this_directory_and_downloaded_crates() {
    let home = Home::new();
    home.write("project/src/main.rs", "fn wanted() {}\n");
    home.write(
        ".cargo/registry/src/index-1/serde-1.0.1/src/lib.rs",
        "wanted\n",
    );
    home.write(
        ".cargo/registry/src/index-2/serde-1.0.1/src/lib.rs",
        "wanted\n",
    );
    let serve = |says: &str, expected: &[&str]| {
        let mut command = home.command("serve");
        command.current_dir(home.path("project"));
        let server = home.start_command(command);
        assert!(server.log().contains(says), "{}", server.log());
        let (_, mut lines) = http::search_all(&server.address, "wanted");
        lines.sort_unstable();
        assert_eq!(lines, expected);
    };
    let (here, of_cargo) = (
        "project/src/main.rs:1:fn wanted() {}",
        "serde-1.0.1/src/lib.rs:1:wanted",
    );
    serve("indexed 1 file of 1 package", &[here]);
    home.write("project/Cargo.toml", "[package]\n");
    serve("indexed 3 files of 2 packages", &[here, of_cargo]);
}

#[test]
fn serve_ends_on_signals() {
    let home = home();
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let mut server = home.start("serve hello_1.0");
        let _idle = TcpStream::connect(&server.address).unwrap();
        http::search_all(&server.address, "wanted");
        server.process.signal(signal);
        let status = server.process.wait(END_MAX);
        let ended = status.success() || status.signal() == Some(number);
        assert!(ended, "{signal}: {status}: {}", server.log());
        server.check_no_panic();
    }
}

#[test]
fn tells_systemd_that_it_is_ready() {
    let home = Home::new();
    home.write("src/a.c", "int main;\n");
    let socket = UnixDatagram::bind(home.path("notify")).unwrap();
    socket.set_read_timeout(Some(READY_MAX)).unwrap();
    let mut command = home.command("serve src");
    command.env("NOTIFY_SOCKET", home.path("notify"));
    let _server = home.start_command(command);
    let mut told = [0; 64];
    let bytes = socket.recv(&mut told).unwrap();
    assert_eq!(&told[..bytes], b"READY=1");
}
