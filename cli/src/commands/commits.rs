//! `trawl commit`, `log` and `refs`: git data from the HTTP API, or from a directory with
//! `--repos`. Starts no program.

use super::api_printer::{ApiFlags, ApiPrinter};
use crate::exit::Exit;
use crate::terminal::{self, escaped};
use anyhow::{Context, Result, anyhow};
use backend::GitRepositories;
use backend::repositories::LookUp;
use schema::message::{Lookup, LookupAnswer, LookupOf, LookupProblem, LookupProblemKind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use web::model::{Commit, CommitLog, Person, Ref, Refs};

const SHORT_ID: usize = 12;

/// References read at a time.
const REFS_PART: u32 = 1000;

/// Show the commit of a revision of a git repository
///
/// A server with --repos accepts every form that git rev-parse accepts, except those that read a
/// reflog. A server without it, and an index, accept only indexed revisions. Exit status: 0
/// success, 2 error, also if there is no such commit.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl commit tools/trawl                 the default branch on the server
  trawl commit tools/trawl HEAD~25 --json
  trawl commit --index I trawl v1.0        the commit at which v1.0 was indexed
  trawl commit --repos /srv/git trawl 'v1.0^{commit}'
                                           without a server and an index")]
pub(crate) struct CommitArguments {
    #[command(flatten)]
    source: Source,
    /// Repository: its path below the directory of repositories, or the package of an index
    #[arg(value_name = "REPO")]
    repo: String,
    /// Branch, tag, id or expression [default: the default branch]
    #[arg(value_name = "REV", default_value = "", hide_default_value = true)]
    rev: String,
}

/// List the commits that are reachable from a revision of a git repository
///
/// Prints a line for each, in the order of git log: the beginning of the id, the committer's date,
/// the subject. Reads the repository, so a server needs --repos. Exit status: 0 success, 2 error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl log tools/trawl
  trawl log tools/trawl v1.0 --path src/main.rs -n 5
  trawl log --repos /srv/git trawl --json")]
pub(crate) struct LogArguments {
    #[command(flatten)]
    source: Source,
    /// Repository: its path below the directory of repositories
    #[arg(value_name = "REPO")]
    repo: String,
    /// Branch, tag, id or expression [default: the default branch]
    #[arg(value_name = "REV", default_value = "", hide_default_value = true)]
    rev: String,
    /// List only commits that changed this file or directory
    #[arg(
        long,
        value_name = "PATH",
        default_value = "",
        hide_default_value = true
    )]
    path: String,
    /// Maximum number of commits to list
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
}

/// List the branches, tags and other references of a git repository
///
/// Prints a line for each: its full name, a tab, and the id of its commit. For a searchable
/// reference, another tab and "indexed" follow. Exit status: 0 success, 2 error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl refs tools/trawl
  trawl refs --index I trawl | grep refs/tags/")]
pub(crate) struct RefsArguments {
    #[command(flatten)]
    source: Source,
    /// Repository: its path below the directory of repositories, or the package of an index
    #[arg(value_name = "REPO")]
    repo: String,
}

/// Server, index or directory of repositories.
#[derive(clap::Args)]
struct Source {
    #[command(flatten)]
    api: ApiFlags,
    /// Read the git repositories below DIR, without a server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["server", "index"])]
    repos: Option<PathBuf>,
}

pub(super) fn commit(arguments: &CommitArguments) -> Result<Exit> {
    let CommitArguments { source, repo, rev } = arguments;
    let Some(directory) = &source.repos else {
        let mut printer = ApiPrinter::new(&source.api)?;
        let parameters = [("repo", repo.as_bytes()), ("rev", rev.as_bytes())];
        let commit: Commit = printer.get("/api/v2/commit", &parameters)?;
        printer.print(|out| print_commit(&commit, out))?;
        printer.finish()?;
        return Ok(Exit::Success);
    };
    let revision = rev.clone();
    let found = match look_up(directory, repo, LookupOf::Commit { revision })? {
        LookupAnswer::Commit(found) => Commit::new(repo, rev, &found),
        other => return Err(unexpected(&other)),
    };
    show(&source.api, &found, |out| print_commit(&found, out))
}

pub(super) fn log(arguments: &LogArguments) -> Result<Exit> {
    let LogArguments {
        source,
        repo,
        rev,
        path,
        count,
    } = arguments;
    let print = |log: &CommitLog, out: &mut dyn Write| {
        let mut commits = log.commits.iter();
        commits.try_for_each(|commit| print_line(commit, out))
    };
    let Some(directory) = &source.repos else {
        let mut printer = ApiPrinter::new(&source.api)?;
        let count = count.to_string();
        let parameters = [
            ("repo", repo.as_bytes()),
            ("rev", rev.as_bytes()),
            ("path", path.as_bytes()),
            ("count", count.as_bytes()),
        ];
        let log: CommitLog = printer.get("/api/v2/log", &parameters)?;
        printer.print(|out| print(&log, out))?;
        printer.finish()?;
        return Ok(Exit::Success);
    };
    let of = LookupOf::Log {
        revision: rev.clone(),
        path: path.clone().into_bytes(),
        after: Vec::new(),
        count: *count,
    };
    let found = match look_up(directory, repo, of)? {
        LookupAnswer::Log(found) => found,
        other => return Err(unexpected(&other)),
    };
    let commits = found.commits.iter();
    let log = CommitLog {
        repo: repo.clone(),
        rev: rev.clone(),
        commits: commits
            .map(|commit| Commit::new(repo, &commit.id, commit))
            .collect(),
        next: None,
    };
    show(&source.api, &log, |out| print(&log, out))
}

