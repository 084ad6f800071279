//! `trawl mirror`: clones and updates git repositories.

use super::listener::on_interrupt;
use crate::exit::Exit;
use crate::mirror::{
    self, ChildError, MirrorDirectory, MirrorOptions, MirrorProgress, MirrorResult, Mirrored,
    Remote, Scheme,
};
use crate::progress::{self, ProgressThread};
use crate::terminal::{self, escaped};
use crate::{cache_dir, units};
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const NAMES_SHOWN: usize = 3;

const CREDENTIALS_BYTES_MAX: u64 = 1 << 20;

/// Clone git repositories, or update the clones
///
/// Each clone is a bare repository, DIR/NAME.git, with the branches and tags of its server. Another
/// run fetches changes. A repository that fails does not stop the others. Git runs without any
/// configuration, hooks, prompts or redirects.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl mirror --to mirrors https://example.org/tools/x.git
  trawl mirror --to mirrors --list repositories.txt --jobs 8
  trawl mirror --to mirrors --allow-scheme file file:///srv/git/x.git

A list:
  # a URL, and after a space an optional name
  https://example.org/tools/x.git
  https://example.net/x.git other/x

Exit status: 0 success, 2 error or no repository was fetched, 3 some were not fetched.")]
pub(crate) struct MirrorArguments {
    /// Directory of the mirrors; created if needed
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Fetch the repositories listed in FILE, too
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Repositories to fetch at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Fetch all references, not only branches and tags
    ///
    /// They include references of proposed changes, which on some servers any user can write.
    #[arg(long)]
    all_refs: bool,
    /// Give up repositories that are larger
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    #[command(flatten)]
    flags: FetchFlags,
    /// Repositories to fetch
    #[arg(value_name = "URL", required_unless_present = "list")]
    urls: Vec<String>,
}

const FETCHING: &str = "Fetching repositories";

/// Sources and limits of fetching.
#[derive(clap::Args)]
pub(super) struct FetchFlags {
    /// Fetch by this scheme, too; https is always allowed
    #[arg(long, help_heading = FETCHING, value_name = "SCHEME", value_enum)]
    allow_scheme: Vec<Scheme>,
    /// Fetch from addresses of this machine and of private networks, too
    #[arg(long, help_heading = FETCHING)]
    allow_private: bool,
    /// File of passwords and tokens, a line for each server: https://USER:TOKEN@HOST. Only its
    /// owner may have access to it
    #[arg(long, help_heading = FETCHING, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Trust the CAs in FILE (PEM) instead of those of the system
    #[arg(long, help_heading = FETCHING, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Give up a repository after this many seconds
    #[arg(long, help_heading = FETCHING, value_name = "SECS", default_value_t = 1800, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: u64,
    /// Number of retries after failures that may be temporary, such as a refused connection
    #[arg(long, help_heading = FETCHING, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=10))]
    retries: u32,
}

impl FetchFlags {
    pub(super) fn schemes(&self) -> Vec<Scheme> {
        [&[Scheme::Https], &self.allow_scheme[..]].concat()
    }

    pub(super) fn options(&self) -> Result<MirrorOptions> {
        Ok(MirrorOptions {
            allow_private: self.allow_private,
            all_references: false,
            credentials: self.credentials.as_deref().map(private_file).transpose()?,
            ca: self.ca.as_deref().map(readable_file).transpose()?,
            timeout: Duration::from_secs(self.timeout),
            bytes_max: None,
            retries: self.retries,
            jobs: 1,
        })
    }
}

/// Requires that only the owner can read the file.
fn private_file(path: &Path) -> Result<PathBuf> {
    cache_dir::read_small(path, "the credentials in", CREDENTIALS_BYTES_MAX)?;
    let shown = path.display();
    let metadata = std::fs::metadata(path);
    let metadata = metadata.with_context(|| format!("cannot read {shown}"))?;
    ensure!(
        metadata.mode() & 0o077 == 0,
        "{shown}: others can read or write these credentials; change that with `chmod 600 {shown}`"
    );
    readable_file(path)
}

/// Git runs elsewhere, so it needs the full path.
fn readable_file(path: &Path) -> Result<PathBuf> {
    let found = path.canonicalize();
    found.with_context(|| format!("cannot read {}", path.display()))
}

