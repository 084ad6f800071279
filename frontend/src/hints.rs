//! Answers that frontends share through Redis, as hints that may be lost at any moment.
//!
//! Every problem is a miss, never an error: foreign, damaged, expired or misplaced entries. After
//! failures a breaker skips Redis for a while. Writes wait in a bounded queue. `entry` is the
//! format, `link` the connection.
//!
//! Hints grant no access: the key has everything that changes an answer. **Invariant:**
//! a hint's age is never less than the time since its answer was made, by the clock of
//! this machine or of Redis.

mod entry;
mod link;

#[cfg(test)]
mod tests;

pub use entry::Hint;

use crate::secret_file::{BadSecret, read_secret};
use cache::breaker::Breaker;
use entry::{ENTRY_BYTES_MAX, RawEntry, Sealed};
use link::{RedisLink, Write, count};
use redis::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;
use tokio::time::timeout;

const LOOK_UP_MAX: Duration = Duration::from_millis(20);

/// Keys per look-up; others are misses.
const KEYS_MAX: usize = 64;

/// Queued writes; others are dropped.
const WRITES_MAX: usize = 256;

/// Concurrent calls; other look-ups are misses.
const CALLS_MAX: usize = 64;

/// Separate the uses of a secret.
const ENTRIES: &str = "trawl 2026-11 entries in Redis";
const HASHES: &str = "trawl 2026-11 hashes of principals in Redis";

/// A secret that frontends share. Other programs with access to Redis cannot forge entries.
/// **Invariant:** it is never shown.
#[derive(Clone)]
pub struct HintSecret(Vec<u8>);

impl std::fmt::Debug for HintSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HintSecret")
    }
}

impl HintSecret {
    pub fn new(bytes: &[u8]) -> HintSecret {
        HintSecret(bytes.to_vec())
    }

    pub fn read(path: &Path) -> Result<HintSecret, BadSecret> {
        read_secret(path).map(HintSecret)
    }

    fn hash_key(&self) -> [u8; 32] {
        blake3::derive_key(HASHES, &self.0)
    }
}

fn entry_key(secret: Option<&HintSecret>) -> [u8; 32] {
    blake3::derive_key(ENTRIES, secret.map_or(b"", |secret| &secret.0))
}

/// A Redis that several frontends share.
pub struct Hints {
    link: Arc<RedisLink>,
    writes: mpsc::Sender<Write>,
    secret: Option<HintSecret>,
    /// Authenticates entries. Public without a secret.
    entry_key: [u8; 32],
}

#[derive(Debug, thiserror::Error)]
#[error("expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]: {reason}")]
pub struct BadRedisUrl {
    reason: String,
}

impl std::fmt::Debug for Hints {
    /// The address may have a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hints").finish_non_exhaustive()
    }
}

