//! From a request to the first match, and to the end of what is wanted: a backend over an index, asked over a connected pair of
//! sockets as a frontend in the same process asks it. The clock starts before SEARCH is written and
//! stops when the first BATCH is whole; the stream is then read to its END, whose counts and hash
//! must be those of what came.
//!
//! usage: cargo bench -p backend --bench first_match -- INDEX [RUNS]
//!
//! Without INDEX, as `cargo test` runs it, the index is of one small package.

use backend::Backend;
use backend::LiveShards;
use backend::server::Options;
use index::corpus::sources;
use index::indexing::{self, BuildOptions};
use schema::frame::{Decoder, Kind};
use schema::message::{BatchReader, End, Expr, Hello, Pattern, Search, ShardEnd, Syntax, Want};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const QUERIES: [&str; 4] = ["arse", "return", "printf", "e"];

/// What a page has.
const CONTEXT_LINES: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds a flag of its own.
    let mut arguments = arguments.iter().filter(|argument| *argument != "--bench");
    let there = tempfile::tempdir()?;
    let (index, runs) = match arguments.next() {
        Some(index) => (
            PathBuf::from(index),
            arguments.next().map_or(Ok(9), |runs| runs.parse())?,
        ),
        None => (small_index(there.path())?, 1),
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let _guard = runtime.enter();
    let backend = Backend::start(LiveShards::open(&index)?, Options::default());
    let (ours, theirs) = UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let theirs = tokio::net::UnixStream::from_std(theirs)?;
    runtime.spawn(async move { backend.serve(theirs).await });
    let mut client = Client::new(ours)?;
    println!(
        "{:12}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "query", "first ms", "least", "most", "all ms", "best 10", "documents", "count"
    );
    for query in QUERIES {
        // The first run finds the pages that the others find in memory.
        client.search(query, Want::Matches, 0)?;
        let mut time = |want, limit| -> Result<Vec<Timing>, Box<dyn Error>> {
            let mut timings: Vec<Timing> = (0..runs)
                .map(|_| client.search(query, want, limit))
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

/// A package in which every query matches.
fn small_index(there: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let (source, index) = (there.join("p_1"), there.join("index"));
    std::fs::create_dir(&source)?;
    std::fs::write(source.join("a.c"), "return parse(printf);\n".repeat(1000))?;
    let (build, progress) = (BuildOptions::default(), indexing::Progress::default());
    indexing::build(sources(&[source], false)?, &index, &build, &progress)?;
    Ok(index)
}

/// How long a search took.
struct Timing {
    /// Nothing is sent when only a count is wanted.
    first: Option<Duration>,
    all: Duration,
}

/// The frontend's side of a connection.
struct Client {
    stream: UnixStream,
    decoder: Decoder,
    shards: Vec<[u8; 32]>,
}

impl Client {
    fn new(stream: UnixStream) -> Result<Client, Box<dyn Error>> {
        let mut client = Client {
            stream,
            decoder: Decoder::new(),
            shards: Vec::new(),
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

    fn search(&mut self, text: &str, want: Want, limit: u64) -> Result<Timing, Box<dyn Error>> {
        let search = Search {
            expr: Expr::Pattern(Pattern {
                text: text.to_owned(),
                syntax: Syntax::Literal,
                ignore_case: false,
                ..Pattern::default()
            }),
            context_lines: CONTEXT_LINES,
            shards: self.shards.clone(),
            want,
            limit,
            heavy: true,
            ..Search::default()
        };
        let mut request = Vec::new();
        search.encode(&mut request)?;
        let started = Instant::now();
        self.stream.write_all(&request)?;
        let (mut first, mut found) = (None, vec![ShardEnd::default(); self.shards.len()]);
        loop {
            while let Some(frame) = self.decoder.decode()? {
                match frame.kind {
                    Kind::Batch => {
                        first.get_or_insert_with(|| started.elapsed());
                        count(frame.payload, &mut found)?;
                    }
                    Kind::End => {
                        let all = started.elapsed();
                        check(&End::decode(frame.payload)?, &found);
                        return Ok(Timing { first, all });
                    }
                    Kind::Hello | Kind::Progress => {}
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

/// Counts and hashes the matches of a batch as END does.
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
