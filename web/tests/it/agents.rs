//! Agents: a call that is given up stops its search, and eight calls at once are answered.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use frontend::Scope;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Fake, Fault};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const HEADERS: [(&str, &str); 2] = [
    ("accept", "application/json, text/event-stream"),
    ("content-type", "application/json"),
];

fn search(id: u64, query: &str) -> Value {
    let params = json!({"name": "search", "arguments": {"query": query}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Site with a search that waits for its backend after `begin`.
fn waiting(begin: impl FnOnce(&Site)) -> (Site, Arc<Fake>) {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::with(vec![fake.backend()], |config| {
        config.result_memory_bytes = 0
    });
    begin(&site);
    eventually("frames of an execution", || site.spooled() > 0);
    assert_eq!(fake.broken_off.load(SeqCst), 0);
    (site, fake)
}

fn check_stopped(site: &Site, fake: &Fake) {
    eventually("the backend is told", || fake.broken_off.load(SeqCst) == 1);
    eventually("no execution", || site.spooled() == 0);
}

#[test]
fn a_closed_connection_stops_its_search() {
    let mut stream = None;
    let (site, fake) = waiting(|site| {
        let body = search(1, "arse").to_string();
        let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    accept: application/json, text/event-stream\r\n";
        let mut opened = site.connect();
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        opened.write_all(request.as_bytes()).unwrap();
        stream = Some(opened);
    });
    drop(stream);
    check_stopped(&site, &fake);
}

#[test]
fn a_cancelled_call_stops_its_search() {
    let mut client = None;
    let (site, fake) = waiting(|site| {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let server = mcp::Server::new(Arc::clone(&site.frontend), Scope::everything(), 0);
        site.runtime.spawn(mcp::serve(server, input, output));
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo":
            {"name": "test", "version": "1"}});
        let messages = [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            search(1, "arse"),
        ];
        let lines: String = messages.iter().map(|it| format!("{it}\n")).collect();
        let mut ours = BufReader::new(ours);
        site.runtime
            .block_on(ours.write_all(lines.as_bytes()))
            .unwrap();
        client = Some(ours);
    });
    let mut client = client.unwrap();
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params":
        {"requestId": 1, "reason": "no longer needed"}});
    let next = search(2, "nothing-like-it");
    site.runtime.block_on(async {
        let lines = format!("{cancelled}\n");
        client.write_all(lines.as_bytes()).await.unwrap();
    });
    check_stopped(&site, &fake);
    fake.set(Fault::None);
    site.runtime.block_on(async {
        client
            .write_all(format!("{next}\n").as_bytes())
            .await
            .unwrap();
        let mut lines = client.lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert_ne!(answer["id"], 1, "a cancelled call has no answer");
            if answer["id"] == 2 {
                return;
            }
        }
        panic!("the connection has ended");
    });
}

#[test]
fn eight_calls_at_once_are_answered() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    std::thread::scope(|scope| {
        let call = |number: u64| {
            let query = format!("arse -path:no{number}");
            let body = search(number, &query).to_string();
            site.post("/mcp", &HEADERS, body.as_bytes())
        };
        let calls: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || call(number)))
            .collect();
        eventually("eight searches", || fake.searches.load(SeqCst) == 8);
        fake.open_gate();
        for call in calls {
            let answer = call.join().unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
            let text = &answer.json()["result"]["content"][0]["text"];
            assert!(text.as_str().unwrap().contains(" matches, "), "{text}");
        }
    });
}