pub(super) fn refs(arguments: &RefsArguments) -> Result<Exit> {
    let RefsArguments { source, repo } = arguments;
    let Some(directory) = &source.repos else {
        let mut printer = ApiPrinter::new(&source.api)?;
        let parameters = [("repo", repo.as_bytes())];
        printer.get_all("/api/v2/refs", &parameters, |printer, part: Refs| {
            printer.print(|out| print_refs(&part.refs, out))?;
            Ok(part.next)
        })?;
        printer.finish()?;
        return Ok(Exit::Success);
    };
    let mut refs = Refs {
        repo: repo.clone(),
        refs: Vec::new(),
        next: None,
    };
    let mut after = Vec::new();
    loop {
        let of = LookupOf::References {
            after,
            count: REFS_PART,
        };
        let LookupAnswer::References(list) = look_up(directory, repo, of)? else {
            return Err(anyhow!("the repository did not list its references"));
        };
        refs.refs.extend(list.references.iter().map(Ref::from));
        match list.references.last().filter(|_| list.more) {
            Some(last) => after = last.name.clone(),
            None => break,
        }
    }
    show(&source.api, &refs, |out| print_refs(&refs.refs, out))
}

fn look_up(directory: &Path, repo: &str, of: LookupOf) -> Result<LookupAnswer> {
    let repositories = GitRepositories::open(directory)
        .with_context(|| format!("--repos {} cannot be used", directory.display()))?;
    let repository = repo.to_owned();
    match repositories.look_up(&Lookup { repository, of }) {
        LookupAnswer::Problem(problem) => Err(refused(repo, &problem)),
        answer => Ok(answer),
    }
}

fn refused(repo: &str, problem: &LookupProblem) -> anyhow::Error {
    let LookupProblem {
        kind,
        reason,
        candidates,
    } = problem;
    let what = match kind {
        LookupProblemKind::UnknownRepository => format!("there is no repository {repo}"),
        LookupProblemKind::UnknownRevision => format!("{repo} has no such revision"),
        LookupProblemKind::Ambiguous => format!("the revision names several commits of {repo}"),
        LookupProblemKind::Refused => "this revision is not answered".to_owned(),
        LookupProblemKind::Unreadable => format!("{repo} cannot be read"),
        LookupProblemKind::Late => format!("{repo} did not answer in time"),
    };
    let why = if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    };
    let similar = match &candidates[..] {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    anyhow!("{}", escaped(&format!("{what}{why}{similar}")))
}

fn unexpected(answer: &LookupAnswer) -> anyhow::Error {
    anyhow!("the repository answered something else: {answer:?}")
}

fn show<T: serde::Serialize>(
    flags: &ApiFlags,
    answer: &T,
    words: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit> {
    if flags.json() {
        terminal::print_json(answer)?;
        return Ok(Exit::Success);
    }
    let mut out = io::stdout().lock();
    words(&mut out)?;
    out.flush()?;
    Ok(Exit::Success)
}

/// Prints a commit as `git log` does.
fn print_commit(commit: &Commit, out: &mut dyn Write) -> io::Result<()> {
    let tags = match &commit.tags[..] {
        [] => String::new(),
        tags => format!(" (tag: {})", tags.join(", tag: ")),
    };
    writeln!(out, "commit {}{}", escaped(&commit.id), escaped(&tags))?;
    if commit.parents.len() > 1 {
        writeln!(out, "Merge: {}", escaped(&commit.parents.join(" ")))?;
    }
    print_person("Author", &commit.author, out)?;
    if commit.committer != commit.author {
        print_person("Commit", &commit.committer, out)?;
    }
    writeln!(out, "\n    {}", escaped(&commit.subject))?;
    if !commit.body.is_empty() {
        writeln!(out)?;
    }
    for line in commit.body.lines() {
        writeln!(out, "    {}", escaped(line))?;
    }
    Ok(())
}

fn print_person(role: &str, person: &Person, out: &mut dyn Write) -> io::Result<()> {
    let Person {
        name, email, date, ..
    } = person;
    let date = date.as_deref().unwrap_or("at an unknown time");
    writeln!(
        out,
        "{role}: {} <{}>, {date}",
        escaped(name),
        escaped(email)
    )
}

fn print_line(commit: &Commit, out: &mut dyn Write) -> io::Result<()> {
    let id: String = commit.id.chars().take(SHORT_ID).collect();
    let date = commit.committer.date.as_deref().unwrap_or_default();
    let day = date.split('T').next().unwrap_or_default();
    writeln!(out, "{} {day} {}", escaped(&id), escaped(&commit.subject))
}

fn print_refs(refs: &[Ref], out: &mut dyn Write) -> io::Result<()> {
    for reference in refs {
        let indexed = if reference.indexed { "\tindexed" } else { "" };
        writeln!(
            out,
            "{}\t{}{indexed}",
            escaped(&reference.name),
            reference.id
        )?;
    }
    Ok(())
}
