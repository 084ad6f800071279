//! Converts blames and lists of changes to messages that fit an answer.

use crate::lookup::repositories::{ANSWER_BYTES_MAX, blame_bytes, change_bytes};
use git::LookupError;
use schema::message::{Blame, BlameSource, ChangeList, Signature};

/// Bytes of a first paragraph in a blame.
const SUBJECT_BYTES_MAX: usize = 120;

const NAME_BYTES_MAX: usize = 80;

/// Drops subjects first, then previous commits, to fit an answer.
pub(super) fn blame(found: git::Blame, path: &[u8]) -> Result<Blame, LookupError> {
    let mut blame = Blame {
        found: true,
        commit: found.commit,
        complete: found.complete,
        hunks: found.hunks,
        sources: (found.sources.into_iter())
            .map(|found| source(found, path))
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

fn source(found: git::BlameSource, path: &[u8]) -> BlameSource {
    let unless_asked = |other: Vec<u8>| if other == path { Vec::new() } else { other };
    let (previous, previous_path) = found.previous.unwrap_or_default();
    let author = found.commit.author;
    BlameSource {
        commit: found.commit.id,
        author: Signature {
            name: beginning(author.name, NAME_BYTES_MAX),
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
pub(super) fn fitting(mut list: ChangeList) -> ChangeList {
    let mut bytes = 0;
    let fits = list.changes.iter().take_while(|change| {
        bytes += change_bytes(change.path.len());
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
    use schema::message::{BlameHunk, Commit};

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
