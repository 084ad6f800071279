//! Answers LOOKUP on blocking threads, a few at once, in bounded time.
//!
//! **Invariant:** a reply has at least one answer. A late look-up is answered with a problem; its
//! thread runs to the end, and counts as running.

use super::Backend;
use super::connection::{Connection, ConnectionError, Duplex};
use crate::lookup::git_repositories;
use crate::lookup::recorded;
use crate::lookup::{ANSWER_BYTES_MAX, answer_bytes, problem};
use crate::metrics;
use schema::frame::FRAME_BYTES_MAX;
use schema::message::{
    Failure, FailureKind, LOOKUPS_MAX, Lookup, LookupAnswer, LookupProblem, LookupProblemKind,
    LookupReply, LookupRequest, Recorded,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Frontends give up after 3 s of silence.
const TIME_MAX: Duration = Duration::from_secs(2);

/// After this time the rest of a request is left unanswered, to be in time.
const TIME_GOAL: Duration = Duration::from_millis(500);

/// Look-ups from this time on are logged.
const SLOW: Duration = Duration::from_millis(100);

const REPLY_BYTES: usize = FRAME_BYTES_MAX - ANSWER_BYTES_MAX - (128 << 10);

const LOGGED_MAX: usize = 200;

impl Backend {
    pub(super) async fn answer_lookups<S: Duplex>(
        self: &Arc<Self>,
        connection: &mut Connection<S>,
        request: LookupRequest,
    ) -> Result<(), ConnectionError> {
        if self.repositories.is_none() && self.live.current().recorded.repositories.is_empty() {
            let message = "this backend has no repositories: it was started without --repos, and its index has none";
            let failure = Failure::new(FailureKind::Unavailable, message);
            return connection.answer(|out| failure.encode(out)).await;
        }
        let reply = self.look_up_first(request).await;
        connection.answer(|out| reply.encode(out)).await
    }

    /// Within time and frame size.
    async fn look_up_first(self: &Arc<Self>, request: LookupRequest) -> LookupReply {
        if request.lookups.is_empty() {
            return LookupReply::default();
        }
        let mut answers = Vec::new();
        let ended = tokio::time::timeout(TIME_MAX, self.run_lookups(request, &mut answers)).await;
        if answers.is_empty() {
            let (kind, reason) = match ended {
                Err(_) => {
                    let seconds = TIME_MAX.as_secs();
                    let reason = format!("it took longer than {seconds} s");
                    (LookupProblemKind::Late, reason)
                }
                Ok(()) => {
                    let reason = "reading it has failed; the backend's log says more".to_owned();
                    (LookupProblemKind::Unreadable, reason)
                }
            };
            answers.push(problem(kind, reason, Vec::new()));
        }
        LookupReply { answers }
    }

    async fn run_lookups(
        self: &Arc<Self>,
        request: LookupRequest,
        answers: &mut Vec<LookupAnswer>,
    ) {
        let permit = Arc::clone(&self.lookup_permits).acquire_owned().await;
        let backend = Arc::clone(self);
        let (sender, mut receiver) = mpsc::channel(LOOKUPS_MAX);
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            backend.look_up_all(&request.lookups, &sender);
        });
        // Ends with the thread; a panic is in the log.
        while let Some(answer) = receiver.recv().await {
            answers.push(answer);
        }
    }

    fn look_up_all(&self, lookups: &[Lookup], answers: &mpsc::Sender<LookupAnswer>) {
        let (began, mut bytes) = (Instant::now(), 0);
        for lookup in lookups {
            let answer = self.timed(lookup);
            bytes += answer_bytes(&answer);
            let is_late = answers.blocking_send(answer).is_err();
            if is_late || bytes > REPLY_BYTES || began.elapsed() > TIME_GOAL {
                return;
            }
        }
    }

    /// Records the result, since no process would show it.
    fn timed(&self, lookup: &Lookup) -> LookupAnswer {
        let began = Instant::now();
        let answer = self.look_up(lookup);
        let time = began.elapsed();
        metrics::record_lookup(lookup.of.operation(), &answer, time);
        if time >= SLOW {
            tracing::warn!(
                operation = lookup.of.operation(),
                repository = %logged(&lookup.repository),
                revision = lookup.of.revision().map(|revision| tracing::field::display(logged(revision))),
                ms = time.as_millis() as u64,
                "slow look-up"
            );
        }
        answer
    }

    /// Order: repositories of `--repos`, records of the index, the indexed repository if it is on
    /// this machine.
    fn look_up(&self, lookup: &Lookup) -> LookupAnswer {
        let indexed = &self.live.current().recorded;
        let Some(repositories) = &self.repositories else {
            return look_up_indexed(indexed, lookup);
        };
        let mut answer = repositories.look_up(lookup);
        match &mut answer {
            LookupAnswer::References(list) => {
                recorded::mark_indexed(indexed, &lookup.repository, list);
            }
            LookupAnswer::Problem(LookupProblem {
                kind, candidates, ..
            }) if *kind == LookupProblemKind::UnknownRepository => {
                match look_up_indexed(indexed, lookup) {
                    LookupAnswer::Problem(other) if other.kind == *kind => {
                        candidates.extend(other.candidates);
                    }
                    found => answer = found,
                }
            }
            _ => {}
        }
        answer
    }
}

fn look_up_indexed(indexed: &Recorded, lookup: &Lookup) -> LookupAnswer {
    let answer = recorded::look_up(indexed, lookup);
    if !matches!(answer, LookupAnswer::Problem(_)) {
        return answer;
    }
    let repository = indexed.repository(lookup.repository.as_bytes());
    let at_location = repository.and_then(|it| git_repositories::look_up_at_location(it, lookup));
    at_location.unwrap_or(answer)
}

fn logged(name: &str) -> String {
    let shown: String = name.chars().take(LOGGED_MAX).collect();
    shown.escape_debug().to_string()
}
