//! Redis for tests: strings with expiry, and fault injection.
//!
//! [`FakeRedis`] implements the commands of Trawl: `GETRANGE`, `PTTL`, `SET … PX`, and the
//! handshake.

mod command;
mod store;

pub use store::Fault;

use crate::net;
use command::Command;
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use store::Store;

const HANG: Duration = Duration::from_secs(60);

/// Ends with its process.
#[derive(Clone)]
pub struct FakeRedis {
    address: SocketAddr,
    store: Arc<Mutex<Store>>,
}

impl FakeRedis {
    /// Starts an empty Redis on a free port.
    pub fn start() -> FakeRedis {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let redis = FakeRedis {
            address: listener.local_addr().expect("it listens"),
            store: Arc::default(),
        };
        let accepting = redis.clone();
        net::accept(listener, move |stream| accepting.serve(stream));
        redis
    }

    pub fn url(&self) -> String {
        format!("redis://{}/0", self.address)
    }

    pub fn set_fault(&self, fault: Fault) {
        let mut store = self.store();
        store.fault = fault;
        if fault == Fault::Down {
            let streams = store.streams.drain(..);
            streams.for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
    }

    /// Removes all entries.
    pub fn wipe(&self) {
        self.store().entries.clear();
    }

    /// Keys and values.
    pub fn entries(&self) -> Vec<(String, Vec<u8>)> {
        let store = self.store();
        let entries = store.entries.iter();
        entries
            .map(|(key, entry)| (key.clone(), entry.value.clone()))
            .collect()
    }

    /// Replaces all values, keeping their expiry.
    pub fn change(&self, change: impl Fn(&str, &[u8]) -> Vec<u8>) {
        for (key, entry) in &mut self.store().entries {
            entry.value = change(key, &entry.value);
        }
    }

    pub fn persist(&self) {
        let mut store = self.store();
        store
            .entries
            .values_mut()
            .for_each(|entry| entry.end = None);
    }

    pub fn commands(&self, name: &str) -> usize {
        self.store().commands.get(name).copied().unwrap_or(0)
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        self.store().streams.push(stream.try_clone()?);
        while let Some(command) = Command::read(&mut reader)? {
            let fault = self.store().fault;
            match fault {
                Fault::Down => return Ok(()),
                Fault::Frozen => {
                    thread::sleep(HANG);
                    return Ok(());
                }
                Fault::Slow(time) => thread::sleep(time),
                _ => {}
            }
            let answer = self.store().answer(&command);
            (&stream).write_all(&answer)?;
        }
        Ok(())
    }
}
