//! Keeps the answers of repositories for a while, and lets identical look-ups that are under way share one
//! answer.
//!
//! The commit of a branch is asked for far more often than it changes: by every search that shows it. So an
//! answer is kept for up to a minute, and at most as long as the index stays the same: a push that has been
//! indexed shows. Problems are never kept: a repository that was just added is found.
//! **Invariant:** a look-up is under way at most once, and it ends even if all who wait for it have left.

use crate::error::LookupError;
use crate::lock::lock;
use crate::metrics;
use moka::Expiry;
use moka::sync::Cache;
use schema::message::{Commit, CommitLog, Lookup, LookupOf, ReferenceList};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long an answer is kept, at most. The least is half of it, chosen at random, so that what was asked for
/// together does not expire together. It holds for full ids too, since tags may be added to their commits.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// Bytes of all answers that are kept.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// What an answer counts at least, so that there are at most 32,768 of them.
const ANSWER_BYTES_MIN: usize = 512;

/// The answer to a look-up.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Commit(Arc<Commit>),
    Log(Arc<CommitLog>),
    References(Arc<ReferenceList>),
}

/// The answer, or why there is none.
pub(super) type LookupOutcome = Result<Found, LookupError>;

/// Answers, and the look-ups that are under way.
pub(super) struct LookupCache {
    kept: Cache<Arc<Lookup>, Found>,
    under_way: Mutex<HashMap<Arc<Lookup>, watch::Receiver<Option<LookupOutcome>>>>,
    /// The generation of the index for which answers are kept.
    generation: Mutex<String>,
}

impl Default for LookupCache {
    fn default() -> LookupCache {
        let kept = Cache::builder()
            .max_capacity(KEPT_BYTES_MAX)
            .weigher(|lookup: &Arc<Lookup>, found: &Found| {
                let bytes = bytes_of_lookup(lookup) + found.bytes();
                u32::try_from(bytes.max(ANSWER_BYTES_MIN)).unwrap_or(u32::MAX)
            })
            .expire_after(Life)
            .build();
        LookupCache {
            kept,
            under_way: Mutex::default(),
            generation: Mutex::default(),
        }
    }
}

/// Chooses how long an answer is kept.
struct Life;

impl Expiry<Arc<Lookup>, Found> for Life {
    fn expire_after_create(&self, _: &Arc<Lookup>, _: &Found, _: Instant) -> Option<Duration> {
        // Without randomness all answers just live as long as each other.
        let random = getrandom::u32().unwrap_or(u32::MAX);
        Some(life(random))
    }
}

