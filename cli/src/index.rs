//! `trawl index`: builds an index of directories, or brings it up to date.

mod progress;
mod ranks;

use crate::{size, terminal};
use anyhow::{Context, Result, bail};
use index::block::BLOCK_BYTES_RANGE;
use index::corpus::{self, Source};
use index::document::Popularity;
use index::indexing::{
    self, BuildOptions, Changes, MEMORY_BYTES_MIN, Outcome, Progress, ReadStats, Report,
};
use progress::Watch;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Build an index of directories, or bring it up to date
///
/// Each SOURCE is a package, named as its directory; with --each, every directory inside SOURCE is
/// one. Every regular file is searchable, except: .git; in a git work tree what .gitignore and
/// .git/info/exclude exclude; binary files (a NUL byte in the first 8,000); and what cannot be
/// read. Symbolic links are not followed. What was left out is counted at the end, and
/// `trawl inspect DIR --skipped` lists it.
///
/// Of an index that is there, only packages that have changed are read again, and those that are
/// not there yet. A package whose directory is given in another version replaces the versions that
/// are there; what is not given stays, unless --prune or --remove drops it. Until the new index is
/// complete the old one is searched, also when the building is interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl index --out I ~/src/linux
  trawl index --out I --each --no-ignore /srv/debian-sources
  trawl index --out I ~/src/linux          again: reads it if it has changed
  trawl index --out I --each --prune /srv/debian-sources
  trawl index --out I --remove i3-wm --remove sed_4.9")]
pub(crate) struct Arguments {
    /// The index directory; it is created
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Drop a package: the name of its directory, or without the version for all versions
    #[arg(long, value_name = "NAME")]
    remove: Vec<OsString>,
    /// Drop every package that is not among the SOURCEs
    #[arg(long, requires = "sources")]
    prune: bool,
    #[command(flatten)]
    build: BuildArguments,
    /// Directories of source
    #[arg(value_name = "SOURCE", required_unless_present = "remove")]
    sources: Vec<PathBuf>,
}

/// How to build; `serve` has the same flags.
#[derive(clap::Args)]
pub(crate) struct BuildArguments {
    /// Every directory inside SOURCE is a package
    #[arg(long)]
    pub(crate) each: bool,
    /// Index what git's rules exclude, too
    #[arg(long)]
    no_ignore: bool,
    /// About how much memory to use [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Text after which the next package goes to another shard [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    shard_size: Option<u64>,
    /// Size of a block, the unit of the index: smaller ones make a larger index that leaves less to
    /// verify. An index is built anew when it changes [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    block_size: Option<usize>,
    /// Popularity of packages: JSON, {"name": {"inst": 0.1, "rdep": 0.9}}
    #[arg(long, value_name = "FILE")]
    package_ranks: Option<PathBuf>,
}

fn block_size(text: &str) -> Result<usize, String> {
    let bytes = size::parse(text)?;
    let (least, most) = BLOCK_BYTES_RANGE.into_inner();
    match usize::try_from(bytes) {
        Ok(bytes) if BLOCK_BYTES_RANGE.contains(&bytes) => Ok(bytes),
        _ => Err(format!("a block has {least} to {most} bytes")),
    }
}

impl BuildArguments {
    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        self.each
            || self.no_ignore
            || self.memory.is_some()
            || self.jobs.is_some()
            || self.shard_size.is_some()
            || self.block_size.is_some()
            || self.package_ranks.is_some()
    }

    pub(crate) fn options(&self) -> Result<BuildOptions> {
        let mut options = BuildOptions::default();
        if let Some(memory) = self.memory {
            if memory < MEMORY_BYTES_MIN as u64 {
                let least = size::show(MEMORY_BYTES_MIN as u64);
                bail!("--memory {memory}: at least {least} are needed");
            }
            options.memory_bytes = usize::try_from(memory).unwrap_or(usize::MAX);
        }
        if let Some(shard_bytes) = self.shard_size {
            options.shard_bytes = shard_bytes;
        }
        options.options.no_ignore = self.no_ignore;
        if let Some(block_bytes) = self.block_size {
            options.options.block_bytes = block_bytes;
        }
        if let Some(jobs) = self.jobs {
            options.jobs = usize::from(jobs);
        }
        if let Some(file) = &self.package_ranks {
            options.popularity = read_popularity(file)?;
        }
        Ok(options)
    }
}

fn read_popularity(file: &Path) -> Result<HashMap<Vec<u8>, Popularity>> {
    let read = std::fs::read(file).context("cannot be read");
    let parsed = read.and_then(|text| ranks::parse(&text));
    parsed.with_context(|| file.display().to_string())
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = arguments.build.options()?;
    let sources = corpus::sources(&arguments.sources, arguments.build.each)?;
    let remove = arguments.remove.iter().cloned();
    let changes = Changes {
        remove: remove.map(OsStringExt::into_vec).collect(),
        prune: arguments.prune,
    };
    update(sources, &changes, &arguments.out, &options)?;
    Ok(ExitCode::SUCCESS)
}

/// Brings an index up to date, showing how far that is, and says on standard error what came of it.
pub(crate) fn update(
    sources: Vec<Source>,
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<()> {
    let started = Instant::now();
    let progress = Progress::default();
    let report = std::thread::scope(|scope| {
        let watch = Watch::start(scope, &progress);
        let report = indexing::update(sources, changes, out, options, &progress);
        watch.stop();
        report
    })?;
    eprintln!("{}", closing_line(&report, out, started.elapsed()));
    Ok(())
}

/// What was done, and what the index is now.
fn closing_line(report: &Report, out: &Path, elapsed: Duration) -> String {
    let index = format!(
        "{} in {}",
        size::show(report.file_bytes),
        terminal::plural(report.shards, "shard")
    );
    if report.outcome == Outcome::Unchanged {
        let packages = terminal::plural(report.packages, "package");
        let out = out.display();
        return format!("nothing to do: the index in {out} is up to date ({packages}, {index})");
    }
    let read = &report.read;
    let mut line = String::new();
    if report.outcome == Outcome::Rebuilt {
        line.push_str("the index was built with other options, so all of it was read again\n");
    }
    line.push_str(&what_was_read(read, elapsed));
    if report.outcome != Outcome::Built {
        line.push_str(&format!(
            "; packages: {} read, {} kept, {} dropped, {} merged",
            size::count(read.packages),
            size::count(report.kept),
            size::count(report.dropped),
            size::count(report.merged),
        ));
    }
    format!("{line}; {index}; {}", what_was_left_out(read, out))
}

fn what_was_read(read: &ReadStats, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = size::show((read.text_bytes as f64 / seconds) as u64);
    format!(
        "indexed {} of {}, {} of text, in {seconds:.1} s ({rate}/s)",
        terminal::plural(read.documents, "file"),
        terminal::plural(read.packages, "package"),
        size::show(read.text_bytes),
    )
}

fn what_was_left_out(read: &ReadStats, out: &Path) -> String {
    let left_out: u64 = read.skipped.values().sum();
    if left_out == 0 {
        return "nothing was left out".to_owned();
    }
    let reasons: Vec<String> = read
        .skipped
        .iter()
        .map(|(reason, &count)| format!("{} {reason}", size::count(count)))
        .collect();
    let (left_out, reasons) = (size::count(left_out), reasons.join(", "));
    let list = format!("trawl inspect {} --skipped", out.display());
    format!("left out: {left_out} ({reasons}), listed by `{list}`")
}
