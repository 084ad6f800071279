//! Revision filters: names, globs, commit id prefixes, the default.

use super::name::{NameMatcher, NamePattern, compile_glob};
use crate::plan::BadPattern;
use crate::revisions::{DocumentRevisions, RevisionRef};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Cached decisions by class (documents of equal revisions). A shard has a few hundred classes; a
/// decision takes about 32 bytes.
const DECISIONS_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct RevisionMatcher {
    name: NameMatcher,
    branches: bool,
    /// By class.
    decisions: Mutex<HashMap<(u64, u32), bool>>,
}

impl RevisionMatcher {
    pub(super) fn compile(
        value: NamePattern<'_>,
        branches: bool,
    ) -> Result<RevisionMatcher, BadPattern> {
        let name = match value {
            NamePattern::Exact(text) => NameMatcher::Exact(text.into()),
            // `*` also matches `/`: all revisions.
            NamePattern::Glob(text) => NameMatcher::Glob(compile_glob(text, false)?, false),
            NamePattern::Regexp(_) | NamePattern::RegexpIgnoringCase(_) => {
                let reason = "a revision is a name or a glob, not a regular expression";
                return Err(BadPattern::new(reason));
            }
        };
        Ok(RevisionMatcher {
            name,
            branches,
            decisions: Mutex::default(),
        })
    }

    pub(super) fn matches(&self, revisions: DocumentRevisions<'_>) -> bool {
        let Some(key) = revisions.key() else {
            return false;
        };
        let mut decisions = self
            .decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = decisions.get(&key) {
            return known;
        }
        if decisions.len() >= DECISIONS_MAX {
            decisions.clear();
        }
        let matches = revisions.iter().any(|revision| self.is_match(&revision));
        decisions.insert(key, matches);
        matches
    }

    fn is_match(&self, revision: &RevisionRef<'_>) -> bool {
        if self.branches && !revision.is_branch() {
            return false;
        }
        match &self.name {
            NameMatcher::Exact(name) => revision.is_named(name),
            glob => glob.matches(revision.short_name()) || glob.matches(revision.name),
        }
    }
}
