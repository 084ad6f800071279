//! Measures the bytes of a match on the wire, by kind.
//!
//! usage: cargo bench -p backend --bench wire -- INDEX
//!
//! Without INDEX, as under `cargo test`, the index has one small package.

use backend::CompiledQuery;
use backend::search::{Cancel, Request, Sink, Stopped};
use index::corpus::sources;
use index::directory::Index;
use index::indexing::{self, BuildOptions};
use index::shard::Shard;
use schema::frame::{self, Kind};
use schema::message::{BatchReader, Expr, Pattern, Progress, Search};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const QUERIES: [&str; 5] = ["TCP_NODELAY", "arse", "printf", "return", "e"];

const LINE_BYTES: usize = 24;
const RANGE_BYTES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds this flag.
    let index = std::env::args().skip(1).find(|each| each != "--bench");
    let directory = tempfile::tempdir()?;
    let index = match index {
        Some(index) => PathBuf::from(index),
        None => small_index(directory.path())?,
    };
    let shards: Vec<Arc<Shard>> = Index::open(&index)?.shards;
    println!(
        "{:12} context  matches  frames  bytes a match = text + context + names + lines + ranges + rest",
        "query"
    );
    for query in QUERIES {
        for context_lines in [0, 2] {
            print(
                query,
                context_lines,
                measure(&shards, query, context_lines)?,
            );
        }
    }
    Ok(())
}

/// Builds an index in which every query matches.
fn small_index(directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let (source, index) = (directory.join("p_1"), directory.join("index"));
    std::fs::create_dir(&source)?;
    let text = "return parse(printf, TCP_NODELAY);\n\nx = 1;\n".repeat(1000);
    std::fs::write(source.join("a.c"), text)?;
    let (build, progress) = (BuildOptions::default(), indexing::Progress::default());
    indexing::build(sources(&[source], false)?, &index, &build, &progress)?;
    Ok(index)
}

#[derive(Default)]
struct Bytes {
    matches: usize,
    frames: usize,
    all: usize,
    text: usize,
    context: usize,
    /// Package, path, language and hash.
    names: usize,
    lines: usize,
    ranges: usize,
}

fn measure(
    shards: &[Arc<Shard>],
    query: &str,
    context_lines: u32,
) -> Result<Bytes, Box<dyn Error>> {
    let pattern = Expr::Pattern(Pattern {
        text: query.to_owned(),
        ..Pattern::default()
    });
    let compiled = CompiledQuery::new(&pattern, false);
    let request = Request {
        shards,
        query: &compiled.map_err(|bad| bad.reason)?,
        search: &Search {
            context_lines,
            ..Search::default()
        },
        workers: 2,
        cancel: &Cancel::default(),
    };
    let plan = request.plan(true).expect("not cancelled");
    let mut bytes = Bytes::default();
    let ends = request.run(plan, &mut bytes).expect("not cancelled");
    let matches: u64 = ends.iter().map(|end| end.matches).sum();
    assert!(matches > 0 && bytes.matches as u64 == matches);
    Ok(bytes)
}

impl Sink for Bytes {
    fn frames(&mut self, frames: Vec<u8>, _: &Progress) -> Result<(), Stopped> {
        let mut rest = &frames[..];
        while let Some(frame) = frame::decode(rest).expect("frames") {
            assert_eq!(frame.kind, Kind::Batch);
            self.frames += 1;
            self.all += frame.bytes;
            self.take(frame.payload);
            rest = &rest[frame.bytes..];
        }
        Ok(())
    }
}

impl Bytes {
    fn take(&mut self, payload: &[u8]) {
        let reader = BatchReader::new(payload).expect("a batch");
        let view = reader.view().expect("a batch");
        let names = [view.package, view.path, view.language.as_bytes(), view.hash];
        self.names += names.iter().map(|name| name.len()).sum::<usize>();
        for line in view.lines() {
            self.lines += LINE_BYTES;
            self.ranges += RANGE_BYTES * line.ranges().count();
            if line.is_match() {
                self.matches += 1;
                self.text += line.text.len();
            } else {
                self.context += line.text.len();
            }
        }
    }
}

fn print(query: &str, context_lines: u32, bytes: Bytes) {
    let a_match = |all: usize| all as f64 / bytes.matches as f64;
    let known = bytes.text + bytes.context + bytes.names + bytes.lines + bytes.ranges;
    println!(
        "{query:12} {context_lines:7} {:8} {:7} {:7.1} = {:6.1} + {:6.1} + {:5.1} + {:5.1} + {:4.1} + {:5.1}",
        bytes.matches,
        bytes.frames,
        a_match(bytes.all),
        a_match(bytes.text),
        a_match(bytes.context),
        a_match(bytes.names),
        a_match(bytes.lines),
        a_match(bytes.ranges),
        a_match(bytes.all - known),
    );
}
