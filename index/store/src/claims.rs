//! Claims of packages by machines that share a list of packages.
//!
//! A claim is a small object with an expiry, taken by compare-and-swap, so only one machine
//! succeeds. If it stalls, another may repeat its work: both publish, and nothing is lost. Times
//! are by the store's clock.

use crate::error::Result;
use crate::objects::{Objects, Version, random_name, seconds};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

const CLAIMS: &str = "claims";

const TITLE: &str = "trawl-claim 1";

/// Life without renewal.
const LEASE: Duration = Duration::from_secs(120);

pub const RENEW_EVERY: Duration = Duration::from_secs(30);

/// Longer claims were made while the store's clock was wrong.
const AHEAD_MAX: Duration = Duration::from_secs(60 * 60);

pub struct Claims<'a> {
    objects: &'a Objects,
    worker: String,
    /// The store's time, at a local instant.
    clock: (SystemTime, Instant),
    held: Mutex<BTreeMap<String, Version>>,
}

impl<'a> Claims<'a> {
    /// Requires conditional writes.
    pub fn open(objects: &'a Objects) -> Result<Claims<'a>> {
        Ok(Claims {
            clock: (objects.check()?, Instant::now()),
            objects,
            worker: random_name(),
            held: Mutex::default(),
        })
    }

    /// Returns false if another machine has the package.
    pub fn take(&self, package: &[u8]) -> Result<bool> {
        let object = format!("{CLAIMS}/{}", blake3::hash(package).to_hex());
        let known = self.objects.read(&object)?;
        let expected = match &known {
            None => None,
            // An unreadable claim counts as none.
            Some((bytes, version)) if until(bytes).is_none_or(|until| self.is_over(until)) => {
                Some(version)
            }
            Some(_) => return Ok(false),
        };
        let content = self.content();
        let claimed = self.objects.swap(&object, expected, content.as_bytes())?;
        let is_claimed = claimed.is_some();
        self.held().extend(claimed.map(|version| (object, version)));
        Ok(is_claimed)
    }

    /// Except those taken over.
    pub fn renew(&self) -> Result<()> {
        let claims = self.held().clone();
        for (object, version) in claims {
            let content = self.content();
            let renewed = (self.objects).swap(&object, Some(&version), content.as_bytes())?;
            let mut held = self.held();
            let known = held.remove(&object);
            held.extend(known.and(renewed).map(|version| (object, version)));
        }
        Ok(())
    }

    pub fn release(&self) -> Result<()> {
        let claims = std::mem::take(&mut *self.held());
        for (object, claimed) in claims {
            // Meanwhile another machine can only take over an expired claim, and rebuild a
            // published package.
            let known = self.objects.read(&object)?;
            if known.is_some_and(|(_, version)| version == claimed) {
                self.objects.delete(&object)?;
            }
        }
        Ok(())
    }

    /// Expired, or made while the store's clock was wrong.
    fn is_over(&self, until: u64) -> bool {
        let now = self.now();
        until < now || until - now > AHEAD_MAX.as_secs()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Version>> {
        // A panic leaves the map valid.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since 1970.
    fn now(&self) -> u64 {
        let (store, here) = self.clock;
        seconds(store + here.elapsed())
    }

    fn content(&self) -> String {
        let until = self.now() + LEASE.as_secs();
        // The nonce makes versions differ.
        format!(
            "{TITLE}\nworker {}\nuntil {until}\nnonce {}\n",
            self.worker,
            random_name()
        )
    }
}

fn until(claim: &[u8]) -> Option<u64> {
    let text = str::from_utf8(claim).ok()?;
    let mut lines = text.lines();
    (lines.next()? == TITLE).then_some(())?;
    lines.find_map(|line| line.strip_prefix("until ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects() -> (tempfile::TempDir, Objects) {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
        (directory, objects)
    }

    #[test]
    fn a_package_has_one_claim_until_it_expires_or_is_released() {
        let (_directory, objects) = objects();
        let first = Claims::open(&objects).unwrap();
        let second = Claims::open(&objects).unwrap();
        assert!(first.take(b"bash_5").unwrap());
        assert!(!second.take(b"bash_5").unwrap());
        assert!(second.take(b"sed_4").unwrap());
        first.renew().unwrap();
        first.release().unwrap();
        assert!(second.take(b"bash_5").unwrap());
    }

    #[test]
    fn an_expired_claim_is_taken_over_and_its_holder_forgets_it() {
        let (_directory, objects) = objects();
        let mut first = Claims::open(&objects).unwrap();
        assert!(first.take(b"bash_5").unwrap());
        let mut second = Claims::open(&objects).unwrap();
        second.clock.0 += LEASE + Duration::from_secs(1);
        assert!(second.take(b"bash_5").unwrap());
        first.renew().unwrap();
        assert!(first.held().is_empty());
        first.release().unwrap();
        first.clock = second.clock;
        assert!(!first.take(b"bash_5").unwrap());
    }

    /// The store's clock may be corrected while there are claims.
    #[test]
    fn a_clock_that_is_off_by_a_day_keeps_no_package_for_a_day() {
        let day = Duration::from_secs(86_400);
        for (before, after) in [(day, Duration::ZERO), (Duration::ZERO, day)] {
            let (_directory, objects) = objects();
            let mut first = Claims::open(&objects).unwrap();
            let mut second = Claims::open(&objects).unwrap();
            (first.clock.0, second.clock.0) = (first.clock.0 + before, second.clock.0 + after);
            assert!(first.take(b"bash_5").unwrap());
            assert!(second.take(b"bash_5").unwrap());
            first.renew().unwrap();
            assert!(first.held().is_empty() && second.held().len() == 1);
        }
    }

    #[test]
    fn a_claim_that_cannot_be_read_is_taken_over() {
        let (_directory, objects) = objects();
        let claims = Claims::open(&objects).unwrap();
        let object = format!("{CLAIMS}/{}", blake3::hash(b"a").to_hex());
        objects.swap(&object, None, b"\xffgarbage").unwrap();
        assert!(claims.take(b"a").unwrap());
    }
}
