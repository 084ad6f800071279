//! Answers look-ups from git repositories below a directory, with the crate `git`.

use super::{
    ANSWER_BYTES_MAX, LookUp, WantedFile, blame_bytes, change_bytes, first_references, log_bytes,
    problem,
};
use git::{BlameLimits, Blob, LogCursor, LookupError, Repositories};
use schema::message::{
    Blame, BlameSource, ChangeList, Commit, CommitLog, Lookup, LookupAnswer, LookupOf,
    LookupProblemKind, RecordedRepository, RecordedRevision, Reference, ReferenceList, Signature,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const COMMITS_MAX: u32 = 1000;

const CHANGES_MAX: u32 = 3000;

/// Counted commits that the index lacks, at most.
const BEHIND_MAX: u32 = 1000;

/// Bytes of a listed reference name, as of a path.
const NAME_BYTES_MAX: usize = 4096;

/// First paragraph in a blame.
const SUBJECT_BYTES_MAX: usize = 120;

/// Author's name in a blame.
const AUTHOR_BYTES_MAX: usize = 80;

impl LookUp for Repositories {
    fn look_up(&self, lookup: &Lookup) -> LookupAnswer {
        let repository = &lookup.repository;
        let answer = match &lookup.of {
            LookupOf::Commit { revision } => self
                .commit(repository, revision)
                .map(|found| LookupAnswer::Commit(shortened(found))),
            LookupOf::Log {
                revision,
                path,
                after,
                count,
            } => log(self, repository, revision, path, after, *count).map(LookupAnswer::Log),
            LookupOf::References { after, count } => self
                .refs(repository)
                .map(|all| LookupAnswer::References(part(all, after, *count))),
            LookupOf::Blame { revision, path } => {
                let found = self.blame(repository, revision, path, BlameLimits::default());
                found.and_then(|found| match found {
                    None => Ok(LookupAnswer::Blame(Blame::default())),
                    Some(found) => blame(found, path).map(LookupAnswer::Blame),
                })
            }
            LookupOf::Changes {
                revision,
                since,
                path,
                count,
            } => self
                .changes(
                    repository,
                    (since, revision),
                    path,
                    (*count).clamp(1, CHANGES_MAX) as usize,
                )
                .map(|found| LookupAnswer::Changes(fitting(found))),
        };
        answer.unwrap_or_else(failed)
    }

    fn behind(&self, repository: &str, revision: &RecordedRevision) -> Option<u32> {
        let now = str::from_utf8(&revision.name).ok()?;
        let then = &revision.commit.id;
        self.commits_between(repository, then, now, BEHIND_MAX).ok()
    }

    fn file(&self, wanted: &WantedFile<'_>) -> Option<(String, Blob)> {
        let WantedFile { revision, path, .. } = wanted;
        let found = self.file(wanted.repository, revision, path, wanted.bytes_max);
        let (commit, blob) = found.ok()?;
        Some((commit, blob?))
    }

    fn directory(&self, wanted: &WantedFile<'_>) -> Vec<Vec<u8>> {
        let found = self.directory(wanted.repository, wanted.revision, wanted.path);
        found.unwrap_or_default()
    }
}

/// First answer about a repository by `read`, which gets its name there: of the `given`
/// repositories, else at the recorded location, opened in a tenth of a millisecond.
pub(crate) fn read_first<T>(
    given: Option<&dyn LookUp>,
    package: &[u8],
    recorded: Option<&RecordedRepository>,
    read: impl Fn(&dyn LookUp, &str) -> Option<T>,
) -> Option<T> {
    let of_given = given.and_then(|given| read(given, str::from_utf8(package).ok()?));
    of_given.or_else(|| {
        let (repositories, name) = at_location(recorded?)?;
        read(&repositories, name)
    })
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
    let answer = repositories.look_up(&lookup);
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

fn log(
    repositories: &Repositories,
    repository: &str,
    revision: &str,
    path: &[u8],
    after: &[u8],
    count: u32,
) -> Result<CommitLog, LookupError> {
    let after = cursor(after)?;
    let mut count = count.clamp(1, COMMITS_MAX) as usize;
    loop {
        let found = repositories.log(repository, revision, path, after.as_ref(), count)?;
        let log = CommitLog {
            commits: found.commits.into_iter().map(shortened).collect(),
            paths: found.paths,
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
    let rest = rest.filter(|reference| reference.name.len() <= NAME_BYTES_MAX);
    first_references(rest, count)
}

fn shortened(mut commit: Commit) -> Commit {
    commit.shorten();
    commit
}

fn failed(error: LookupError) -> LookupAnswer {
    use LookupProblemKind as Kind;
    match error {
        LookupError::UnknownRepository { candidates } => {
            problem(Kind::UnknownRepository, "", candidates)
        }
        LookupError::UnknownRevision { candidates } => {
            problem(Kind::UnknownRevision, "", candidates)
        }
        LookupError::Ambiguous { candidates } => problem(Kind::Ambiguous, "", candidates),
        LookupError::Refused { reason } => problem(Kind::Refused, reason, Vec::new()),
        LookupError::Unreadable { reason } => problem(Kind::Unreadable, reason, Vec::new()),
    }
}

/// Drops subjects first, then previous commits, to fit an answer.
fn blame(found: git::Blame, path: &[u8]) -> Result<Blame, LookupError> {
    let mut blame = Blame {
        found: true,
        commit: found.commit,
        complete: found.complete,
        hunks: found.hunks,
        sources: (found.sources.into_iter())
            .map(|found| blame_source(found, path))
            .collect(),
    };
    if blame_bytes(&blame) > ANSWER_BYTES_MAX {
        blame.sources.iter_mut().for_each(|it| it.subject.clear());
    }
    if blame_bytes(&blame) > ANSWER_BYTES_MAX {
        for source in &mut blame.sources {
            source.previous.clear();
            source.previous_path.clear();
        }
    }
    if blame_bytes(&blame) > ANSWER_BYTES_MAX {
        let commits = blame.sources.len();
        return Err(LookupError::Refused {
            reason: format!(
                "the lines of the file come from {commits} commits, which is more than an answer has room for"
            ),
        });
    }
    Ok(blame)
}

fn blame_source(found: git::BlameSource, path: &[u8]) -> BlameSource {
    let unless_asked = |other: Vec<u8>| if other == path { Vec::new() } else { other };
    let (previous, previous_path) = found.previous.unwrap_or_default();
    let author = found.commit.author;
    BlameSource {
        commit: found.commit.id,
        author: Signature {
            name: beginning(author.name, AUTHOR_BYTES_MAX),
            email: Vec::new(),
            seconds: author.seconds,
            offset_minutes: author.offset_minutes,
        },
        subject: beginning(found.commit.subject, SUBJECT_BYTES_MAX),
        path: unless_asked(found.path),
        previous,
        previous_path: unless_asked(previous_path),
    }
}

/// Cuts at a letter, as for commits.
fn beginning(text: Vec<u8>, bytes_max: usize) -> Vec<u8> {
    match str::from_utf8(&text) {
        Ok(valid) => valid[..valid.floor_char_boundary(bytes_max)].into(),
        Err(_) => text.into_iter().take(bytes_max).collect(),
    }
}

/// Drops the files that do not fit into an answer.
fn fitting(mut list: ChangeList) -> ChangeList {
    let mut bytes = 0;
    let fits = list.changes.iter().take_while(|change| {
        bytes += change_bytes(change);
        bytes <= ANSWER_BYTES_MAX
    });
    let count = fits.count();
    list.more |= count < list.changes.len();
    list.changes.truncate(count);
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{BlameHunk, ReferenceKind};

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

    fn found(sources: usize, subject: &str) -> git::Blame {
        let commit = |number: usize| Commit {
            id: format!("{number:040}"),
            subject: subject.as_bytes().to_vec(),
            ..Commit::default()
        };
        git::Blame {
            commit: "1".repeat(40),
            hunks: (0..sources)
                .map(|source| BlameHunk {
                    first: source as u32 + 1,
                    lines: 1,
                    source: source as u32,
                    source_line: 1,
                    or_earlier: false,
                })
                .collect(),
            sources: (0..sources)
                .map(|number| git::BlameSource {
                    commit: commit(number),
                    path: b"a".to_vec(),
                    previous: Some(("2".repeat(40), b"b".to_vec())),
                })
                .collect(),
            complete: true,
        }
    }

    #[test]
    fn a_blame_that_is_too_long_for_an_answer_loses_its_subjects_first() {
        let short = blame(found(10, &"ü".repeat(100)), b"a").unwrap();
        assert_eq!(short.sources[0].subject.len(), 120);
        assert_eq!(short.sources[0].path, b"", "the path that was asked for");
        assert_eq!(short.sources[0].previous_path, b"b");
        let long = blame(found(1000, &"x".repeat(100)), b"a").unwrap();
        assert!(long.sources.iter().all(|it| it.subject.is_empty()));
        assert!(!long.sources[0].previous.is_empty());
        let longer = blame(found(1150, ""), b"a").unwrap();
        assert!(longer.sources[0].previous.is_empty());
        assert!(matches!(
            blame(found(5000, ""), b"a"),
            Err(LookupError::Refused { .. })
        ));
    }
}
