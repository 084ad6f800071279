//! Contradictory answers of a server are errors.

use crate::home::Home;
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use testkit::net::{self, HttpRequest};

fn serve(found: Value) -> String {
    net::serve(move |stream| answer(&stream, &found)).to_string()
}

fn answer(mut stream: &TcpStream, found: &Value) -> std::io::Result<()> {
    let Some(asked) = HttpRequest::read(&mut BufReader::new(stream))? else {
        return Ok(());
    };
    let page = json!({
        "id": "x", "generation": "g", "next": null, "interpreted_as": "x", "notices": [],
        "state": "done", "complete": true, "missing": [],
        "skipped": {"count": 0, "documents": []}, "searched": {"documents": 1, "of": 1},
        "found": 1, "total": 1, "documents": 1, "packages": 1, "page": 0, "per_page": 1, "pages": 1,
        "matches": [], "timings": null,
    });
    let body = if asked.path.contains("/export") {
        format!("{found}\n")
    } else {
        page.to_string()
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn found(change: Value) -> Value {
    let mut found = json!({
        "package": "p", "path": "a.c", "line": 1, "text": "na\u{ef}ve", "ranges": [[0, 2]],
        "context": {"before": [], "after": []}, "language": "C", "rank": 1.0,
        "hash": "00", "offset": 0,
    });
    let fields = change.as_object().unwrap().clone();
    found.as_object_mut().unwrap().extend(fields);
    found
}

#[test]
fn invalid_matches_are_errors() {
    let home = Home::new();
    let most = u64::MAX;
    for change in [
        json!({"ranges": [[0, 7]]}),
        json!({"ranges": [[9, 10]]}),
        json!({"ranges": [[3, 1]]}),
        json!({"ranges": [[most, most]]}),
        json!({"offset": most}),
        json!({"line": u32::MAX, "text": "a\nb\nc"}),
        json!({"window": {"start": most, "line_bytes": 6}}),
        json!({"context": {"before": [], "after": [
            {"line": 2, "text": "x", "window": {"start": 9, "line_bytes": 1}}]}}),
    ] {
        let address = serve(found(change.clone()));
        for flags in [
            "--null",
            "-o",
            "--json",
            "--vimgrep",
            "--color=always",
            "-C1",
            "-c",
        ] {
            let run = home.run(&format!("search --server {address} {flags} x"));
            run.check(
                &format!("{change} {flags}"),
                2,
                &["invalid match from the server: p/a.c:"],
            );
        }
    }
}

#[test]
fn ranges_inside_of_a_character_are_printed() {
    let home = Home::new();
    let address = serve(found(json!({"ranges": [[3, 4]]})));
    let json = home.ok(&format!("search --server {address} --json x"));
    let json = String::from_utf8(json).unwrap();
    assert!(
        json.contains(r#"{"match":{"bytes":"rw=="},"start":3,"end":4}"#),
        "{json}"
    );
    let printed = home.ok(&format!("search --server {address} -o x"));
    assert_eq!(printed, b"p/a.c:1:\xaf\n");
}

/// Sends an endless JSON string.
fn serve_without_end(status: &'static str) -> String {
    let send = move |mut stream: TcpStream| -> std::io::Result<()> {
        HttpRequest::read(&mut BufReader::new(&stream))?;
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{{\"a\":\""
        )?;
        loop {
            stream.write_all(&[b'x'; 64 << 10])?;
        }
    };
    net::serve(send).to_string()
}

#[test]
fn answers_without_end_are_errors() {
    let home = Home::new();
    let address = serve_without_end("200 OK");
    for command in [
        "status",
        "packages",
        "packages --json",
        "skipped",
        "explain x",
        "search -c x",
    ] {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let run = home.run(&format!("{name} --server {address} {rest}"));
        run.check(command, 2, &["more than 67.1 MB"]);
    }
    for command in ["search --json x", "search --json --stream x"] {
        let (name, rest) = command.split_once(' ').unwrap();
        let run = home.run(&format!("{name} --server {address} {rest}"));
        run.check(command, 2, &["Trawl server"]);
    }
    let address = serve_without_end("500 Oops");
    let run = home.run(&format!("status --server {address}"));
    run.check("status", 2, &["unexpected response: HTTP 500"]);
}

#[test]
fn json_is_safe_to_print() {
    let home = Home::new();
    let text = "a\u{9b}31m\u{7f}\u{202e}\u{2066}b";
    let address = serve(found(json!({"text": text, "ranges": [[0, 1]]})));
    let printed = home.ok(&format!("search --server {address} --json x"));
    let printed = String::from_utf8(printed).unwrap();
    assert!(
        printed.contains(r"a\u009b31m\u007f\u202e\u2066b"),
        "{printed}"
    );
    let line = printed.lines().nth(1).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["data"]["lines"]["text"], format!("{text}\n"));
}
