//! What the repositories of the backends have: commits, histories and references.
//!
//! Like the catalog, these are not executions: nothing is admitted or spooled. Answers are kept for a while.

use super::Coordinator;
use super::lookup_cache::{Found, LookupOutcome};
use crate::error::LookupError;
use crate::metrics;
use crate::scope::Scope;
use schema::message::{Commit, CommitLog, Lookup, LookupOf, ReferenceList};
use std::sync::Arc;

impl Coordinator {
    /// Looks up the commits that these repositories have under these revisions, all at once. The outcomes are in
    /// the order of the pairs.
    pub async fn commits(
        &self,
        _scope: &Scope,
        names: Vec<(String, String)>,
    ) -> Vec<Result<Arc<Commit>, LookupError>> {
        let lookup = |(repository, revision)| Lookup {
            repository,
            of: LookupOf::Commit { revision },
        };
        let outcomes = self.look_up(names.into_iter().map(lookup).collect()).await;
        let commit = |found| match found {
            Found::Commit(commit) => commit,
            other => unreachable!("compared when it arrived: {other:?}"),
        };
        let outcomes = outcomes.into_iter();
        outcomes.map(|outcome| outcome.map(commit)).collect()
    }

    /// Looks up a part of a history; `of` is a [`LookupOf::Log`].
    ///
    /// # Panics
    /// If it is not.
    pub async fn log(
        &self,
        _scope: &Scope,
        repository: String,
        of: LookupOf,
    ) -> Result<Arc<CommitLog>, LookupError> {
        match self.look_up_one(Lookup { repository, of }).await? {
            Found::Log(log) => Ok(log),
            other => panic!("not a history: {other:?}"),
        }
    }

    /// Looks up at most `count` references of a repository, by name, whose names are after `after`.
    pub async fn references(
        &self,
        _scope: &Scope,
        repository: String,
        after: Vec<u8>,
        count: u32,
    ) -> Result<Arc<ReferenceList>, LookupError> {
        let of = LookupOf::References { after, count };
        match self.look_up_one(Lookup { repository, of }).await? {
            Found::References(list) => Ok(list),
            other => unreachable!("compared when it arrived: {other:?}"),
        }
    }

    async fn look_up_one(&self, lookup: Lookup) -> LookupOutcome {
        let mut outcomes = self.look_up(vec![lookup]).await;
        outcomes.pop().expect("an outcome for each look-up")
    }

    async fn look_up(&self, lookups: Vec<Lookup>) -> Vec<LookupOutcome> {
        metrics::looking_up(lookups.len());
        let runtime = &self.resources.runtime;
        let generation = &self.route().generation;
        let answers = &self.lookups;
        answers
            .look_up(runtime, &self.peers, generation, lookups)
            .await
    }
}
