//! Queries the backends' repositories, in configured order: the first that
//! has the repository answers.
//!
//! The error of a backend is kept in case no other answers. Answers are cached (`lookup_cache`).

use super::lookup_cache::{
    Found, LookupCache, LookupClaim, LookupOutcome, TIME_MAX, bytes_of_lookup, finish,
};
use super::lookup_hints;
use crate::error::LookupError;
use crate::hints::Hints;
use crate::joined::joined;
use crate::metrics;
use crate::peers::{self, Link, Peer, PeerError};
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

/// Bytes of the look-ups in a request. Backends refuse 128 KiB.
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

    /// Looks up all of these at once; outcomes are in their order.
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
            outcomes.push(source.outcome(again).await);
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
            let lookups = claims.iter().map(|claim| claim.key().lookup.clone());
            let asking = Asking::new(&peers, lookups.map(Arc::new).collect());
            let began = asking.began;
            let outcomes = asking.run(&permits).await;
            if let Some(hints) = &hints {
                lookup_hints::share(hints, &claims, &outcomes, began);
            }
            finish(claims, outcomes);
        });
    }
}

struct Asking {
    peers: Vec<Arc<Peer>>,
    lookups: Vec<Arc<Lookup>>,
    outcomes: Vec<Option<LookupOutcome>>,
    /// Error if no later backend has a better answer.
    problems: Vec<Option<LookupProblem>>,
    unreachable: Vec<(String, String)>,
    has_repositories: bool,
    began: Instant,
}

impl Asking {
    fn new(peers: &[Arc<Peer>], lookups: Vec<Arc<Lookup>>) -> Asking {
        Asking {
            peers: peers.to_vec(),
            outcomes: lookups.iter().map(|_| None).collect(),
            problems: lookups.iter().map(|_| None).collect(),
            lookups,
            unreachable: Vec::new(),
            has_repositories: false,
            began: Instant::now(),
        }
    }

    async fn run(mut self, permits: &Arc<Semaphore>) -> Vec<LookupOutcome> {
        let deadline = self.began + TIME_MAX;
        let permit = tokio::time::timeout_at(deadline.into(), Arc::clone(permits).acquire_owned());
        if let Ok(permit) = permit.await {
            for peer in std::mem::take(&mut self.peers) {
                if self.outcomes.iter().all(Option::is_some) || Instant::now() >= deadline {
                    break;
                }
                self.ask(peer, deadline).await;
            }
            drop(permit);
        }
        self.finish()
    }

    async fn ask(&mut self, peer: Arc<Peer>, deadline: Instant) {
        if peer.status().has_repositories == Some(false) {
            return;
        }
        peer.ready(Peer::ready_deadline()).await;
        let status = peer.status();
        match (status.has_repositories, status.link) {
            (Some(false), _) => return,
            (_, Link::Lost { reason, .. }) => {
                self.has_repositories |= status.has_repositories.is_some();
                self.unreachable.push((peer.name().to_owned(), reason));
                return;
            }
            (_, Link::Connected) => self.has_repositories = true,
        }
        let open = (0..self.lookups.len()).filter(|&index| self.outcomes[index].is_none());
        let open: Vec<usize> = open.collect();
        let wanted: Vec<_> = open
            .iter()
            .map(|&index| Arc::clone(&self.lookups[index]))
            .collect();
        let name = peer.name().to_owned();
        let asked = tokio::task::spawn_blocking(move || ask_all(&peer, &wanted, deadline));
        let (answers, lost) = joined(asked).await;
        for (index, answer) in open.into_iter().zip(answers) {
            self.receive(index, answer);
        }
        if let Some(lost) = lost {
            self.unreachable.push((name, lost.to_string()));
        }
    }

    fn receive(&mut self, index: usize, answer: LookupAnswer) {
        let outcome = match Found::of(answer) {
            Ok(found) => Ok(found),
            Err(problem) => match problem.kind {
                LookupProblemKind::UnknownRepository | LookupProblemKind::Unreadable => {
                    return self.keep_problem(index, problem);
                }
                _ => Err(LookupError::Problem(problem)),
            },
        };
        metrics::looked_up(self.lookups[index].of.operation(), self.began.elapsed());
        self.outcomes[index] = Some(outcome);
    }

    /// Keeps the error of a damaged repository, or merges similar names of all backends.
    fn keep_problem(&mut self, index: usize, problem: LookupProblem) {
        match &mut self.problems[index] {
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

    fn finish(self) -> Vec<LookupOutcome> {
        let in_time = self.began.elapsed() < TIME_MAX;
        let outcomes = self.outcomes.into_iter().zip(self.problems);
        let outcome = |(outcome, problem): (Option<LookupOutcome>, Option<LookupProblem>)| {
            if let Some(outcome) = outcome {
                return outcome;
            }
            Err(match problem {
                Some(problem) if problem.kind == LookupProblemKind::Unreadable => {
                    LookupError::Problem(problem)
                }
                _ if !in_time => LookupError::Late {
                    seconds: TIME_MAX.as_secs(),
                },
                // An unreachable backend may have the repository.
                _ if !self.unreachable.is_empty() => {
                    LookupError::Unreachable(self.unreachable.clone())
                }
                Some(problem) => LookupError::Problem(problem),
                None if self.has_repositories => LookupError::Late {
                    seconds: TIME_MAX.as_secs(),
                },
                None => LookupError::NoRepositories,
            })
        };
        outcomes.map(outcome).collect()
    }
}

/// Asks in requests of bounded size. Returns the first answers, and the error that ended them.
fn ask_all(
    peer: &Peer,
    lookups: &[Arc<Lookup>],
    deadline: Instant,
) -> (Vec<LookupAnswer>, Option<PeerError>) {
    let mut answers = Vec::with_capacity(lookups.len());
    while answers.len() < lookups.len() && Instant::now() < deadline {
        let part = part(&lookups[answers.len()..]);
        match ask_part(peer, part) {
            Ok(more) => answers.extend(more),
            Err(lost) => return (answers, Some(lost)),
        }
    }
    (answers, None)
}

/// Longest prefix that fits into a request; at least one.
fn part(lookups: &[Arc<Lookup>]) -> &[Arc<Lookup>] {
    let mut bytes = 0;
    let fits = |lookup: &&Arc<Lookup>| {
        bytes += bytes_of_lookup(lookup);
        bytes <= REQUEST_BYTES_MAX
    };
    let count = lookups.iter().take(LOOKUPS_MAX).take_while(fits).count();
    &lookups[..count.max(1)]
}

fn ask_part(peer: &Peer, lookups: &[Arc<Lookup>]) -> Result<Vec<LookupAnswer>, PeerError> {
    let each = lookups.iter().map(|lookup| Lookup::clone(lookup));
    let request = LookupRequest {
        lookups: each.collect(),
    };
    let mut frame = Vec::new();
    request.encode(&mut frame)?;
    let reply = peers::request(peer, &frame, Kind::Lookup, LookupReply::decode)?;
    let is_good = !reply.answers.is_empty()
        && reply.answers.len() <= lookups.len()
        && lookups
            .iter()
            .zip(&reply.answers)
            .all(|(lookup, answer)| answer.fits(lookup));
    if !is_good {
        let reason = "it did not answer the look-ups that it was asked for";
        return Err(PeerError::Failed(reason.to_owned()));
    }
    Ok(reply.answers)
}
