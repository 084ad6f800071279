//! Runs builds as tasks, and refreshes answers in use before they become stale.

use super::outcome::{Built, CacheError, CacheFailure, CacheKey, CacheValue};
use super::shared::{Cache, CacheOutcome, Claim, Turn};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;

const WAIT_MAX: Duration = Duration::from_secs(10);

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Cache<K, V, E> {
    /// Returns the answer for a key: at once if there is one, otherwise once built by `build` or
    /// another caller. Waits until the deadline, at most 10 s. A stale answer is returned at once
    /// and rebuilt in the background.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn get_or_build<B, F>(
        self: &Arc<Self>,
        key: K,
        deadline: Option<Instant>,
        build: B,
    ) -> Result<V, CacheError<E>>
    where
        B: FnOnce() -> F + Send + 'static,
        F: Future<Output = Built<V, E>> + Send + 'static,
    {
        if self.config().off {
            return self.bypass(build()).await;
        }
        self.get(key, deadline, |claim| {
            let built = claim.build(build);
            tokio::spawn(trace::in_current(built.in_current_span()));
        })
        .await
    }

    /// Like [`get_or_build`](Self::get_or_build), and rebuilds the answer before it becomes stale
    /// while it is in use, so its readers never wait.
    pub async fn get_and_keep<B, F>(
        self: &Arc<Self>,
        key: K,
        deadline: Option<Instant>,
        build: B,
    ) -> Result<V, CacheError<E>>
    where
        B: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Built<V, E>> + Send + 'static,
    {
        if self.config().off {
            return self.bypass(build()).await;
        }
        self.get(key, deadline, |claim| {
            tokio::spawn(claim.keep(build));
        })
        .await
    }

    async fn bypass(&self, build: impl Future<Output = Built<V, E>>) -> Result<V, CacheError<E>> {
        self.count_request("bypass");
        build.await.into_result()
    }

    async fn get(
        self: &Arc<Self>,
        key: K,
        deadline: Option<Instant>,
        start: impl FnOnce(Claim<K, V, E>),
    ) -> Result<V, CacheError<E>> {
        let wait_max = Instant::now() + WAIT_MAX;
        let deadline = deadline.map_or(wait_max, |deadline| deadline.min(wait_max));
        let mut start = Some(start);
        let mut begin = |claim| {
            if let Some(start) = start.take() {
                start(claim);
            }
        };
        // Repeats only if a claim that was handed over is outdated. No caller begins twice.
        loop {
            let mut waiting = match self.look_up(key.clone()) {
                CacheOutcome::Fresh(value) | CacheOutcome::Negative(value) => return Ok(value),
                CacheOutcome::Stale(value, claim) => {
                    claim.into_iter().for_each(begin);
                    return Ok(value);
                }
                CacheOutcome::Busy { retry_after } => return Err(CacheError::Busy { retry_after }),
                CacheOutcome::Wait(waiting) => waiting,
                CacheOutcome::Build(claim, waiting) => {
                    begin(claim);
                    waiting
                }
            };
            loop {
                let claim = match waiting.turn(deadline).await {
                    Turn::Answer(answer) => return answer,
                    Turn::Build(claim) => claim,
                };
                let Some(next) = claim.wait() else { break };
                waiting = next;
                begin(claim);
            }
        }
    }
}

impl<K: CacheKey, V: CacheValue, E: CacheFailure> Claim<K, V, E> {
    /// Builds and puts an answer. Cancels a build that outlives its claim.
    async fn build<F: Future<Output = Built<V, E>>>(self, build: impl FnOnce() -> F) {
        let build_max = self.cache.config().build_max;
        match tokio::time::timeout(build_max, build()).await {
            Ok(built) => drop(self.put(built)),
            Err(_) => self.expire(),
        }
    }

    async fn keep<F: Future<Output = Built<V, E>>>(mut self, build: impl Fn() -> F) {
        let permit = Arc::clone(&self.cache.keepers).try_acquire_owned();
        let (cache, key) = (Arc::downgrade(&self.cache), self.key().clone());
        let mut kept = self.token;
        loop {
            let token = self.token;
            self.build(&build).await;
            if permit.is_err() {
                return;
            }
            let due = cache.upgrade();
            let due = due.and_then(|cache| cache.refresh_due(&key, [token, kept]));
            let Some((token, due)) = due else { return };
            kept = token;
            tokio::time::sleep_until(due.into()).await;
            let next = cache.upgrade();
            let Some(next) = next.and_then(|cache| cache.keep_alive(&key, kept)) else {
                return;
            };
            self = next;
        }
    }
}
