//! etcd as a list of nodes, through the JSON gateway of version 3.
//!
//! Node `b1` is the key `/trawl/nodes/b1` with a lease of 5 s. The key `/trawl/nodes/b1/drain`,
//! without a lease, drains it: no searches and no shards, also after a restart. Only whole lists
//! are believed; a watch only triggers the next. So late, lost or reordered events, or a wiped
//! store, change only its time.
//!
//! **Bounds**: 3 s a request, [`ANSWER_BYTES_MAX`] bytes an answer, 10 s a watch.

mod gateway;

use super::pace::{Backoff, jittered};
use super::{Member, NODES_MAX, Source};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gateway::{Answer, Kv, Lease, Range, Txn};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, BodyReader};

/// Suffix of a draining key. Names have no slash.
const DRAIN: &str = "/drain";

/// Listed keys: each node may be drained.
const KEYS_MAX: usize = 2 * NODES_MAX;

/// Time of a request, and of opening a watch.
const REQUEST_MAX: Duration = Duration::from_secs(3);

/// Time of a watch: a list is due then anyway.
const WATCH_MAX: Duration = Duration::from_secs(10);

/// Bytes of an answer: 1,024 nodes take half.
const ANSWER_BYTES_MAX: u64 = 2 << 20;

/// Bytes of an event; only its end is read.
const EVENT_BYTES_MAX: u64 = 64 << 10;

/// Least pause between lists: events come in bursts.
const LIST_EVERY_MIN: Duration = Duration::from_millis(100);

/// Pause without a watch.
const LIST_EVERY_MAX: Duration = Duration::from_secs(1);

type Result<T, E = EtcdError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum EtcdError {
    #[error("{endpoint}: {reason}")]
    Unreachable { endpoint: String, reason: String },
    #[error("{endpoint}: status {status}: {reason}")]
    Refused {
        endpoint: String,
        status: u16,
        reason: String,
    },
    #[error("another node has the name {name:?}, at {address}; give this one another with --name")]
    NameTaken { name: String, address: String },
    #[error("more than {NODES_MAX} nodes are registered")]
    TooMany,
    /// Concurrent changes of a key.
    #[error("the key of the node changes all the time")]
    Raced,
}

#[derive(Debug)]
pub struct Etcd {
    agent: Agent,
    watcher: Agent,
    endpoints: Vec<String>,
    next: AtomicUsize,
    prefix: String,
}

#[derive(Debug)]
struct Listing {
    members: Vec<Member>,
    malformed: Vec<String>,
    revision: i64,
}

impl Etcd {
    /// Connects lazily; `None` for other sources.
    pub fn new(source: &Source, tls: Option<TlsConfig>) -> Option<Etcd> {
        let Source::Etcd { endpoints, prefix } = source else {
            return None;
        };
        let config = || {
            let config = Agent::config_builder()
                .proxy(None)
                .max_redirects(0)
                .http_status_as_error(false)
                .timeout_resolve(Some(REQUEST_MAX))
                .timeout_connect(Some(REQUEST_MAX))
                .timeout_send_request(Some(REQUEST_MAX))
                .timeout_send_body(Some(REQUEST_MAX))
                .timeout_recv_response(Some(REQUEST_MAX));
            match &tls {
                Some(tls) => config.tls_config(tls.clone()),
                None => config,
            }
        };
        Some(Etcd {
            agent: config().timeout_global(Some(REQUEST_MAX)).build().into(),
            watcher: config().timeout_recv_body(Some(WATCH_MAX)).build().into(),
            endpoints: endpoints.clone(),
            next: AtomicUsize::new(0),
            prefix: format!("{prefix}/nodes/"),
        })
    }

