//! What a small answer costs a backend: identifiers that are nearly nowhere, one search after the
//! other over a connected pair of sockets, as a frontend in the same process asks them.
//!
//! usage: cargo bench -p backend --bench rare -- INDEX WORDS [RUNS]
//!
//! WORDS is a file with an identifier a line, all of which must be found. A run searches each once;
//! of the first, which touches pages for the first time, the time is printed beside the median of
//! the others. Without arguments, as `cargo test` runs it, the index is of one small package.

use backend::Backend;
use backend::LiveShards;
use backend::server::Options;
use index::corpus::sources;
use index::indexing::{self, BuildOptions};
use schema::frame::{Decoder, Kind};
use schema::message::{End, Expr, Hello, Pattern, Search, Syntax};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a page has.
const CONTEXT_LINES: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds a flag of its own.
    let mut arguments = arguments.iter().filter(|argument| *argument != "--bench");
    let there = tempfile::tempdir()?;
    let (index, words) = match (arguments.next(), arguments.next()) {
        (Some(index), Some(words)) => (PathBuf::from(index), std::fs::read_to_string(words)?),
        _ => (small_index(there.path())?, WORDS.to_owned()),
    };
    let runs: usize = arguments.next().map_or(Ok(2), |runs| runs.parse())?;
    let words: Vec<&str> = words.lines().collect();
    let mut client = Client::new(&index)?;
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| client.search_all(&words))
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
    let candidates = &mut client.candidates;
    candidates.sort_unstable();
    let median = candidates[candidates.len() / 2];
    println!("{:24}{median:10}", "candidate blocks, median");
    println!("{:24}{:10.1}", "mean", each(candidates.iter().sum()));
    println!("{:24}{:10.1}", "lines, mean", each(client.matches));
    Ok(())
}

const WORDS: &str = "rare_word\nrarer_word\n";

/// A package with a rare word or two.
fn small_index(there: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let (source, index) = (there.join("p_1"), there.join("index"));
    std::fs::create_dir(&source)?;
    let text = "common\n".repeat(1000);
    std::fs::write(source.join("a.c"), format!("{text}{WORDS}{text}"))?;
    let (build, progress) = (BuildOptions::default(), indexing::Progress::default());
    indexing::build(sources(&[source], false)?, &index, &build, &progress)?;
    Ok(index)
}

/// The frontend's side of a connection.
struct Client {
    stream: UnixStream,
    decoder: Decoder,
    shards: Vec<[u8; 32]>,
    /// Of each search.
    candidates: Vec<u64>,
    matches: u64,
    _runtime: tokio::runtime::Runtime,
}

impl Client {
    fn new(index: &Path) -> Result<Client, Box<dyn Error>> {
        let runtime = tokio::runtime::Runtime::new()?;
        let guard = runtime.enter();
        let backend = Backend::start(LiveShards::open(index)?, Options::default());
        let (stream, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        runtime.spawn(async move { backend.serve(theirs).await });
        drop(guard);
        let mut client = Client {
            stream,
            decoder: Decoder::new(),
            shards: Vec::new(),
            candidates: Vec::new(),
            matches: 0,
            _runtime: runtime,
        };
        while client.shards.is_empty() {
            client.fill()?;
            while let Some(frame) = client.decoder.decode()? {
                let hello = Hello::decode(frame.payload)?;
                client.shards = hello.shards.iter().map(|shard| shard.id).collect();
            }
        }
        Ok(client)
    }

    /// How long it took.
    fn search_all(&mut self, words: &[&str]) -> Result<Duration, Box<dyn Error>> {
        let started = Instant::now();
        for word in words {
            self.search(word)?;
        }
        Ok(started.elapsed())
    }

    fn search(&mut self, word: &str) -> Result<(), Box<dyn Error>> {
        let search = Search {
            expr: Expr::Pattern(Pattern {
                text: word.to_owned(),
                syntax: Syntax::Literal,
                ignore_case: false,
                ..Pattern::default()
            }),
            context_lines: CONTEXT_LINES,
            shards: self.shards.clone(),
            heavy: true,
            ..Search::default()
        };
        let mut request = Vec::new();
        search.encode(&mut request)?;
        self.stream.write_all(&request)?;
        loop {
            while let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    Kind::End => {
                        let end = End::decode(frame.payload)?;
                        let found: u64 = end.shards.iter().map(|shard| shard.matches).sum();
                        assert!(found > 0, "{word} is in no line");
                        self.matches += found;
                        let candidates = end.shards.iter().map(|shard| shard.candidates);
                        self.candidates.push(candidates.sum());
                        return Ok(());
                    }
                    Kind::Hello | Kind::Progress | Kind::Batch => {}
                    other => panic!("{other:?} in an answer"),
                }
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Box<dyn Error>> {
        let read = self.stream.read(self.decoder.space())?;
        assert_ne!(read, 0, "the backend has closed the connection");
        self.decoder.filled(read);
        Ok(())
    }
}
