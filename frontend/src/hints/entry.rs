//! Entries in Redis: an answer with key, time and authentication. Pure.
//!
//! ```text
//! "trawl\x01"   6 bytes, with the version of the format
//! made          8 bytes, milliseconds since 1970
//! life          4 bytes, milliseconds
//! key           4 bytes of length, then the kind, a zero byte and the key
//! value         up to the code
//! code          32 bytes: BLAKE3, with the key that frontends share, of all above
//! ```
//!
//! Numbers are little-endian. Entries are named `trawl:1:KIND:HASH` in Redis.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of an entry. Larger ones are neither written nor read.
pub(super) const ENTRY_BYTES_MAX: usize = 64 << 10;

const LIFE_MAX: Duration = Duration::from_secs(60);

/// Tolerated lead of another machine's clock.
const AHEAD_MAX: Duration = Duration::from_secs(1);

const MAGIC: &[u8] = b"trawl\x01";
const CODE_BYTES: usize = 32;

/// An answer of another frontend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub value: Vec<u8>,
    /// Minimum time since it was made.
    pub age: Duration,
}

/// Value in Redis and its remaining life; zero if absent or unlimited.
pub(super) struct RawEntry {
    pub(super) bytes: Vec<u8>,
    pub(super) left: Duration,
}

pub(super) struct Sealed<'a> {
    kind: &'a str,
    key: Vec<u8>,
}

impl<'a> Sealed<'a> {
    pub(super) fn new(kind: &'a str, key: &[u8]) -> Sealed<'a> {
        let key = [kind.as_bytes(), b"\0", key].concat();
        Sealed { kind, key }
    }

    pub(super) fn name(&self) -> String {
        let hash = blake3::hash(&self.key).to_hex();
        format!("trawl:1:{}:{}", self.kind, &hash[..32])
    }

    pub(super) fn seal(
        &self,
        value: &[u8],
        made: SystemTime,
        life: Duration,
        code_key: &[u8; 32],
    ) -> Option<Vec<u8>> {
        let life_ms = u32::try_from(life.as_millis()).ok()?;
        let key_bytes = u32::try_from(self.key.len()).ok()?;
        let mut entry = MAGIC.to_vec();
        entry.extend_from_slice(&unix_ms(made).to_le_bytes());
        entry.extend_from_slice(&life_ms.to_le_bytes());
        entry.extend_from_slice(&key_bytes.to_le_bytes());
        entry.extend_from_slice(&self.key);
        entry.extend_from_slice(value);
        let code = blake3::keyed_hash(code_key, &entry);
        entry.extend_from_slice(code.as_bytes());
        (entry.len() <= ENTRY_BYTES_MAX).then_some(entry)
    }

    /// `None` for another key, if forged or expired.
    pub(super) fn open(
        &self,
        found: &RawEntry,
        now: SystemTime,
        code_key: &[u8; 32],
    ) -> Option<Hint> {
        let (content, code) = found.bytes.split_last_chunk::<CODE_BYTES>()?;
        let rest = content.strip_prefix(MAGIC)?;
        let (made_ms, rest) = rest.split_first_chunk()?;
        let (life_ms, rest) = rest.split_first_chunk()?;
        let (key_bytes, rest) = rest.split_first_chunk()?;
        let (key, value) = rest.split_at_checked(u32::from_le_bytes(*key_bytes) as usize)?;
        let is_ours = found.bytes.len() <= ENTRY_BYTES_MAX
            && key == self.key
            // Hashes are compared in constant time.
            && blake3::keyed_hash(code_key, content) == blake3::Hash::from(*code);
        let life = Duration::from_millis(u32::from_le_bytes(*life_ms).into());
        if !is_ours || life > LIFE_MAX {
            return None;
        }
        let age = age(u64::from_le_bytes(*made_ms), life, found.left, now)?;
        let value = value.to_vec();
        Some(Hint { value, age })
    }
}

/// Age by the clock of this machine or of Redis, whichever is greater.
fn age(made_ms: u64, life: Duration, left: Duration, now: SystemTime) -> Option<Duration> {
    let now_ms = unix_ms(now);
    if made_ms.saturating_sub(now_ms) > AHEAD_MAX.as_millis() as u64 || left.is_zero() {
        return None;
    }
    let here = Duration::from_millis(now_ms.saturating_sub(made_ms));
    let age = here.max(life.saturating_sub(left));
    (age < life).then_some(age)
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];
    const LIFE: Duration = Duration::from_secs(30);

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn open(bytes: &[u8], key: &[u8], now: u64, left_s: u64) -> Option<Hint> {
        let (bytes, left) = (bytes.to_vec(), Duration::from_secs(left_s));
        Sealed::new("kind", key).open(&RawEntry { bytes, left }, at(now), &KEY)
    }

