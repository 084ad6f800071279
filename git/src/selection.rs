//! Chooses the revisions to index: the default branch, or matches of patterns.

use crate::error::{CANDIDATES_MAX, LookupError, Result, refused, similar, unreadable};
use crate::expression::Peel;
use crate::references::{Found, Head};
use crate::repository::{Repository, Session};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::glob::wildmatch;
use gix::glob::wildmatch::Mode;
use schema::message::RecordedRevision;
use std::collections::BTreeMap;

const ID_DIGITS_MIN: usize = 7;

/// Prefixes omitted by short names, and covered by `all`.
const PREFIXES: [&str; 3] = ["refs/heads/", "refs/tags/", "refs/remotes/"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub revisions: Vec<RecordedRevision>,
    pub default: usize,
    /// Matched references without a commit, with the reason.
    pub broken: Vec<(Vec<u8>, String)>,
    /// Patterns without a choice, with the reason.
    pub missing: Vec<(String, String)>,
}

/// Chooses revisions; without patterns, `HEAD`. One successful pattern suffices.
pub(crate) fn select(
    session: &Session<'_>,
    repository: &Repository,
    patterns: &[String],
) -> Result<Selection> {
    let mut choice = Choice {
        session,
        chosen: BTreeMap::new(),
        broken: BTreeMap::new(),
    };
    let head = session.references.head()?;
    if patterns.is_empty() {
        choice.head(&head, 0)?;
    }
    let mut missing = Vec::new();
    for (rank, pattern) in patterns.iter().enumerate() {
        if let Err(error) = choice.pattern(pattern, rank, &head) {
            missing.push((pattern.clone(), error));
        }
    }
    if choice.chosen.is_empty() {
        return Err(choice.nothing_chosen(missing));
    }
    let tags = repository.tags(session)?;
    let missing = missing
        .into_iter()
        .map(|(pattern, why)| (pattern, why.to_string()));
    let mut selection = Selection {
        broken: choice.broken.into_iter().collect(),
        missing: missing.collect(),
        ..Selection::default()
    };
    let mut best = None;
    for (name, (id, rank)) in choice.chosen {
        let object = session.objects.get(id, &name.to_str_lossy())?;
        let commit = tags.commit(&object)?;
        let is_other = head.name() != Some(name.as_bstr());
        // First pattern, then youngest, then first name.
        let order = (is_other, rank, -i128::from(commit.committer.seconds));
        if best.as_ref().is_none_or(|best| order < *best) {
            best = Some(order);
            selection.default = selection.revisions.len();
        }
        selection.revisions.push(RecordedRevision { name, commit });
    }
    Ok(selection)
}

struct Choice<'s, 'r> {
    session: &'s Session<'r>,
    chosen: BTreeMap<Vec<u8>, (ObjectId, usize)>,
    broken: BTreeMap<Vec<u8>, String>,
}

impl Choice<'_, '_> {
    fn choose(&mut self, name: &[u8], id: ObjectId, rank: usize) {
        self.chosen.entry(name.to_vec()).or_insert((id, rank));
    }

    fn pattern(&mut self, pattern: &str, rank: usize, head: &Head) -> Result<()> {
        match pattern {
            "HEAD" | "@" => self.head(head, rank),
            "all" => self.matching("all", rank, is_in_all),
            _ if pattern.contains(['*', '?', '[']) => {
                self.matching(pattern, rank, |name| is_like(pattern, name))
            }
            _ => self.exact(pattern, rank),
        }
    }

    /// The first reason, or the broken references.
    fn nothing_chosen(self, missing: Vec<(String, LookupError)>) -> LookupError {
        if let Some((_, first)) = missing.into_iter().next() {
            return first;
        }
        let reasons = self.broken.iter().take(CANDIDATES_MAX);
        let reasons = reasons.map(|(name, why)| format!("{}: {why}", name.to_str_lossy()));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        unreadable!("none of the chosen references leads to a commit: {reasons}")
    }

    fn head(&mut self, head: &Head, rank: usize) -> Result<()> {
        let name = head.name().unwrap_or("HEAD".into());
        match (self.commit_of(name)?, head) {
            (Ok(Some(id)), Head::Branch(name)) => self.choose(name, id, rank),
            (Ok(Some(id)), Head::Detached) => self.choose(id.to_string().as_bytes(), id, rank),
            (Ok(None), _) => return Err(self.no_default(name)),
            (Err(reason), _) => return Err(unreadable!("{reason}")),
        }
        Ok(())
    }

