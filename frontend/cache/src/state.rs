//! Decides who builds an answer, who waits, and who is refused.
//!
//! Pure: the caller passes in time and entries, and delivers the results. A *flight* is the
//! building of a key's answer, from the first claim until it is put, fails or is lost. Each claim
//! has a token; only the current one may put.
//!
//! **Invariants:** a key has at most one current claim; none is given out while there is a fresh
//! entry; a waiter leaves a flight in exactly one way: answered, given the claim, or by itself.

#![deny(clippy::disallowed_methods)]

use super::entry::{Brought, Entry, Freshness};
use super::outcome::CacheConfig;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

/// Handovers of a flight's claim, after which all waiters fail.
pub(super) const HANDOVERS_MAX: u32 = 3;

/// May lose any entry at any time.
pub(super) trait Entries<K, V> {
    fn get(&self, key: &K) -> Option<Arc<Entry<V>>>;
    fn insert(&self, key: K, entry: Entry<V>);
    fn remove(&self, key: &K);
}

#[derive(Debug)]
pub(super) enum Decision<V> {
    Show(Arc<Entry<V>>),
    /// Show this entry; with a token, rebuild it too.
    ShowStale(Arc<Entry<V>>, Option<u64>),
    Build(u64),
    Wait,
    Busy,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Release<W> {
    Refused,
    HandedOver(W, u64),
    /// No builder is left: these waiters get an error.
    Lost(Vec<W>),
}

struct Flight<W> {
    token: u64,
    until: Duration,
    handovers: u32,
    /// Outdated: waiters get the answer, but it is not kept.
    is_outdated: bool,
    /// Waiters in order of arrival, and if each can build.
    waiters: BTreeMap<u64, (W, bool)>,
}

pub(super) struct Claims<K, W> {
    config: CacheConfig,
    flights: HashMap<K, Flight<W>>,
    waiting: usize,
    last_token: u64,
    last_waiter: u64,
    /// Latest time passed in. Time never runs backwards here.
    now: Duration,
}

impl<K: Hash + Eq + Clone, W> Claims<K, W> {
    pub(super) fn new(config: CacheConfig) -> Claims<K, W> {
        Claims {
            config,
            flights: HashMap::new(),
            waiting: 0,
            last_token: 0,
            last_waiter: 0,
            now: Duration::ZERO,
        }
    }

