//! A git repository in memory: branch `main`, no merges.

use schema::message::{
    Blame, BlameHunk, BlameSource, Change, ChangeKind, ChangeList, Commit, CommitLog, Lookup,
    LookupAnswer, LookupOf, LookupProblem, LookupProblemKind, Reference, ReferenceKind,
    ReferenceList, Signature,
};

/// Commits are numbered from the oldest, 0.
#[derive(Clone, Debug)]
pub struct FakeRepository {
    pub name: String,
    pub commits: usize,
    /// Read error; empty if readable.
    pub damage: String,
}

impl FakeRepository {
    pub fn new(name: &str, commits: usize) -> FakeRepository {
        FakeRepository {
            name: name.to_owned(),
            commits,
            damage: String::new(),
        }
    }

    fn find(&self, revision: &str) -> Option<usize> {
        let newest = self.commits.checked_sub(1)?;
        match revision {
            "" | "HEAD" | "main" | "refs/heads/main" => Some(newest),
            other => match other.strip_prefix("HEAD~") {
                Some(back) => newest.checked_sub(back.parse().ok()?),
                None => (0..self.commits).find(|&number| commit_id(number) == other),
            },
        }
    }

    /// Each commit wrote one line. Paths that begin with `no` do not exist.
    fn blame(&self, number: usize, path: &[u8]) -> Blame {
        if path.starts_with(b"no") {
            return Blame::default();
        }
        let hunk = |line: usize| BlameHunk {
            first: line as u32 + 1,
            lines: 1,
            source: line as u32,
            source_line: line as u32 + 1,
            or_earlier: line == 0 && number > 9,
        };
        let source = |line: usize| {
            let commit = self.commit(line);
            BlameSource {
                commit: commit.id,
                author: commit.author,
                subject: commit.subject,
                path: Vec::new(),
                previous: line.checked_sub(1).map(commit_id).unwrap_or_default(),
                previous_path: if line == 1 {
                    b"src/former.c".to_vec()
                } else {
                    Vec::new()
                },
            }
        };
        Blame {
            found: true,
            commit: commit_id(number),
            complete: number <= 9,
            hunks: (0..=number).map(hunk).collect(),
            sources: (0..=number).map(source).collect(),
        }
    }

    fn commit(&self, number: usize) -> Commit {
        let signature = Signature {
            name: b"A <script> \xff".to_vec(),
            email: b"a@example.org".to_vec(),
            seconds: 1_700_000_000 + number as i64,
            offset_minutes: 90,
        };
        Commit {
            id: commit_id(number),
            tree: "ee".repeat(20),
            parents: number.checked_sub(1).map(commit_id).into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            subject: format!("{}: change {number}", self.name).into_bytes(),
            body: b"Why.\n".to_vec(),
            tags: (number == 0).then(|| b"v0".to_vec()).into_iter().collect(),
            shortened: false,
        }
    }
}

pub fn commit_id(number: usize) -> String {
    format!("{:040x}", 0xc0de_0000 + number)
}

pub(crate) fn answer(repositories: &[FakeRepository], lookup: &Lookup) -> LookupAnswer {
    let mut known = repositories.iter();
    let Some(found) = known.find(|known| known.name == lookup.repository) else {
        let names = repositories.iter().map(|known| known.name.clone());
        return problem(LookupProblemKind::UnknownRepository, "", names.collect());
    };
    if !found.damage.is_empty() {
        return problem(LookupProblemKind::Unreadable, &found.damage, Vec::new());
    }
    let revision = lookup.of.revision().unwrap_or_default();
    if revision.contains("@{") {
        let reason = "it reads a reflog";
        return problem(LookupProblemKind::Refused, reason, Vec::new());
    }
    if revision == "c0de" {
        let candidates = vec![commit_id(0), commit_id(1)];
        return problem(LookupProblemKind::Ambiguous, "", candidates);
    }
    let Some(number) = found.find(revision) else {
        let names = vec!["main".to_owned()];
        return problem(LookupProblemKind::UnknownRevision, "", names);
    };
    match &lookup.of {
        LookupOf::Commit { .. } => LookupAnswer::Commit(found.commit(number)),
        LookupOf::Log { after, count, .. } => {
            let after = str::from_utf8(after).ok().and_then(|it| it.parse().ok());
            let newest = after.unwrap_or(number + 1);
            let oldest = newest.saturating_sub(*count as usize);
            let numbers = (oldest..newest).rev();
            LookupAnswer::Log(CommitLog {
                commits: numbers.map(|number| found.commit(number)).collect(),
                next: match oldest {
                    0 => Vec::new(),
                    more => more.to_string().into_bytes(),
                },
                paths: Vec::new(),
            })
        }
        LookupOf::Blame { path, .. } => LookupAnswer::Blame(found.blame(number, path)),
        LookupOf::Changes { .. } => LookupAnswer::Changes(ChangeList {
            commit: commit_id(number),
            changes: vec![
                change("src/<b>.c", ChangeKind::Added),
                change("src/file.c", ChangeKind::Modified),
                change("src/old.c", ChangeKind::Removed),
            ],
            more: false,
            since: number.checked_sub(1).map(commit_id).unwrap_or_default(),
        }),
        LookupOf::References { after, count } => {
            let all = [
                ("refs/heads/main", ReferenceKind::Branch, number),
                ("refs/notes/x", ReferenceKind::Other, number),
                ("refs/tags/v0", ReferenceKind::Tag, 0),
            ];
            let mut rest = all
                .into_iter()
                .filter(|(name, ..)| name.as_bytes() > &after[..]);
            let part = rest.by_ref().take(*count as usize);
            let part = part.map(|(name, kind, number)| Reference {
                indexed: false,
                name: name.into(),
                kind,
                id: commit_id(number),
            });
            LookupAnswer::References(ReferenceList {
                references: part.collect(),
                more: rest.next().is_some(),
            })
        }
    }
}

fn change(path: &str, kind: ChangeKind) -> Change {
    let object = |is_there| {
        if is_there {
            "1".repeat(40)
        } else {
            String::new()
        }
    };
    let (before, after) = (kind != ChangeKind::Added, kind != ChangeKind::Removed);
    Change {
        path: path.into(),
        kind,
        was: Vec::new(),
        before: object(before),
        after: object(after),
        mode_before: 0o100_644 * u16::from(before),
        mode_after: 0o100_644 * u16::from(after),
    }
}

fn problem(kind: LookupProblemKind, reason: &str, candidates: Vec<String>) -> LookupAnswer {
    LookupAnswer::Problem(LookupProblem {
        kind,
        reason: reason.to_owned(),
        candidates,
    })
}
