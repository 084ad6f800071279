//! Lists git repositories, with recorded and newer commits.

use super::reply_builder::ReplyBuilder;
use crate::lookup::LookUp;
use crate::lookup::git_repositories::read_first;
use schema::message::{
    INDEXED_REVISIONS_MAX, IndexedRepository, IndexedRevision, ListEntry, ListReply, ListRequest,
    Recorded, RecordedRepository, RecordedRevision,
};
use std::time::{Duration, Instant};

/// Bytes of a revision besides its name.
const REVISION_BYTES: usize = 160;

/// Bytes of a revision's name, and of a problem.
const NAME_BYTES_MAX: usize = 1 << 10;

/// Time to count newer commits; beyond it they are unknown.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Newer commits are counted in `given` repositories, else at the recorded locations.
pub(super) fn read<E>(
    recorded: &Recorded,
    given: Option<&dyn LookUp>,
    request: &ListRequest,
) -> Result<ListReply, E> {
    let mut reply = ReplyBuilder::new(request);
    for repository in &recorded.repositories {
        let package = &repository.package;
        if package.starts_with(&request.prefix) {
            let revisions = repository.revisions.len().min(INDEXED_REVISIONS_MAX);
            let bytes = revisions * (REVISION_BYTES + NAME_BYTES_MAX / 8) + 2 * NAME_BYTES_MAX;
            reply.entry(package, package.len() + bytes, || repository);
        }
    }
    let began = Instant::now();
    reply.finish(|repository| {
        let behind = |revision: &RecordedRevision| {
            if began.elapsed() >= TIME_MAX {
                return None;
            }
            let count = |it: &dyn LookUp, name: &str| it.behind(name, revision);
            read_first(given, &repository.package, Some(repository), count)
        };
        Ok(entry(repository, behind))
    })
}

fn entry(
    repository: &RecordedRepository,
    behind: impl Fn(&RecordedRevision) -> Option<u32>,
) -> ListEntry {
    let default = repository.revision(&repository.default);
    let others = repository.revisions.iter();
    let others = others.filter(|it| it.name != repository.default);
    let first = default
        .into_iter()
        .chain(others)
        .take(INDEXED_REVISIONS_MAX);
    let revision = |revision: &RecordedRevision| IndexedRevision {
        name: shown(&revision.name),
        commit: revision.commit.id.clone(),
        committed: revision.commit.committer.seconds,
        behind: behind(revision),
    };
    ListEntry {
        package: repository.package.clone(),
        indexed: repository.indexed,
        repository: Some(IndexedRepository {
            default: shown(index::revisions::short_name(&repository.default)),
            fetched: repository.fetched,
            problem: shown(repository.problem.as_bytes()),
            revisions: first.map(revision).collect(),
            revision_count: u32::try_from(repository.revisions.len()).unwrap_or(u32::MAX),
        }),
        ..ListEntry::default()
    }
}

fn shown(name: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(name).into_owned();
    text.truncate(text.floor_char_boundary(NAME_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::frame::FRAME_BYTES_MAX;
    use schema::message::{Commit, ListKind, Lookup, LookupAnswer};
    use std::convert::Infallible;

    struct Behind;

    impl LookUp for Behind {
        fn look_up(&self, _: &Lookup) -> LookupAnswer {
            unreachable!("only asked how far behind the index is")
        }

        fn behind(&self, _: &str, revision: &RecordedRevision) -> Option<u32> {
            (revision.name == b"refs/heads/main").then_some(3)
        }
    }

    fn recorded(revisions: usize, name_bytes: usize) -> Recorded {
        let revision = |number: usize| RecordedRevision {
            name: match number {
                0 => b"refs/heads/main".to_vec(),
                _ => format!("refs/tags/{number:06}{}", "x".repeat(name_bytes)).into_bytes(),
            },
            commit: Commit {
                id: "1".repeat(64),
                ..Commit::default()
            },
        };
        let repository = |number: usize| RecordedRepository {
            package: format!("p{number:04}").into_bytes(),
            default: b"refs/heads/main".to_vec(),
            problem: "it is gone".to_owned(),
            indexed: 7,
            revisions: (0..revisions).map(revision).collect(),
            ..RecordedRepository::default()
        };
        Recorded {
            repositories: (0..300).map(repository).collect(),
            sources: Vec::new(),
        }
    }

    fn request(prefix: &str, after: &[u8]) -> ListRequest {
        ListRequest {
            kind: ListKind::Repositories,
            package: Vec::new(),
            prefix: prefix.as_bytes().to_vec(),
            after: after.to_vec(),
            count: 1000,
            visible: None,
            revision: String::new(),
        }
    }

    #[test]
    fn repositories_are_listed_with_their_revisions_and_how_far_behind_they_are() {
        let Ok(reply): Result<_, Infallible> =
            read(&recorded(3, 0), Some(&Behind), &request("p0007", b""));
        let [entry] = &reply.entries[..] else {
            panic!("{reply:?}");
        };
        let repository = entry.repository.as_ref().unwrap();
        assert_eq!((&repository.default[..], entry.indexed), ("main", 7));
        assert_eq!(repository.problem, "it is gone");
        let behind: Vec<_> = repository.revisions.iter().map(|it| it.behind).collect();
        assert_eq!(behind, [Some(3), None, None]);
        let Ok(reply): Result<_, Infallible> = read(&recorded(3, 0), None, &request("p0007", b""));
        let repository = reply.entries[0].repository.as_ref().unwrap();
        assert_eq!(repository.revisions[0].behind, None);
    }

    #[test]
    fn replies_fit_into_frames_and_have_every_repository() {
        let (recorded, mut found, mut after) = (recorded(100, 60), 0, Vec::new());
        loop {
            let Ok(reply): Result<_, Infallible> = read(&recorded, None, &request("", &after));
            let mut frame = Vec::new();
            reply.encode(&mut frame).unwrap();
            assert!(frame.len() < FRAME_BYTES_MAX);
            found += reply.entries.len();
            after = reply.entries.last().unwrap().package.clone();
            let last = reply.entries[0].repository.as_ref().unwrap();
            assert_eq!((last.revisions.len(), last.revision_count), (64, 100));
            if !reply.more {
                break;
            }
        }
        assert_eq!(found, 300);
    }
}
