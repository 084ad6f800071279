//! `trawl index`: builds an index of directories, or updates it.

mod git;
mod popularity;
mod progress;
mod publish;
mod recorded;

pub(super) use git::{GitFlags, check_names};
use publish::PublishFlags;

use super::interrupt::InterruptThread;
use super::mirror::FetchFlags;
use crate::{exit, terminal, units};
use anyhow::{Context, Result, bail};
use index::ContentCodec;
use index::block::BLOCK_BYTES_RANGE;
use index::corpus::{self, Packages};
use index::indexing::{
    self, BuildOptions, Changes, MEMORY_BYTES_MIN, Outcome, Progress, ReadStats, Report, Verified,
};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Build an index of directories and git repositories, or update it
///
/// Each SOURCE is a package, named after its directory; with --each, every directory inside SOURCE is
/// a package; what else lies in SOURCE is left out and counted. Every regular file is indexed, except: .git; in a git work
/// tree, files that .gitignore or .git/info/exclude excludes and git does not track; binary files (a NUL byte in the first 8,000 bytes); and files that
/// cannot be read. Symbolic links are not followed. A summary at the end counts the files left out;
/// `trawl inspect DIR --skipped` lists them.
///
/// With --git, a git repository is a package: the files that its default branch has, or the revisions that
/// --ref chooses. They are read from its objects and never checked out; .gitignore does not count. A file
/// that several revisions have is stored once. A SOURCE that is a git work tree is indexed as it is on disk.
///
/// If the index exists, only new and changed packages are read. A package replaces other versions of
/// itself. Packages that are not given stay in the index, unless --prune or --remove drops them. The
/// old index stays in use until the new one is complete, also if the build is interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl index --out I ~/src/linux          build, or update what has changed
  trawl index --out I --each --no-ignore /srv/debian-sources
  trawl index --out I --each --prune /srv/debian-sources
  trawl index --out I --remove i3-wm --remove sed_4.9
  trawl index --out I --verify ~/src/linux  compare every byte, repair what differs
  trawl index --out I --update              read again what the index was built of
  trawl index --out I --git ~/src/linux     what is committed to the default branch
  trawl index --out I --git https://example.org/x.git
  trawl index --out I --git-dir-each /srv/git --ref HEAD --ref 'v*'
  trawl index --out I --store s3://code/index ~/src/linux
                                           and publish it for `trawl backend --store`
  trawl index --out I --store /srv/store --claim --each /srv/sources
                                           share the packages with other machines")]
#[command(group(clap::ArgGroup::new("given").args(["sources", "git", "git_dir_each"]).multiple(true)))]
#[command(group(clap::ArgGroup::new("repositories").args(["git", "git_dir_each", "update"]).multiple(true)))]
pub(crate) struct IndexArguments {
    /// The index directory; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Drop a package, by the name of its directory; without the version, all versions
    #[arg(long, value_name = "NAME")]
    remove: Vec<OsString>,
    /// Drop all packages that are not among the SOURCEs
    #[arg(long, requires = "given")]
    prune: bool,
    /// Bring everything up to date that the index was built of: directories, and repositories with their
    /// --ref patterns. No SOURCE is needed
    #[arg(long, conflicts_with_all = ["given", "each", "no_ignore", "block_size"])]
    update: bool,
    /// Compare the bytes of everything with the index, also of files whose size and times have not
    /// changed, and read again what differs; list it
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    git: GitFlags,
    #[command(flatten)]
    fetch: FetchFlags,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    store: PublishFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE", required_unless_present_any = ["remove", "verify", "git", "git_dir_each", "update", "store"])]
    sources: Vec<PathBuf>,
}

/// How to build an index. `serve` has the same flags.
#[derive(clap::Args, Clone, Default, PartialEq)]
pub(super) struct BuildFlags {
    /// Every directory inside SOURCE is a package
    #[arg(long)]
    pub(super) each: bool,
    /// Index files that git ignores, too
    #[arg(long)]
    pub(super) no_ignore: bool,
    /// Memory for the build, approximately [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,
    /// Threads for the build [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Text in a shard; the next package goes to a new one [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    shard_size: Option<u64>,
    /// Size of a block, the unit of the index: smaller blocks make a larger index and cheaper searches.
    /// A change rebuilds the index [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    block_size: Option<usize>,
    /// How the texts of new shards are stored: zstd takes a third of the place, and searches read it
    /// more slowly. Existing shards stay as they are until they are merged [default: as in the newest shard,
    /// raw in a new index]
    #[arg(long, value_enum, value_name = "CODEC")]
    content: Option<Content>,
    /// Popularity of packages, in JSON: {"name": {"inst": 0.1, "rdep": 0.9}}
    #[arg(long, value_name = "FILE")]
    package_ranks: Option<PathBuf>,
}

/// How texts are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Content {
    /// As they are
    Raw,
    /// Compressed
    Zstd,
}

