//! Who may use the server: the keys of clients, the cookies of pages, and how often a key may be tried.
//!
//! A client sends its key with each request, or gives it to a page once and then sends a signed cookie. What
//! an address needs is decided in `guard`; nothing here knows HTTP.
//! **Invariant:** a key is kept only as its hash, and is never written to the log.

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

/// The keys that are accepted, and for what they are needed.
#[derive(Debug)]
pub struct Access {
    keys: ApiKeys,
    secret: CookieSecret,
    /// Whether pages need a key too.
    is_required: bool,
    attempts: Attempts,
}

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// A client with the key of this name.
    Key(KeyName),
    /// One of our pages, which are open to everybody.
    Page,
    /// Nobody whom we know.
    Stranger {
        /// A key was sent, and is not known.
        is_wrong: bool,
    },
}

impl Access {
    /// Accepts `keys` for `/api/v2`, and cookies that are signed with `secret` from our pages. With
    /// `is_required`, pages need a key too.
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

    /// Reads the key file again whenever it changes.
    pub(crate) fn follow_key_file(&self) {
        self.keys.follow();
    }

    /// Finds out who sends a request with this key or else this cookie.
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

    /// Returns a cookie for a client with a known key.
    pub(crate) fn cookie_for(&self, name: &KeyName) -> Option<String> {
        self.secret.sign(Some(name), &self.keys.current(), now_s())
    }

    /// Returns a cookie for an open page, unless the client has one that stays valid for a while.
    pub(crate) fn page_cookie(&self, current: Option<&str>) -> Option<String> {
        let keys = self.keys.current();
        if current.is_some_and(|cookie| self.secret.is_fresh(cookie, &keys, now_s())) {
            return None;
        }
        self.secret.sign(None, &keys, now_s())
    }

    /// Tries a key that somebody typed. The error is after how many seconds the client may try again.
    pub(crate) fn try_key(&self, client: IpAddr, key: &[u8]) -> Result<Option<KeyName>, u64> {
        self.attempts.begin(client, Instant::now())?;
        let name = self.keys.current().name_of(key);
        if name.is_some() {
            self.attempts.forget(client);
        }
        Ok(name)
    }
}

/// Seconds since 1970.
fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
