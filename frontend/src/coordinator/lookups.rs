//! The first backend, in configured order, that has the repository answers.
//!
//! The error of a backend is kept in case no other answers. Answers are cached (`lookup_cache`).

use super::lookup_cache::{
    Found, LookupCache, LookupClaim, LookupKey, LookupOutcome, TIME_MAX, bytes_of_lookup, outcome,
    settle,
};
use super::lookup_hints;
use crate::error::LookupError;
use crate::hints::Hints;
use crate::joined::joined;
use crate::peers::{Peer, PeerError};
use schema::frame::Kind;
use schema::message::{
    LOOKUPS_MAX, Lookup, LookupAnswer, LookupProblem, LookupProblemKind, LookupReply, LookupRequest,
};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Concurrent look-up requests, each on a thread; others wait.
const AT_ONCE_MAX: usize = 32;

/// Backends refuse 128 KiB.
const REQUEST_BYTES_MAX: usize = 64 << 10;

pub(super) struct Lookups {
    cache: LookupCache,
    permits: Arc<Semaphore>,
    hints: Option<Arc<Hints>>,
}

impl Lookups {
    pub(super) fn new(hints: Option<Arc<Hints>>) -> Lookups {
        Lookups {
            cache: LookupCache::default(),
            permits: Arc::new(Semaphore::new(AT_ONCE_MAX)),
            hints,
        }
    }

    /// Outcomes are in the order of these.
    pub(super) async fn look_up(
        &self,
        runtime: &Handle,
        peers: &[Arc<Peer>],
        generation: &str,
        lookups: Vec<Lookup>,
    ) -> Vec<LookupOutcome> {
        let (sources, claims) = self.cache.claim(generation, lookups);
        self.ask(runtime, peers, claims);
        let mut outcomes = Vec::with_capacity(sources.len());
        for source in sources {
            let again = |claim| self.ask(runtime, peers, vec![claim]);
            outcomes.push(outcome(source, again).await);
        }
        outcomes
    }

    /// Asks in a separate task, since others may wait for it when this client has left.
    fn ask(&self, runtime: &Handle, peers: &[Arc<Peer>], claims: Vec<LookupClaim>) {
        if claims.is_empty() {
            return;
        }
        let (peers, permits) = (peers.to_vec(), Arc::clone(&self.permits));
        let hints = self.hints.clone();
        runtime.spawn(async move {
            let claims = match &hints {
                Some(hints) => lookup_hints::take(hints, claims).await,
                None => claims,
            };
            if claims.is_empty() {
                return;
            }
            let asked = |claim| Asked {
                claim,
                outcome: None,
                problem: None,
            };
            let mut asking = Asking {
                asked: claims.into_iter().map(asked).collect(),
                unreachable: Vec::new(),
                has_repositories: false,
                began: Instant::now(),
            };
            asking.run(&peers, &permits).await;
            let began = asking.began;
            for (claim, outcome) in asking.finish() {
                if let (Some(hints), Ok(found)) = (&hints, &outcome) {
                    lookup_hints::share(hints, claim.key(), found, began);
                }
                settle(claim, outcome);
            }
        });
    }
}

struct Asking {
    asked: Vec<Asked>,
    unreachable: Vec<(String, String)>,
    has_repositories: bool,
    began: Instant,
}

struct Asked {
    claim: LookupClaim,
    outcome: Option<LookupOutcome>,
    /// Error if no later backend has a better answer.
    problem: Option<LookupProblem>,
}

impl Asking {
    async fn run(&mut self, peers: &[Arc<Peer>], permits: &Semaphore) {
        let deadline = self.began + TIME_MAX;
        let permit = tokio::time::timeout_at(deadline.into(), permits.acquire());
        let Ok(_permit) = permit.await else {
            return;
        };
        for peer in peers {
            let is_done = self.asked.iter().all(|asked| asked.outcome.is_some());
            if is_done || Instant::now() >= deadline {
                return;
            }
            self.ask(Arc::clone(peer), deadline).await;
        }
    }

