//! Access to the server: keys of clients, cookies of pages, and a rate limit for tried keys.
//!
//! A client sends its key with each request, or enters it on a page and then sends a signed cookie.
//! `guard` decides which addresses need one. Nothing here depends on HTTP.
//!
//! **Invariant:** only the hash of a key is stored, and a key is never logged.

mod attempts;
mod cookie;
mod key_file;
mod keys;

pub use cookie::CookieSecret;
pub use key_file::{ApiKeys, BadKeyFile};
pub use keys::{BadName, NewKey};

pub(crate) use cookie::LIFETIME;
pub(crate) use keys::KeyName;

use attempts::Attempts;
use cookie::Holder;
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Key(KeyName),
    /// Our page, without a key.
    Page,
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

    pub(crate) fn is_required(&self) -> bool {
        self.is_required
    }

    pub(crate) fn follow_key_file(&self) {
        self.keys.follow();
    }

    /// Identifies the sender of a request. A key counts more than a cookie.
    pub(crate) fn sender(&self, key: Option<&[u8]>, cookie: Option<&str>) -> Sender {
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

    pub(crate) fn cookie_for(&self, name: &KeyName) -> Option<String> {
        self.secret.sign(Some(name), &self.keys.current(), now_s())
    }

    /// Cookie for an open page. `None` if the client has a fresh one.
    pub(crate) fn page_cookie(&self, current: Option<&str>) -> Option<String> {
        let keys = self.keys.current();
        if current.is_some_and(|cookie| self.secret.is_fresh(cookie, &keys, now_s())) {
            return None;
        }
        self.secret.sign(None, &keys, now_s())
    }

    /// Tries an entered key. The error is the retry delay in seconds.
    pub(crate) fn try_key(&self, client: IpAddr, key: &[u8]) -> Result<Option<KeyName>, u64> {
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
