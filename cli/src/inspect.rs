//! `trawl inspect`: what is in an index, and what it has to say about a trigram, a document or a
//! query.
//!
//! It looks at the index alone: nothing here verifies a candidate or reads a source.

mod document;
mod plan;
mod trigram;

use crate::size;
use crate::terminal::{self, harmless};
use anyhow::Result;
use index::directory::Index;
use index::format::Section;
use index::shard::Shard;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what is in an index
///
/// Exit status: 0 when there was something to show, 1 when no shard knows the trigram or the
/// document, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl inspect I                         shards, sections and their sizes
  trawl inspect I --skipped               files that were left out, and why
  trawl inspect I --packages              packages, best first, with their documents
  trawl inspect I --document sed_4.9/sed/sed.c
  trawl inspect I --trigram 'an;'         which blocks hold these three bytes
  trawl inspect I --trigram '\\xef\\xbb\\xbf'
  trawl inspect I --plan 'errno == EINTR' which trigrams a search looks up, rarest first
  trawl inspect I --mode regexp --plan 'fopen\\(.*\"r\"'")]
pub(crate) struct Arguments {
    /// The index directory
    #[arg(value_name = "DIR")]
    index: PathBuf,
    #[command(flatten)]
    what: What,
    /// How PATTERN is read: as it is, or as a regular expression
    #[arg(long, value_enum, default_value_t = Mode::Literal, requires = "plan")]
    mode: Mode,
    /// Plan for a search that ignores case
    #[arg(short, long, requires = "plan")]
    ignore_case: bool,
    /// How much of a long list to show
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with_all = WITHOUT_LIMIT)]
    limit: usize,
}

/// How the pattern of a plan is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Every character stands for itself
    Literal,
    /// A regular expression
    Regexp,
}

/// What of an index is shown; without any of it, its shards and their sections.
#[derive(clap::Args)]
#[group(multiple = false)]
struct What {
    /// List what was left out: package/path, a tab, the reason
    #[arg(long)]
    skipped: bool,
    /// List the packages: documents, a tab, the name
    #[arg(long)]
    packages: bool,
    /// Check every byte of every shard
    #[arg(long)]
    verify: bool,
    /// Show what is known of a document
    #[arg(long, value_name = "PACKAGE/PATH")]
    document: Option<OsString>,
    /// Show the blocks that hold a trigram: three bytes, \xNN and the like for what is hard to type
    #[arg(long, value_name = "BYTES")]
    trigram: Option<OsString>,
    /// Show which trigrams a search looks up, and how many candidates they leave
    #[arg(long, value_name = "PATTERN")]
    plan: Option<String>,
}

/// What is shown whole, or has nothing that is long.
const WITHOUT_LIMIT: [&str; 4] = ["skipped", "packages", "verify", "document"];

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let index = Index::open(&arguments.index)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let code = show(&index, arguments, &mut out)?;
    index.shards.iter().try_for_each(|shard| shard.intact())?;
    out.flush()?;
    Ok(code)
}

fn show(index: &Index, arguments: &Arguments, out: &mut impl Write) -> Result<ExitCode> {
    let What {
        skipped,
        packages,
        verify,
        document,
        trigram,
        plan,
    } = &arguments.what;
    if let Some(name) = document {
        return document::show(index, name, out);
    }
    if let Some(bytes) = trigram {
        return trigram::show(index, bytes, arguments.limit, out);
    }
    if let Some(pattern) = plan {
        return plan::show(index, pattern, arguments, out);
    }
    for shard in &index.shards {
        if *skipped {
            list_skipped(shard, out)?;
        } else if *packages {
            list_packages(shard, out)?;
        } else {
            summarize(shard, out)?;
        }
        if *verify {
            shard.verify()?;
            writeln!(out, "  every checksum is right")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how many rows of a list were not shown.
fn say_rest(rows: usize, limit: usize, indent: usize, out: &mut impl Write) -> Result<()> {
    if rows > limit {
        let rest = size::count((rows - limit) as u64);
        writeln!(
            out,
            "{:indent$}and {rest} more; --limit {rows} shows them",
            ""
        )?;
    }
    Ok(())
}

fn list_skipped(shard: &Shard, out: &mut impl Write) -> Result<()> {
    for file in shard.skipped()? {
        let package = harmless(shard.package(file.package)?.directory).into_owned();
        let (path, reason) = (harmless(&file.path), harmless(file.reason.as_bytes()));
        writeln!(out, "{package}/{path}\t{reason}")?;
    }
    Ok(())
}

fn list_packages(shard: &Shard, out: &mut impl Write) -> Result<()> {
    for package in shard.live_packages() {
        let package = shard.package(package)?;
        let documents = package.documents.end - package.documents.start;
        writeln!(out, "{documents}\t{}", harmless(package.directory))?;
    }
    Ok(())
}

fn summarize(shard: &Shard, out: &mut impl Write) -> Result<()> {
    let (live, text) = (shard.live_counts(), shard.text_bytes().max(1) as f64);
    writeln!(out, "{}", shard.path().display())?;
    writeln!(
        out,
        "  {}, {}, {}, {} of text, {}",
        terminal::plural(live.packages.into(), "package"),
        terminal::plural(live.documents.into(), "document"),
        terminal::plural(live.blocks.into(), "block"),
        size::show(live.text_bytes),
        terminal::plural(shard.trigram_count(), "trigram"),
    )?;
    let dead = shard.dead().len() as u64;
    if dead > 0 {
        let dead_text = size::show(shard.text_bytes().saturating_sub(live.text_bytes));
        let dead = terminal::plural(dead, "package");
        writeln!(
            out,
            "  not counted: {dead} replaced or removed, {dead_text} of text"
        )?;
    }
    for section in Section::ALL {
        let bytes = shard.section_bytes(section);
        let name = format!("{section:?}").to_lowercase();
        writeln!(
            out,
            "  {name:<12}{:>12}{:>8.4} x text",
            size::show(bytes),
            bytes as f64 / text
        )?;
    }
    let bytes = shard.file_bytes();
    writeln!(
        out,
        "  {:<12}{:>12}{:>8.4} x text",
        "file",
        size::show(bytes),
        bytes as f64 / text
    )?;
    Ok(())
}