fn block_size(text: &str) -> Result<usize, String> {
    let bytes = units::parse_size(text)?;
    let (min, max) = BLOCK_BYTES_RANGE.into_inner();
    match usize::try_from(bytes) {
        Ok(bytes) if BLOCK_BYTES_RANGE.contains(&bytes) => Ok(bytes),
        _ => Err(format!("a block must have {min} to {max} bytes")),
    }
}

impl BuildFlags {
    /// Whether any of the flags was given.
    pub(super) fn is_given(&self) -> bool {
        *self != BuildFlags::default()
    }

    /// Returns the packages at `paths`.
    pub(super) fn packages(&self, paths: &[PathBuf]) -> Result<Packages> {
        Ok(corpus::packages(paths, self.each, self.no_ignore)?)
    }

    pub(super) fn options(&self) -> Result<BuildOptions> {
        let mut options = BuildOptions::default();
        if let Some(memory) = self.memory {
            if memory < MEMORY_BYTES_MIN as u64 {
                let min = units::size(MEMORY_BYTES_MIN as u64);
                bail!("--memory {memory}: a build needs at least {min}");
            }
            options.memory_bytes = usize::try_from(memory).unwrap_or(usize::MAX);
        }
        if let Some(file) = &self.package_ranks {
            let text = std::fs::read(file)
                .with_context(|| format!("cannot read the package ranks in {}", file.display()))?;
            let parsed = popularity::parse(&text);
            options.popularity = parsed.with_context(|| file.display().to_string())?;
        }
        options.shard_bytes = self.shard_size.unwrap_or(options.shard_bytes);
        options.jobs = self.jobs.map_or(options.jobs, usize::from);
        options.content = self.content.map(|content| match content {
            Content::Zstd => ContentCodec::Zstd,
            Content::Raw => ContentCodec::Raw,
        });
        options.options.no_ignore = self.no_ignore;
        options.options.block_bytes = self.block_size.unwrap_or(options.options.block_bytes);
        Ok(options)
    }
}

