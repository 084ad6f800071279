//! Resolves revision expressions, by the rules of `git rev-parse`.
//!
//! Sets of commits, and objects of another kind, are refused with a reason.

use crate::error::{CANDIDATES_MAX, LookupError, Result, refused, similar, unreadable};
use crate::expression::{self, Expression, Peel, Step};
use crate::history::History;
use crate::references::Found;
use crate::repository::Session;
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::Kind;
use regex::bytes::{Regex, RegexBuilder};
use schema::name::revision_name;
use std::collections::HashSet;

const SEARCHED_MAX: usize = 100_000;

/// Digits of the shortest id prefix, as in git.
const PREFIX_DIGITS_MIN: usize = 4;

const PREFIXED_MAX: usize = 1_000;

/// Bytes of a compiled pattern, which also bound its time.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Anything,
    Committish,
    Commit,
    Treeish,
}

pub(crate) fn resolve<'r>(session: &Session<'r>, revision: &str) -> Result<gix::Object<'r>> {
    let revision = if revision.is_empty() {
        "HEAD"
    } else {
        revision
    };
    let object = match expression::parse(revision)? {
        Expression::Message(text) => by_message(session, text)?,
        Expression::Name { base, steps } => by_name(session, base, &steps)?,
    };
    let Some(object) = object else {
        let refusal = expression::refusal_of_form(revision);
        return Err(refusal.unwrap_or_else(|| unknown(session, revision)));
    };
    let (kind, id) = (object.kind, object.id);
    let commit = session.objects.peel(object, Peel::Commit)?;
    commit.ok_or_else(|| refused!("{revision:?} is {kind} {id}, not a commit: name a commit"))
}

fn by_name<'r>(
    session: &Session<'r>,
    base: &str,
    steps: &[Step<'_>],
) -> Result<Option<gix::Object<'r>>> {
    let hint = match steps.first() {
        None | Some(Step::Parent(_) | Step::Ancestor(_) | Step::Search(_)) => Hint::Committish,
        Some(Step::Peel(Peel::Commit)) => Hint::Committish,
        Some(Step::Peel(Peel::Tree)) => Hint::Treeish,
        Some(Step::Peel(_)) => Hint::Anything,
    };
    let Some(mut object) = base_object(session, base, hint)? else {
        return Ok(None);
    };
    for step in steps {
        match apply(session, object, step)? {
            Some(next) => object = next,
            None => return Ok(None),
        }
    }
    Ok(Some(object))
}

/// Resolves in git's order: full id, reference, output of `git describe`, id prefix.
fn base_object<'r>(
    session: &Session<'r>,
    base: &str,
    hint: Hint,
) -> Result<Option<gix::Object<'r>>> {
    if base.len() == session.hash.len_in_hex()
        && let Ok(id) = ObjectId::from_hex(base.as_bytes())
    {
        return session.objects.find(id);
    }
    let broken = match session.references.find(base)? {
        Found::Object(id, name) => return session.objects.get(id, &name.to_string()).map(Some),
        Found::Broken(reason) => Some(reason),
        Found::Nothing => None,
    };
    let described = base.rfind("-g").filter(|at| *at > 0);
    let described = described.map(|at| by_prefix(session, &base[at + 2..], Hint::Commit));
    if let Some(object) = described.transpose()?.flatten() {
        return Ok(Some(object));
    }
    match (by_prefix(session, base, hint)?, broken) {
        (None, Some(reason)) => Err(unreadable!("{reason}")),
        (object, _) => Ok(object),
    }
}

/// The only object with a prefix, or the only one of the hinted kind.
fn by_prefix<'r>(
    session: &Session<'r>,
    digits: &str,
    hint: Hint,
) -> Result<Option<gix::Object<'r>>> {
    let length = session.hash.len_in_hex();
    let is_prefix = (PREFIX_DIGITS_MIN..=length).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_prefix {
        return Ok(None);
    }
    let padded = format!("{digits:0<length$}");
    let prefix = ObjectId::from_hex(padded.as_bytes())
        .ok()
        .and_then(|id| gix::hash::Prefix::new(&id, digits.len()).ok());
    let Some(prefix) = prefix else {
        return Ok(None);
    };
    let mut ids = HashSet::new();
    let found = session.handle.objects.lookup_prefix(prefix, Some(&mut ids));
    found.map_err(|_| unreadable!("an index of packed objects is damaged: run git fsck"))?;
    let mut ids: Vec<ObjectId> = ids.into_iter().collect();
    ids.sort_unstable();
    if let [id] = ids[..] {
        return session.objects.find(id);
    }
    ids.truncate(PREFIXED_MAX);
    choose(session, &ids, hint)
}