    #[cfg(test)]
    pub(super) fn flights(&self) -> usize {
        self.flights.len()
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Looks a key up, and claims it if it must be built. Callers that build or wait join next.
    pub(super) fn look_up<V>(
        &mut self,
        key: &K,
        entries: &impl Entries<K, V>,
        now: Duration,
    ) -> Decision<V> {
        let now = self.advance(now);
        // Again, because it may have been put since.
        if let Some(entry) = entries.get(key) {
            match entry.freshness(now) {
                Freshness::Fresh | Freshness::Negative => return Decision::Show(entry),
                Freshness::Stale => {
                    let refresh = self.claim_refresh(key, &entry, now);
                    return Decision::ShowStale(entry, refresh);
                }
                Freshness::Expired => {}
            }
        }
        let most = self.config.waiters_per_key_max;
        match self.flights.get(key) {
            _ if self.waiting >= self.config.waiters_max => Decision::Busy,
            None if self.is_full() => Decision::Busy,
            None => Decision::Build(self.begin(key)),
            Some(flight) if flight.waiters.len() >= most => Decision::Busy,
            Some(flight) if now < flight.until && !flight.is_outdated => Decision::Wait,
            // Not bounded by the handovers: a stuck builder must not block its key for ever.
            Some(_) => Decision::Build(self.begin(key)),
        }
    }

    fn claim_refresh<V>(&mut self, key: &K, entry: &Entry<V>, now: Duration) -> Option<u64> {
        let is_building = |flight: &Flight<W>| now < flight.until;
        let has_builder = self.flights.get(key).is_some_and(is_building);
        if !entry.may_retry(now) || has_builder || self.is_full() {
            return None;
        }
        entry.mark_tried();
        Some(self.begin(key))
    }

    /// Claims the entry of this token for its next refresh if it was used, otherwise removes it.
    pub(super) fn keep_alive<V>(
        &mut self,
        key: &K,
        token: u64,
        entries: &impl Entries<K, V>,
        now: Duration,
    ) -> Option<u64> {
        let now = self.advance(now);
        let entry = entries.get(key).filter(|entry| entry.token == token)?;
        if entry.is_negative || !entry.is_used() {
            entries.remove(key);
            return None;
        }
        let is_expired = entry.freshness(now) == Freshness::Expired;
        if self.is_full() || is_expired || self.flights.contains_key(key) {
            return None;
        }
        entry.mark_tried();
        Some(self.begin(key))
    }

    fn is_full(&self) -> bool {
        self.flights.len() >= self.config.builds_max
    }

    fn begin(&mut self, key: &K) -> u64 {
        self.last_token += 1;
        let (token, until) = (self.last_token, self.now + self.config.build_max);
        let flight = self.flights.entry(key.clone());
        let flight = flight.and_modify(|it| it.hand_over(token, until));
        flight.or_insert_with(|| Flight {
            token,
            until,
            handovers: 0,
            is_outdated: false,
            waiters: BTreeMap::new(),
        });
        token
    }

    pub(super) fn join(&mut self, key: &K, waiter: W, can_build: bool) -> Option<(u64, Duration)> {
        let flight = self.flights.get_mut(key)?;
        self.last_waiter += 1;
        self.waiting += 1;
        flight.waiters.insert(self.last_waiter, (waiter, can_build));
        Some((self.last_waiter, flight.until))
    }

    pub(super) fn is_current(&self, key: &K, token: u64) -> bool {
        self.flights.get(key).is_some_and(|it| it.token == token)
    }

    pub(super) fn leave(&mut self, key: &K, waiter: u64) {
        if let Some(flight) = self.flights.get_mut(key)
            && flight.waiters.remove(&waiter).is_some()
        {
            self.waiting -= 1;
        }
    }

    /// Gives an expired claim to a waiter. Returns the new token or the time to try again;
    /// `None` without a flight.
    pub(super) fn take_over(
        &mut self,
        key: &K,
        waiter: u64,
        now: Duration,
    ) -> Option<Result<u64, Duration>> {
        let now = self.advance(now);
        let until = now + self.config.build_max;
        let flight = self.flights.get_mut(key)?;
        let (_, can_build) = flight.waiters.get_mut(&waiter)?;
        if !*can_build || now < flight.until || flight.handovers >= HANDOVERS_MAX {
            return Some(Err(flight.until.max(until)));
        }
        *can_build = false;
        self.last_token += 1;
        flight.hand_over(self.last_token, until);
        Some(Ok(self.last_token))
    }

    /// Ends a flight with its result, if the token is current. Returns its waiters.
    pub(super) fn finish<V>(
        &mut self,
        key: &K,
        token: u64,
        brought: Option<Brought<V>>,
        entries: &impl Entries<K, V>,
        now: Duration,
        random: u32,
    ) -> Option<Vec<W>> {
        let now = self.advance(now);
        if self.flights.get(key)?.token != token {
            return None;
        }
        let flight = self.flights.remove(key)?;
        if !flight.is_outdated {
            self.keep(key, token, brought, entries, now, random);
        }
        Some(self.dismiss(flight))
    }

    /// Replaces an entry and ends its flight, so the builder may not put any more.
    pub(super) fn replace<V>(
        &mut self,
        key: &K,
        brought: Option<Brought<V>>,
        entries: &impl Entries<K, V>,
        now: Duration,
        random: u32,
    ) -> Vec<W> {
        let now = self.advance(now);
        self.last_token += 1;
        self.keep(key, self.last_token, brought, entries, now, random);
        let flight = self.flights.remove(key);
        flight.map_or_else(Vec::new, |flight| self.dismiss(flight))
    }

    /// Keeps an answer; a failure (`None`) is never kept.
    fn keep<V>(
        &self,
        key: &K,
        token: u64,
        brought: Option<Brought<V>>,
        entries: &impl Entries<K, V>,
        now: Duration,
        random: u32,
    ) {
        let Some(brought) = brought else {
            if let Some(entry) = entries.get(key) {
                entry.delay_retry(now, random);
            }
            return;
        };
        match Entry::new(brought, token, &self.config, now, random) {
            Some(entry) => entries.insert(key.clone(), entry),
            None => entries.remove(key),
        }
    }

    pub(super) fn release<V>(
        &mut self,
        key: &K,
        token: u64,
        entries: &impl Entries<K, V>,
        now: Duration,
        random: u32,
    ) -> Release<W> {
        let now = self.advance(now);
        let until = now + self.config.build_max;
        let Some(flight) = self.flights.get_mut(key).filter(|it| it.token == token) else {
            return Release::Refused;
        };
        let mut waiters = flight.waiters.iter();
        let able = waiters.find(|(_, (_, can_build))| *can_build);
        let next = able.map(|(number, _)| *number);
        if flight.handovers < HANDOVERS_MAX
            && let Some((waiter, _)) = next.and_then(|next| flight.waiters.remove(&next))
        {
            self.last_token += 1;
            self.waiting -= 1;
            flight.hand_over(self.last_token, until);
            return Release::HandedOver(waiter, self.last_token);
        }
        if let Some(entry) = entries.get(key) {
            entry.delay_retry(now, random);
        }
        let flight = self.flights.remove(key).expect("it was there");
        Release::Lost(self.dismiss(flight))
    }

    /// Forgets an entry. An answer in flight goes to waiters and is not kept.
    pub(super) fn invalidate<V>(&mut self, key: &K, entries: &impl Entries<K, V>) {
        entries.remove(key);
        if let Some(flight) = self.flights.get_mut(key) {
            flight.is_outdated = true;
        }
    }

    pub(super) fn outdate_all(&mut self) {
        let flights = self.flights.values_mut();
        flights.for_each(|flight| flight.is_outdated = true);
    }

    fn dismiss(&mut self, flight: Flight<W>) -> Vec<W> {
        self.waiting -= flight.waiters.len();
        flight.waiters.into_values().map(|(it, _)| it).collect()
    }

    fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }
}

impl<W> Flight<W> {
    fn hand_over(&mut self, token: u64, until: Duration) {
        self.token = token;
        self.until = until;
        self.handovers += 1;
        self.is_outdated = false;
    }
}