    /// Sends lists and errors until `send` returns false. The watch opens first, so no change is
    /// missed; any event triggers the next list.
    pub(super) fn follow(&self, mut send: impl FnMut(Result<Vec<Member>, String>) -> bool) {
        let (mut backoff, mut revision, mut malformed) = (Backoff::default(), 0, Vec::new());
        loop {
            let watch = self.watch();
            let listing = match self.list() {
                Ok(listing) => listing,
                Err(error) => {
                    if !send(Err(error.to_string())) {
                        return;
                    }
                    thread::sleep(backoff.fail());
                    continue;
                }
            };
            backoff.succeed();
            let (now, before) = (
                listing.revision,
                std::mem::replace(&mut revision, listing.revision),
            );
            if now < before {
                tracing::warn!(
                    now,
                    before,
                    "the revision of etcd went back: it was wiped or restored"
                );
            }
            if listing.malformed != malformed {
                for reason in &listing.malformed {
                    tracing::warn!(reason, "a node in etcd is ignored");
                }
                malformed = listing.malformed;
            }
            if !send(Ok(listing.members)) {
                return;
            }
            match watch {
                Ok(mut watch) => {
                    watch.next();
                    thread::sleep(jittered(LIST_EVERY_MIN));
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot watch etcd");
                    thread::sleep(jittered(LIST_EVERY_MAX));
                }
            }
        }
    }

    fn list(&self) -> Result<Listing> {
        let range: Range = self.ask("/v3/kv/range", &self.range(KEYS_MAX + 1))?;
        if range.more || range.kvs.len() > KEYS_MAX {
            return Err(EtcdError::TooMany);
        }
        let mut listing = Listing {
            members: Vec::with_capacity(range.kvs.len()),
            malformed: Vec::new(),
            revision: range.header.revision,
        };
        let drained: BTreeSet<String> =
            range.kvs.iter().filter_map(|kv| self.drained(kv)).collect();
        let is_node = |kv: &&Kv| self.drained(kv).is_none();
        for kv in range.kvs.iter().filter(is_node) {
            match self.member(kv) {
                Ok(mut member) => {
                    if drained.contains(&member.name) {
                        (member.draining, member.weight) = (true, 0);
                    }
                    listing.members.push(member);
                }
                Err(reason) => listing.malformed.push(reason),
            }
        }
        if listing.members.len() + listing.malformed.len() > NODES_MAX {
            return Err(EtcdError::TooMany);
        }
        Ok(listing)
    }

    fn drained(&self, kv: &Kv) -> Option<String> {
        let key = kv.key().ok()?;
        let name = key.strip_prefix(&self.prefix)?.strip_suffix(DRAIN)?;
        Some(name.to_owned())
    }

    /// Drains a node, present or not, until [`Etcd::undrain`].
    pub fn drain(&self, node: &str) -> Result<()> {
        let value = STANDARD.encode("{}");
        self.tell(
            "/v3/kv/put",
            &json!({"key": self.drain_key(node), "value": value}),
        )
    }

    pub fn undrain(&self, node: &str) -> Result<()> {
        self.tell("/v3/kv/deleterange", &json!({"key": self.drain_key(node)}))
    }

    fn drain_key(&self, node: &str) -> String {
        STANDARD.encode(format!("{}{node}{DRAIN}", self.prefix))
    }

    fn member(&self, kv: &Kv) -> Result<Member, String> {
        let key = kv.key().unwrap_or_default();
        let shown = key.escape_debug();
        let wrong = |error: String| format!("{shown}: {error}");
        let member: Member = kv.json().map_err(wrong)?;
        member.check().map_err(wrong)?;
        if key.strip_prefix(&self.prefix) != Some(&member.name) {
            return Err(wrong(format!("the node has another name, {}", member.name)));
        }
        Ok(member)
    }

    fn range(&self, limit: usize) -> Value {
        let mut end = self.prefix.clone().into_bytes();
        *end.last_mut().expect("it ends with a slash") += 1;
        json!({"key": STANDARD.encode(&self.prefix), "range_end": STANDARD.encode(end), "limit": limit})
    }

    /// The watch has begun on return.
    fn watch(&self) -> Result<Watch> {
        let endpoint = self.endpoint();
        let request = json!({"create_request": self.range(0)});
        let body = self.post(&self.watcher, endpoint, "/v3/watch", &request)?;
        let body = body.into_with_config().limit(ANSWER_BYTES_MAX).reader();
        let mut watch = Watch(BufReader::new(body));
        if watch.next() {
            return Ok(watch);
        }
        Err(self.unreachable(endpoint, &"the watch does not begin"))
    }

    pub(super) fn grant(&self, seconds: u32) -> Result<i64> {
        let lease: Lease = self.ask("/v3/lease/grant", &json!({"TTL": seconds}))?;
        Ok(lease.id)
    }