    fn no_default(&self, name: &BStr) -> LookupError {
        let known = self.short_names();
        if known.is_empty() {
            return refused!("the repository has no commit yet");
        }
        let known: Vec<String> = known.into_iter().take(CANDIDATES_MAX).collect();
        refused!(
            "its default branch {name} has no commit; choose others with --ref, such as {}",
            known.join(", ")
        )
    }

    fn matching(
        &mut self,
        pattern: &str,
        rank: usize,
        is_meant: impl Fn(&BStr) -> bool,
    ) -> Result<()> {
        let mut is_any = false;
        for name in self.session.references.names("refs")? {
            if !is_meant(name.as_bstr()) {
                continue;
            }
            is_any = true;
            match self.commit_of(name.as_bstr())? {
                Ok(Some(id)) => self.choose(&name, id, rank),
                Ok(None) => drop(
                    self.broken
                        .insert(name.into(), "it leads to no commit".into()),
                ),
                Err(reason) => drop(self.broken.insert(name.into(), reason)),
            }
        }
        if is_any {
            return Ok(());
        }
        let letters: String = pattern.chars().filter(|it| !"*?[]".contains(*it)).collect();
        Err(self.unknown(&letters))
    }

    fn exact(&mut self, pattern: &str, rank: usize) -> Result<()> {
        match self.session.references.find(pattern)? {
            Found::Object(_, name) => match self.commit_of(name.as_bstr())? {
                Ok(Some(id)) => {
                    self.choose(&name, id, rank);
                    return Ok(());
                }
                Ok(None) => {
                    return Err(refused!("{name} leads to no commit"));
                }
                Err(reason) => return Err(unreadable!("{reason}")),
            },
            Found::Broken(reason) => return Err(unreadable!("{reason}")),
            Found::Nothing => {}
        }
        let digits = pattern.len();
        let is_id = (ID_DIGITS_MIN..=self.session.hash.len_in_hex()).contains(&digits)
            && pattern.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err(self.unknown(pattern));
        }
        let object = crate::revision::resolve(self.session, pattern)?;
        self.choose(object.id.to_string().as_bytes(), object.id, rank);
        Ok(())
    }

    /// The inner error is the damage.
    fn commit_of(&self, name: &BStr) -> Result<Result<Option<ObjectId>, String>> {
        let (id, name) = match self.session.references.follow(name)? {
            Found::Object(id, name) => (id, name),
            Found::Nothing => return Ok(Ok(None)),
            Found::Broken(reason) => return Ok(Err(reason)),
        };
        let objects = &self.session.objects;
        let object = objects.get(id, &name.to_string());
        let commit = object.and_then(|object| objects.peel(object, Peel::Commit));
        Ok(match commit {
            Ok(commit) => Ok(commit.map(|commit| commit.id)),
            Err(LookupError::Unreadable { reason }) => Err(reason),
            Err(error) => return Err(error),
        })
    }

    fn unknown(&self, pattern: &str) -> LookupError {
        let names = self.short_names();
        LookupError::UnknownRevision {
            candidates: similar(pattern, names.iter().map(String::as_str)),
        }
    }

    fn short_names(&self) -> Vec<String> {
        let names = self.session.references.names("refs").unwrap_or_default();
        let names = (names.iter()).filter(|name| !name.starts_with(b"refs/replace/"));
        let names = names.map(|name| short(name.as_bstr()).to_str_lossy().into_owned());
        names.collect()
    }
}

fn short(name: &BStr) -> &BStr {
    let stripped = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix.as_bytes()));
    stripped.unwrap_or(name).as_bstr()
}

/// Branches and tags, here or of a remote. A remote's `HEAD` names another branch.
fn is_in_all(name: &BStr) -> bool {
    let is_below = |prefix: &&str| name.starts_with(prefix.as_bytes());
    PREFIXES.iter().any(is_below) && !is_head_of_remote(name)
}

fn is_head_of_remote(name: &BStr) -> bool {
    name.starts_with(b"refs/remotes/") && name.ends_with(b"/HEAD")
}

/// Matches the short or full name. `*` also matches slashes.
fn is_like(pattern: &str, name: &BStr) -> bool {
    let matches = |name: &BStr| wildmatch(pattern.into(), name, Mode::empty());
    !is_head_of_remote(name) && (matches(name) || matches(short(name)))
}
