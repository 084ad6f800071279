//! What a frontend may take of the machine: the flags that `serve` and `frontend` share.

use crate::size;
use frontend::Config;
use std::path::Path;

/// Bounds of a frontend.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Limits {
    /// Bytes that the spool may take on the disk
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "10G")]
    spool_bytes: u64,
    /// Memory for all running queries; what needs more goes to the spool
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "256M")]
    memory: u64,
    /// Memory for the matches of one query, 32 bytes each
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "64M")]
    query_memory: u64,
    /// Queries that cost much and run at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    running: u16,
    /// Queries that cost much and wait for their turn; more are refused
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(0..=200))]
    queued: u16,
}

impl Limits {
    /// The set-up of a frontend with these bounds, over a spool directory.
    pub(crate) fn config(&self, spool: &Path) -> Config {
        Config {
            spool_bytes_max: self.spool_bytes,
            memory_bytes: self.memory,
            query_memory_bytes: self.query_memory,
            running_max: self.running.into(),
            queued_max: self.queued.into(),
            ..Config::new(spool)
        }
    }
}
