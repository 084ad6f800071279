//! Cookie of a page: its expiry, its key, and a signature (keyed BLAKE3).
//!
//! ```text
//! 1795000000.robot.5f0c…      seconds since 1970, the name of the key (or nothing), 64 digits
//! ```
//!
//! The signature covers the hash of the key, so a revoked or replaced key ends the cookie.
//! **Invariant:** a cookie cannot be made or changed without the secret.

use super::keys::{KeyName, KnownKeys};
use blake3::Hash;
use frontend::{BadSecret, read_secret};
use std::fmt::{self, Debug};
use std::path::Path;
use std::time::Duration;

/// Life of a cookie of our pages.
pub const COOKIE_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A page renews a cookie with less time left.
const FRESH: Duration = Duration::from_secs(COOKIE_LIFETIME.as_secs() / 2);

/// Separates signatures of cookies from other uses of a secret.
const CONTEXT: &str = "trawl 2026-11 signed cookies of pages";

/// Secret that signs cookies.
#[derive(Clone)]
pub struct CookieSecret([u8; 32]);

impl Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecret")
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Key(KeyName),
    Page,
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
    pub(super) fn sign(
        &self,
        name: Option<&KeyName>,
        keys: &KnownKeys,
        now: u64,
    ) -> Option<String> {
        let expires = now + COOKIE_LIFETIME.as_secs();
        let (name, hash) = match name {
            None => ("", None),
            Some(name) => (name.as_str(), Some(&keys.named(name.as_str())?.1)),
        };
        let signature = self.signature(expires, name, hash).to_hex();
        Some(format!("{expires}.{name}.{signature}"))
    }

    pub(super) fn verify(&self, cookie: &str, keys: &KnownKeys, now: u64) -> Option<Holder> {
        Some(self.holder_until(cookie, keys, now)?.0)
    }

    /// Returns whether a cookie is valid, and for a while.
    pub(super) fn is_fresh(&self, cookie: &str, keys: &KnownKeys, now: u64) -> bool {
        let valid = self.holder_until(cookie, keys, now);
        valid.is_some_and(|(_, expires)| expires - now >= FRESH.as_secs())
    }

    fn holder_until(&self, cookie: &str, keys: &KnownKeys, now: u64) -> Option<(Holder, u64)> {
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
        let holder = known.map_or(Holder::Page, |(name, _)| Holder::Key(name.clone()));
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
            assert_eq!(secret.verify(&page, &keys, at), Some(Holder::Page));
            assert_eq!(
                secret.verify(&cookie, &keys, at),
                Some(Holder::Key(name.clone()))
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
        assert_eq!(secret.verify(&page, &replaced, NOW), Some(Holder::Page));
    }

    #[test]
    fn processes_with_the_same_secret_accept_each_others_cookies() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        std::fs::write(&path, [7; 32]).unwrap();
        let (one, two) = (CookieSecret::read(&path), CookieSecret::read(&path));
        let (keys, _) = keys("a");
        let page = one.unwrap().sign(None, &keys, NOW).unwrap();
        assert_eq!(two.unwrap().verify(&page, &keys, NOW), Some(Holder::Page));
    }
}
