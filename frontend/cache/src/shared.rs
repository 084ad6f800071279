//! A cache: looks answers up, hands out claims, and wakes waiters.
//!
//! The state changes under one lock, never held while waiting. Messages are sent after its release,
//! because a claim that is not received is released again.

use super::entry::{Brought, Entry, Freshness};
use super::outcome::{
    Built, CacheConfig, CacheError, CacheFailure, CacheKey, CacheValue, random, retry_after,
};
use super::state::{Claims, Decision, Entries, Release};
use super::store::Store;
use super::sync::{Mutex, lock};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};

/// Delay before waiters take over an expired claim. A builder cancels itself earlier.
const EXPIRY_SLACK: Duration = Duration::from_millis(100);

/// Cache of answers of type `V`, with builds that may fail with `E`. Values
/// should be cheap to clone.
pub struct Cache<K: CacheKey, V: CacheValue, E: CacheFailure> {
    config: CacheConfig,
    pub(super) keepers: Arc<Semaphore>,
    began: Instant,
    store: Store<K, V>,
    claims: Mutex<Claims<K, Waiter<K, V, E>>>,
}

type Waiter<K, V, E> = oneshot::Sender<Turn<K, V, E>>;

/// Result of a look-up.
pub enum CacheOutcome<K: CacheKey, V: CacheValue, E: CacheFailure> {
    Fresh(V),
    /// An answer to be rebuilt; by this caller, if there is a claim.
    Stale(V, Option<Claim<K, V, E>>),
    Negative(V),
    /// This caller builds the answer, and may wait for it.
    Build(Claim<K, V, E>, Waiting<K, V, E>),
    /// Another caller builds the answer.
    Wait(Waiting<K, V, E>),
    /// Too many waiters or builds.
    Busy {
        retry_after: Duration,
    },
}

