//! Commits, histories, references, blames and changes of the backends' repositories.
//!
//! Not executions: nothing is admitted or spooled. Answers are cached for a while.

use super::Coordinator;
use super::lookup_cache::{Found, LookupOutcome};
use crate::error::LookupError;
use crate::metrics;
use query::{Scope, similar};
use schema::message::{
    Blame, ChangeList, Commit, CommitLog, Lookup, LookupOf, LookupProblem, LookupProblemKind,
    ReferenceList,
};
use std::collections::BTreeSet;
use std::sync::Arc;

const CANDIDATES_MAX: usize = 5;

macro_rules! look_ups {
    ($($(#[$doc:meta])* $name:ident($($part:ident: $type:ty),*) -> $kind:ident($found:ty);)*) => {
        impl Coordinator {
            $($(#[$doc])*
            pub async fn $name(
                &self,
                scope: &Scope,
                repository: String,
                $($part: $type),*
            ) -> Result<Arc<$found>, LookupError> {
                let of = LookupOf::$kind { $($part),* };
                match self.look_up_one(scope, Lookup { repository, of }).await? {
                    Found::$kind(found) => Ok(found),
                    other => unreachable!("compared when it arrived: {other:?}"),
                }
            })*
        }
    };
}

look_ups! {
    /// At most `count`, with names after `after`.
    references(after: Vec<u8>, count: u32) -> References(ReferenceList);
    /// Looks up the commit of each line of a file.
    blame(revision: String, path: Vec<u8>) -> Blame(Blame);
    /// At most `count`; without `since` against the first parent.
    changes(revision: String, since: String, path: Vec<u8>, count: u32) -> Changes(ChangeList);
}

impl Coordinator {
    /// Looks up commits by repository and revision, all at once; outcomes are in the order of the
    /// pairs.
    pub async fn commits(
        &self,
        scope: &Scope,
        names: Vec<(String, String)>,
    ) -> Vec<Result<Arc<Commit>, LookupError>> {
        let lookup = |(repository, revision)| Lookup {
            repository,
            of: LookupOf::Commit { revision },
        };
        let lookups = names.into_iter().map(lookup).collect();
        let outcomes = self.look_up(scope, lookups).await;
        let commit = |found| match found {
            Found::Commit(commit) => commit,
            other => unreachable!("compared when it arrived: {other:?}"),
        };
        let outcomes = outcomes.into_iter();
        outcomes.map(|outcome| outcome.map(commit)).collect()
    }

    /// Looks up a part of a history.
    ///
    /// # Panics
    /// If `of` is not a [`LookupOf::Log`].
    pub async fn log(
        &self,
        scope: &Scope,
        repository: String,
        of: LookupOf,
    ) -> Result<Arc<CommitLog>, LookupError> {
        match self.look_up_one(scope, Lookup { repository, of }).await? {
            Found::Log(log) => Ok(log),
            other => panic!("not a history: {other:?}"),
        }
    }

    async fn look_up_one(&self, scope: &Scope, lookup: Lookup) -> LookupOutcome {
        let mut outcomes = self.look_up(scope, vec![lookup]).await;
        outcomes.pop().expect("an outcome for each look-up")
    }

    /// Backends are never asked for invisible repositories.
    async fn look_up(&self, scope: &Scope, lookups: Vec<Lookup>) -> Vec<LookupOutcome> {
        if scope.is_everything() {
            return self.look_up_all(lookups).await;
        }
        let scoped = self.scoped(&self.peers.current(), scope);
        let refuse = |lookup: &Lookup| {
            let name = lookup.repository.as_bytes();
            let is_seen = scoped.repositories.contains(name);
            (!is_seen).then(|| Err(unknown(name, &scoped.repositories)))
        };
        let mut outcomes: Vec<Option<LookupOutcome>> = lookups.iter().map(refuse).collect();
        let (mut asked, mut open) = (Vec::new(), Vec::new());
        for (outcome, lookup) in outcomes.iter_mut().zip(lookups) {
            if outcome.is_none() {
                asked.push(lookup);
                open.push(outcome);
            }
        }
        for (outcome, found) in open.into_iter().zip(self.look_up_all(asked).await) {
            *outcome = Some(found);
        }
        let outcomes = outcomes.into_iter();
        outcomes.map(|it| it.expect("asked for")).collect()
    }

    async fn look_up_all(&self, lookups: Vec<Lookup>) -> Vec<LookupOutcome> {
        metrics::looking_up(lookups.len());
        let runtime = &self.resources.runtime;
        let peers = self.peers.current();
        let generation = &self.route(&peers).generation;
        let answers = &self.lookups;
        answers.look_up(runtime, &peers, generation, lookups).await
    }
}

fn unknown(name: &[u8], visible: &BTreeSet<Box<[u8]>>) -> LookupError {
    if visible.is_empty() {
        return LookupError::NoRepositories;
    }
    let candidates = similar(name, visible.iter().map(|name| &**name));
    let candidates = candidates.into_iter().take(CANDIDATES_MAX);
    LookupError::Problem(LookupProblem {
        kind: LookupProblemKind::UnknownRepository,
        reason: String::new(),
        candidates: candidates
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    })
}
