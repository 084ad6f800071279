//! Decisions shared between frontends through Redis, as hints.
//!
//! A hint has the time of its request, so its age counts everywhere. A denial also writes a mark
//! for a minute: it blocks shared *allows* of that name, and of all names, for the principal, in
//! whatever order writes arrive. Keys are hashes with the secret of the frontends.
//!
//! **Invariants:** a hint allows only what the service allowed less than a decision's life ago;
//! hints are ignored for a question that the service answered here in the last minute.

use super::credentials::Principal;
use super::visible::NameSplit;
use frontend::{Hint, Hints};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const KIND: &str = "decision";

/// Longer than the life of any decision.
const MARK: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionLives {
    pub(super) allowed: Duration,
    pub(super) denied: Duration,
}

#[derive(Clone, Copy, Debug)]
enum About<'a> {
    Name(&'a [u8]),
    /// Hash of all names.
    All([u8; 16]),
    /// Denial of a name.
    NameMark(&'a [u8]),
    /// Voids decisions about single names. In `heard`: some name was denied alone.
    NamesMark,
    /// Voids decisions about all names. In `heard`: all names were requested.
    AllMark,
}

pub(super) struct SharedDecisions {
    hints: Arc<Hints>,
    service: [u8; 16],
    lives: DecisionLives,
    began: Instant,
    heard: Mutex<Heard>,
}

impl SharedDecisions {
    pub(super) fn new(hints: Arc<Hints>, service: &str, lives: DecisionLives) -> SharedDecisions {
        SharedDecisions {
            hints,
            service: hash(service.as_bytes()),
            lives,
            began: Instant::now(),
            heard: Mutex::default(),
        }
    }

    /// Another frontend's decision about a name, and its age.
    pub(super) async fn name(&self, who: Principal, name: &[u8]) -> Option<(bool, Duration)> {
        let is_heard = || self.is_heard(who, &[About::Name(name), About::AllMark]);
        if is_heard() {
            return None;
        }
        let about = [About::Name(name), About::NameMark(name), About::NamesMark];
        let [found, name_mark, names_mark] = self.get(who, about).await;
        let Hint { value, age } = found?;
        let (answer, life) = match value[..] {
            [1] if name_mark.is_none() && names_mark.is_none() => (true, self.lives.allowed),
            [0] => (false, self.lives.denied),
            _ => return None,
        };
        // The service may have answered meanwhile.
        if age >= life || is_heard() {
            return None;
        }
        if !answer {
            self.note(who, About::Name(name));
            self.note(who, About::NamesMark);
        }
        Some((answer, age))
    }

    /// Another frontend's decision about all names, and its age.
    pub(super) async fn all(
        &self,
        who: Principal,
        split: &NameSplit,
    ) -> Option<(Vec<bool>, Duration)> {
        let is_heard = || self.is_heard(who, &[About::NamesMark, About::AllMark]);
        if is_heard() {
            return None;
        }
        let about = [About::All(split.hash), About::AllMark];
        let [found, mark] = self.get(who, about).await;
        let Hint { value, age } = found?;
        let answer = unpacked(&value, split.private_len())?;
        if mark.is_some() || age >= self.lives.allowed || is_heard() {
            return None;
        }
        self.note(who, About::AllMark);
        Some((answer, age))
    }

    /// Shares a decision about a name, requested at `asked`.
    pub(super) fn tell_name(&self, who: Principal, name: &[u8], is_visible: bool, asked: Instant) {
        self.note(who, About::Name(name));
        if is_visible {
            return self.put(who, About::Name(name), &[1], asked, self.lives.allowed);
        }
        self.note(who, About::NamesMark);
        self.put(who, About::NameMark(name), &[], asked, MARK);
        self.put(who, About::AllMark, &[], asked, MARK);
        self.put(who, About::Name(name), &[0], asked, self.lives.denied);
    }

    pub(super) fn tell_all(
        &self,
        who: Principal,
        split: &NameSplit,
        places: &[bool],
        asked: Instant,
    ) {
        self.note(who, About::AllMark);
        let life = self.lives.allowed;
        self.put(who, About::All(split.hash), &packed(places), asked, life);
    }

    pub(super) fn revoke(&self, who: Principal) {
        let now = Instant::now();
        self.put(who, About::NamesMark, &[], now, MARK);
        self.put(who, About::AllMark, &[], now, MARK);
    }

    async fn get<const N: usize>(
        &self,
        who: Principal,
        about: [About<'_>; N],
    ) -> [Option<Hint>; N] {
        let keys = about.map(|about| self.key(who, about));
        let mut found = self.hints.get(KIND, &keys).await.into_iter();
        std::array::from_fn(|_| found.next().flatten())
    }

    fn put(&self, who: Principal, about: About<'_>, value: &[u8], made: Instant, life: Duration) {
        let key = self.key(who, about);
        self.hints.put(KIND, &key, value, made, life);
    }

    fn key(&self, who: Principal, about: About<'_>) -> Vec<u8> {
        let (tag, rest): (u8, &[u8]) = match &about {
            About::Name(name) => (b'n', name),
            About::All(hash) => (b'a', hash),
            About::NameMark(name) => (b'd', name),
            About::NamesMark => (b'N', &[]),
            About::AllMark => (b'A', &[]),
        };
        [&self.service, who.bytes(), &[tag][..], rest].concat()
    }

    fn note(&self, who: Principal, about: About<'_>) {
        let item = hash(&self.key(who, about));
        self.heard().note(item, self.began.elapsed());
    }

    fn is_heard(&self, who: Principal, about: &[About<'_>]) -> bool {
        let items = about.iter().map(|about| hash(&self.key(who, *about)));
        let (mut heard, now) = (self.heard(), self.began.elapsed());
        items.into_iter().any(|item| heard.has(&item, now))
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number, then a bit for each.
fn packed(places: &[bool]) -> Vec<u8> {
    let mut bytes = (places.len() as u64).to_le_bytes().to_vec();
    let byte = |part: &[bool]| {
        let bits = part.iter().enumerate();
        bits.fold(0, |byte, (bit, is_set)| byte | u8::from(*is_set) << bit)
    };
    bytes.extend(places.chunks(8).map(byte));
    bytes
}

/// `None` if the number of places differs.
fn unpacked(bytes: &[u8], count: usize) -> Option<Vec<bool>> {
    let (length, bits) = bytes.split_first_chunk()?;
    let is_good = u64::from_le_bytes(*length) == count as u64 && bits.len() == count.div_ceil(8);
    let place = |place: usize| bits[place / 8] >> (place % 8) & 1 == 1;
    is_good.then(|| (0..count).map(place).collect())
}

fn hash(bytes: &[u8]) -> [u8; 16] {
    let mut hash = [0; 16];
    blake3::Hasher::new()
        .update(bytes)
        .finalize_xof()
        .fill(&mut hash);
    hash
}

const KEEP: Duration = Duration::from_secs(60);

/// Size of each set. An item takes about 20 bytes.
const ITEMS_MAX: usize = 200_000;

/// Hashes of questions answered in the last minute. Shared decisions about them may be older, as a
/// hint may precede a denial learned since, and are ignored.
///
/// Two sets alternate, so that an item is remembered for one to two minutes, at least the life of a
/// hint. **Invariant:** if a set overflows, all hints are ignored until every forgotten item has
/// expired.
#[derive(Debug, Default)]
struct Heard {
    current: HashSet<[u8; 16]>,
    last: HashSet<[u8; 16]>,
    /// Begin of `current`.
    began: Duration,
    /// Everything counts as heard until then.
    full_until: Duration,
}

impl Heard {
    fn note(&mut self, item: [u8; 16], now: Duration) {
        self.turn(now);
        if self.current.len() >= ITEMS_MAX {
            self.full_until = now + KEEP;
            self.current.clear();
        }
        self.current.insert(item);
    }

    /// Returns true for items of the last minute, and maybe others.
    fn has(&mut self, item: &[u8; 16], now: Duration) -> bool {
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
mod tests;