pub enum Turn<K: CacheKey, V: CacheValue, E: CacheFailure> {
    Answer(Result<V, CacheError<E>>),
    /// Build it: the builder was lost.
    Build(Claim<K, V, E>),
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Cache<K, V, E> {
    /// Creates an empty cache. `weigh` estimates the bytes of key and value.
    pub fn new(config: CacheConfig, weigh: fn(&K, &V) -> usize) -> Arc<Cache<K, V, E>> {
        Arc::new(Cache {
            config,
            keepers: Arc::new(Semaphore::new(config.keepers_max)),
            began: Instant::now(),
            store: Store::new(&config, weigh),
            claims: Mutex::new(Claims::new(config)),
        })
    }

    pub fn config(&self) -> &CacheConfig {
        &self.config
    }

    /// Looks up an answer, and claims it if it is not in flight, to build several together. Ignores
    /// `off`. Other callers use [`get_or_build`](Self::get_or_build).
    pub fn look_up(self: &Arc<Self>, key: K) -> CacheOutcome<K, V, E> {
        let started = Instant::now();
        let outcome = match self.shown(&key) {
            Some(shown) => shown,
            None => self.look_up_or_claim(key),
        };
        ::metrics::histogram!("trawl_frontend_cache_lookup_seconds", "cache" => self.config.name)
            .record(started.elapsed());
        self.count_request(match &outcome {
            CacheOutcome::Fresh(_) => "fresh",
            CacheOutcome::Stale(..) => "stale",
            CacheOutcome::Negative(_) => "negative",
            CacheOutcome::Build(..) => "miss",
            CacheOutcome::Wait(_) => "wait",
            CacheOutcome::Busy { .. } => "busy",
        });
        outcome
    }

    fn shown(&self, key: &K) -> Option<CacheOutcome<K, V, E>> {
        let entry = self.store.get(key)?;
        match entry.freshness(self.now()) {
            Freshness::Fresh | Freshness::Negative => Some(show(&entry)),
            Freshness::Stale | Freshness::Expired => None,
        }
    }

    fn look_up_or_claim(self: &Arc<Self>, key: K) -> CacheOutcome<K, V, E> {
        let mut claims = lock(&self.claims);
        match claims.look_up(&key, &self.store, self.now()) {
            Decision::Show(entry) => show(&entry),
            Decision::ShowStale(entry, token) => {
                drop(claims);
                entry.mark_used();
                let age = self.now().saturating_sub(entry.built);
                ::metrics::histogram!("trawl_frontend_cache_stale_age_seconds", "cache" => self.config.name)
                    .record(age);
                let claim = token.map(|token| self.claim(key, token));
                CacheOutcome::Stale(entry.value.clone(), claim)
            }
            Decision::Build(token) => {
                let waiting = self.join(&mut claims, &key, false);
                drop(claims);
                CacheOutcome::Build(self.claim(key, token), waiting)
            }
            Decision::Wait => CacheOutcome::Wait(self.join(&mut claims, &key, true)),
            Decision::Busy => CacheOutcome::Busy {
                retry_after: retry_after(),
            },
        }
    }

    fn join(
        self: &Arc<Self>,
        claims: &mut Claims<K, Waiter<K, V, E>>,
        key: &K,
        can_build: bool,
    ) -> Waiting<K, V, E> {
        let (sender, receiver) = oneshot::channel();
        let joined = claims.join(key, sender, can_build);
        let (number, until) = joined.expect("the key has a claim");
        Waiting {
            cache: Arc::clone(self),
            key: key.clone(),
            number,
            until,
            since: Instant::now(),
            receiver,
        }
    }

    fn claim(self: &Arc<Self>, key: K, token: u64) -> Claim<K, V, E> {
        ::metrics::gauge!("trawl_frontend_cache_inflight", "cache" => self.config.name)
            .increment(1.0);
        Claim {
            cache: Arc::clone(self),
            key,
            token,
            since: Instant::now(),
            is_ended: false,
        }
    }

    pub(super) fn keep_alive(self: &Arc<Self>, key: &K, token: u64) -> Option<Claim<K, V, E>> {
        let token = lock(&self.claims).keep_alive(key, token, &self.store, self.now())?;
        Some(self.claim(key.clone(), token))
    }

    pub(super) fn refresh_due(&self, key: &K, tokens: [u64; 2]) -> Option<(u64, Instant)> {
        let entry = self.store.get(key)?;
        let is_ours = !entry.is_negative && tokens.contains(&entry.token);
        let due = self.began + entry.soft.max(entry.retry_at());
        is_ours.then_some((entry.token, due))
    }

    /// Answer that may be shown. Not a use, and claims nothing.
    pub fn peek(&self, key: &K) -> Option<V> {
        let entry = self.store.get(key)?;
        let is_shown = entry.freshness(self.now()) != Freshness::Expired;
        is_shown.then(|| entry.value.clone())
    }

    /// Replaces an answer. Waiters get it, and a build in flight is refused.
    pub fn put(&self, key: &K, built: Built<V, E>) {
        let (now, random) = (self.now(), random());
        let waiters = lock(&self.claims).replace(key, brought(&built), &self.store, now, random);
        tell(waiters, &built.into_result());
    }

    /// Forgets an answer. New callers wait for a build in flight, if any.
    pub fn forget(&self, key: &K) {
        let _claims = lock(&self.claims);
        self.store.remove(key);
    }

    /// Forgets an answer. A build in flight is not kept.
    pub fn invalidate(&self, key: &K) {
        lock(&self.claims).invalidate(key, &self.store);
    }

    /// Forgets all answers. Builds in flight are not kept.
    pub fn invalidate_all(&self) {
        let mut claims = lock(&self.claims);
        self.store.clear();
        claims.outdate_all();
    }

    pub(super) fn count_request(&self, result: &'static str) {
        let cache = self.config.name;
        ::metrics::counter!("trawl_frontend_cache_requests_total", "cache" => cache, "result" => result)
            .increment(1);
    }

    fn count_claim(&self, outcome: &'static str) {
        let cache = self.config.name;
        ::metrics::counter!("trawl_frontend_cache_claims_total", "cache" => cache, "outcome" => outcome)
            .increment(1);
        ::metrics::gauge!("trawl_frontend_cache_inflight", "cache" => cache).decrement(1.0);
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.claims).waiting()
    }

    #[cfg(test)]
    #[allow(dead_code, reason = "only `schedules` uses it")]
    pub(super) fn flights(&self) -> usize {
        lock(&self.claims).flights()
    }

    /// Bytes of kept answers after pending evictions, for tests.
    pub fn settled_bytes(&self) -> u64 {
        self.store.settled_bytes()
    }
}