/// Chooses among objects of one prefix. Err: several fit.
fn choose<'r>(
    session: &Session<'r>,
    ids: &[ObjectId],
    hint: Hint,
) -> Result<Option<gix::Object<'r>>> {
    let mut fitting = Vec::new();
    let mut candidates = Vec::new();
    for id in ids {
        let Some(object) = session.objects.find(*id)? else {
            continue;
        };
        let kind = object.kind;
        let is_commit = session.objects.commit(*id)?.is_some();
        let fits = match hint {
            Hint::Anything => true,
            Hint::Commit => kind == Kind::Commit,
            Hint::Committish => is_commit,
            Hint::Treeish => is_commit || kind == Kind::Tree,
        };
        candidates.push((!is_commit, id.to_string()));
        if fits {
            fitting.push(object);
        }
    }
    if fitting.len() > 1 || (fitting.is_empty() && !candidates.is_empty()) {
        candidates.sort();
        let ids = candidates.into_iter().map(|(_, id)| id);
        return Err(LookupError::Ambiguous {
            candidates: ids.take(CANDIDATES_MAX).collect(),
        });
    }
    Ok(fitting.pop())
}

fn apply<'r>(
    session: &Session<'r>,
    object: gix::Object<'r>,
    step: &Step<'_>,
) -> Result<Option<gix::Object<'r>>> {
    if let Step::Peel(peel) = step {
        return session.objects.peel(object, *peel);
    }
    let Some(commit) = session.objects.peel(object, Peel::Commit)? else {
        return Ok(None);
    };
    match step {
        Step::Parent(0) => Ok(Some(commit)),
        Step::Parent(number) => parent(session, &commit, *number),
        Step::Ancestor(number) => {
            let mut commit = commit;
            for _ in 0..*number {
                match parent(session, &commit, 1)? {
                    Some(next) => commit = next,
                    None => return Ok(None),
                }
            }
            Ok(Some(commit))
        }
        Step::Search("") => Ok(Some(commit)),
        Step::Search(text) => {
            let mut history = History::new(&session.objects);
            history.add(commit.id, "the history")?;
            search(session, history, text)
        }
        Step::Peel(_) => Ok(None),
    }
}

fn parent<'r>(
    session: &Session<'r>,
    commit: &gix::Object<'r>,
    number: u64,
) -> Result<Option<gix::Object<'r>>> {
    let parents = session.objects.parents(commit);
    let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let id = parents.get(index);
    id.map(|id| session.objects.parent(commit, *id)).transpose()
}

fn by_message<'r>(session: &Session<'r>, text: &str) -> Result<Option<gix::Object<'r>>> {
    let mut history = History::new(&session.objects);
    let mut tips = Vec::new();
    for (id, peeled) in session.references.list("refs")?.into_values() {
        tips.push(peeled.unwrap_or(id));
    }
    if let Found::Object(id, _) = session.references.follow("HEAD".into())? {
        tips.push(id);
    }
    // Git takes the last reference first among equal times.
    for id in tips.into_iter().rev() {
        if let Some(commit) = session.objects.commit(id)? {
            history.add(commit.id, "a reference")?;
        }
    }
    search(session, history, text)
}

fn search<'r>(
    session: &Session<'r>,
    mut history: History<'_, 'r>,
    text: &str,
) -> Result<Option<gix::Object<'r>>> {
    let Some((pattern, is_negated)) = compile(text)? else {
        return Ok(None);
    };
    for _ in 0..SEARCHED_MAX {
        let Some(commit) = history.next()? else {
            return Ok(None);
        };
        let message = commit.data.find(b"\n\n").map(|at| &commit.data[at + 2..]);
        if message.is_some_and(|message| pattern.is_match(message)) != is_negated {
            return Ok(Some(commit));
        }
        for parent in session.objects.parents(&commit) {
            history.add(parent, &format!("commit {}", commit.id))?;
        }
    }
    Err(refused!(
        "none of the {SEARCHED_MAX} youngest commits has a message with {text:?}, and older ones are \
         not searched"
    ))
}

/// Compiles a search. `None` for other `!` forms, which git reserves.
fn compile(text: &str) -> Result<Option<(Regex, bool)>> {
    let (pattern, is_negated) = match text.strip_prefix('!') {
        None => (text, false),
        Some(rest) if rest.starts_with('!') => (rest, false),
        Some(rest) => match rest.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => return Ok(None),
        },
    };
    let compiled = RegexBuilder::new(pattern)
        .dot_matches_new_line(true)
        .unicode(false)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build();
    let compiled = compiled
        .map_err(|_| refused!("{pattern:?} is no regular expression, or too large a one"))?;
    Ok(Some((compiled, is_negated)))
}

fn unknown(session: &Session<'_>, revision: &str) -> LookupError {
    let end = revision.find(['~', '^']).unwrap_or(revision.len());
    let known = session.references.list("refs").unwrap_or_default();
    let names: Vec<String> = known
        .keys()
        .filter_map(|it| Some(revision_name(it).to_str().ok()?.to_owned()))
        .collect();
    let mut candidates = similar(&revision[..end], names.iter().map(String::as_str));
    // An unborn default branch.
    if candidates.is_empty() && &revision[..end] == "HEAD" {
        candidates = names.into_iter().take(CANDIDATES_MAX).collect();
    }
    LookupError::UnknownRevision { candidates }
}