pub(super) fn run(arguments: &IndexArguments) -> Result<ExitCode> {
    let mut options = arguments.build.options()?;
    if arguments.publishes_only() {
        publish::publish(&arguments.store, &arguments.out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.store.claim {
        let packages = arguments.build.packages(&arguments.sources)?;
        publish::share(&arguments.store, &arguments.out, &packages, &|claimed| {
            update(claimed, Changes::default(), &arguments.out, &options).map(drop)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let (packages, given) = if arguments.update {
        let found = recorded::read_again(&arguments.out, &arguments.git, &arguments.fetch)?;
        options.options = found.options;
        (found.packages, found.repositories)
    } else {
        let packages = arguments.build.packages(&arguments.sources)?;
        (packages, arguments.git.fetched(&arguments.fetch)?)
    };
    check_names(&packages.sources, &given.sources)?;
    let work_trees = git::note_on_work_trees(&packages.sources);
    let remove = arguments.remove.iter().cloned();
    let changes = Changes {
        remove: remove.map(OsStringExt::into_vec).collect(),
        prune: arguments.prune,
        verify: arguments.verify,
        repositories: given.sources,
        recorded: recorded::sources(&arguments.sources, arguments.build.each, &arguments.git),
        ..Changes::default()
    };
    let mut problems = given.problems;
    problems.extend(update(packages, changes, &arguments.out, &options)?);
    work_trees.into_iter().for_each(terminal::report);
    for (name, reason) in &problems {
        let (name, reason) = (terminal::escaped(name), terminal::escaped(reason));
        terminal::report(format!("trawl: {name}: {reason}"));
    }
    publish::publish(&arguments.store, &arguments.out)?;
    Ok(exit::complete_or(problems.is_empty(), ExitCode::SUCCESS))
}

impl IndexArguments {
    /// Whether nothing is to be read: the index is published as it is.
    fn publishes_only(&self) -> bool {
        let has_changes =
            !self.remove.is_empty() || self.verify || self.update || self.git.is_given();
        self.store.store.is_some() && self.sources.is_empty() && !has_changes
    }
}

/// Updates an index. Shows progress, and prints a summary on standard error. Returns the repositories that
/// could not be read, with the reason.
pub(super) fn update(
    packages: Packages,
    changes: Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<Vec<(String, String)>> {
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let notes = notes(&packages, out)?;
    let changes = Changes {
        parents: packages.parents,
        beside: packages.beside,
        ..changes
    };
    let report = {
        let _shown = progress::show(Arc::clone(&progress));
        let (abandoned, building) = (out.to_owned(), Arc::clone(&progress));
        let _interrupt = InterruptThread::start(move || abandon(&abandoned, &building));
        indexing::update(packages.sources, &changes, out, options, &progress)?
    };
    notes.into_iter().for_each(terminal::report);
    if let Some(verified) = &report.verified {
        terminal::report(what_was_verified(verified));
    }
    terminal::report(summary(&report, out, started.elapsed()));
    Ok(report.problems)
}

/// Ends the process: says what remains, and removes what was written so far.
fn abandon(out: &Path, progress: &Progress) -> ! {
    let shown = out.display();
    terminal::report(match indexing::abandon(out, progress) {
        Ok(true) => format!("interrupted: the index in {shown} is whole, without these changes"),
        Ok(false) => format!("interrupted: no index was built, and nothing is left in {shown}"),
        Err(error) => format!(
            "interrupted: {shown} could not be cleaned up: {error}; the next `trawl index` does it"
        ),
    });
    std::process::exit(exit::INTERRUPTED)
}

/// What people should know about the sources. It is an error if the index would be its own source.
fn notes(packages: &Packages, out: &Path) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let out = out.canonicalize().unwrap_or(out);
    let directories = packages.sources.iter().map(|source| &source.directory);
    for directory in directories.clone().chain(&packages.parents) {
        let shown = directory.display();
        if *directory == out {
            bail!("{shown}: this is a source, so the index cannot be here; choose another --out");
        }
        if out.starts_with(directory) {
            let out = out.display();
            notes.push(format!(
                "the index in {out} is inside {shown}: its files are not searched"
            ));
        }
    }
    for directory in directories.filter(|directory| is_bare_repository(directory)) {
        let shown = directory.display();
        notes.push(format!(
            "{shown} is a bare git repository: this indexes git's own files, not the source in it; \
             `--git {shown}` indexes what its revisions have"
        ));
    }
    Ok(notes)
}

fn is_bare_repository(directory: &Path) -> bool {
    let holds = |name| directory.join(name).is_dir();
    directory.join("HEAD").is_file() && holds("objects") && holds("refs")
}

/// What a comparison with the sources has found, a line for each file that differs.
fn what_was_verified(verified: &Verified) -> String {
    let mut text = String::new();
    for name in &verified.differing_listed {
        let name = terminal::escaped(name);
        text.push_str(&format!("differs from the index: {name}\n"));
    }
    let more = verified.differing - verified.differing_listed.len() as u64;
    if more > 0 {
        text.push_str(&format!("... and {} more\n", units::count(more)));
    }
    let files = units::plural(verified.files, "unchanged file");
    text.push_str(&match (verified.differing, verified.damaged_shards) {
        (0, 0) => format!("verified {files} and all checksums: nothing differs"),
        (differing, damaged) => format!(
            "verified {files}: {} and {}, read again",
            units::plural(differing, "difference"),
            units::plural(damaged, "damaged shard"),
        ),
    });
    text
}

/// What the build did, and the size of the index.
fn summary(report: &Report, out: &Path, elapsed: Duration) -> String {
    let index = format!(
        "{} in {}",
        units::size(report.file_bytes),
        units::plural(report.shards, "shard")
    );
    if report.outcome == Outcome::Unchanged {
        let packages = units::plural(report.packages, "package");
        let left_out = if report.beside.is_empty() {
            String::new()
        } else {
            format!("; {}", what_was_left_out(report, out))
        };
        let out = out.display();
        return format!(
            "the index in {out} is up to date, nothing was read ({packages}, {index}){left_out}"
        );
    }
    let read = &report.read;
    let mut line = String::new();
    if report.outcome == Outcome::Rebuilt {
        line.push_str(
            "the index had been built with other options, so everything was read again\n",
        );
    }
    line.push_str(&what_was_read(read, elapsed));
    if report.outcome != Outcome::Built {
        line.push_str(&format!(
            "; packages: {} read, {} kept, {} dropped, {} merged",
            units::count(read.packages),
            units::count(report.kept),
            units::count(report.dropped),
            units::count(report.merged),
        ));
    }
    format!("{line}; {index}; {}", what_was_left_out(report, out))
}

fn what_was_read(read: &ReadStats, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = units::size((read.text_bytes as f64 / seconds) as u64);
    format!(
        "indexed {} of {}, {} of text ({} unique), in {seconds:.1} s ({rate}/s)",
        units::plural(read.documents, "file"),
        units::plural(read.packages, "package"),
        units::size(read.text_bytes),
        units::size(read.unique_bytes),
    )
}

/// Counts what was left out of the packages that were read, and beside all packages.
fn what_was_left_out(report: &Report, out: &Path) -> String {
    let mut counts = report.read.skipped.clone();
    for (reason, count) in &report.beside {
        *counts.entry(reason.clone()).or_default() += count;
    }
    let left_out: u64 = counts.values().sum();
    if left_out == 0 {
        return "nothing was left out".to_owned();
    }
    let reasons: Vec<String> = counts
        .iter()
        .map(|(reason, &count)| format!("{} {reason}", units::count(count)))
        .collect();
    let (left_out, reasons) = (units::count(left_out), reasons.join(", "));
    let list = format!("trawl inspect {} --skipped", out.display());
    format!("left out: {left_out} ({reasons}), listed by `{list}`")
}
