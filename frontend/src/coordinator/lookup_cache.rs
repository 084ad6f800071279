//! Cache of repository look-ups, with single flight.
//!
//! Branches are read far more often than they change. Answers live up to a minute, in one index
//! generation, so an indexed push shows at once. Problems are never cached: a newly added
//! repository is found. Claims are made together, for one request.

use crate::error::{LOOK_UP_MAX_S, LookupError};
use cache::{Built, Cache, CacheConfig, CacheError, CacheOutcome, Claim, Turn, Waiting};
use schema::message::{
    Blame, ChangeList, Commit, CommitLog, Lookup, LookupAnswer, LookupOf, LookupProblem,
    ReferenceList,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest life; each answer gets half to all of it, so they do not expire together. Also for full
/// ids, since tags may be added to their commits.
pub(super) const LIFE_MAX: Duration = Duration::from_secs(60);

pub(super) const TIME_MAX: Duration = Duration::from_secs(LOOK_UP_MAX_S);

const KEPT_BYTES_MAX: u64 = 16 << 20;

/// Minimum weight of an answer, which limits the cache to 32,768 entries.
const ANSWER_BYTES_MIN: usize = 512;

/// Concurrent waiters. A page of results has one for each commit.
const WAITING_MAX: usize = 65_536;

#[derive(Clone, Debug)]
pub(super) enum Found {
    Commit(Arc<Commit>),
    Log(Arc<CommitLog>),
    References(Arc<ReferenceList>),
    Blame(Arc<Blame>),
    Changes(Arc<ChangeList>),
}

pub(super) type LookupOutcome = Result<Found, LookupError>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LookupKey {
    pub(super) generation: Arc<str>,
    pub(super) lookup: Lookup,
}

type Answers = Cache<Arc<LookupKey>, Found, LookupError>;

pub(super) type LookupClaim = Claim<Arc<LookupKey>, Found, LookupError>;

pub(super) struct LookupCache(Arc<Answers>);

impl Default for LookupCache {
    fn default() -> LookupCache {
        let config = CacheConfig {
            life: LIFE_MAX,
            hard: Duration::ZERO,
            bytes_max: KEPT_BYTES_MAX,
            waiters_max: WAITING_MAX,
            build_max: TIME_MAX + Duration::from_secs(2),
            ..CacheConfig::new("lookups")
        };
        LookupCache(Cache::new(config, weigh))
    }
}

fn weigh(key: &Arc<LookupKey>, found: &Found) -> usize {
    let bytes = bytes_of_lookup(&key.lookup) + found.bytes();
    bytes.max(ANSWER_BYTES_MIN)
}

type AnswerSource = Result<Waiting<Arc<LookupKey>, Found, LookupError>, LookupOutcome>;

/// If the asking task was lost, passes the claim to `ask`.
pub(super) async fn outcome(source: AnswerSource, ask: impl Fn(LookupClaim)) -> LookupOutcome {
    let mut waiting = match source {
        Ok(waiting) => waiting,
        Err(outcome) => return outcome,
    };
    // Longer than the builder's own timeout, to get its error.
    let deadline = Instant::now() + TIME_MAX + Duration::from_secs(1);
    loop {
        let claim = match waiting.turn(deadline).await {
            Turn::Answer(Ok(found)) => return Ok(found),
            Turn::Answer(Err(CacheError::Failed(error))) => return Err(error),
            Turn::Answer(Err(_)) => return Err(LookupError::Late),
            Turn::Build(claim) => claim,
        };
        waiting = claim.wait().ok_or(LookupError::Late)?;
        ask(claim);
    }
}

impl LookupCache {
    pub(super) fn claim(
        &self,
        generation: &str,
        lookups: Vec<Lookup>,
    ) -> (Vec<AnswerSource>, Vec<LookupClaim>) {
        let generation: Arc<str> = generation.into();
        let mut claims = Vec::new();
        let source = |lookup: Lookup| {
            let operation = lookup.of.operation();
            let generation = Arc::clone(&generation);
            let key = LookupKey { generation, lookup };
            let (how, source) = match self.0.look_up(Arc::new(key)) {
                CacheOutcome::Fresh(found)
                | CacheOutcome::Stale(found, _)
                | CacheOutcome::Negative(found) => ("hit", Err(Ok(found))),
                CacheOutcome::Wait(waiting) => ("attach", Ok(waiting)),
                CacheOutcome::Build(claim, waiting) => {
                    claims.push(claim);
                    ("miss", Ok(waiting))
                }
                CacheOutcome::Busy { .. } => ("busy", Err(Err(LookupError::Busy))),
            };
            ::metrics::counter!("trawl_frontend_lookups_total", "operation" => operation, "how" => how)
                .increment(1);
            source
        };
        let sources = lookups.into_iter().map(source).collect();
        (sources, claims)
    }
}

pub(super) fn settle(claim: LookupClaim, outcome: LookupOutcome) {
    claim.put(outcome.map_or_else(Built::Transient, Built::Value));
}

impl Found {
    pub(super) fn of(answer: LookupAnswer) -> Result<Found, LookupProblem> {
        Ok(match answer {
            LookupAnswer::Commit(commit) => Found::Commit(Arc::new(commit)),
            LookupAnswer::Log(log) => Found::Log(Arc::new(log)),
            LookupAnswer::References(list) => Found::References(Arc::new(list)),
            LookupAnswer::Blame(blame) => Found::Blame(Arc::new(blame)),
            LookupAnswer::Changes(list) => Found::Changes(Arc::new(list)),
            LookupAnswer::Problem(problem) => return Err(problem),
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Found::Commit(commit) => bytes_of_commit(commit),
            Found::Log(log) => {
                let paths = log.paths.iter().map(|it| size_of_val(it) + it.len());
                let commits = log.commits.iter().map(bytes_of_commit);
                log.next.len() + commits.chain(paths).sum::<usize>()
            }
            Found::References(list) => {
                let references = list.references.iter();
                let bytes = references.map(|it| size_of_val(it) + it.name.len() + it.id.len());
                bytes.sum()
            }
            Found::Blame(blame) => bytes_of_blame(blame),
            Found::Changes(list) => {
                let changes = list.changes.iter();
                changes
                    .map(|it| {
                        let ids = it.before.len() + it.after.len();
                        size_of_val(it) + it.path.len() + it.was.len() + ids
                    })
                    .sum()
            }
        }
    }
}

fn bytes_of_blame(blame: &Blame) -> usize {
    let sources = blame.sources.iter().map(|it| {
        let texts = [&it.author.name, &it.subject, &it.path, &it.previous_path];
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        size_of_val(it) + it.commit.len() + it.previous.len() + bytes
    });
    size_of_val(blame) + size_of_val(&blame.hunks[..]) + sources.sum::<usize>()
}

fn bytes_of_commit(commit: &Commit) -> usize {
    let parents = commit.parents.iter().map(|it| size_of_val(it) + it.len());
    let tags = commit.tags.iter().map(|it| size_of_val(it) + it.len());
    let people = [&commit.author, &commit.committer].into_iter();
    let people = people.map(|it| it.name.len() + it.email.len());
    size_of_val(commit)
        + commit.id.len()
        + commit.tree.len()
        + parents.chain(tags).chain(people).sum::<usize>()
        + commit.subject.len()
        + commit.body.len()
}

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
        LookupOf::Blame { revision, path } => revision.len() + path.len(),
        LookupOf::Changes {
            revision,
            since,
            path,
            ..
        } => revision.len() + since.len() + path.len(),
    };
    size_of_val(lookup) + lookup.repository.len() + of
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::LookupProblemKind;

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

    fn finish(claims: Vec<LookupClaim>, outcomes: Vec<LookupOutcome>) {
        let pairs = claims.into_iter().zip(outcomes);
        pairs.for_each(|(claim, outcome)| settle(claim, outcome));
    }

    fn no_one(_: LookupClaim) {
        panic!("the claim was handed over");
    }

    #[test]
    fn answers_live_between_half_a_minute_and_a_minute() {
        let config = *LookupCache::default().0.config();
        assert_eq!((config.life, config.hard), (LIFE_MAX, Duration::ZERO));
    }

    #[tokio::test]
    async fn identical_look_ups_are_one_and_problems_are_not_kept() {
        let cache = LookupCache::default();
        let (sources, claims) = cache.claim("1", vec![lookup("a"), lookup("b"), lookup("a")]);
        assert_eq!(claims.len(), 2);
        let (others, none) = cache.claim("1", vec![lookup("b")]);
        assert!(none.is_empty());
        finish(claims, vec![Ok(found()), Err(unknown())]);
        let mut outcomes = Vec::new();
        for source in sources.into_iter().chain(others) {
            outcomes.push(outcome(source, no_one).await.is_ok());
        }
        assert_eq!(outcomes, [true, false, true, false]);
        let (_, claims) = cache.claim("1", vec![lookup("a"), lookup("b")]);
        assert_eq!(
            claims[0].key().lookup,
            lookup("b"),
            "only the problem is asked for again"
        );
        assert_eq!(claims.len(), 1);
    }

    #[tokio::test]
    async fn a_look_up_that_was_given_up_is_asked_for_by_one_who_waits() {
        let cache = LookupCache::default();
        let (first, claims) = cache.claim("1", vec![lookup("a")]);
        let (second, none) = cache.claim("1", vec![lookup("a")]);
        assert!(none.is_empty());
        drop(claims);
        let ask = |claim| finish(vec![claim], vec![Ok(found())]);
        for source in second.into_iter().chain(first) {
            assert!(outcome(source, ask).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_look_up_that_nobody_can_ask_for_is_a_failure_and_can_be_repeated() {
        let cache = LookupCache::default();
        let (sources, claims) = cache.claim("1", vec![lookup("a")]);
        drop(claims);
        for source in sources {
            assert!(outcome(source, no_one).await.is_err());
        }
        assert!(!cache.claim("1", vec![lookup("a")]).1.is_empty());
    }

    #[tokio::test]
    async fn a_new_generation_ends_what_is_kept_and_what_was_asked_before_is_not_kept() {
        let cache = LookupCache::default();
        let claims = |generation| cache.claim(generation, vec![lookup("a")]).1;
        finish(claims("1"), vec![Ok(found())]);
        assert!(claims("1").is_empty());
        let early = claims("2");
        assert!(!early.is_empty(), "kept for another generation");
        finish(early, vec![Ok(found())]);
        assert!(!claims("3").is_empty());
    }

    #[test]
    fn kept_answers_stay_within_their_bytes() {
        let cache = LookupCache::default();
        let large = Found::Commit(Arc::new(Commit {
            body: vec![b'x'; 1 << 20],
            ..Commit::default()
        }));
        for number in 0..200 {
            let (_, claims) = cache.claim("1", vec![lookup(&number.to_string())]);
            finish(claims, vec![Ok(large.clone())]);
        }
        let bytes = cache.0.settled_bytes();
        assert!((1..=KEPT_BYTES_MAX).contains(&bytes), "{bytes}");
    }
}
