//! Answers look-ups from the index's records, for unavailable repositories: indexed commits and
//! their names.
//!
//! Histories and expressions such as `HEAD~25` are refused. Names resolve as in git: tags before
//! branches.

use super::{first_references, problem};
use schema::message::{
    Commit, Lookup, LookupAnswer, LookupOf, LookupProblemKind, Recorded, RecordedRepository,
    RecordedRevision, Reference, ReferenceKind, ReferenceList,
};
use std::collections::BTreeMap;

/// Digits of an abbreviated commit id, as in git.
const ID_DIGITS_MIN: usize = 4;

/// Prefixes of a name, in git's order.
const PLACES: [&str; 5] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];

pub(crate) fn look_up(recorded: &Recorded, lookup: &Lookup) -> LookupAnswer {
    let name = lookup.repository.as_bytes();
    let Some(repository) = recorded.repository(name) else {
        let known = recorded.repositories.iter().map(|it| &it.package[..]);
        let candidates = similar(&lookup.repository, known);
        return problem(LookupProblemKind::UnknownRepository, "", candidates);
    };
    match &lookup.of {
        LookupOf::Commit { revision } => commit(repository, revision),
        LookupOf::References { after, count } => {
            LookupAnswer::References(references(repository, after, *count))
        }
        LookupOf::Log { .. } => refused("a log is read from"),
        LookupOf::Blame { .. } => refused("a blame is read from"),
        LookupOf::Changes { .. } => refused("the diff of a commit is read from"),
    }
}

fn refused(begin: &str) -> LookupAnswer {
    let reason = format!(
        "{begin} the repository, which this server does not have: it was started without --repos"
    );
    problem(LookupProblemKind::Refused, reason, Vec::new())
}

/// The package has the repository's name, or the last part of its path.
pub(crate) fn mark_indexed(recorded: &Recorded, repository: &str, list: &mut ReferenceList) {
    let last = repository.rsplit('/').next().unwrap_or_default();
    let known = recorded.repository(repository.as_bytes());
    let Some(known) = known.or_else(|| recorded.repository(last.as_bytes())) else {
        return;
    };
    for reference in &mut list.references {
        reference.indexed = known.revision(&reference.name).is_some();
    }
}

fn commit(repository: &RecordedRepository, revision: &str) -> LookupAnswer {
    let peeled = ["^{commit}", "^{}", "^0"]
        .iter()
        .find_map(|suffix| revision.strip_suffix(suffix));
    let name = peeled.unwrap_or(revision);
    if matches!(name, "" | "HEAD" | "@") {
        return match repository.revision(&repository.default) {
            Some(default) => LookupAnswer::Commit(default.commit.clone()),
            None => unknown(repository, name),
        };
    }
    if name.contains(['~', '^', ':', ' ', '*', '?', '['])
        || name.contains("@{")
        || name.contains("..")
    {
        let reason = format!(
            "{revision} is resolved in the repository, which this server does not have: it was started without \
             --repos, and knows only the revisions that are indexed"
        );
        return problem(LookupProblemKind::Refused, reason, Vec::new());
    }
    let full = PLACES.iter().map(|place| format!("{place}{name}"));
    let mut named = full.filter_map(|full| repository.revision(full.as_bytes()));
    match named.next() {
        Some(RecordedRevision { commit, .. }) => LookupAnswer::Commit(commit.clone()),
        None => by_id(repository, name),
    }
}

fn by_id(repository: &RecordedRepository, digits: &str) -> LookupAnswer {
    let is_id = digits.len() >= ID_DIGITS_MIN && digits.bytes().all(|it| it.is_ascii_hexdigit());
    let digits_low = digits.to_ascii_lowercase();
    let found = repository.revisions.iter().map(|revision| &revision.commit);
    let found = found.filter(|commit| is_id && commit.id.starts_with(&digits_low));
    let found: BTreeMap<&str, &Commit> = found.map(|commit| (&commit.id[..], commit)).collect();
    match found.len() {
        0 => unknown(repository, digits),
        1 => LookupAnswer::Commit(found.into_values().next().expect("there is one").clone()),
        _ => {
            let ids = found.into_keys().map(str::to_owned).collect();
            problem(LookupProblemKind::Ambiguous, "", ids)
        }
    }
}

fn unknown(repository: &RecordedRepository, name: &str) -> LookupAnswer {
    let revisions = repository.revisions.iter();
    let known = revisions.map(|revision| index::revisions::short_name(&revision.name));
    let candidates = similar(name, known);
    problem(
        LookupProblemKind::UnknownRevision,
        "no such revision is indexed",
        candidates,
    )
}

fn similar<'a>(name: &str, known: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let known: Vec<_> = known.map(String::from_utf8_lossy).collect();
    git::similar(name, known.iter().map(|name| &**name))
}

