//! `trawl search --stream` with a server: lines are printed as they come, and an incomplete answer is an
//! error.

use crate::home::Home;
use crate::process::{Process, finish};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\
    transfer-encoding: chunked\r\n\r\n";

const DONE: &str = r#"{"done":{"id":"0","generation":"0","complete":true,"missing":[],"skipped":{"count":0,"documents":[]},"searched":{"documents":3,"of":3},"found":2,"total":2,"documents":1,"packages":1,"explain":{"plan":"","shards":1,"blocks":1,"candidates":1,"matched_blocks":1,"documents":1,"verified_bytes":7}}}"#;

fn line(number: u32) -> String {
    format!(
        r#"{{"package":"p_1","path":"a.c","line":{number},"text":"wanted","ranges":[[0,6]],"context":{{"before":[],"after":[]}},"language":"C","rank":1.0,"hash":"00","offset":{number}}}"#
    )
}

fn chunk(line: &str) -> String {
    format!("{:x}\r\n{line}\n\r\n", line.len() + 1)
}

/// Reads the head of a request.
fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    head.join("\n")
}

/// A server that sends one line to its client. Then it sends what it gets from the channel, and closes the
/// connection.
fn slow_server() -> (String, mpsc::Sender<String>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, rest) = mpsc::channel::<String>();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = request(&stream);
        assert!(asked.starts_with("GET /api/v2/export?"), "{asked}");
        assert!(asked.contains("order=found"), "{asked}");
        let first = [HEAD, &chunk(&line(1))].concat();
        stream.write_all(first.as_bytes()).unwrap();
        stream.write_all(rest.recv().unwrap().as_bytes()).unwrap();
    });
    (address, sender, server)
}

#[test]
fn lines_are_printed_while_the_search_runs() {
    let home = Home::new();
    let (address, tell, server) = slow_server();
    let mut command = home.command(&format!("search --server {address} --stream wanted"));
    let mut process = Process::start(command.stdout(Stdio::piped()));
    let mut printed = BufReader::new(process.stdout());
    let mut first = String::new();
    printed.read_line(&mut first).unwrap();
    assert_eq!(first, "p_1/a.c:1:wanted\n", "while the search runs");
    tell.send([chunk(&line(2)), chunk(DONE), "0\r\n\r\n".to_owned()].concat())
        .unwrap();
    let mut rest = String::new();
    printed.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "p_1/a.c:2:wanted\n");
    assert_eq!(process.wait(crate::WAIT_MAX).code(), Some(0));
    server.join().unwrap();
}

#[test]
fn incomplete_answers_are_errors() {
    let home = Home::new();
    let cut = [
        (chunk(&line(2)), "broke off: not all matches are printed"),
        (
            "0\r\n\r\n".to_owned(),
            "broke off: not all matches are printed",
        ),
        ([chunk(DONE), "0\r\n\r\n".to_owned()].concat(), "1 of 2"),
    ];
    for (rest, says) in cut {
        let (address, tell, server) = slow_server();
        tell.send(rest).unwrap();
        let mut command = home.command(&format!("search --server {address} --stream wanted"));
        let finished = finish(&mut command);
        finished.check("a stream that is cut", 2, &[says]);
        assert!(finished.text().starts_with("p_1/a.c:1:wanted\n"));
        server.join().unwrap();
    }
}
