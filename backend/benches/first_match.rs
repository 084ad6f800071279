//! Measures the time to the first match, and to the end.
//!
//! Searches over connected sockets. The clock starts before SEARCH is written and stops at the
//! first complete BATCH. The stream is read to END, which must have the counts and hash of the
//! matches.
//!
//! usage: cargo bench -p backend --bench first_match -- INDEX [RUNS]
//!
//! Without INDEX, as under `cargo test`, the index has one small package.

mod support;

use schema::frame::Kind;
use schema::message::{BatchReader, End, Search, ShardEnd, Want};
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use support::{Client, arguments, small_index};

const QUERIES: [&str; 4] = ["arse", "return", "printf", "e"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments();
    let directory = tempfile::tempdir()?;
    let (index, runs) = match arguments.next() {
        Some(index) => (
            PathBuf::from(index),
            arguments.next().map_or(Ok(9), |runs| runs.parse())?,
        ),
        None => {
            let text = "return parse(printf);\n".repeat(1000);
            (small_index(directory.path(), &text)?, 1)
        }
    };
    let mut client = Client::new(&index)?;
    println!(
        "{:12}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "query", "first ms", "least", "most", "all ms", "best 10", "documents", "count"
    );
    for query in QUERIES {
        // Loads pages into memory.
        search(&mut client, query, Want::Matches, 0)?;
        let mut time = |want, limit| -> Result<Vec<Timing>, Box<dyn Error>> {
            let mut timings: Vec<Timing> = (0..runs)
                .map(|_| search(&mut client, query, want, limit))
                .collect::<Result<_, _>>()?;
            timings.sort_by_key(|timing| timing.all);
            Ok(timings)
        };
        let mut timings = time(Want::Matches, 0)?;
        let all = milliseconds(timings[runs / 2].all);
        timings.sort_by_key(|timing| timing.first);
        let first = |index: usize| timings[index].first.map_or(0.0, milliseconds);
        let (least, median, most) = (first(0), first(runs / 2), first(runs - 1));
        print!("{query:12}{median:12.3}{least:10.3}{most:10.3}{all:10.3}");
        for (want, limit) in [(Want::Matches, 10), (Want::Documents, 0), (Want::Count, 0)] {
            print!("{:10.3}", milliseconds(time(want, limit)?[runs / 2].all));
        }
        println!();
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

struct Timing {
    /// `None` for a count.
    first: Option<Duration>,
    all: Duration,
}

fn search(
    client: &mut Client,
    text: &str,
    want: Want,
    limit: u64,
) -> Result<Timing, Box<dyn Error>> {
    let search = Search {
        want,
        limit,
        ..client.literal(text)
    };
    let mut request = Vec::new();
    search.encode(&mut request)?;
    let started = Instant::now();
    client.send(&request)?;
    let (mut first, mut all) = (None, Duration::ZERO);
    let mut found = vec![ShardEnd::default(); client.shards.len()];
    client.receive(|kind, payload| {
        if kind == Kind::Batch {
            first.get_or_insert_with(|| started.elapsed());
            return count(payload, &mut found);
        }
        all = started.elapsed();
        check(&End::decode(payload)?, &found);
        Ok(())
    })?;
    Ok(Timing { first, all })
}

/// Counts and hashes matches as END does.
fn count(payload: &[u8], found: &mut [ShardEnd]) -> Result<(), Box<dyn Error>> {
    let reader = BatchReader::new(payload)?;
    let view = reader.view()?;
    let shard = &mut found[view.shard as usize];
    for line in view.lines().filter(|line| line.is_match()) {
        shard.matches += 1;
        shard.hash = ShardEnd::key_hash(shard.hash, view.document, line.number);
    }
    Ok(())
}

fn check(end: &End, found: &[ShardEnd]) {
    assert_eq!(end.shards.len(), found.len());
    for shard in &end.shards {
        let found = &found[shard.shard as usize];
        assert_eq!((shard.matches, shard.hash), (found.matches, found.hash));
        assert_eq!(shard.failure, "");
        assert!(shard.found > 0, "every query matches");
    }
}
