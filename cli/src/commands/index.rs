//! `trawl index`: builds an index of directories, or updates it.

mod popularity;
mod progress;

use crate::{terminal, units};
use anyhow::{Context, Result, bail};
use index::block::BLOCK_BYTES_RANGE;
use index::corpus::{self, Source};
use index::indexing::{
    self, BuildOptions, Changes, MEMORY_BYTES_MIN, Outcome, Progress, ReadStats, Report,
};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Build an index of directories, or update it
///
/// Each SOURCE is a package, named after its directory; with --each, every directory inside SOURCE is
/// a package. Every regular file is indexed, except: .git; files that .gitignore or .git/info/exclude
/// excludes in a git work tree; binary files (a NUL byte in the first 8,000 bytes); and files that
/// cannot be read. Symbolic links are not followed. A summary at the end counts the files left out;
/// `trawl inspect DIR --skipped` lists them.
///
/// If the index exists, only new and changed packages are read. A package replaces other versions of
/// itself. Packages that are not given stay in the index, unless --prune or --remove drops them. The
/// old index stays in use until the new one is complete, also if the build is interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl index --out I ~/src/linux          build, or update what has changed
  trawl index --out I --each --no-ignore /srv/debian-sources
  trawl index --out I --each --prune /srv/debian-sources
  trawl index --out I --remove i3-wm --remove sed_4.9")]
pub(crate) struct IndexArguments {
    /// The index directory; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Drop a package, by the name of its directory; without the version, all versions
    #[arg(long, value_name = "NAME")]
    remove: Vec<OsString>,
    /// Drop all packages that are not among the SOURCEs
    #[arg(long, requires = "sources")]
    prune: bool,
    #[command(flatten)]
    build: BuildFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE", required_unless_present = "remove")]
    sources: Vec<PathBuf>,
}

/// How to build an index. `serve` has the same flags.
#[derive(clap::Args, Default, PartialEq)]
pub(super) struct BuildFlags {
    /// Every directory inside SOURCE is a package
    #[arg(long)]
    pub(super) each: bool,
    /// Index files that git ignores, too
    #[arg(long)]
    no_ignore: bool,
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
    /// Popularity of packages, in JSON: {"name": {"inst": 0.1, "rdep": 0.9}}
    #[arg(long, value_name = "FILE")]
    package_ranks: Option<PathBuf>,
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
        options.options.no_ignore = self.no_ignore;
        options.options.block_bytes = self.block_size.unwrap_or(options.options.block_bytes);
        Ok(options)
    }
}

pub(super) fn run(arguments: &IndexArguments) -> Result<ExitCode> {
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

/// Updates an index. Shows progress, and prints a summary on standard error.
pub(super) fn update(
    sources: Vec<Source>,
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<()> {
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let report = {
        let _shown = progress::show(Arc::clone(&progress));
        indexing::update(sources, changes, out, options, &progress)?
    };
    terminal::report(summary(&report, out, started.elapsed()));
    Ok(())
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
        let out = out.display();
        return format!("the index in {out} is up to date, nothing was read ({packages}, {index})");
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
    format!("{line}; {index}; {}", what_was_left_out(read, out))
}

fn what_was_read(read: &ReadStats, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = units::size((read.text_bytes as f64 / seconds) as u64);
    format!(
        "indexed {} of {}, {} of text, in {seconds:.1} s ({rate}/s)",
        units::plural(read.documents, "file"),
        units::plural(read.packages, "package"),
        units::size(read.text_bytes),
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
        .map(|(reason, &count)| format!("{} {reason}", units::count(count)))
        .collect();
    let (left_out, reasons) = (units::count(left_out), reasons.join(", "));
    let list = format!("trawl inspect {} --skipped", out.display());
    format!("left out: {left_out} ({reasons}), listed by `{list}`")
}
