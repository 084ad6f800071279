//! `trawl search --stream` with a server.

use crate::home::Home;
use crate::process::{Process, finish};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\
    transfer-encoding: chunked\r\n\r\n";

/// Last line after two matches.
pub(crate) const DONE: &str = r#"{"done":{"id":"0","generation":"0","complete":true,"missing":[],"skipped":{"count":0,"documents":[]},"searched":{"documents":3,"of":3},"found":2,"total":2,"documents":1,"packages":1,"explain":{"plan":"","shards":1,"blocks":1,"candidates":1,"matched_blocks":1,"documents":1,"verified_bytes":7}}}"#;

/// Flags, server's form, and text before the line number.
const FORMS: [(&str, &str, &str); 2] = [
    ("", "format=text&end=true", "p_1/a.c:"),
    ("--null", "order=found", "p_1/a.c\0"),
];

fn line(form: &str, number: u32) -> String {
    if form.starts_with("format=text") {
        return format!("p_1/a.c:{number}:wanted");
    }
    format!(
        r#"{{"package":"p_1","path":"a.c","line":{number},"text":"wanted","ranges":[[0,6]],"context":{{"before":[],"after":[]}},"language":"C","rank":1.0,"hash":"00","offset":{number}}}"#
    )
}

fn chunk(line: &str) -> String {
    format!("{:x}\r\n{line}\n\r\n", line.len() + 1)
}

fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    head.join("\n")
}

/// Sends one line, then those of the channel.
fn slow_server(form: &'static str) -> (String, mpsc::Sender<String>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, rest) = mpsc::channel::<String>();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = request(&stream);
        assert!(asked.starts_with("GET /api/v2/export?"), "{asked}");
        assert!(asked.contains("order=found"), "{asked}");
        assert!(asked.contains(form), "{asked}");
        let first = [HEAD, &chunk(&line(form, 1))].concat();
        stream.write_all(first.as_bytes()).unwrap();
        stream.write_all(rest.recv().unwrap().as_bytes()).unwrap();
    });
    (address, sender, server)
}

#[test]
fn lines_are_printed_while_the_search_runs() {
    let home = Home::new();
    for (flags, form, name) in FORMS {
        let (address, tell, server) = slow_server(form);
        let command_line = format!("search --server {address} --stream {flags} wanted");
        let mut process = Process::start(home.command(&command_line).stdout(Stdio::piped()));
        let mut printed = BufReader::new(process.stdout());
        let mut first = String::new();
        printed.read_line(&mut first).unwrap();
        assert_eq!(first, format!("{name}1:wanted\n"), "while the search runs");
        let rest = [chunk(&line(form, 2)), chunk(DONE), "0\r\n\r\n".to_owned()];
        tell.send(rest.concat()).unwrap();
        let mut rest = String::new();
        printed.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, format!("{name}2:wanted\n"));
        assert_eq!(process.wait(crate::WAIT_MAX).code(), Some(0));
        server.join().unwrap();
    }
}

#[test]
fn a_line_that_looks_like_the_end_is_printed() {
    let home = Home::new();
    let form = FORMS[0].1;
    let (address, tell, server) = slow_server(form);
    // A package may be named like the end; chunks may split lines.
    let lines = format!("{{\"done\":1/a.c:1:wanted\np_1/a.c:2:{DONE}");
    let (head, tail) = lines.split_at(lines.len() - DONE.len());
    let raw = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let done = DONE.replace("\"total\":2", "\"total\":3");
    let (begins, ends) = done.split_at(5);
    let rest = [
        raw(&head[..4]),
        raw(&head[4..]),
        chunk(tail),
        raw(begins),
        chunk(ends),
        "0\r\n\r\n".to_owned(),
    ];
    tell.send(rest.concat()).unwrap();
    let printed = home.ok(&format!("search --server {address} --stream wanted"));
    let printed = String::from_utf8(printed).unwrap();
    assert_eq!(printed, format!("{}\n{lines}\n", line(form, 1)));
    server.join().unwrap();
}

#[test]
fn incomplete_answers_are_errors() {
    let home = Home::new();
    let cut = |form| {
        [
            (
                chunk(&line(form, 2)),
                "broke off: not all matches are printed",
            ),
            (
                "0\r\n\r\n".to_owned(),
                "broke off: not all matches are printed",
            ),
            ([chunk(DONE), "0\r\n\r\n".to_owned()].concat(), "1 of 2"),
        ]
    };
    for (flags, form, name) in FORMS {
        for (rest, says) in cut(form) {
            let (address, tell, server) = slow_server(form);
            tell.send(rest).unwrap();
            let line = format!("search --server {address} --stream {flags} wanted");
            let finished = finish(&mut home.command(&line));
            finished.check("a stream that is cut", 2, &[says]);
            let first = format!("{name}1:wanted\n");
            assert!(finished.text().starts_with(&first));
            server.join().unwrap();
        }
    }
}
