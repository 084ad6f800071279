//! Page about the server: indexed data and its age, backends, and query times.
//!
//! Times of all callers need full access, since they reveal the amount of data.

use super::filters;
use super::form::Layout;
use crate::http::site::Site;
use crate::model::Status;
use askama::Template;
use frontend::{QueryTimes, SlowQuery};
use std::fs;
use std::time::{Duration, Instant};

/// Less text makes the ratio of memory to text meaningless.
const TELLING_BYTES_MIN: u64 = 100_000_000;

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    layout: Layout,
    status: &'a Status,
    usage: Option<Usage>,
}

struct Usage {
    times: QueryTimes,
    memory: Option<u64>,
    /// Per gigabyte of text.
    memory_by_text: Option<u64>,
}

/// `times` needs full access.
pub(crate) fn page(status: &Status, times: Option<QueryTimes>, site: &Site) -> String {
    let page = StatusPage {
        layout: Layout::of(site),
        status,
        usage: times.map(|times| Usage::new(times, status.bytes)),
    };
    site.render(&page)
}

impl Usage {
    fn new(times: QueryTimes, text_bytes: u64) -> Usage {
        let memory = memory();
        let by_text = |bytes: u64| (bytes as f64 * 1e9 / text_bytes as f64) as u64;
        let told = memory.filter(|_| text_bytes >= TELLING_BYTES_MIN);
        Usage {
            times,
            memory,
            memory_by_text: told.map(by_text),
        }
    }
}

/// Private memory, if the system reports it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// `12 ms`
fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1000.0 {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

fn ago(query: &SlowQuery) -> u64 {
    Instant::now()
        .saturating_duration_since(query.ended)
        .as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_or_three_digits() {
        for (us, expected) in [(1234, "1.2 ms"), (56_789, "57 ms"), (12_345_678, "12.3 s")] {
            assert_eq!(shown(Duration::from_micros(us)), expected);
        }
    }
}
