//! Measures successive searches for rare identifiers over connected sockets.
//!
//! usage: cargo bench -p backend --bench rare -- INDEX WORDS [RUNS]
//!
//! WORDS has one identifier per line, all with matches. A run searches each once. Prints the time
//! of the first run, which loads pages, and the median of the others. Without arguments, as under
//! `cargo test`, the index has one small package.

mod support;

use schema::frame::Kind;
use schema::message::End;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use support::{Client, arguments, small_index};

const WORDS: &str = "rare_word\nrarer_word\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments();
    let directory = tempfile::tempdir()?;
    let (index, words) = match (arguments.next(), arguments.next()) {
        (Some(index), Some(words)) => (PathBuf::from(index), std::fs::read_to_string(words)?),
        _ => {
            let common = "common\n".repeat(1000);
            let text = format!("{common}{WORDS}{common}");
            (small_index(directory.path(), &text)?, WORDS.to_owned())
        }
    };
    let runs: usize = arguments.next().map_or(Ok(2), |runs| runs.parse())?;
    let words: Vec<&str> = words.lines().collect();
    let mut bench = Bench {
        client: Client::new(&index)?,
        candidates: Vec::new(),
        matches: 0,
    };
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| bench.search_all(&words))
        .collect::<Result<_, _>>()?;
    let first = times.remove(0);
    times.sort_unstable();
    let other = times.get(times.len() / 2).copied().unwrap_or(first);
    let each = |sum: u64| sum as f64 / (runs * words.len()) as f64;
    println!("{} identifiers, a search each:", words.len());
    for (what, time) in [("first run", first), ("others, median", other)] {
        let time_us = time.as_secs_f64() * 1e6 / words.len() as f64;
        println!("{what:24}{time_us:10.1} us");
    }
    let candidates = &mut bench.candidates;
    candidates.sort_unstable();
    let median = candidates[candidates.len() / 2];
    println!("{:24}{median:10}", "candidate blocks, median");
    println!("{:24}{:10.1}", "mean", each(candidates.iter().sum()));
    println!("{:24}{:10.1}", "lines, mean", each(bench.matches));
    Ok(())
}

struct Bench {
    client: Client,
    candidates: Vec<u64>,
    matches: u64,
}

impl Bench {
    fn search_all(&mut self, words: &[&str]) -> Result<Duration, Box<dyn Error>> {
        let started = Instant::now();
        for word in words {
            self.search(word)?;
        }
        Ok(started.elapsed())
    }

    fn search(&mut self, word: &str) -> Result<(), Box<dyn Error>> {
        let mut request = Vec::new();
        self.client.literal(word).encode(&mut request)?;
        self.client.send(&request)?;
        let mut end = End::default();
        self.client.receive(|kind, payload| {
            if kind == Kind::End {
                end = End::decode(payload)?;
            }
            Ok(())
        })?;
        let found: u64 = end.shards.iter().map(|shard| shard.matches).sum();
        assert!(found > 0, "{word} is in no line");
        self.matches += found;
        let candidates = end.shards.iter().map(|shard| shard.candidates);
        self.candidates.push(candidates.sum());
        Ok(())
    }
}