    fn entry() -> Vec<u8> {
        let sealed = Sealed::new("kind", b"key");
        sealed.seal(b"value", at(1000), LIFE, &KEY).unwrap()
    }

    #[test]
    fn an_entry_is_read_only_whole_for_its_key_and_until_its_end() {
        let good = entry();
        assert_eq!(open(&good, b"key", 1005, 25).unwrap().value, b"value");
        assert_eq!(open(&good, b"key", 1030, 25), None, "over");
        assert_eq!(open(&good, b"kex", 1005, 25), None, "another key");
        let other = Sealed::new("other", b"key");
        let (bytes, left) = (good.clone(), LIFE);
        let found = RawEntry { bytes, left };
        assert_eq!(other.open(&found, at(1005), &KEY), None, "another kind");
        let same = Sealed::new("kind", b"key");
        assert_eq!(
            same.open(&found, at(1005), &[8; 32]),
            None,
            "another secret"
        );
        for at in 0..good.len() {
            let mut damaged = good.clone();
            damaged[at] ^= 1;
            assert_eq!(open(&damaged, b"key", 1005, 25), None, "byte {at}");
            assert_eq!(open(&good[..at], b"key", 1005, 25), None, "{at} bytes");
        }
        let mut longer = good;
        longer.push(0);
        assert_eq!(open(&longer, b"key", 1005, 25), None);
    }

    #[test]
    fn an_entry_is_as_old_as_the_later_of_two_clocks_says() {
        let age = |now, left| open(&entry(), b"key", now, left).map(|it| it.age.as_secs());
        assert_eq!(age(1005, 25), Some(5));
        assert_eq!(age(1005, 10), Some(20), "the clock here is late");
        assert_eq!(age(1020, 25), Some(20), "it was written late");
        assert_eq!(age(999, 29), Some(1), "made a second from now");
        assert_eq!(age(998, 29), None, "made in the future");
        assert_eq!(age(1005, 0), None, "it would stay for ever");
    }

    #[test]
    fn an_entry_that_is_too_large_or_lives_too_long_is_not_used() {
        let sealed = Sealed::new("kind", b"key");
        let large = vec![7; ENTRY_BYTES_MAX];
        assert_eq!(sealed.seal(&large, at(1000), LIFE, &KEY), None);
        let long = sealed.seal(b"", at(1000), 3 * LIFE, &KEY).unwrap();
        assert_eq!(open(&long, b"key", 1005, 85), None);
    }

    #[test]
    fn the_format_does_not_change_by_accident() {
        let entry = entry();
        assert_eq!(entry[..18], *b"trawl\x01\x40\x42\x0f\0\0\0\0\0\x30\x75\0\0");
        assert_eq!(
            entry[18..entry.len() - CODE_BYTES],
            *b"\x08\0\0\0kind\0keyvalue"
        );
        assert!(
            Sealed::new("kind", b"key")
                .name()
                .starts_with("trawl:1:kind:")
        );
    }
}
