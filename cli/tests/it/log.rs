//! Log entries of a request, without private data.

use crate::home::{Home, Server};
use crate::http::{get, get_with};
use crate::metrics::counters;
use crate::{WAIT_MAX, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::Value;
use std::io::{self, Read, Write};

/// Query text and trigrams of its plan.
const PRIVATE: [&str; 3] = ["hunter2secret", "hun", "ret"];

fn home() -> Home {
    let home = Home::new();
    home.write(
        "hello_1.0/src/hello.c",
        "char *password = \"hunter2secret\";\n",
    );
    home
}

fn log_of_a_slow_query(flags: &str) -> String {
    let home = home();
    let arguments = format!("serve hello_1.0 --slow-query 0 {flags}");
    let server = home.start(&arguments);
    search(&server, "hunter2secret", "of-this-test")
}

fn search(server: &Server, q: &str, id: &str) -> String {
    let path = format!("/api/v2/search?q={q}");
    let page = get_with(&server.address, &path, &[("x-request-id", id)]).json();
    assert_eq!(page["total"], 1, "{page}");
    poll("the line of the slow query", WAIT_MAX, || {
        let log = server.log();
        (log.contains("slow query") && log.ends_with('\n')).then_some(log)
    })
}

#[test]
fn the_text_of_a_slow_query_is_logged_only_on_request() {
    let hidden = log_of_a_slow_query("");
    assert!(hidden.contains("query_hash="), "{hidden}");
    let off = log_of_a_slow_query("--log-queries off");
    assert!(!off.contains("query_hash"), "{off}");
    for log in [hidden, off] {
        let lines = log.lines().filter(|line| line.contains("slow query"));
        for (line, private) in lines.flat_map(|line| PRIVATE.map(|text| (line, text))) {
            assert!(!line.contains(private), "{private}: {line}");
        }
        assert!(!log.contains(PRIVATE[0]), "{log}");
    }
    let full = log_of_a_slow_query("--log-queries full");
    assert!(
        full.contains("query=") && full.contains(PRIVATE[0]) && full.contains("plan="),
        "{full}"
    );
}

#[test]
fn json_logs_name_the_request_in_every_line_of_it() {
    let log = log_of_a_slow_query("--log-format json");
    let lines = log.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let slow = lines.iter().find(|line| {
        let message = line["message"].as_str();
        message.is_some_and(|message| message.starts_with("slow query"))
    });
    let slow = slow.expect("the line of the slow query");
    assert_eq!(slow["span"]["id"], "of-this-test", "{slow}");
    assert_eq!(slow["level"], "WARN");
}

fn full_pipe() -> (io::PipeReader, io::PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'-'; 1 << 10]).is_ok() {}
    while writer.write(b"\n").is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

#[test]
fn a_log_that_is_not_read_does_not_stop_a_server() {
    let home = home();
    home.ok("index --index I hello_1.0");
    let (mut reader, writer) = full_pipe();
    let mut command = home.command("serve --index I --slow-query 0 --log-queries full --drain 1");
    command.stderr(writer);
    let mut server = home.start_unlogged(command);
    // Together more than the log keeps.
    let long = "x".repeat(1000);
    for number in 0..1200 {
        let path = format!("/api/v2/search?q={long}{number}");
        assert_eq!(get(&server.address, &path).status, 200);
    }
    assert_eq!(get(&server.address, "/healthz").status, 200);
    let dropped = counters(&server.address)["trawl_log_dropped_lines_total"];
    assert!(dropped > 0, "{dropped}");
    // Reported when it is read again.
    let (mut text, mut some) = (String::new(), [0; 1 << 16]);
    while !text.contains("lines of the log were dropped") {
        let bytes = reader.read(&mut some).unwrap();
        assert!(bytes > 0, "the line is missing");
        text.push_str(&String::from_utf8_lossy(&some[..bytes]));
    }
    assert!(text.contains(&format!("dropped={dropped}")), "{dropped}");
    server.process.signal("TERM");
    let ended = server.process.wait(WAIT_MAX);
    assert_eq!(ended.code(), Some(0));
}