impl Hints {
    /// Connects in the background. Only frontends with the same secret share.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(url: &str, secret: Option<HintSecret>) -> Result<Arc<Hints>, BadRedisUrl> {
        let client = client(url)?;
        let link = RedisLink::new(client, Breaker::new("redis", CALLS_MAX));
        let (writes, waiting) = mpsc::channel(WRITES_MAX);
        tokio::spawn(Arc::clone(&link).run(waiting));
        let hints = Hints {
            entry_key: entry_key(secret.as_ref()),
            link,
            writes,
            secret,
        };
        hints.link.wake();
        Ok(Arc::new(hints))
    }

    /// Key for hashes of private values, equal on frontends with the same
    /// secret; `None` without one.
    pub fn hash_key(&self) -> Option<[u8; 32]> {
        self.secret.as_ref().map(HintSecret::hash_key)
    }

    /// In the order of `keys`.
    pub async fn get(&self, kind: &'static str, keys: &[Vec<u8>]) -> Vec<Option<Hint>> {
        let asked = keys.iter().take(KEYS_MAX);
        let sealed: Vec<_> = asked.map(|key| Sealed::new(kind, key)).collect();
        let mut hints = vec![None; keys.len()];
        let Some(found) = self.ask(kind, &sealed).await else {
            return hints;
        };
        let now = SystemTime::now();
        for (place, (sealed, found)) in sealed.iter().zip(found).enumerate() {
            let is_empty = found.bytes.is_empty();
            hints[place] = sealed.open(&found, now, &self.entry_key);
            count(
                kind,
                match (&hints[place], is_empty) {
                    (Some(_), _) => "hit",
                    (None, true) => "miss",
                    (None, false) => "foreign",
                },
            );
        }
        hints
    }

    async fn ask(&self, kind: &'static str, sealed: &[Sealed<'_>]) -> Option<Vec<RawEntry>> {
        let Some(mut connection) = self.link.connection() else {
            count(kind, "unconnected");
            self.link.wake();
            return None;
        };
        let Ok(call) = self.link.breaker.admit() else {
            count(kind, "refused");
            return None;
        };
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        for sealed in sealed {
            // One byte more than an entry may have.
            let name = sealed.name();
            pipe.getrange(&name, 0, ENTRY_BYTES_MAX as isize);
            pipe.pttl(&name);
        }
        let started = Instant::now();
        let answer = timeout(LOOK_UP_MAX, pipe.query_async::<Vec<Value>>(&mut connection)).await;
        ::metrics::histogram!("trawl_frontend_hints_seconds", "kind" => kind)
            .record(started.elapsed());
        let failure = match answer {
            Ok(Ok(values)) => match found(&values) {
                Some(found) if found.len() == sealed.len() => {
                    call.succeeded();
                    return Some(found);
                }
                _ => "failed",
            },
            Ok(Err(_)) => "failed",
            Err(_) => "late",
        };
        count(kind, failure);
        call.failed(None);
        self.link.disconnect();
        None
    }

    /// Writes an answer in the background, if the queue has room. Its `life` begins at `made`.
    pub fn put(&self, kind: &'static str, key: &[u8], value: &[u8], made: Instant, life: Duration) {
        let sealed = Sealed::new(kind, key);
        let wall = SystemTime::now() - made.elapsed();
        let Some(entry) = sealed.seal(value, wall, life, &self.entry_key) else {
            return;
        };
        let write = Write {
            kind,
            name: sealed.name(),
            entry,
            end: made + life,
        };
        if self.writes.try_send(write).is_err() {
            count(kind, "dropped");
        }
    }
}

/// Replies to `GETRANGE` and `PTTL` of each key; `None` if Redis fails.
fn found(values: &[Value]) -> Option<Vec<RawEntry>> {
    let pairs = values.chunks(2);
    let pair = |pair: &[Value]| {
        let [value, left] = pair else { return None };
        let bytes = match value {
            Value::BulkString(bytes) => bytes.clone(),
            Value::Nil => Vec::new(),
            // A foreign list: not empty, and not an entry.
            Value::ServerError(error) if error.code() == "WRONGTYPE" => vec![0],
            _ => return None,
        };
        let left_ms = match left {
            Value::Int(left) => u64::try_from(*left).unwrap_or(0),
            _ => return None,
        };
        let left = Duration::from_millis(left_ms);
        Some(RawEntry { bytes, left })
    };
    pairs.map(pair).collect()
}

/// The error omits it, since it may have a password.
fn client(url: &str) -> Result<redis::Client, BadRedisUrl> {
    let wrong = |reason: &str| BadRedisUrl {
        reason: reason.to_owned(),
    };
    if url.starts_with("rediss:") {
        let way = "TLS is not supported; use a tunnel, such as stunnel";
        return Err(wrong(way));
    }
    if !url.starts_with("redis://") {
        return Err(wrong("the address does not begin with redis://"));
    }
    if url.contains(['?', '#']) {
        let way = "? and # are not understood; in a password they are %3F and %23";
        return Err(wrong(way));
    }
    redis::Client::open(url).map_err(|error| {
        let text = error.to_string();
        wrong(text.split(" - ").next().unwrap_or_default())
    })
}
