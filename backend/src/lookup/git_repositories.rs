//! Answers look-ups from git repositories below a directory, with the crate `git`.

mod blame;

use super::repositories::{
    ANSWER_BYTES_MAX, LookUp, RepositoryFile, WantedFile, log_bytes, reference_bytes,
    shorten_problem,
};
use git::{BlameLimits, Blob, LogCursor, LookupError, Repositories, RootError};
use schema::message::{
    Blame, Commit, CommitLog, Lookup, LookupAnswer, LookupOf, LookupProblem, LookupProblemKind,
    RecordedRepository, RecordedRevision, Reference, ReferenceList,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const COMMITS_MAX: u32 = 1000;

const CHANGES_MAX: u32 = 1000;

/// Counted commits that the index lacks, at most.
const BEHIND_MAX: u32 = 1000;

/// Bytes of a listed reference name, as of a path.
const NAME_BYTES_MAX: usize = 4096;

/// Repositories below a directory.
pub struct GitRepositories(Repositories);

impl GitRepositories {
    /// Takes a directory. Repositories are opened on demand.
    pub fn open(directory: &Path) -> Result<GitRepositories, RootError> {
        Repositories::new(directory).map(GitRepositories)
    }
}

impl LookUp for GitRepositories {
    fn look_up(&self, lookup: &Lookup) -> LookupAnswer {
        let repository = &lookup.repository;
        let answer = match &lookup.of {
            LookupOf::Commit { revision } => self
                .0
                .commit(repository, revision)
                .map(|found| LookupAnswer::Commit(shortened(found))),
            LookupOf::Log {
                revision,
                path,
                after,
                count,
            } => self
                .log(repository, revision, path, after, *count)
                .map(LookupAnswer::Log),
            LookupOf::References { after, count } => self
                .0
                .refs(repository)
                .map(|all| LookupAnswer::References(part(all, after, *count))),
            LookupOf::Blame { revision, path } => {
                let found = (self.0).blame(repository, revision, path, BlameLimits::default());
                found.and_then(|found| match found {
                    None => Ok(LookupAnswer::Blame(Blame::default())),
                    Some(found) => blame::blame(found, path).map(LookupAnswer::Blame),
                })
            }
            LookupOf::Changes { revision, count } => self
                .0
                .changes(
                    repository,
                    revision,
                    (*count).clamp(1, CHANGES_MAX) as usize,
                )
                .map(|found| LookupAnswer::Changes(blame::fitting(found))),
        };
        answer.unwrap_or_else(|error| LookupAnswer::Problem(problem(error)))
    }

    fn behind(&self, repository: &RecordedRepository, revision: &RecordedRevision) -> Option<u32> {
        let package = str::from_utf8(&repository.package).ok()?;
        behind(&self.0, package, revision)
    }

    fn file(&self, wanted: &WantedFile<'_>) -> Option<RepositoryFile> {
        file(&self.0, wanted.repository, wanted)
    }

    fn directory(&self, wanted: &WantedFile<'_>) -> Vec<Vec<u8>> {
        directory(&self.0, wanted.repository, wanted)
    }
}

/// Repositories at recorded locations, opened for each look-up, in a tenth of a millisecond.
pub(crate) struct RecordedLocations;

impl LookUp for RecordedLocations {
    fn look_up(&self, _: &Lookup) -> LookupAnswer {
        LookupAnswer::Problem(problem(LookupError::UnknownRepository {
            candidates: Vec::new(),
        }))
    }

    fn behind(&self, repository: &RecordedRepository, revision: &RecordedRevision) -> Option<u32> {
        let (repositories, name) = at_location(repository)?;
        behind(&repositories, name, revision)
    }

    fn file(&self, wanted: &WantedFile<'_>) -> Option<RepositoryFile> {
        let (repositories, name) = at_location(wanted.recorded?)?;
        file(&repositories, name, wanted)
    }

    fn directory(&self, wanted: &WantedFile<'_>) -> Vec<Vec<u8>> {
        let location = wanted.recorded.and_then(at_location);
        location.map_or(Vec::new(), |(repositories, name)| {
            directory(&repositories, name, wanted)
        })
    }
}

/// Asks a repository where the index found it; `None` if it is not there.
pub(crate) fn look_up_at_location(
    repository: &RecordedRepository,
    lookup: &Lookup,
) -> Option<LookupAnswer> {
    let (repositories, name) = at_location(repository)?;
    let lookup = Lookup {
        repository: name.to_owned(),
        ..lookup.clone()
    };
    let answer = GitRepositories(repositories).look_up(&lookup);
    let is_there = !matches!(&answer, LookupAnswer::Problem(problem)
        if problem.kind == LookupProblemKind::UnknownRepository);
    is_there.then_some(answer)
}

fn at_location(repository: &RecordedRepository) -> Option<(Repositories, &str)> {
    let path = Path::new(OsStr::from_bytes(&repository.location));
    if repository.is_url || !path.is_absolute() {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let repositories = Repositories::new(path.parent()?).ok()?;
    Some((repositories, name.strip_suffix(".git").unwrap_or(name)))
}

fn file(
    repositories: &Repositories,
    name: &str,
    wanted: &WantedFile<'_>,
) -> Option<RepositoryFile> {
    match repositories.file(name, wanted.revision, wanted.path, wanted.bytes_max) {
        Ok((commit, Some(Blob::Content(bytes)))) => Some(RepositoryFile::Content { commit, bytes }),
        Ok((_, Some(Blob::TooLarge(bytes)))) => Some(RepositoryFile::TooLarge { bytes }),
        _ => None,
    }
}

fn directory(repositories: &Repositories, name: &str, wanted: &WantedFile<'_>) -> Vec<Vec<u8>> {
    let found = repositories.directory(name, wanted.revision, wanted.path);
    found.unwrap_or_default()
}

fn behind(repositories: &Repositories, name: &str, revision: &RecordedRevision) -> Option<u32> {
    let now = str::from_utf8(&revision.name).ok()?;
    let then = &revision.commit.id;
    repositories
        .commits_between(name, then, now, BEHIND_MAX)
        .ok()
}

impl GitRepositories {
    fn log(
        &self,
        repository: &str,
        revision: &str,
        path: &[u8],
        after: &[u8],
        count: u32,
    ) -> Result<CommitLog, LookupError> {
        let after = cursor(after)?;
        let mut count = count.clamp(1, COMMITS_MAX) as usize;
        loop {
            let found = self
                .0
                .log(repository, revision, path, after.as_ref(), count)?;
            let log = CommitLog {
                commits: found.commits.into_iter().map(shortened).collect(),
                next: found
                    .next
                    .map_or(Vec::new(), |next| next.to_string().into_bytes()),
            };
            if count == 1 || log_bytes(&log) <= ANSWER_BYTES_MAX {
                return Ok(log);
            }
            count /= 2;
        }
    }
}

fn cursor(after: &[u8]) -> Result<Option<LogCursor>, LookupError> {
    if after.is_empty() {
        return Ok(None);
    }
    let parsed = str::from_utf8(after)
        .ok()
        .and_then(|after| after.parse().ok());
    parsed.map(Some).ok_or_else(|| LookupError::Refused {
        reason: "malformed cursor: expected `next` of an earlier answer".to_owned(),
    })
}

fn part(all: Vec<Reference>, after: &[u8], count: u32) -> ReferenceList {
    let start = all.partition_point(|reference| reference.name[..] <= *after);
    let rest = all.into_iter().skip(start);
    let mut list = ReferenceList::default();
    let mut bytes = 0;
    for found in rest.filter(|reference| reference.name.len() <= NAME_BYTES_MAX) {
        bytes += reference_bytes(found.name.len(), found.id.len());
        let is_full = list.references.len() == count.max(1) as usize;
        if is_full || bytes > ANSWER_BYTES_MAX {
            list.more = true;
            break;
        }
        list.references.push(found);
    }
    list
}

fn shortened(mut commit: Commit) -> Commit {
    commit.shorten();
    commit
}

fn problem(error: LookupError) -> LookupProblem {
    let none = String::new();
    let (kind, reason, candidates) = match error {
        LookupError::UnknownRepository { candidates } => {
            (LookupProblemKind::UnknownRepository, none, candidates)
        }
        LookupError::UnknownRevision { candidates } => {
            (LookupProblemKind::UnknownRevision, none, candidates)
        }
        LookupError::Ambiguous { candidates } => (LookupProblemKind::Ambiguous, none, candidates),
        LookupError::Refused { reason } => (LookupProblemKind::Refused, reason, Vec::new()),
        LookupError::Unreadable { reason } => (LookupProblemKind::Unreadable, reason, Vec::new()),
    };
    let mut problem = LookupProblem {
        kind,
        reason,
        candidates,
    };
    shorten_problem(&mut problem);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::ReferenceKind;

    #[test]
    fn references_that_do_not_fit_into_an_answer_are_left_for_the_next() {
        let reference = |number: usize| Reference {
            name: format!("refs/heads/{number:05}{}", "x".repeat(1000)).into_bytes(),
            kind: ReferenceKind::Branch,
            id: "1".repeat(40),
            indexed: false,
        };
        let all: Vec<_> = (0..1000).map(reference).collect();
        let (mut found, mut after, mut parts) = (Vec::new(), Vec::new(), 0);
        loop {
            let list = part(all.clone(), &after, 1000);
            after = list.references.last().unwrap().name.clone();
            found.extend(list.references);
            parts += 1;
            if !list.more {
                break;
            }
        }
        assert_eq!(found.len(), 1000);
        assert!(found.is_sorted_by_key(|each| each.name.clone()));
        assert!((2..10).contains(&parts), "{parts}");
        let three = part(all, b"refs/heads/00004", 3);
        assert_eq!(three.references.len(), 3);
        assert!(three.references[0].name.starts_with(b"refs/heads/00004x"));
    }

    #[test]
    fn a_cursor_that_no_answer_had_is_refused() {
        assert!(cursor(b"").unwrap().is_none());
        for bad in [&b"x"[..], b"\xff", b"1."] {
            assert!(matches!(cursor(bad), Err(LookupError::Refused { .. })));
        }
    }
}
