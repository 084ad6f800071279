//! Names answered in the last minute. Shared decisions about them may be older and are ignored.
//! Pure.
//!
//! A hint may precede a denial learned since. Two sets alternate, so that an item is remembered for
//! one to two minutes, at least the life of a hint.
//!
//! **Invariant:** if a set overflows, all hints are ignored until every forgotten item has expired.

use std::collections::HashSet;
use std::time::Duration;

/// Life of a hint.
const KEEP: Duration = Duration::from_secs(60);

/// Size of each set. An item takes about 20 bytes.
const ITEMS_MAX: usize = 200_000;

/// Hashes of questions.
#[derive(Debug, Default)]
pub(super) struct Heard {
    current: HashSet<[u8; 16]>,
    last: HashSet<[u8; 16]>,
    /// Begin of `current`.
    began: Duration,
    /// Everything counts as heard until then.
    full_until: Duration,
}

impl Heard {
    pub(super) fn note(&mut self, item: [u8; 16], now: Duration) {
        self.turn(now);
        if self.current.len() >= ITEMS_MAX {
            self.full_until = now + KEEP;
            self.current.clear();
        }
        self.current.insert(item);
    }

    /// Returns true for items of the last minute, and maybe others.
    pub(super) fn has(&mut self, item: &[u8; 16], now: Duration) -> bool {
        self.turn(now);
        now < self.full_until || self.current.contains(item) || self.last.contains(item)
    }

    fn turn(&mut self, now: Duration) {
        let age = now.saturating_sub(self.began);
        if age < KEEP {
            return;
        }
        let current = std::mem::take(&mut self.current);
        self.last = if age < 2 * KEEP {
            current
        } else {
            HashSet::new()
        };
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn item(number: usize) -> [u8; 16] {
        (number as u128).to_le_bytes()
    }

    #[test]
    fn an_item_is_remembered_for_a_minute_and_not_for_ever() {
        for start in [0, 1, 59, 61, 1000] {
            let mut heard = Heard::default();
            let noted = S * start;
            heard.note(item(1), noted);
            assert!(heard.has(&item(1), noted + 60 * S), "{start}");
            assert!(!heard.has(&item(2), noted + 60 * S), "{start}");
            assert!(!heard.has(&item(1), noted + 121 * S), "{start}");
        }
    }

    #[test]
    fn when_too_much_was_heard_nothing_is_taken_for_a_minute() {
        let mut heard = Heard::default();
        (0..=ITEMS_MAX).for_each(|number| heard.note(item(number), S));
        assert!(heard.current.len() <= ITEMS_MAX);
        for number in [0, ITEMS_MAX, ITEMS_MAX + 7] {
            assert!(heard.has(&item(number), 60 * S), "{number}");
        }
        assert!(!heard.has(&item(0), 62 * S));
    }
}
