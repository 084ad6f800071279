//! Build flags of `trawl index` and `trawl serve`.

use super::popularity;
use crate::units;
use anyhow::{Context, Result, bail};
use index::ContentCodec;
use index::block::BLOCK_BYTES_RANGE;
use index::corpus::{self, Packages};
use index::indexing::{BuildOptions, MEMORY_BYTES_MIN};
use std::path::PathBuf;

/// Flags of a build. `serve` has the same.
#[derive(clap::Args, Clone, Default, PartialEq)]
pub(crate) struct BuildFlags {
    /// Make every directory inside SOURCE a package
    #[arg(long)]
    pub(crate) each: bool,
    /// Use whole directory names with --each: `foo_1.0` is a package of that name, not a version of
    /// `foo`
    #[arg(long, requires = "each")]
    pub(crate) no_versions: bool,
    /// Index files that git ignores, too
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Threads for the build [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Text in a shard; the next package starts a new shard [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    shard_size: Option<u64>,
    /// Size of a block, the unit of the index [default: 4K]
    ///
    /// Smaller blocks make a larger index and cheaper searches. A change rebuilds the index.
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    block_size: Option<usize>,
    /// Storage format of the texts of new shards [default: as in the newest shard, raw in a new
    /// index]
    ///
    /// zstd takes a third of the space, and searches read it more slowly. Existing shards stay as
    /// they are until they are merged.
    #[arg(long, value_enum, value_name = "CODEC")]
    content: Option<Content>,
    /// Popularity of packages, in JSON: {"name": {"inst": 0.1, "rdep": 0.9}}
    #[arg(long, value_name = "FILE")]
    package_ranks: Option<PathBuf>,
}

/// Storage format of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Content {
    /// Uncompressed
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
    /// Flags that find recorded sources again.
    pub(super) fn of_sources(each: bool, no_ignore: bool, no_versions: bool) -> BuildFlags {
        BuildFlags {
            each,
            no_ignore,
            no_versions,
            ..BuildFlags::default()
        }
    }

    pub(crate) fn is_given(&self) -> bool {
        *self != BuildFlags::default()
    }

    pub(crate) fn packages(&self, paths: &[PathBuf]) -> Result<Packages> {
        let mut packages = corpus::packages(paths, self.each, self.no_ignore)?;
        for source in &mut packages.sources {
            source.is_versioned &= !self.no_versions;
        }
        Ok(packages)
    }

    /// `memory` bounds the build.
    pub(crate) fn options(&self, memory: Option<u64>) -> Result<BuildOptions> {
        let mut options = BuildOptions::default();
        if let Some(memory) = memory {
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
