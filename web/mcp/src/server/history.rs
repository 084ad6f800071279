//! `history`: commits, logs and blames of git repositories.

use super::answer::{Answer, count, escaped, short_id};
use super::arguments::{HistoryArguments, Show};
use super::call::{Call, Failure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::LookupError;
use schema::message::{ChangeKind, LookupOf, LookupProblemKind, Signature};

/// Looked up at once.
const COMMITS_MAX: u32 = 100;
const CHANGES_MAX: u32 = 1000;

impl Call {
    pub(super) async fn history(&self, of: HistoryArguments) -> Result<String, Failure> {
        let answer = Answer::new(of.max_tokens)?;
        match of.show {
            Show::Log => self.log(answer, &of).await,
            Show::Commit => self.commit(answer, &of).await,
            Show::Blame => self.blame(answer, &of).await,
        }
    }

    /// A page is a part of the log, and the number of its commits that were shown.
    async fn log(&self, mut answer: Answer, of: &HistoryArguments) -> Result<String, Failure> {
        let page = of.page.as_deref().unwrap_or("0-");
        let (skipped, part) = page.split_once('-').unwrap_or_default();
        let (Ok(skipped), Ok(after)) = (skipped.parse(), BASE64.decode(part)) else {
            return Err(Failure(format!("page {page} is not valid")));
        };
        let name = of.repository.clone();
        let log = LookupOf::Log {
            revision: of.rev.clone(),
            path: of.path.clone().into_bytes(),
            after,
            count: COMMITS_MAX,
        };
        let log = self.coordinator.log(&self.scope, name, log).await;
        let log = log.map_err(|error| failure(error, of))?;
        let next = BASE64.encode(&log.next);
        let receipt = |shown: usize| {
            let at = skipped + shown;
            let more = match (at < log.commits.len(), &next[..]) {
                (true, _) => format!("; more: page={at}-{part}"),
                (false, "") => String::new(),
                (false, next) => format!("; more: page=0-{next}"),
            };
            format!("{}{more}", count(shown as u64, "commit", "commits"))
        };
        answer.reserve(&receipt(COMMITS_MAX as usize));
        let commits = log.commits.iter().skip(skipped);
        let shown = answer.push_all(commits.map(|it| line(&it.id, &it.author, &it.subject)));
        Ok(answer.finish(&receipt(shown)))
    }

    async fn commit(&self, mut answer: Answer, of: &HistoryArguments) -> Result<String, Failure> {
        let (frontend, scope, name) = (&self.coordinator, &self.scope, &of.repository);
        let commits = frontend.commits(scope, vec![(name.clone(), of.rev.clone())]);
        let commit = commits.await.pop().expect("an outcome for each name");
        let commit = commit.map_err(|error| failure(error, of))?;
        let changes = frontend.changes(
            scope,
            name.clone(),
            commit.id.clone(),
            String::new(),
            Vec::new(),
            CHANGES_MAX,
        );
        let changes = changes.await.map_err(|error| failure(error, of))?;
        let more = if changes.more { " or more" } else { "" };
        let all = changes.changes.len();
        let receipt = |listed: usize| format!("{listed} of {all}{more} changed files");
        answer.reserve(&receipt(all));
        let Signature { name, email, .. } = &commit.author;
        let author = escaped(&[&name[..], b" <", email, b">"].concat());
        let (on, parents) = (date(&commit.author), commit.parents.join(" "));
        let tags = escaped(&commit.tags.join(&b' '));
        let head = format!(
            "commit {}\nparents {parents}\nauthor {author} {on}\ntags {tags}\n",
            commit.id
        );
        let text = [head.as_bytes(), &commit.subject, b"", &commit.body].join(&b'\n');
        let lines = text.split(|&byte| byte == b'\n');
        answer.push_all(lines.map(|line| escaped(line) + "\n"));
        let listed = answer.push_all(changes.changes.iter().map(|change| {
            let kind = match change.kind {
                ChangeKind::Added => 'A',
                ChangeKind::Removed => 'D',
                ChangeKind::Modified => 'M',
                ChangeKind::Renamed => 'R',
            };
            match &change.was[..] {
                b"" => format!("{kind} {}\n", escaped(&change.path)),
                was => format!("{kind} {} {}\n", escaped(was), escaped(&change.path)),
            }
        }));
        Ok(answer.finish(&receipt(listed)))
    }

    async fn blame(&self, mut answer: Answer, of: &HistoryArguments) -> Result<String, Failure> {
        let (name, rev, path) = (of.repository.clone(), of.rev.clone(), of.path.as_bytes());
        let blame = self
            .coordinator
            .blame(&self.scope, name, rev, path.to_vec());
        let blame = blame.await.map_err(|error| failure(error, of))?;
        let id = short_id(&blame.commit);
        if !blame.found {
            return Err(Failure(format!("commit {id} has no file {}", of.path)));
        }
        let (from, to) = of.lines.unwrap_or((1, u32::MAX));
        let early = if blame.complete {
            ""
        } else {
            ", or earlier: a bound was reached"
        };
        let receipt = |next: &str| format!("as of commit {id}{early}{next}");
        answer.reserve(&receipt("; next: lines=[1234567890,1234567890]"));
        for hunk in &blame.hunks {
            let last = hunk.first.saturating_add(hunk.lines - 1).min(to);
            let first = hunk.first.max(from);
            let source = &blame.sources[hunk.source as usize];
            let told = line(&source.commit, &source.author, &source.subject);
            if first <= last && !answer.push(&format!("{first}-{last}: {told}")) {
                return Ok(answer.finish(&receipt(&format!("; next: lines=[{first},{to}]"))));
            }
        }
        Ok(answer.finish(&receipt("")))
    }
}

fn line(id: &str, author: &Signature, subject: &[u8]) -> String {
    let (name, subject) = (escaped(&author.name), escaped(subject));
    format!("{} {} {name}: {subject}\n", short_id(id), date(author))
}

fn date(signature: &Signature) -> String {
    let at = jiff::Timestamp::from_second(signature.seconds).unwrap_or_default();
    at.to_string()[..10].to_owned()
}

fn failure(error: LookupError, of: &HistoryArguments) -> Failure {
    let LookupError::Problem(problem) = error else {
        return Failure::of(error);
    };
    let what = match problem.kind {
        LookupProblemKind::UnknownRepository => "is no git repository here",
        LookupProblemKind::UnknownRevision => "has no such revision",
        LookupProblemKind::Ambiguous => "has several such commits",
        LookupProblemKind::Refused => "refuses this",
        LookupProblemKind::Unreadable => "cannot be read",
        LookupProblemKind::Late => "did not answer in time",
    };
    let near = match &problem.candidates[..] {
        [] => String::new(),
        near => format!("; did you mean {}?", near[..near.len().min(3)].join(" or ")),
    };
    let (repository, rev, reason) = (&of.repository, &of.rev, problem.reason);
    Failure(format!("{repository} {what} {rev} {reason}{near}"))
}
