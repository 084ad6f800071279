//! `trawl commit`, `log` and `refs`: git data from the HTTP API, or from a directory with
//! `--repos`. Starts no program.

use super::api_printer::{ApiFlags, PER_RESPONSE, short};
use crate::exit::Exit;
use crate::terminal::{self, escaped};
use anyhow::{Context, Result, anyhow, bail};
use backend::LookUp;
use git::Repositories;
use schema::message::{Lookup, LookupAnswer, LookupOf, LookupProblem, LookupProblemKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use web::model::{Commit, CommitLog, Person, Ref, Refs};

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
    #[arg(long, value_name = "PATH")]
    #[arg(default_value = "", hide_default_value = true)]
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
    let parameters = [("repo", repo.as_bytes()), ("rev", rev.as_bytes())];
    let revision = rev.clone();
    let read = |directory: &Path| match look_up(directory, repo, LookupOf::Commit { revision })? {
        LookupAnswer::Commit(found) => Ok(Commit::new(repo, rev, &found)),
        other => Err(unexpected(&other)),
    };
    source.show("/api/v2/commit", &parameters, read, print_commit)
}

pub(super) fn log(arguments: &LogArguments) -> Result<Exit> {
    let (repo, rev, path) = (&arguments.repo, &arguments.rev, &arguments.path);
    let count = arguments.count.to_string();
    let parameters = [
        ("repo", repo.as_bytes()),
        ("rev", rev.as_bytes()),
        ("path", path.as_bytes()),
        ("count", count.as_bytes()),
    ];
    let of = LookupOf::Log {
        revision: rev.clone(),
        path: path.clone().into_bytes(),
        after: Vec::new(),
        count: arguments.count,
    };
    let read = |directory: &Path| match look_up(directory, repo, of)? {
        LookupAnswer::Log(found) => {
            let commits = found.commits.iter();
            let commits = commits.map(|commit| Commit::new(repo, &commit.id, commit));
            Ok(CommitLog {
                repo: repo.clone(),
                rev: rev.clone(),
                commits: commits.collect(),
                next: None,
            })
        }
        other => Err(unexpected(&other)),
    };
    let print = |log: &CommitLog, out: &mut dyn Write| {
        let mut commits = log.commits.iter();
        commits.try_for_each(|commit| {
            let date = commit.committer.date.as_deref().unwrap_or_default();
            let day = date.split('T').next().unwrap_or_default();
            let (id, subject) = (short(&commit.id), escaped(&commit.subject));
            writeln!(out, "{id} {day} {subject}")
        })
    };
    (arguments.source).show("/api/v2/log", &parameters, read, print)
}

pub(super) fn refs(arguments: &RefsArguments) -> Result<Exit> {
    let RefsArguments { source, repo } = arguments;
    let Some(directory) = &source.repos else {
        let parameters = [("repo", repo.as_bytes()), PER_RESPONSE];
        (source.api).show("/api/v2/refs", &parameters, |part: Refs, out| {
            print_refs(&part, out)?;
            Ok(part.next)
        })?;
        return Ok(Exit::Success);
    };
    let mut refs = Refs {
        repo: repo.clone(),
        refs: Vec::new(),
        next: None,
    };
    let (mut after, count) = (Vec::new(), REFS_PART);
    loop {
        let of = LookupOf::References { after, count };
        let LookupAnswer::References(list) = look_up(directory, repo, of)? else {
            bail!("the repository did not list its references");
        };
        refs.refs.extend(list.references.iter().map(Ref::from));
        match list.references.last().filter(|_| list.more) {
            Some(last) => after = last.name.clone(),
            None => break,
        }
    }
    source.show_read(&refs, print_refs)
}

impl Source {
    /// Prints an answer of the API or of the repositories.
    fn show<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        parameters: &[(&str, &[u8])],
        read: impl FnOnce(&Path) -> Result<T>,
        words: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<Exit> {
        if let Some(directory) = &self.repos {
            return self.show_read(&read(directory)?, words);
        }
        (self.api).show(path, parameters, |answer: T, out| {
            words(&answer, out)?;
            Ok(None)
        })?;
        Ok(Exit::Success)
    }

    fn show_read<T: Serialize>(
        &self,
        answer: &T,
        words: impl FnOnce(&T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<Exit> {
        let mut out = io::stdout().lock();
        if self.api.json {
            terminal::print_json(answer)?;
        } else {
            words(answer, &mut out)?;
        }
        out.flush()?;
        Ok(Exit::Success)
    }
}

fn look_up(directory: &Path, repo: &str, of: LookupOf) -> Result<LookupAnswer> {
    let repositories = Repositories::new(directory)
        .with_context(|| format!("--repos {} cannot be used", directory.display()))?;
    let repository = repo.to_owned();
    match repositories.look_up(&Lookup { repository, of }) {
        LookupAnswer::Problem(problem) => Err(refused(repo, &problem)),
        answer => Ok(answer),
    }
}

fn refused(repo: &str, problem: &LookupProblem) -> anyhow::Error {
    let what = match problem.kind {
        LookupProblemKind::UnknownRepository => format!("there is no repository {repo}"),
        LookupProblemKind::UnknownRevision => format!("{repo} has no such revision"),
        LookupProblemKind::Ambiguous => format!("the revision names several commits of {repo}"),
        LookupProblemKind::Refused => "this revision is not answered".to_owned(),
        LookupProblemKind::Unreadable => format!("{repo} cannot be read"),
        LookupProblemKind::Late => format!("{repo} did not answer in time"),
    };
    let why = match &*problem.reason {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let similar = match &problem.candidates[..] {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    anyhow!("{}", escaped(&format!("{what}{why}{similar}")))
}

fn unexpected(answer: &LookupAnswer) -> anyhow::Error {
    anyhow!("the repository answered something else: {answer:?}")
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
    let (name, email) = (escaped(&person.name), escaped(&person.email));
    let date = person.date.as_deref().unwrap_or("at an unknown time");
    writeln!(out, "{role}: {name} <{email}>, {date}")
}

fn print_refs(refs: &Refs, out: &mut dyn Write) -> io::Result<()> {
    for Ref {
        name, id, indexed, ..
    } in &refs.refs
    {
        let indexed = if *indexed { "\tindexed" } else { "" };
        writeln!(out, "{}\t{id}{indexed}", escaped(name))?;
    }
    Ok(())
}