/// Right to build an answer. Dropped without one, it goes to a waiter.
pub struct Claim<K: CacheKey, V: CacheValue, E: CacheFailure> {
    pub(super) cache: Arc<Cache<K, V, E>>,
    key: K,
    pub(super) token: u64,
    since: Instant,
    is_ended: bool,
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Claim<K, V, E> {
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Gives the answer to waiters and keeps it. Returns false, keeping nothing, if the
    /// claim is no longer current.
    pub fn put(mut self, built: Built<V, E>) -> bool {
        self.is_ended = true;
        let outcome = match &built {
            Built::Value(_) => "value",
            Built::Negative(_) => "negative",
            Built::Hint { .. } => "hint",
            Built::Transient(_) => "failed",
        };
        ::metrics::histogram!("trawl_frontend_cache_build_seconds", "cache" => self.cache.config.name, "outcome" => outcome)
            .record(self.since.elapsed());
        let cache = &self.cache;
        let (now, random) = (cache.now(), random());
        let (key, token, brought) = (&self.key, self.token, brought(&built));
        let ended = lock(&cache.claims).finish(key, token, brought, &cache.store, now, random);
        let is_current = ended.is_some();
        cache.count_claim(if is_current { "put" } else { "fenced" });
        tell(ended.unwrap_or_default(), &built.into_result());
        is_current
    }

    /// Waits for the claim's answer; `None` if it is no longer current.
    pub fn wait(&self) -> Option<Waiting<K, V, E>> {
        let mut claims = lock(&self.cache.claims);
        let is_current = claims.is_current(&self.key, self.token);
        is_current.then(|| self.cache.join(&mut claims, &self.key, false))
    }

    pub(super) fn expire(mut self) {
        self.release("expired");
    }

    fn release(&mut self, outcome: &'static str) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let cache = &self.cache;
        cache.count_claim(outcome);
        let (now, random) = (cache.now(), random());
        let released =
            lock(&cache.claims).release(&self.key, self.token, &cache.store, now, random);
        match released {
            Release::Refused => {}
            // A waiter that has left drops the claim, which releases it again.
            Release::HandedOver(waiter, token) => {
                drop(waiter.send(Turn::Build(cache.claim(self.key.clone(), token))));
            }
            Release::Lost(waiters) => {
                let retry_after = retry_after();
                tell(waiters, &Err(CacheError::Late { retry_after }));
            }
        }
    }
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Drop for Claim<K, V, E> {
    fn drop(&mut self) {
        self.release("dropped");
    }
}

/// A waiter for an answer. Dropping it ends the wait.
pub struct Waiting<K: CacheKey, V: CacheValue, E: CacheFailure> {
    cache: Arc<Cache<K, V, E>>,
    key: K,
    number: u64,
    /// Time at which the claim may be taken over, since the cache began.
    until: Duration,
    since: Instant,
    receiver: oneshot::Receiver<Turn<K, V, E>>,
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Waiting<K, V, E> {
    #[cfg(test)]
    #[allow(dead_code, reason = "only `schedules` uses it")]
    pub(super) fn told(&mut self) -> Option<Turn<K, V, E>> {
        self.receiver.try_recv().ok()
    }

    /// Waits for the answer or the claim, until the deadline.
    pub async fn turn(mut self, deadline: Instant) -> Turn<K, V, E> {
        let turn = loop {
            let take_over = self.cache.began + self.until + EXPIRY_SLACK;
            let wake = take_over.min(deadline).into();
            match tokio::time::timeout_at(wake, &mut self.receiver).await {
                Ok(Ok(turn)) => break turn,
                Ok(Err(_)) => break late(),
                Err(_) if take_over >= deadline => break late(),
                Err(_) => {}
            }
            let (cache, now) = (&self.cache, self.cache.now());
            match lock(&cache.claims).take_over(&self.key, self.number, now) {
                Some(Ok(token)) => break Turn::Build(cache.claim(self.key.clone(), token)),
                Some(Err(until)) => self.until = until,
                None => self.until = now,
            }
        };
        let outcome = match &turn {
            Turn::Answer(Ok(_)) => "answer",
            Turn::Answer(Err(CacheError::Failed(_))) => "failed",
            Turn::Answer(Err(_)) => "late",
            Turn::Build(_) => "handover",
        };
        ::metrics::histogram!("trawl_frontend_cache_wait_seconds", "cache" => self.cache.config.name, "outcome" => outcome)
            .record(self.since.elapsed());
        turn
    }
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Drop for Waiting<K, V, E> {
    fn drop(&mut self) {
        lock(&self.cache.claims).leave(&self.key, self.number);
    }
}

fn show<K: CacheKey, V: CacheValue, E: CacheFailure>(entry: &Entry<V>) -> CacheOutcome<K, V, E> {
    entry.mark_used();
    if entry.is_negative {
        CacheOutcome::Negative(entry.value.clone())
    } else {
        CacheOutcome::Fresh(entry.value.clone())
    }
}

fn brought<V: Clone, E>(built: &Built<V, E>) -> Option<Brought<V>> {
    let (value, is_negative, age) = match built {
        Built::Value(value) => (value, false, Duration::ZERO),
        Built::Negative(value) => (value, true, Duration::ZERO),
        Built::Hint {
            value,
            is_negative,
            age,
        } => (value, *is_negative, *age),
        Built::Transient(_) => return None,
    };
    Some(Brought {
        value: value.clone(),
        is_negative,
        age,
    })
}

fn late<K: CacheKey, V: CacheValue, E: CacheFailure>() -> Turn<K, V, E> {
    let retry_after = retry_after();
    Turn::Answer(Err(CacheError::Late { retry_after }))
}

fn tell<K: CacheKey, V: CacheValue, E: CacheFailure>(
    waiters: Vec<Waiter<K, V, E>>,
    answer: &Result<V, CacheError<E>>,
) {
    for waiter in waiters {
        // A waiter may have left.
        drop(waiter.send(Turn::Answer(answer.clone())));
    }
}