    /// False if it is gone.
    pub(super) fn keep(&self, lease: i64) -> Result<bool> {
        let kept: Answer<Lease> =
            self.ask("/v3/lease/keepalive", &json!({"ID": lease.to_string()}))?;
        Ok(kept.result.ttl > 0)
    }

    /// Ends a lease and removes its keys.
    pub(super) fn revoke(&self, lease: i64) -> Result<()> {
        self.tell("/v3/lease/revoke", &json!({"ID": lease.to_string()}))
    }

    /// Writes the key of a node if missing or outdated; another node's is left alone.
    pub(super) fn ensure(&self, member: &Member, lease: i64) -> Result<()> {
        let key = STANDARD.encode(format!("{}{}", self.prefix, member.name));
        let value = serde_json::to_string(member).expect("strings and numbers");
        let put = json!([{"request_put": {"key": key, "value": STANDARD.encode(&value), "lease": lease.to_string()}}]);
        let txn = |compare: Value| json!({"compare": [compare], "success": put, "failure": [{"request_range": {"key": key}}]});
        let absent = json!({"key": key, "target": "CREATE", "create_revision": "0"});
        let done: Txn = self.ask("/v3/kv/txn", &txn(absent))?;
        let Some(found) = done.found() else {
            return Ok(());
        };
        match found.json::<Member>() {
            Ok(other) if other.address != member.address => {
                return Err(EtcdError::NameTaken {
                    name: member.name.clone(),
                    address: other.address,
                });
            }
            Ok(same) if same == *member && found.lease == lease => return Ok(()),
            _ => {}
        }
        let unchanged =
            json!({"key": key, "target": "MOD", "mod_revision": found.mod_revision.to_string()});
        let done: Txn = self.ask("/v3/kv/txn", &txn(unchanged))?;
        if done.succeeded {
            Ok(())
        } else {
            Err(EtcdError::Raced)
        }
    }

    fn endpoint(&self) -> &str {
        &self.endpoints[self.next.load(Relaxed) % self.endpoints.len()]
    }

    fn tell(&self, path: &str, request: &Value) -> Result<()> {
        self.ask::<Value>(path, request).map(drop)
    }

    /// A failure moves on to the next member.
    fn ask<T: DeserializeOwned>(&self, path: &str, request: &Value) -> Result<T> {
        let endpoint = self.endpoint();
        let mut body = self.post(&self.agent, endpoint, path, request)?;
        let read = body.with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let bytes = read.map_err(|error| self.unreachable(endpoint, &error))?;
        serde_json::from_slice(&bytes).map_err(|error| self.unreachable(endpoint, &error))
    }

    fn post(&self, agent: &Agent, endpoint: &str, path: &str, request: &Value) -> Result<Body> {
        let bytes = request.to_string();
        let request = agent.post(format!("{endpoint}{path}"));
        let answer = request
            .header("content-type", "application/json")
            .send(bytes);
        let answer = answer.map_err(|error| self.unreachable(endpoint, &error))?;
        let status = answer.status();
        let mut body = answer.into_body();
        if status.is_success() {
            return Ok(body);
        }
        self.next.fetch_add(1, Relaxed);
        let said = body
            .with_config()
            .limit(EVENT_BYTES_MAX)
            .lossy_utf8(true)
            .read_to_string();
        let said: String = said.unwrap_or_default().chars().take(200).collect();
        Err(EtcdError::Refused {
            endpoint: endpoint.to_owned(),
            status: status.as_u16(),
            reason: said.escape_debug().to_string(),
        })
    }

    fn unreachable(&self, endpoint: &str, reason: &dyn std::fmt::Display) -> EtcdError {
        self.next.fetch_add(1, Relaxed);
        EtcdError::Unreachable {
            endpoint: endpoint.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Events, one per line.
struct Watch(BufReader<BodyReader<'static>>);

impl Watch {
    /// Waits for an event; false at the end.
    fn next(&mut self) -> bool {
        let mut line = Vec::new();
        let mut bounded = (&mut self.0).take(EVENT_BYTES_MAX);
        bounded
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
    }
}

#[cfg(test)]
mod tests;