pub(super) fn run(arguments: &MirrorArguments) -> Result<Exit> {
    let schemes = arguments.flags.schemes();
    let remotes = mirror::remotes(&arguments.urls, arguments.list.as_deref(), &schemes)?;
    let options = MirrorOptions {
        all_references: arguments.all_refs,
        bytes_max: arguments.max_size,
        jobs: arguments.jobs.into(),
        ..arguments.flags.options()?
    };
    let results = fetch(&remotes, &options, &arguments.to)?;
    let width = remotes.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for (remote, result) in remotes.iter().zip(&results) {
        terminal::print(format_args!("{:width$}  {}", remote.name, row(result)))?;
    }
    terminal::report(summary(&results, &arguments.to));
    Ok(status(&results))
}

/// Shows a bar on a terminal. A signal ends running fetches.
pub(super) fn fetch(
    remotes: &[Remote],
    options: &MirrorOptions,
    to: &Path,
) -> Result<Vec<MirrorResult>> {
    let directory = MirrorDirectory::open(to)?;
    let progress = Arc::new(MirrorProgress::default());
    let _shown = show(Arc::clone(&progress), remotes.len());
    let signalled = Arc::clone(&progress);
    let _interrupt = on_interrupt(move || signalled.interrupted.store(true, Ordering::Relaxed));
    Ok(directory.mirror(remotes, options, &progress))
}

fn show(mirror: Arc<MirrorProgress>, total: usize) -> Option<ProgressThread> {
    let template = "{bar:30} {pos} of {len} repositories  {msg}  {elapsed}";
    progress::on_terminal(template, move |bar| {
        let running = mirror.running.lock().unwrap_or_else(|it| it.into_inner());
        let names: Vec<&str> = running.iter().take(NAMES_SHOWN).map(|it| &**it).collect();
        let is_cut = running.len() > names.len();
        let more = if is_cut { ", ..." } else { "" };
        let failed = match mirror.failed.load(Ordering::Relaxed) {
            0 => String::new(),
            failed => format!("{failed} failed, "),
        };
        bar.set_length(total as u64);
        bar.set_message(format!("{failed}{}{more}", names.join(", ")));
        bar.set_position(mirror.done.load(Ordering::Relaxed) as u64);
    })
}

fn row(result: &MirrorResult) -> String {
    let seconds = result.elapsed.as_secs_f64();
    let references = |count: usize| units::plural(count as u64, "reference");
    match &result.outcome {
        Ok(Mirrored::Cloned(count)) => {
            format!("cloned      {}, {seconds:.1} s", references(*count))
        }
        Ok(Mirrored::Updated(count)) => {
            format!("updated     {} changed, {seconds:.1} s", references(*count))
        }
        Ok(Mirrored::UpToDate) => format!("up to date  {seconds:.1} s"),
        Err(error) => {
            let attempts = match result.attempts {
                1 => String::new(),
                attempts => format!(" ({attempts} attempts)"),
            };
            format!("failed      {}{attempts}", words(error))
        }
    }
}

pub(super) fn words(error: &anyhow::Error) -> String {
    escaped(&format!("{error:#}").replace('\n', " ")).into_owned()
}

fn failed(results: &[MirrorResult]) -> usize {
    results.iter().filter(|it| it.outcome.is_err()).count()
}

fn summary(results: &[MirrorResult], to: &Path) -> String {
    let count = |is: fn(&Mirrored) -> bool| {
        let outcomes = results.iter().filter_map(|it| it.outcome.as_ref().ok());
        outcomes.filter(|outcome| is(outcome)).count()
    };
    format!(
        "{} in {}: {} cloned, {} updated, {} up to date, {} failed",
        units::plural(results.len() as u64, "repository"),
        to.display(),
        count(|it| matches!(it, Mirrored::Cloned(_))),
        count(|it| matches!(it, Mirrored::Updated(_))),
        count(|it| matches!(it, Mirrored::UpToDate)),
        failed(results),
    )
}

fn status(results: &[MirrorResult]) -> Exit {
    let mut errors = results.iter().filter_map(|it| it.outcome.as_ref().err());
    if errors.any(|it| matches!(it.downcast_ref(), Some(ChildError::Interrupted))) {
        return Exit::Interrupted;
    }
    match failed(results) {
        all if all == results.len() => Exit::Error,
        failed => Exit::Success.if_complete(failed == 0),
    }
}
