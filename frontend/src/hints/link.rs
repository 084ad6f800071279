//! Connection to Redis, in the background.

use cache::breaker::Breaker;
use cache::lock;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Value};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

/// Longest write or connect. No caller waits for it.
const BACKGROUND_MAX: Duration = Duration::from_secs(1);

const WRITES_AT_ONCE: usize = 64;

pub(super) struct Write {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) entry: Vec<u8>,
    pub(super) end: Instant,
}

pub(super) struct RedisLink {
    client: redis::Client,
    pub(super) breaker: Arc<Breaker>,
    connection: Mutex<Option<MultiplexedConnection>>,
    wanted: Notify,
}

impl RedisLink {
    pub(super) fn new(client: redis::Client, breaker: Arc<Breaker>) -> Arc<RedisLink> {
        Arc::new(RedisLink {
            client,
            breaker,
            connection: Mutex::default(),
            wanted: Notify::new(),
        })
    }

    pub(super) fn connection(&self) -> Option<MultiplexedConnection> {
        lock(&self.connection).clone()
    }

    pub(super) fn wake(&self) {
        self.wanted.notify_one();
    }

    /// The next look-up or write asks for a new one.
    pub(super) fn disconnect(&self) {
        *lock(&self.connection) = None;
    }

    /// Connects and writes until all senders are dropped.
    pub(super) async fn run(self: Arc<Self>, mut waiting: mpsc::Receiver<Write>) {
        loop {
            let mut writes = Vec::new();
            tokio::select! {
                count = waiting.recv_many(&mut writes, WRITES_AT_ONCE) => if count == 0 {
                    return;
                },
                () = self.wanted.notified() => {}
            }
            let result = match self.connected().await {
                Some(connection) => self.write(connection, &writes).await,
                None => "dropped",
            };
            writes.iter().for_each(|write| count(write.kind, result));
        }
    }

    async fn connected(&self) -> Option<MultiplexedConnection> {
        if let Some(connection) = self.connection() {
            return Some(connection);
        }
        let call = self.breaker.admit().ok()?;
        let config = AsyncConnectionConfig::new().set_connection_timeout(Some(BACKGROUND_MAX));
        let dialled = self
            .client
            .get_multiplexed_async_connection_with_config(&config);
        let reason = match timeout(BACKGROUND_MAX, dialled).await {
            Ok(Ok(connection)) => {
                call.succeeded();
                *lock(&self.connection) = Some(connection.clone());
                return Some(connection);
            }
            Ok(Err(error)) => error.category().to_owned(),
            Err(_) => "no answer".to_owned(),
        };
        call.failed(None);
        tracing::debug!(reason, "cannot connect to Redis");
        None
    }

    async fn write(&self, mut connection: MultiplexedConnection, writes: &[Write]) -> &'static str {
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        for write in writes {
            let left = write.end.saturating_duration_since(Instant::now());
            let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            if left_ms > 0 {
                let set = pipe.cmd("SET").arg(&write.name).arg(&write.entry);
                set.arg("PX").arg(left_ms);
            }
        }
        if pipe.is_empty() {
            return "dropped";
        }
        let Ok(call) = self.breaker.admit() else {
            return "dropped";
        };
        let answer = timeout(
            BACKGROUND_MAX,
            pipe.query_async::<Vec<Value>>(&mut connection),
        )
        .await;
        let is_done = |value: &Value| *value == Value::Okay;
        if matches!(&answer, Ok(Ok(values)) if values.iter().all(is_done)) {
            call.succeeded();
            return "write";
        }
        call.failed(None);
        self.disconnect();
        "write_failed"
    }
}

pub(super) fn count(kind: &'static str, result: &'static str) {
    ::metrics::counter!("trawl_frontend_hints_total", "kind" => kind, "result" => result)
        .increment(1);
}
