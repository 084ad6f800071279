//! `trawl index`: builds an index of directories.

mod progress;

use crate::{size, terminal};
use anyhow::{Context, Result, bail};
use index::corpus::{self, Source};
use index::indexing::{self, BuildOptions, MEMORY_BYTES_MIN, Popularity, Progress, Report};
use progress::Watch;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Build an index of directories
///
/// Each SOURCE is a package, named as its directory; with --each, every directory inside SOURCE is
/// one. Every regular file is searchable, except: .git; in a git work tree what .gitignore and
/// .git/info/exclude exclude; binary files (a NUL byte in the first 8,000); and what cannot be
/// read. Symbolic links are not followed. What was left out is counted at the end, and
/// `trawl inspect DIR --skipped` lists it. An index that is there is replaced when the new one is
/// complete, and stays as it is when the building is interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl index --out I ~/src/linux
  trawl index --out I --each --no-ignore /srv/debian-sources")]
pub(crate) struct Arguments {
    /// The index directory; it is created
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    build: BuildArguments,
    /// Directories of source
    #[arg(value_name = "SOURCE", required = true)]
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
    /// About how much memory to use
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "512M")]
    memory: u64,
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Text after which the next package goes to another shard
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "4G")]
    shard_size: u64,
    /// Popularity of packages: JSON, {"name": {"inst": 0.1, "rdep": 0.9}}
    #[arg(long, value_name = "FILE")]
    package_ranks: Option<PathBuf>,
}

impl BuildArguments {
    pub(crate) fn options(&self) -> Result<BuildOptions> {
        if self.memory < MEMORY_BYTES_MIN as u64 {
            let least = size::show(MEMORY_BYTES_MIN as u64);
            bail!("--memory {}: at least {least} are needed", self.memory);
        }
        let mut options = BuildOptions {
            memory_bytes: usize::try_from(self.memory).unwrap_or(usize::MAX),
            shard_bytes: self.shard_size,
            ..BuildOptions::default()
        };
        options.options.no_ignore = self.no_ignore;
        if let Some(jobs) = self.jobs {
            options.jobs = usize::from(jobs);
        }
        if let Some(file) = &self.package_ranks {
            options.popularity = read_popularity(file)?;
        }
        Ok(options)
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranks {
    #[serde(default, alias = "Inst")]
    inst: f32,
    #[serde(default, alias = "Rdep")]
    rdep: f32,
}

fn read_popularity(file: &Path) -> Result<HashMap<Vec<u8>, Popularity>> {
    let text =
        std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let ranks: HashMap<String, Ranks> = serde_json::from_slice(&text)
        .with_context(|| format!("{}: not package ranks", file.display()))?;
    ranks
        .into_iter()
        .map(|(name, Ranks { inst, rdep })| {
            if !(0.0..=1.0).contains(&inst) || !(0.0..=1.0).contains(&rdep) {
                bail!(
                    "{}: {name}: inst and rdep are shares, from 0 to 1",
                    file.display()
                );
            }
            Ok((name.into_bytes(), Popularity { inst, rdep }))
        })
        .collect()
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = arguments.build.options()?;
    let sources = corpus::sources(&arguments.sources, arguments.build.each)?;
    build(sources, &arguments.out, &options)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds, showing how far it is, and says on standard error what came of it.
pub(crate) fn build(sources: Vec<Source>, out: &Path, options: &BuildOptions) -> Result<()> {
    let started = Instant::now();
    let progress = Progress::default();
    let report = std::thread::scope(|scope| {
        let watch = Watch::start(scope, &progress);
        let report = indexing::build(sources, out, options, &progress);
        watch.stop();
        report
    })?;
    eprintln!("{}", closing_line(&report, out, started.elapsed()));
    Ok(())
}

fn closing_line(report: &Report, out: &Path, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = size::show((report.text_bytes as f64 / seconds) as u64);
    let mut line = format!(
        "indexed {} of {}, {} of text, in {seconds:.1} s ({rate}/s); {} in {}",
        terminal::plural(report.documents, "file"),
        terminal::plural(report.packages, "package"),
        size::show(report.text_bytes),
        size::show(report.file_bytes),
        terminal::plural(report.shards, "shard"),
    );
    let left_out: u64 = report.skipped.values().sum();
    if left_out == 0 {
        line.push_str("; nothing was left out");
    } else {
        let reasons: Vec<String> = report
            .skipped
            .iter()
            .map(|(reason, &count)| format!("{} {reason}", size::count(count)))
            .collect();
        let (left_out, reasons) = (size::count(left_out), reasons.join(", "));
        let list = format!("trawl inspect {} --skipped", out.display());
        line.push_str(&format!(
            "; left out: {left_out} ({reasons}), listed by `{list}`"
        ));
    }
    line
}
