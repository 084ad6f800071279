//! What a frontend may take of the machine: the flags that `serve` and `frontend` share.

use crate::size;
use frontend::Config;
use std::path::Path;
use std::time::Duration;

/// Bounds of a frontend.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Limits {
    /// Bytes that the spool may take on the disk
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "10G")]
    spool_bytes: u64,
    /// Memory for the matches of one query, 32 bytes each
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "64M")]
    query_memory: u64,
    /// Queries that cost much and run at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    running: u16,
    /// Queries that cost much and wait for their turn; more are refused
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(0..=200))]
    queued: u16,
    /// The most time that a client may ask for with `timeout=`
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "300")]
    timeout_max: Duration,
    /// Log queries that take at least so long
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "1")]
    slow_query: Duration,
}

/// A time in seconds, such as `2` or `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "not a time".to_owned())
}

impl Limits {
    /// The set-up of a frontend with these bounds and this memory for all running queries, over a
    /// spool directory.
    pub(crate) fn config(&self, spool: &Path, memory: u64) -> Config {
        Config {
            spool_bytes_max: self.spool_bytes,
            memory_bytes: memory,
            query_memory_bytes: self.query_memory,
            running_max: self.running.into(),
            queued_max: self.queued.into(),
            timeout_max: self.timeout_max,
            slow_query: self.slow_query,
            ..Config::new(spool)
        }
    }
}
