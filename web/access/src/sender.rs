//! Sender of a request, by its key or cookie.
//!
//! A client sends its key with each request, or enters it on a page and then sends a signed cookie.

use super::attempts::Attempts;
use super::cookie::{CookieSecret, Holder};
use super::key_file::ApiKeys;
use super::keys::KeyName;
use std::net::IpAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

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