fn life(random: u32) -> Duration {
    let half = LIFE_MAX / 2;
    half + half.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// Where the answer to a look-up comes from.
pub(super) enum AnswerSource {
    Kept(Found),
    UnderWay(watch::Receiver<Option<LookupOutcome>>),
}

impl AnswerSource {
    /// Waits for the answer.
    pub(super) async fn outcome(self) -> LookupOutcome {
        match self {
            AnswerSource::Kept(found) => Ok(found),
            AnswerSource::UnderWay(mut receiver) => {
                let outcome = receiver.wait_for(Option::is_some).await;
                let outcome = outcome.ok().and_then(|outcome| outcome.clone());
                outcome.unwrap_or_else(|| {
                    let reason = "the look-up has failed".to_owned();
                    Err(LookupError::Unreachable(vec![(
                        "the frontend".to_owned(),
                        reason,
                    )]))
                })
            }
        }
    }
}

/// Look-ups that are neither kept nor under way. Their owner sends them to a backend.
pub(super) struct Claimed {
    cache: Arc<LookupCache>,
    claims: Vec<(Arc<Lookup>, watch::Sender<Option<LookupOutcome>>)>,
    generation: String,
}

impl LookupCache {
    /// Finds the source of each answer, and claims those that nobody asks for yet. Answers that were kept for
    /// another generation are forgotten.
    pub(super) fn claim(
        self: &Arc<Self>,
        generation: &str,
        lookups: Vec<Lookup>,
    ) -> (Vec<AnswerSource>, Claimed) {
        self.forget_others(generation);
        let mut claimed = Claimed {
            cache: Arc::clone(self),
            claims: Vec::new(),
            generation: generation.to_owned(),
        };
        let source = |lookup: Lookup| {
            let operation = lookup.of.operation();
            if let Some(found) = self.kept.get(&lookup) {
                metrics::lookup(operation, "hit");
                return AnswerSource::Kept(found);
            }
            let mut under_way = lock(&self.under_way);
            if let Some(receiver) = under_way.get(&lookup) {
                metrics::lookup(operation, "attach");
                return AnswerSource::UnderWay(receiver.clone());
            }
            // It may have ended just before.
            if let Some(found) = self.kept.get(&lookup) {
                metrics::lookup(operation, "hit");
                return AnswerSource::Kept(found);
            }
            metrics::lookup(operation, "miss");
            let (sender, receiver) = watch::channel(None);
            let lookup = Arc::new(lookup);
            under_way.insert(Arc::clone(&lookup), receiver.clone());
            claimed.claims.push((lookup, sender));
            AnswerSource::UnderWay(receiver)
        };
        let sources = lookups.into_iter().map(source).collect();
        (sources, claimed)
    }

    fn forget_others(&self, generation: &str) {
        let mut kept_for = lock(&self.generation);
        if *kept_for != generation {
            self.kept.invalidate_all();
            generation.clone_into(&mut kept_for);
        }
    }
}

impl Claimed {
    pub(super) fn lookups(&self) -> Vec<Arc<Lookup>> {
        let claims = self.claims.iter();
        claims.map(|(lookup, _)| Arc::clone(lookup)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Publishes the outcomes, which are in the order of the look-ups.
    pub(super) fn finish(self, outcomes: Vec<LookupOutcome>) {
        // Another generation may have come while the backend was asked.
        let kept_for = lock(&self.cache.generation);
        let is_current = *kept_for == self.generation;
        for ((lookup, sender), outcome) in self.claims.iter().zip(outcomes) {
            if let Ok(found) = &outcome
                && is_current
            {
                self.cache.kept.insert(Arc::clone(lookup), found.clone());
            }
            sender.send_replace(Some(outcome));
        }
    }
}

impl Drop for Claimed {
    /// Lets others ask again, also after a panic.
    fn drop(&mut self) {
        let mut under_way = lock(&self.cache.under_way);
        for (lookup, _) in &self.claims {
            under_way.remove(lookup);
        }
    }
}

impl Found {
    fn bytes(&self) -> usize {
        match self {
            Found::Commit(commit) => bytes_of_commit(commit),
            Found::Log(log) => {
                log.next.len() + log.commits.iter().map(bytes_of_commit).sum::<usize>()
            }
            Found::References(list) => {
                let references = list.references.iter();
                let bytes = references.map(|it| size_of_val(it) + it.name.len() + it.id.len());
                bytes.sum()
            }
        }
    }
}

fn bytes_of_commit(commit: &Commit) -> usize {
    let texts = |texts: &[Vec<u8>]| {
        texts
            .iter()
            .map(|it| size_of_val(it) + it.len())
            .sum::<usize>()
    };
    let parents = commit.parents.iter().map(|it| size_of_val(it) + it.len());
    let people = [&commit.author, &commit.committer];
    size_of_val(commit)
        + commit.id.len()
        + commit.tree.len()
        + parents.sum::<usize>()
        + people
            .map(|it| it.name.len() + it.email.len())
            .iter()
            .sum::<usize>()
        + commit.subject.len()
        + commit.body.len()
        + texts(&commit.tags)
}

/// Bytes of a look-up, about as many as its frame has.
pub(super) fn bytes_of_lookup(lookup: &Lookup) -> usize {
    let of = match &lookup.of {
        LookupOf::Commit { revision } => revision.len(),
        LookupOf::Log {
            revision,
            path,
            after,
            ..
        } => revision.len() + path.len() + after.len(),
        LookupOf::References { after, .. } => after.len(),
    };
    size_of_val(lookup) + lookup.repository.len() + of
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{LookupProblem, LookupProblemKind};

    fn lookup(revision: &str) -> Lookup {
        Lookup {
            repository: "r".to_owned(),
            of: LookupOf::Commit {
                revision: revision.to_owned(),
            },
        }
    }

    fn found() -> Found {
        Found::Commit(Arc::default())
    }

    fn unknown() -> LookupError {
        LookupError::Problem(LookupProblem {
            kind: LookupProblemKind::UnknownRevision,
            reason: String::new(),
            candidates: Vec::new(),
        })
    }

    #[test]
    fn answers_live_between_half_a_minute_and_a_minute() {
        assert_eq!(life(0), Duration::from_secs(30));
        assert_eq!(life(u32::MAX), Duration::from_secs(60));
        let lives: Vec<_> = (1..9).map(|part| life(part << 28)).collect();
        assert!(lives.is_sorted() && lives[0] < lives[7]);
    }

    #[tokio::test]
    async fn identical_look_ups_are_one_and_problems_are_not_kept() {
        let cache = Arc::new(LookupCache::default());
        let (sources, claimed) = cache.claim("1", vec![lookup("a"), lookup("b"), lookup("a")]);
        assert_eq!(claimed.lookups().len(), 2);
        let (others, none) = cache.claim("1", vec![lookup("b")]);
        assert!(none.is_empty());
        claimed.finish(vec![Ok(found()), Err(unknown())]);
        let mut outcomes = Vec::new();
        for source in sources.into_iter().chain(others) {
            outcomes.push(source.outcome().await.is_ok());
        }
        assert_eq!(outcomes, [true, false, true, false]);
        let (_, claimed) = cache.claim("1", vec![lookup("a"), lookup("b")]);
        assert_eq!(
            *claimed.lookups()[0],
            lookup("b"),
            "only the problem is asked for again"
        );
        assert_eq!(claimed.lookups().len(), 1);
    }

    #[tokio::test]
    async fn a_look_up_that_was_given_up_is_a_failure_and_can_be_repeated() {
        let cache = Arc::new(LookupCache::default());
        let (sources, claimed) = cache.claim("1", vec![lookup("a")]);
        drop(claimed);
        for source in sources {
            assert!(source.outcome().await.is_err());
        }
        assert!(!cache.claim("1", vec![lookup("a")]).1.is_empty());
    }

    #[tokio::test]
    async fn a_new_generation_ends_what_is_kept_and_what_was_asked_before_is_not_kept() {
        let cache = Arc::new(LookupCache::default());
        let claims = |generation| cache.claim(generation, vec![lookup("a")]).1;
        claims("1").finish(vec![Ok(found())]);
        assert!(claims("1").is_empty());
        let early = claims("2");
        assert!(!early.is_empty(), "kept for another generation");
        cache.forget_others("3");
        early.finish(vec![Ok(found())]);
        assert!(!claims("3").is_empty());
    }

    #[test]
    fn kept_answers_stay_within_their_bytes() {
        let cache = Arc::new(LookupCache::default());
        let large = Found::Commit(Arc::new(Commit {
            body: vec![b'x'; 1 << 20],
            ..Commit::default()
        }));
        for number in 0..200 {
            let (_, claimed) = cache.claim("1", vec![lookup(&number.to_string())]);
            claimed.finish(vec![Ok(large.clone())]);
        }
        cache.kept.run_pending_tasks();
        assert!(cache.kept.weighted_size() <= KEPT_BYTES_MAX);
        assert!(cache.kept.entry_count() > 0);
    }
}
