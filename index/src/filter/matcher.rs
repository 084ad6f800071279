//! Matchers of names: regular expressions, whole names, globs, and commit id prefixes.

use crate::plan::{self, BadPattern};
use crate::revisions::{DocumentRevisions, RevisionRef, is_branch};
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Bytes of a compiled regular expression, and again of its lazy DFA. `\w{10}` takes 0.4 MB.
pub const FILTER_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub enum NamePattern<'a> {
    /// Case-sensitive regular expression, unanchored.
    Regexp(&'a str),
    RegexpIgnoringCase(&'a str),
    /// For a package, also its directory name.
    Exact(&'a str),
    /// Glob of the whole name; without `/`, of the last path component.
    Glob(&'a str),
}

#[derive(Debug)]
pub(super) enum NameMatcher {
    Regexp(Regex),
    Exact(Vec<u8>),
    /// The flag: match the last path component only.
    Glob(GlobMatcher, bool),
}

impl NameMatcher {
    pub(super) fn compile(value: NamePattern<'_>) -> Result<NameMatcher, BadPattern> {
        match value {
            NamePattern::Exact(text) => Ok(NameMatcher::Exact(text.as_bytes().to_vec())),
            NamePattern::Regexp(text) => NameMatcher::regexp(text, false),
            NamePattern::RegexpIgnoringCase(text) => NameMatcher::regexp(text, true),
            NamePattern::Glob(text) => {
                let glob = compile_glob(text, true)?;
                Ok(NameMatcher::Glob(glob, !text.contains('/')))
            }
        }
    }

    fn regexp(text: &str, ignore_case: bool) -> Result<NameMatcher, BadPattern> {
        // Reports the offset of a mistake; `regex` only renders it.
        plan::parse(text, false)?;
        RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .nest_limit(plan::NESTING_MAX)
            .size_limit(FILTER_BYTES_MAX)
            .dfa_size_limit(FILTER_BYTES_MAX)
            .build()
            .map(NameMatcher::Regexp)
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => too_large(),
                other => BadPattern::new(other.to_string()),
            })
    }

    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            NameMatcher::Regexp(regexp) => regexp.is_match(name),
            NameMatcher::Exact(exact) => name == exact,
            NameMatcher::Glob(glob, of_last) => {
                let name = if *of_last { last_component(name) } else { name };
                glob.is_match(Path::new(OsStr::from_bytes(name)))
            }
        }
    }
}

pub(super) fn last_component(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Compiles a glob; with `separates`, `*` does not match `/`.
fn compile_glob(text: &str, separates: bool) -> Result<GlobMatcher, BadPattern> {
    let glob = GlobBuilder::new(text)
        .literal_separator(separates)
        .backslash_escape(true)
        .build();
    let glob = glob.map_err(|error| BadPattern::new(format!("not a glob: {}", error.kind())))?;
    // Alternatives multiply: same limit as a regular expression.
    NameMatcher::regexp(glob.regex(), false).map_err(|_| too_large())?;
    Ok(glob.compile_matcher())
}

fn too_large() -> BadPattern {
    BadPattern::new(format!(
        "too large: it may compile to at most {FILTER_BYTES_MAX} bytes (FILTER_BYTES_MAX)"
    ))
}

/// Cached decisions by class (documents of equal revisions). A shard has a few hundred classes; a
/// decision takes about 32 bytes.
const DECISIONS_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct RevisionMatcher {
    name: NameMatcher,
    branches: bool,
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
        if self.branches && !is_branch(revision.name) {
            return false;
        }
        match &self.name {
            NameMatcher::Exact(name) => revision.is_named(name),
            glob => glob.matches(revision.short_name()) || glob.matches(revision.name),
        }
    }
}
