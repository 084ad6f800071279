//! Sender of a request, by its key or cookie.
//!
//! Random keys cannot be guessed. A rate limit for keys tried in the form protects the log and the
//! metrics from floods, and keys chosen by hand.
//!
//! A cookie of a page has its expiry, its key, and a signature (keyed BLAKE3):
//!
//! ```text
//! 1795000000.robot.5f0c…      seconds since 1970, the name of the key (or nothing), 64 digits
//! ```
//!
//! The signature covers the hash of the key, so a revoked or replaced key ends the cookie.
//! **Invariant:** a cookie cannot be made or changed without the secret.

use super::keys::{ApiKeys, KeyName, KnownKeys};
use blake3::Hash;
use frontend::{BadSecret, read_secret};
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Debug)]
pub struct Access {
    keys: ApiKeys,
    secret: CookieSecret,
    /// Pages need a key, too.
    is_required: bool,
    attempts: Attempts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
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
            Some(holder) if holder != Sender::Page || !self.is_required => holder,
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

/// Life of a cookie of our pages.
pub const COOKIE_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A page renews a cookie with less time left.
const FRESH: Duration = Duration::from_secs(COOKIE_LIFETIME.as_secs() / 2);

/// Separates signatures of cookies from other uses of a secret.
const CONTEXT: &str = "trawl 2026-11 signed cookies of pages";

#[derive(Clone)]
pub struct CookieSecret([u8; 32]);

impl Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecret")
    }
}

impl CookieSecret {
    /// Random secret: its cookies end with the process.
    ///
    /// # Panics
    /// If the operating system has no random numbers.
    pub fn random() -> CookieSecret {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the operating system has random numbers");
        CookieSecret(secret)
    }

    /// Secret shared by processes, or kept over restarts.
    pub fn read(path: &Path) -> Result<CookieSecret, BadSecret> {
        let secret = read_secret(path)?;
        Ok(CookieSecret(blake3::derive_key(CONTEXT, &secret)))
    }

    /// `None` if the key is unknown.
    fn sign(&self, name: Option<&KeyName>, keys: &KnownKeys, now: u64) -> Option<String> {
        let expires = now + COOKIE_LIFETIME.as_secs();
        let (name, hash) = match name {
            None => ("", None),
            Some(name) => (name.as_str(), Some(&keys.named(name.as_str())?.1)),
        };
        let signature = self.signature(expires, name, hash).to_hex();
        Some(format!("{expires}.{name}.{signature}"))
    }

    fn verify(&self, cookie: &str, keys: &KnownKeys, now: u64) -> Option<Sender> {
        Some(self.holder_until(cookie, keys, now)?.0)
    }

    /// Returns whether a cookie is valid, and for a while.
    fn is_fresh(&self, cookie: &str, keys: &KnownKeys, now: u64) -> bool {
        let valid = self.holder_until(cookie, keys, now);
        valid.is_some_and(|(_, expires)| expires - now >= FRESH.as_secs())
    }

    fn holder_until(&self, cookie: &str, keys: &KnownKeys, now: u64) -> Option<(Sender, u64)> {
        let (expires, rest) = cookie.split_once('.')?;
        let (name, signature) = rest.rsplit_once('.')?;
        let expires: u64 = expires.parse().ok()?;
        let known = match name {
            "" => None,
            name => Some(keys.named(name)?),
        };
        let right = self.signature(expires, name, known.map(|(_, hash)| hash));
        // Constant time.
        let is_signed = Hash::from_hex(signature).ok()? == right;
        let is_valid = is_signed && (now..=now + COOKIE_LIFETIME.as_secs()).contains(&expires);
        let holder = known.map_or(Sender::Page, |(name, _)| Sender::Key(name.clone()));
        is_valid.then_some((holder, expires))
    }

    fn signature(&self, expires: u64, name: &str, key: Option<&Hash>) -> Hash {
        let mut signed = blake3::Hasher::new_keyed(&self.0);
        signed.update(&expires.to_le_bytes());
        signed.update(key.map_or(&[0; 32], |hash| hash.as_bytes()));
        // Last: its end is that of the input.
        signed.update(name.as_bytes());
        signed.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::NewKey;
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

    const NOW: u64 = 1_795_000_000;

    fn keys(name: &str) -> (KnownKeys, KeyName) {
        let new = NewKey::random(name).unwrap();
        let keys = KnownKeys::parse(&new.line).unwrap();
        let name = keys.name_of(new.key.as_bytes()).unwrap();
        (keys, name)
    }

    #[test]
    fn a_cookie_is_valid_until_it_expires() {
        let (secret, (keys, name)) = (CookieSecret::random(), keys("a.b"));
        let end = NOW + COOKIE_LIFETIME.as_secs();
        let page = secret.sign(None, &keys, NOW).unwrap();
        let cookie = secret.sign(Some(&name), &keys, NOW).unwrap();
        for at in [NOW, end] {
            assert_eq!(secret.verify(&page, &keys, at), Some(Sender::Page));
            assert_eq!(
                secret.verify(&cookie, &keys, at),
                Some(Sender::Key(name.clone()))
            );
        }
        // Expired, and of a clock ahead.
        for at in [end + 1, NOW - 1] {
            assert_eq!(secret.verify(&page, &keys, at), None);
            assert_eq!(secret.verify(&cookie, &keys, at), None);
        }
        assert!(secret.is_fresh(&page, &keys, NOW));
        assert!(!secret.is_fresh(&page, &keys, end - 10));
    }

    #[test]
    fn a_cookie_that_was_changed_or_made_elsewhere_is_refused() {
        let (secret, (keys, name)) = (CookieSecret::random(), keys("robot"));
        let page = secret.sign(None, &keys, NOW).unwrap();
        let cookie = secret.sign(Some(&name), &keys, NOW).unwrap();
        let signature = page.rsplit('.').next().unwrap();
        let expires = NOW + COOKIE_LIFETIME.as_secs();
        for forged in [
            String::new(),
            "..".to_owned(),
            format!("{expires}..{}", "0".repeat(64)),
            format!("{expires}.robot.{signature}"),
            format!("{}..{signature}", expires - 1),
            format!("{page}0"),
            page[..page.len() - 1].to_owned(),
            cookie.replace("robot", "Robot"),
            cookie.replace(".robot", "."),
            CookieSecret::random().sign(None, &keys, NOW).unwrap(),
        ] {
            assert_eq!(secret.verify(&forged, &keys, NOW), None, "{forged}");
        }
        // The same name with another key.
        let replaced = KnownKeys::parse(&NewKey::random("robot").unwrap().line).unwrap();
        assert_eq!(secret.verify(&cookie, &replaced, NOW), None);
        assert_eq!(secret.verify(&page, &replaced, NOW), Some(Sender::Page));
    }

    #[test]
    fn processes_with_the_same_secret_accept_each_others_cookies() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        std::fs::write(&path, [7; 32]).unwrap();
        let (one, two) = (CookieSecret::read(&path), CookieSecret::read(&path));
        let (keys, _) = keys("a");
        let page = one.unwrap().sign(None, &keys, NOW).unwrap();
        assert_eq!(two.unwrap().verify(&page, &keys, NOW), Some(Sender::Page));
    }
}