    async fn ask(&mut self, peer: Arc<Peer>, deadline: Instant) {
        if peer.status().has_repositories == Some(false) {
            return;
        }
        peer.ready(Peer::ready_deadline()).await;
        let status = peer.status();
        match (status.has_repositories, status.lost) {
            (Some(false), _) => return,
            (_, Some((reason, _))) => {
                self.has_repositories |= status.has_repositories.is_some();
                self.unreachable.push((peer.name().to_owned(), reason));
                return;
            }
            (_, None) => self.has_repositories = true,
        }
        let open = self.asked.iter_mut();
        let open: Vec<_> = open.filter(|asked| asked.outcome.is_none()).collect();
        let wanted: Vec<_> = open
            .iter()
            .map(|asked| Arc::clone(asked.claim.key()))
            .collect();
        let name = peer.name().to_owned();
        let asked = tokio::task::spawn_blocking(move || ask_all(&peer, &wanted, deadline));
        let (answers, lost) = joined(asked).await;
        for (asked, answer) in open.into_iter().zip(answers) {
            asked.receive(answer, self.began);
        }
        if let Some(lost) = lost {
            self.unreachable.push((name, lost.to_string()));
        }
    }

    fn finish(self) -> impl Iterator<Item = (LookupClaim, LookupOutcome)> {
        let is_late = self.began.elapsed() >= TIME_MAX;
        let error = move |problem: Option<LookupProblem>| match problem {
            Some(problem) if problem.kind == LookupProblemKind::Unreadable => {
                LookupError::Problem(problem)
            }
            _ if is_late => LookupError::Late,
            // An unreachable backend may have the repository.
            _ if !self.unreachable.is_empty() => LookupError::Unreachable(self.unreachable.clone()),
            Some(problem) => LookupError::Problem(problem),
            None if self.has_repositories => LookupError::Late,
            None => LookupError::NoRepositories,
        };
        self.asked.into_iter().map(move |asked| {
            let outcome = asked.outcome;
            let outcome = outcome.unwrap_or_else(|| Err(error(asked.problem)));
            (asked.claim, outcome)
        })
    }
}

impl Asked {
    fn receive(&mut self, answer: LookupAnswer, began: Instant) {
        let outcome = match Found::of(answer) {
            Ok(found) => Ok(found),
            Err(problem) => match problem.kind {
                LookupProblemKind::UnknownRepository | LookupProblemKind::Unreadable => {
                    return self.keep_problem(problem);
                }
                _ => Err(LookupError::Problem(problem)),
            },
        };
        let operation = self.claim.key().lookup.of.operation();
        metrics::histogram!("trawl_frontend_lookup_seconds", "operation" => operation)
            .record(began.elapsed());
        self.outcome = Some(outcome);
    }

    /// Keeps the error of a damaged repository, or merges similar names of all backends.
    fn keep_problem(&mut self, problem: LookupProblem) {
        match &mut self.problem {
            Some(kept) if kept.kind == LookupProblemKind::Unreadable => {}
            Some(kept) if kept.kind == problem.kind => {
                for candidate in problem.candidates {
                    if !kept.candidates.contains(&candidate) {
                        kept.candidates.push(candidate);
                    }
                }
            }
            kept => *kept = Some(problem),
        }
    }
}

/// Asks in requests of bounded size. Returns the first answers, and the error that ended them.
fn ask_all(
    peer: &Peer,
    keys: &[Arc<LookupKey>],
    deadline: Instant,
) -> (Vec<LookupAnswer>, Option<PeerError>) {
    let mut answers = Vec::with_capacity(keys.len());
    while answers.len() < keys.len() && Instant::now() < deadline {
        let part = part(&keys[answers.len()..]);
        match ask_part(peer, part) {
            Ok(more) => answers.extend(more),
            Err(lost) => return (answers, Some(lost)),
        }
    }
    (answers, None)
}

/// At least one.
fn part(keys: &[Arc<LookupKey>]) -> &[Arc<LookupKey>] {
    let mut bytes = 0;
    let fits = |key: &&Arc<LookupKey>| {
        bytes += bytes_of_lookup(&key.lookup);
        bytes <= REQUEST_BYTES_MAX
    };
    let count = keys.iter().take(LOOKUPS_MAX).take_while(fits).count();
    &keys[..count.max(1)]
}

fn ask_part(peer: &Peer, keys: &[Arc<LookupKey>]) -> Result<Vec<LookupAnswer>, PeerError> {
    let lookups = keys.iter().map(|key| key.lookup.clone()).collect();
    let mut frame = Vec::new();
    LookupRequest { lookups }.encode(&mut frame)?;
    let reply = peer.request(&frame, Kind::Lookup, LookupReply::decode)?;
    let mut pairs = keys.iter().zip(&reply.answers);
    let is_good = !reply.answers.is_empty()
        && reply.answers.len() <= keys.len()
        && pairs.all(|(key, answer)| answer.fits(&key.lookup));
    if !is_good {
        let reason = "it did not answer the look-ups that it was asked for";
        return Err(PeerError::Failed(reason.to_owned()));
    }
    Ok(reply.answers)
}
