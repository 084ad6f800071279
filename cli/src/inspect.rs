//! `trawl inspect`: what is in an index.

use crate::size;
use crate::terminal::{self, harmless};
use anyhow::Result;
use index::directory::Index;
use index::format::Section;
use index::shard::Shard;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what is in an index
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl inspect I                shards, sections and their sizes
  trawl inspect I --skipped      files that were left out, and why
  trawl inspect I --packages     packages, best first, with their documents")]
pub(crate) struct Arguments {
    /// The index directory
    #[arg(value_name = "DIR")]
    index: PathBuf,
    /// List what was left out: package/path, a tab, the reason
    #[arg(long)]
    skipped: bool,
    /// List the packages: documents, a tab, the name
    #[arg(long, conflicts_with = "skipped")]
    packages: bool,
    /// Check every byte of every shard
    #[arg(long, conflicts_with_all = ["skipped", "packages"])]
    verify: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let index = Index::open(&arguments.index)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for shard in &index.shards {
        if arguments.skipped {
            list_skipped(shard, &mut out)?;
        } else if arguments.packages {
            list_packages(shard, &mut out)?;
        } else {
            summarize(shard, &mut out)?;
        }
        shard.intact()?;
        if arguments.verify {
            shard.verify()?;
            writeln!(out, "  every checksum is right")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
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
