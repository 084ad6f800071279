//! Sender of a request, by its key or cookie.
//!
//! A client sends its key with each request, or enters it on a page and then sends a signed cookie.
//! Random keys cannot be guessed. A rate limit for keys tried in the form protects the log and the
//! metrics from floods, and keys chosen by hand.

use super::cookie::{CookieSecret, Holder};
use super::keys::{ApiKeys, KeyName};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Accepted keys.
#[derive(Debug)]
pub struct Access {
    keys: ApiKeys,
    secret: CookieSecret,
    /// Pages need a key, too.
    is_required: bool,
    attempts: Attempts,
}

/// Sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Client with this key.
    Key(KeyName),
    /// Our page, without a key.
    Page,
    /// Client without a known key or cookie.
    Stranger {
        /// An unknown key was sent.
        is_wrong: bool,
    },
}

impl Access {
    /// Accepts `keys` for `/api/v2`, and page cookies signed with `secret`. With `is_required`,
    /// pages need a key, too.
    pub fn new(keys: ApiKeys, secret: CookieSecret, is_required: bool) -> Access {
        Access {
            keys,
            secret,
            is_required,
            attempts: Attempts::default(),
        }
    }

    /// Returns true if pages need a key, too.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// Identifies the sender of a request. A key counts more than a cookie.
    pub fn sender(&self, key: Option<&[u8]>, cookie: Option<&str>) -> Sender {
        if let Some(key) = key {
            let known = self.keys.current().name_of(key);
            return known.map_or(Sender::Stranger { is_wrong: true }, Sender::Key);
        }
        let keys = self.keys.current();
        let holder = cookie.and_then(|cookie| self.secret.verify(cookie, &keys, now_s()));
        match holder {
            Some(Holder::Key(name)) => Sender::Key(name),
            Some(Holder::Page) if !self.is_required => Sender::Page,
            _ => Sender::Stranger { is_wrong: false },
        }
    }

    /// Cookie that stands for an entered key. `None` if the key is no longer known.
    pub fn cookie_for(&self, name: &KeyName) -> Option<String> {
        self.secret.sign(Some(name), &self.keys.current(), now_s())
    }

    /// Cookie for an open page. `None` if the client has a fresh one.
    pub fn page_cookie(&self, current: Option<&str>) -> Option<String> {
        let keys = self.keys.current();
        if current.is_some_and(|cookie| self.secret.is_fresh(cookie, &keys, now_s())) {
            return None;
        }
        self.secret.sign(None, &keys, now_s())
    }

    /// Tries an entered key. The error is the retry delay in seconds.
    pub fn try_key(&self, client: IpAddr, key: &[u8]) -> Result<Option<KeyName>, u64> {
        self.attempts.begin(client, Instant::now())?;
        let name = self.keys.current().name_of(key);
        if name.is_some() {
            self.attempts.forget(client);
        }
        Ok(name)
    }
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Tries in a [`WINDOW`].
const TRIES_MAX: u32 = 10;

const WINDOW: Duration = Duration::from_secs(60);

/// The oldest is evicted.
const CLIENTS_MAX: usize = 4096;

/// Number and first time.
#[derive(Debug, Default)]
struct Attempts(Mutex<HashMap<IpAddr, (u32, Instant)>>);

impl Attempts {
    /// The error is the retry delay in seconds.
    fn begin(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, (_, first)| now.duration_since(*first) < WINDOW);
        if clients.len() >= CLIENTS_MAX && !clients.contains_key(&client) {
            let oldest = clients.iter().min_by_key(|(_, (_, first))| *first);
            let oldest = oldest.map(|(client, _)| *client);
            oldest.and_then(|oldest| clients.remove(&oldest));
        }
        let (tries, first) = clients.entry(client).or_insert((0, now));
        if *tries >= TRIES_MAX {
            let left = WINDOW.saturating_sub(now.duration_since(*first));
            return Err(left.as_secs() + 1);
        }
        *tries += 1;
        Ok(())
    }

    fn forget(&self, client: IpAddr) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.remove(&client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn a_client_may_try_a_few_keys_a_minute() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..TRIES_MAX {
            assert_eq!(attempts.begin(client(1), start), Ok(()));
        }
        let later = start + Duration::from_secs(20);
        assert_eq!(attempts.begin(client(1), later), Err(41));
        assert_eq!(attempts.begin(client(2), later), Ok(()), "another client");
        assert_eq!(attempts.begin(client(1), start + WINDOW), Ok(()));
        for _ in 0..3 * TRIES_MAX {
            attempts.begin(client(3), start).unwrap();
            attempts.forget(client(3));
        }
    }

    #[test]
    fn a_bounded_number_of_clients_is_remembered() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for number in 0..2 * CLIENTS_MAX as u32 {
            let now = start + Duration::from_micros(number.into());
            attempts.begin(client(number), now).unwrap();
        }
        assert_eq!(attempts.0.lock().unwrap().len(), CLIENTS_MAX);
    }
}