/// Revisions after a name that fit an answer. Those indexed by id are no references.
fn references(repository: &RecordedRepository, after: &[u8], count: u32) -> ReferenceList {
    let all = repository.revisions.iter();
    let rest = all.filter(|it| it.name.starts_with(b"refs/") && it.name[..] > *after);
    let references = rest.map(|revision| Reference {
        name: revision.name.clone(),
        kind: kind(&revision.name),
        id: revision.commit.id.clone(),
        indexed: true,
    });
    first_references(references, count)
}

fn kind(name: &[u8]) -> ReferenceKind {
    if name.starts_with(b"refs/heads/") || name.starts_with(b"refs/remotes/") {
        ReferenceKind::Branch
    } else if name.starts_with(b"refs/tags/") {
        ReferenceKind::Tag
    } else {
        ReferenceKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::LookupProblem;

    fn recorded() -> Recorded {
        let revision = |name: &str, id: &str| RecordedRevision {
            name: name.as_bytes().to_vec(),
            commit: Commit {
                id: id.to_owned(),
                ..Commit::default()
            },
        };
        Recorded {
            repositories: vec![RecordedRepository {
                package: b"tool".to_vec(),
                default: b"refs/heads/main".to_vec(),
                revisions: vec![
                    revision("0123456789", "0123456789"),
                    revision("refs/heads/main", "abcdef0001"),
                    revision("refs/heads/v1", "abcdef0002"),
                    revision("refs/remotes/origin/dev", "1111111111"),
                    revision("refs/tags/v1", "2222222222"),
                ],
                ..RecordedRepository::default()
            }],
            sources: Vec::new(),
        }
    }

    fn show(answer: LookupAnswer) -> String {
        match answer {
            LookupAnswer::Commit(commit) => commit.id,
            LookupAnswer::Problem(LookupProblem {
                kind,
                reason,
                candidates,
            }) => {
                format!("{kind:?} {candidates:?} {reason}")
            }
            LookupAnswer::References(list) => {
                let name = |it: &Reference| String::from_utf8(it.name.clone()).unwrap();
                let names: Vec<_> = list.references.iter().map(name).collect();
                format!("{} more: {}", names.join(" "), list.more)
            }
            other => format!("{other:?}"),
        }
    }

    fn check(repository: &str, revision: &str, expected: &str) {
        let lookup = Lookup {
            repository: repository.to_owned(),
            of: LookupOf::Commit {
                revision: revision.to_owned(),
            },
        };
        assert_eq!(show(look_up(&recorded(), &lookup)), expected);
    }

    #[test]
    fn recorded_commits_are_found_as_git_names_them() {
        check("tool", "", "abcdef0001");
        check("tool", "HEAD", "abcdef0001");
        check("tool", "v1", "2222222222");
        check("tool", "heads/v1", "abcdef0002");
        check("tool", "refs/heads/v1^{commit}", "abcdef0002");
        check("tool", "origin/dev", "1111111111");
        check("tool", "22222", "2222222222");
        check("tool", "ABCDEF0001", "abcdef0001");
        check("tool", "0123456789", "0123456789");
        check(
            "tool",
            "abcdef",
            r#"Ambiguous ["abcdef0001", "abcdef0002"] "#,
        );
        check(
            "tool",
            "mian",
            r#"UnknownRevision ["main"] no such revision is indexed"#,
        );
        check("tol", "main", r#"UnknownRepository ["tool"] "#);
        check(
            "tool",
            "HEAD~25",
            "Refused [] HEAD~25 is resolved in the repository, which this server does not have: it was started without --repos, and knows only the revisions that are indexed",
        );
    }

    #[test]
    fn recorded_references_are_listed_in_parts_and_a_log_is_refused() {
        let ask = |of| {
            let repository = "tool".to_owned();
            show(look_up(&recorded(), &Lookup { repository, of }))
        };
        let list = |after: &str, count| {
            let after = after.as_bytes().to_vec();
            ask(LookupOf::References { after, count })
        };
        assert_eq!(list("", 2), "refs/heads/main refs/heads/v1 more: true");
        assert_eq!(
            list("refs/heads/v1", 9),
            "refs/remotes/origin/dev refs/tags/v1 more: false"
        );
        let log = ask(LookupOf::Log {
            revision: String::new(),
            path: Vec::new(),
            after: Vec::new(),
            count: 1,
        });
        assert!(
            log.starts_with("Refused") && log.contains("--repos"),
            "{log}"
        );
    }

    #[test]
    fn references_of_a_repository_are_marked_if_they_are_indexed() {
        let reference = |name: &str| Reference {
            name: name.as_bytes().to_vec(),
            kind: ReferenceKind::Branch,
            id: String::new(),
            indexed: false,
        };
        let mut list = ReferenceList {
            references: vec![reference("refs/heads/main"), reference("refs/heads/x")],
            more: false,
        };
        mark_indexed(&recorded(), "below/tool", &mut list);
        let marks: Vec<_> = list.references.iter().map(|it| it.indexed).collect();
        assert_eq!(marks, [true, false]);
    }
}
