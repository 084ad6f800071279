//! A fake gateway that lies on demand. `scripts/faults/membership` uses a real etcd.

use super::*;
use crate::membership::registration::Registration;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Beyond any delay.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Store {
    /// Values and leases by key.
    keys: BTreeMap<String, (String, i64)>,
    leases: Vec<i64>,
    revision: i64,
    /// Sent by a watch after its start.
    events: Vec<String>,
    /// Refuses every request.
    refuses: bool,
    /// Added to each list.
    padding: usize,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Store>>);

impl Fake {
    fn start() -> (Fake, Etcd) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("etcd:http://{}/t", listener.local_addr().unwrap());
        let fake = Fake::default();
        let serving = fake.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let fake = serving.clone();
                thread::spawn(move || fake.serve(stream.unwrap()));
            }
        });
        (fake, Etcd::new(&url.parse().unwrap(), None).unwrap())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Store) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn serve(&self, mut stream: TcpStream) {
        while let Some((path, body)) = request(&mut stream) {
            if path == "/v3/watch" {
                let events = self.change(|store| std::mem::take(&mut store.events));
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
                let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
                let begun = "{\"result\":{\"created\":true}}\n";
                let _ = stream.write_all(format!("{head}{begun}{lines}").as_bytes());
                if events.is_empty() {
                    // Quiet watch.
                    thread::sleep(Duration::from_millis(20));
                }
                return;
            }
            let (status, answer) = self.change(|store| store.answer(&path, &body));
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            if stream.write_all((head + &answer).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn keys(&self) -> Vec<String> {
        self.change(|store| store.keys.keys().cloned().collect())
    }

    fn eventually(&self, what: &str, condition: impl Fn(&Store) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !self.change(|store| condition(store)) {
            assert!(Instant::now() < deadline, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Store {
    fn answer(&mut self, path: &str, body: &Value) -> (u16, Value) {
        if self.refuses {
            return (503, json!({"error": "not now"}));
        }
        match path {
            "/v3/kv/range" => {
                let mut kvs: Vec<Value> = self.keys.keys().map(|key| self.kv(key)).collect();
                for number in 0..self.padding {
                    kvs.push(
                        json!({"key": STANDARD.encode(format!("/t/nodes/p{number}")), "value": ""}),
                    );
                }
                (
                    200,
                    json!({"header": {"revision": self.revision.to_string()}, "kvs": kvs}),
                )
            }
            "/v3/lease/grant" => {
                let lease = self.leases.len() as i64 + 1;
                self.leases.push(lease);
                (200, json!({"ID": lease.to_string(), "TTL": "5"}))
            }
            "/v3/lease/keepalive" => {
                let lease: i64 = body["ID"].as_str().unwrap().parse().unwrap();
                let ttl = if self.leases.contains(&lease) {
                    "5"
                } else {
                    "0"
                };
                (200, json!({"result": {"ID": body["ID"], "TTL": ttl}}))
            }
            "/v3/lease/revoke" => {
                let lease: i64 = body["ID"].as_str().unwrap().parse().unwrap();
                self.keys.retain(|_, (_, of)| *of != lease);
                (200, json!({}))
            }
            "/v3/kv/txn" => (200, self.transaction(body)),
            _ => (404, json!({})),
        }
    }

    fn kv(&self, key: &str) -> Value {
        let (value, lease) = &self.keys[key];
        json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value), "lease": lease.to_string(), "mod_revision": "7"})
    }

    fn transaction(&mut self, body: &Value) -> Value {
        let put = &body["success"][0]["request_put"];
        let text = |value: &Value| decoded(value.as_str().unwrap());
        let key = text(&put["key"]);
        let is_absent = body["compare"][0]["target"] == "CREATE";
        if is_absent && self.keys.contains_key(&key) {
            return json!({"responses": [{"response_range": {"kvs": [self.kv(&key)]}}]});
        }
        let lease = put["lease"].as_str().unwrap().parse().unwrap();
        self.keys.insert(key, (text(&put["value"]), lease));
        self.revision += 1;
        json!({"succeeded": true, "responses": [{"response_put": {}}]})
    }

    fn put(&mut self, member: &Member) {
        let key = format!("/t/nodes/{}", member.name);
        let value = serde_json::to_string(member).unwrap();
        self.keys.insert(key, (value, 0));
    }
}

fn decoded(text: &str) -> String {
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).ok()?.to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some((path, serde_json::from_slice(&body).ok()?))
}

fn member(name: &str) -> Member {
    Member {
        name: name.to_owned(),
        ..Member::at(&format!("{name}.example:1"))
    }
}

fn names(members: &[Member]) -> Vec<&str> {
    members.iter().map(|member| &*member.name).collect()
}

#[test]
fn nodes_are_listed_and_what_is_malformed_is_left_out() {
    let (fake, etcd) = Fake::start();
    fake.change(|store| {
        store.put(&member("a"));
        store.put(&member("b"));
        store
            .keys
            .insert("/t/nodes/c".to_owned(), ("not JSON".to_owned(), 0));
        let other = serde_json::to_string(&member("a")).unwrap();
        store.keys.insert("/t/nodes/other".to_owned(), (other, 0));
        let nowhere = Member {
            address: "nowhere".to_owned(),
            ..member("e")
        };
        store.put(&nowhere);
    });
    let listing = etcd.list().unwrap();
    assert_eq!(names(&listing.members), ["a", "b"]);
    assert_eq!(listing.malformed.len(), 3, "{:?}", listing.malformed);
}

#[test]
fn longer_lists_and_refusals_are_errors() {
    let (fake, etcd) = Fake::start();
    fake.change(|store| store.padding = NODES_MAX + 1);
    assert!(matches!(etcd.list(), Err(EtcdError::TooMany)));
    fake.change(|store| store.refuses = true);
    let error = etcd.list().unwrap_err();
    assert!(
        matches!(error, EtcdError::Refused { status: 503, .. }),
        "{error}"
    );
}

/// Only lists are believed.
#[test]
fn events_that_lie_change_nothing() {
    let (fake, etcd) = Fake::start();
    let key = STANDARD.encode("/t/nodes/a");
    let deleted = json!({"result": {"header": {"revision": "3"}, "events": [{"type": "DELETE", "kv": {"key": key}}]}});
    let earlier = json!({"result": {"header": {"revision": "1"}, "events": [{"kv": {"key": key, "value": "AAAA"}}]}});
    fake.change(|store| {
        store.put(&member("a"));
        store.revision = 9;
        store.events = vec![
            deleted.to_string(),
            earlier.to_string(),
            deleted.to_string(),
            "garbage".to_owned(),
        ];
    });
    let mut lists = 0;
    etcd.follow(|said| {
        lists += 1;
        if let Ok(said) = said {
            let expected: &[&str] = if lists <= 4 { &["a"] } else { &["a", "b"] };
            assert_eq!(names(&said), expected);
        }
        // Restored from a copy: older revision, another node.
        if lists == 4 {
            fake.change(|store| {
                store.revision = 2;
                store.put(&member("b"));
            });
        }
        lists < 6
    });
    assert_eq!(lists, 6);
}

#[test]
fn a_list_that_cannot_be_read_is_no_list() {
    let (fake, etcd) = Fake::start();
    fake.change(|store| store.refuses = true);
    let mut said = Vec::new();
    etcd.follow(|list| {
        said.push(list.is_ok());
        fake.change(|store| store.refuses = said.len() < 2);
        said.len() < 3
    });
    assert_eq!(said, [false, false, true]);
}

#[test]
fn a_node_registers_itself_again_whatever_happens_to_the_store() {
    let (fake, etcd) = Fake::start();
    let registration = Registration::start(etcd, member("a")).unwrap();
    let is_there = |store: &Store| store.keys.contains_key("/t/nodes/a");
    fake.eventually("it registers itself", is_there);
    fake.change(|store| store.keys.clear());
    fake.eventually("after its key was deleted", is_there);
    fake.change(|store| {
        store.keys.clear();
        store.leases.clear();
    });
    fake.eventually("after the store was wiped", is_there);
    fake.change(|store| store.keys.get_mut("/t/nodes/a").unwrap().0 = "garbage".to_owned());
    let is_own = |store: &Store| store.keys["/t/nodes/a"].0.contains("a.example:1");
    fake.eventually("after its entry was overwritten", is_own);
    fake.change(|store| {
        store.refuses = true;
        store.keys.clear();
    });
    thread::sleep(Duration::from_millis(50));
    fake.change(|store| store.refuses = false);
    fake.eventually("after the store was not there", is_there);
    registration.leave(PATIENCE);
    assert_eq!(fake.keys(), [""; 0]);
}

#[test]
fn a_name_belongs_to_the_node_that_has_it() {
    let (fake, etcd) = Fake::start();
    let lease = etcd.grant(5).unwrap();
    etcd.ensure(&member("a"), lease).unwrap();
    let twin = Member {
        address: "other.example:1".to_owned(),
        ..member("a")
    };
    let second = etcd.grant(5).unwrap();
    let error = etcd.ensure(&twin, second).unwrap_err().to_string();
    assert_eq!(
        error,
        "another node has the name \"a\", at a.example:1; give this one another with --name"
    );
    // Restarted before its old lease ended.
    etcd.ensure(&member("a"), second).unwrap();
    assert_eq!(fake.change(|store| store.keys["/t/nodes/a"].1), second);
    etcd.revoke(lease).unwrap();
    assert_eq!(fake.keys(), ["/t/nodes/a"]);
}
