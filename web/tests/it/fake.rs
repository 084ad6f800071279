//! A backend that is made up: documents in memory, frames through `schema`, and faults on demand.

use crate::catalog;
use frontend::{Backend, Socket};
use schema::frame::{Decoder, Kind};
use schema::message::{
    Batch, End, Estimate, Expr, Failure, FailureKind, Field, FileRange, FileReply, FileRequest,
    Hello, Line, ListKind, ListRequest, PROTOCOL, Progress, Range, Reading, Search, ShardEnd,
    ShardInfo, Skip, Want,
};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How often an idle connection hears a HELLO.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// How long a slow one takes for a frame.
const SLOW: Duration = Duration::from_millis(2);

/// What goes wrong in a search, after the first batch when there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    NoEnd,
    Garbage,
    FlippedBit,
    Silence,
    Failure(FailureKind, Option<u32>),
    Count,
    Hash,
    Order,
    UnknownShard,
    Forgotten,
    ShardFailure,
    /// What is listed is not in the directory that was asked for.
    Astray,
    /// Goes on only when the gate is opened.
    Gate,
    /// A while before each frame.
    Slow,
    /// These bytes are all of the answer; then the connection is closed.
    Replay(Vec<u8>),
    /// These bytes, and no more of them.
    Stall(Vec<u8>),
}

/// A document: its lines, of which those that contain the pattern are matches.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) package: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) lines: Vec<Vec<u8>>,
    /// Each match travels in a batch of its own.
    pub(crate) split: bool,
}

/// A backend over shards of documents.
pub(crate) struct Fake {
    name: String,
    shards: Mutex<Vec<(u8, Vec<Document>)>>,
    pub(crate) fault: Mutex<Fault>,
    pub(crate) protocol: u32,
    pub(crate) searches: AtomicUsize,
    /// Searches that ended because their connection did.
    pub(crate) broken_off: AtomicUsize,
    pub(crate) connections: AtomicUsize,
    /// Connections that are open.
    pub(crate) open: AtomicUsize,
    /// Connections that have answered something are closed when they fall idle.
    pub(crate) drop_idle: AtomicBool,
    /// Searches cost much: they are begun only when they may.
    pub(crate) is_costly: AtomicBool,
    /// What the progress at the gate says of matches to come.
    pub(crate) bound: Mutex<f32>,
    gate: (Mutex<bool>, Condvar),
    down: Mutex<bool>,
}

impl Fake {
    pub(crate) fn new(name: &str, shards: Vec<(u8, Vec<Document>)>) -> Arc<Fake> {
        Arc::new(Fake::plain(name, shards))
    }

    pub(crate) fn plain(name: &str, shards: Vec<(u8, Vec<Document>)>) -> Fake {
        Fake {
            name: name.to_owned(),
            shards: Mutex::new(shards),
            fault: Mutex::new(Fault::None),
            protocol: PROTOCOL,
            searches: AtomicUsize::new(0),
            broken_off: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            drop_idle: AtomicBool::new(false),
            is_costly: AtomicBool::new(false),
            bound: Mutex::new(f32::INFINITY),
            gate: Default::default(),
            down: Mutex::new(false),
        }
    }

    pub(crate) fn with(name: &str, shards: Vec<(u8, Vec<Document>)>, fault: Fault) -> Arc<Fake> {
        let fake = Fake::new(name, shards);
        fake.set(fault);
        fake
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    pub(crate) fn set_down(&self, down: bool) {
        *self.down.lock().unwrap() = down;
    }

    pub(crate) fn set_shards(&self, shards: Vec<(u8, Vec<Document>)>) {
        *self.shards.lock().unwrap() = shards;
    }

    pub(crate) fn open_gate(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    pub(crate) fn backend(self: &Arc<Self>) -> Backend {
        let fake = Arc::clone(self);
        Backend::new(self.name.clone(), move || fake.connect().map(Socket::Unix))
    }

    fn connect(self: &Arc<Self>) -> io::Result<UnixStream> {
        if *self.down.lock().unwrap() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (ours, theirs) = UnixStream::pair()?;
        let fake = Arc::clone(self);
        std::thread::spawn(move || {
            fake.open.fetch_add(1, SeqCst);
            fake.serve(ours);
            fake.open.fetch_sub(1, SeqCst);
        });
        Ok(theirs)
    }

    /// The frames of the answer to a search, one by one.
    pub(crate) fn record(self: &Arc<Self>, search: &Search) -> Vec<Vec<u8>> {
        let mut stream = self.connect().unwrap();
        let (mut request, mut frames) = (Vec::new(), Vec::new());
        search.encode(&mut request).unwrap();
        stream.write_all(&request).unwrap();
        let mut decoder = Decoder::new();
        loop {
            while let Some(frame) = decoder.decode().unwrap() {
                let kind = frame.kind;
                let bytes = decoder.consumed().to_vec();
                if kind != Kind::Hello {
                    frames.push(bytes);
                }
                if kind == Kind::End {
                    return frames;
                }
            }
            let bytes = stream.read(decoder.space()).unwrap();
            assert!(bytes > 0, "an END before the end");
            decoder.filled(bytes);
        }
    }

    fn serve(&self, mut stream: UnixStream) -> Option<()> {
        stream.set_read_timeout(Some(HEARTBEAT)).unwrap();
        self.connections.fetch_add(1, SeqCst);
        let mut has_answered = false;
        self.hello(&mut stream)?;
        let mut decoder = Decoder::new();
        loop {
            while let Some(frame) = decoder.decode().unwrap() {
                let (kind, payload) = (frame.kind, frame.payload);
                has_answered = true;
                match kind {
                    Kind::Search => self.search(&mut stream, &Search::decode(payload).unwrap())?,
                    Kind::File => self.file(&mut stream, &FileRequest::decode(payload).unwrap())?,
                    Kind::List => self.list(&mut stream, &ListRequest::decode(payload).unwrap())?,
                    _ => return None,
                }
            }
            match stream.read(decoder.space()) {
                Ok(0) => return None,
                Ok(bytes) => decoder.filled(bytes),
                Err(_) if *self.down.lock().unwrap() => return None,
                Err(_) if has_answered && self.drop_idle.load(SeqCst) => return None,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.hello(&mut stream)?;
                }
                Err(_) => return None,
            }
        }
    }

    fn hello(&self, stream: &mut UnixStream) -> Option<()> {
        stream.write_all(&self.greeting()).ok()
    }

    fn greeting(&self) -> Vec<u8> {
        let shards = self.shards.lock().unwrap();
        let shard = |(id, documents): &(u8, Vec<Document>)| ShardInfo {
            id: [*id; 32],
            packages: 1,
            documents: documents.len() as u32,
            blocks: documents.len() as u32,
            text_bytes: 1000,
        };
        let hello = Hello {
            protocol: self.protocol,
            shards: shards.iter().map(shard).collect(),
            updated: 1_600_000_000,
        };
        let mut out = Vec::new();
        hello.encode(&mut out).unwrap();
        out
    }

    fn search(&self, stream: &mut UnixStream, search: &Search) -> Option<()> {
        if self.is_costly.load(SeqCst) && !search.heavy {
            return self.fail(stream, FailureKind::Heavy, None);
        }
        self.searches.fetch_add(1, SeqCst);
        let fault = self.fault.lock().unwrap().clone();
        if let Fault::Failure(kind, offset) = fault {
            return self.fail(stream, kind, offset);
        }
        if let Fault::Replay(bytes) | Fault::Stall(bytes) = &fault {
            self.write(stream, bytes)?;
            return match fault {
                Fault::Stall(_) => self.wait_for_the_other_side(stream),
                _ => None,
            };
        }
        if let Some(failure) = unknown_language(search) {
            let mut out = Vec::new();
            failure.encode(&mut out).unwrap();
            return self.write(stream, &out);
        }
        let mut shards = Vec::new();
        for (index, id) in (0..).zip(&search.shards) {
            let all = self.shards.lock().unwrap();
            let (_, documents) = all.iter().find(|(known, _)| *id == [*known; 32])?;
            let documents = documents.clone();
            drop(all);
            let mut end = ShardEnd {
                shard: index,
                blocks: documents.len() as u64,
                ..ShardEnd::default()
            };
            for (number, document) in (0..).zip(&documents) {
                if !search
                    .expr
                    .factors()
                    .iter()
                    .all(|said| leaves(said, document))
                {
                    continue;
                }
                end.candidates += 1;
                let frames = batches(document, search, index, number, &mut end);
                self.send(stream, &fault, frames)?;
            }
            shards.push(end);
        }
        self.end(stream, &fault, shards, estimates(search))
    }

    /// Sends a document's frames, or what the fault makes of them.
    fn send(&self, stream: &mut UnixStream, fault: &Fault, frames: Vec<Vec<u8>>) -> Option<()> {
        for mut frame in frames {
            match fault {
                Fault::FlippedBit => frame[40] ^= 4,
                Fault::Order => frame.extend_from_within(..),
                Fault::UnknownShard => frame = unknown_shard(),
                Fault::Slow => std::thread::sleep(SLOW),
                _ => {}
            }
            self.write(stream, &frame)?;
            match fault {
                Fault::NoEnd => return None,
                Fault::Garbage => return stream.write_all(&[0xff; 100]).ok(),
                Fault::Silence => self.wait_for_the_other_side(stream)?,
                Fault::Gate => self.wait_at_the_gate(stream)?,
                _ => {}
            }
        }
        Some(())
    }

    fn end(
        &self,
        stream: &mut UnixStream,
        fault: &Fault,
        mut shards: Vec<ShardEnd>,
        estimates: Vec<Estimate>,
    ) -> Option<()> {
        let mut out = Vec::new();
        match fault {
            Fault::Count => shards[0].matches += 1,
            Fault::Hash => shards[0].hash ^= 1,
            Fault::Forgotten => drop(shards.pop()),
            Fault::ShardFailure => {
                shards[0].failure = "checksum".to_owned();
                shards[0].skipped += 1;
                let skip = Skip {
                    shard: 0,
                    document: 1,
                    package: b"skipped".to_vec(),
                    path: b"<i>.c".to_vec(),
                    reason: "took too long".to_owned(),
                };
                skip.encode(&mut out).unwrap();
            }
            _ => {}
        }
        let plan = "all".to_owned();
        let end = End {
            shards,
            plan,
            estimates,
            ..End::default()
        };
        end.encode(&mut out).unwrap();
        // As backends do, in the same write.
        out.extend(self.greeting());
        self.write(stream, &out)
    }

    fn write(&self, stream: &mut UnixStream, bytes: &[u8]) -> Option<()> {
        let written = stream.write_all(bytes).ok();
        self.broken_off
            .fetch_add(usize::from(written.is_none()), SeqCst);
        written
    }

    fn fail(&self, stream: &mut UnixStream, kind: FailureKind, offset: Option<u32>) -> Option<()> {
        let mut out = Vec::new();
        let failure = Failure {
            offset,
            ..Failure::new(kind, "not today")
        };
        failure.encode(&mut out).unwrap();
        self.write(stream, &out)
    }

    fn wait_for_the_other_side(&self, stream: &mut UnixStream) -> Option<()> {
        loop {
            match stream.read(&mut [0; 8]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return None,
            }
        }
    }

    /// Sends progress until the gate opens.
    fn wait_at_the_gate(&self, stream: &mut UnixStream) -> Option<()> {
        let mut open = self.gate.0.lock().unwrap();
        while !*open {
            let mut out = Vec::new();
            let progress = Progress {
                blocks_done: 1,
                blocks_total: 4,
                bound: *self.bound.lock().unwrap(),
                ..Progress::default()
            };
            progress.encode(&mut out).unwrap();
            self.write(stream, &out)?;
            open = self.gate.1.wait_timeout(open, HEARTBEAT).unwrap().0;
        }
        Some(())
    }

    fn list(&self, stream: &mut UnixStream, request: &ListRequest) -> Option<()> {
        let mut out = Vec::new();
        let shards = self.shards.lock().unwrap();
        let documents = shards.iter().flat_map(|(_, documents)| documents);
        let mut reply = catalog::reply(documents, request);
        drop(shards);
        if *self.fault.lock().unwrap() == Fault::Astray && request.kind == ListKind::Children {
            reply.entries.splice(.., catalog::astray(&request.package));
        }
        reply.encode(&mut out).unwrap();
        self.write(stream, &out)
    }

    fn file(&self, stream: &mut UnixStream, request: &FileRequest) -> Option<()> {
        let shards = self.shards.lock().unwrap();
        let mut documents = shards.iter().flat_map(|(_, documents)| documents);
        let found = documents.find(|d| d.package == request.package && d.path == request.path);
        let reply = found.map_or_else(FileReply::default, |document| {
            let text: Vec<u8> = document
                .lines
                .iter()
                .flat_map(|l| [l, &b"\n"[..]].concat())
                .collect();
            let (first_line, part) = match request.range {
                FileRange::Lines { first, count } => {
                    let lines = document
                        .lines
                        .iter()
                        .skip(first as usize - 1)
                        .take(count as usize);
                    (
                        first,
                        lines.flat_map(|line| [line, &b"\n"[..]].concat()).collect(),
                    )
                }
                FileRange::Bytes { offset, count } => (
                    1,
                    text.iter()
                        .copied()
                        .skip(offset as usize)
                        .take(count as usize)
                        .collect(),
                ),
            };
            FileReply {
                found: true,
                offset: 0,
                first_line,
                text: part,
                total_lines: document.lines.len() as u32,
                total_bytes: text.len() as u64,
                language: "C".to_owned(),
                hash: vec![1; 32],
            }
        });
        let mut out = Vec::new();
        reply.encode(&mut out).unwrap();
        self.write(stream, &out)
    }
}

/// Of each pattern, that it is in 30 blocks.
fn estimates(search: &Search) -> Vec<Estimate> {
    let estimate = Estimate {
        plan: "all".to_owned(),
        candidates: 30,
    };
    match search.want {
        Want::Estimate => vec![estimate; search.expr.patterns().len()],
        _ => Vec::new(),
    }
}

/// There is only C, spelled like this.
fn unknown_language(search: &Search) -> Option<Failure> {
    let is_unknown = |atom: &Expr| match atom {
        Expr::Filter(filter) => filter.field == Field::Language && filter.text != "C",
        _ => false,
    };
    let index = search.expr.atoms().into_iter().position(is_unknown)?;
    Some(Failure {
        atom: Some(index as u32),
        hint: "did you mean C?".to_owned(),
        ..Failure::new(FailureKind::BadQuery, "there is no such language")
    })
}

/// Whether a filter leaves a document, as all patterns do; a regular expression is taken for a literal.
fn leaves(said: &Expr, document: &Document) -> bool {
    let filter = match said {
        Expr::Filter(filter) => filter,
        Expr::Not(inner) => return !leaves(inner, document),
        Expr::Any(parts) => return parts.iter().any(|part| leaves(part, document)),
        _ => return true,
    };
    let text = filter.text.as_bytes();
    let of = match filter.field {
        Field::Package => &document.package[..],
        Field::Path => &document.path,
        Field::Language => b"C",
        Field::Extension => b"c",
        Field::Name => panic!("not asked for here"),
    };
    match filter.reading {
        Reading::Exact => of == text,
        Reading::Regexp | Reading::Glob => of.windows(text.len()).any(|part| part == text),
    }
}

/// The frames with a document's matches, and their account in `end`.
fn batches(
    document: &Document,
    search: &Search,
    shard: u32,
    number: u32,
    end: &mut ShardEnd,
) -> Vec<Vec<u8>> {
    let pattern = search.expr.patterns()[0].text.as_bytes();
    let find = |line: &[u8]| line.windows(pattern.len()).position(|part| part == pattern);
    let matches: Vec<usize> = (0..document.lines.len())
        .filter(|&at| find(&document.lines[at]).is_some())
        .collect();
    let sent = match search.want {
        Want::Matches => &matches[..],
        Want::Documents => &matches[..matches.len().min(1)],
        Want::Count | Want::Estimate => &[],
    };
    end.found += match search.want {
        Want::Documents => sent.len() as u64,
        Want::Matches | Want::Count | Want::Estimate => matches.len() as u64,
    };
    for &at in sent {
        end.matches += 1;
        end.hash = ShardEnd::key_hash(end.hash, number, at as u32 + 1);
    }
    end.documents += 1;
    end.matched_documents += u64::from(!matches.is_empty());
    let groups: Vec<&[usize]> = match (document.split, sent.is_empty()) {
        (_, true) => Vec::new(),
        (true, _) => sent.chunks(1).collect(),
        (false, _) => vec![sent],
    };
    let context = search.context_lines as usize;
    groups
        .into_iter()
        .map(|group| {
            let near = |at: usize| group.iter().any(|&hit| hit.abs_diff(at) <= context);
            let (mut lines, mut ranges, mut text) = (Vec::new(), Vec::new(), Vec::new());
            for at in (0..document.lines.len()).filter(|&at| near(at)) {
                let line = &document.lines[at];
                let hit = find(line).filter(|_| group.contains(&at));
                text.extend_from_slice(line);
                ranges.extend(hit.map(|start| Range {
                    start: start as u32,
                    end: (start + pattern.len()) as u32,
                }));
                lines.push(Line {
                    number: at as u32 + 1,
                    rank: hit.map_or(0.0, |start| 1.0 + 0.1 / (1.0 + start as f32)),
                    offset: at as u64,
                    text_bytes: line.len() as u32,
                    ranges: u32::from(hit.is_some()),
                });
            }
            let batch = Batch {
                shard,
                document: number,
                package: &document.package,
                path: &document.path,
                language: "C",
                hash: &[7; 32],
                text: &text,
                lines: &lines,
                ranges: &ranges,
                windows: &[],
                spans: &[],
            };
            let mut frame = Vec::new();
            batch.encode(&mut frame).unwrap();
            frame
        })
        .collect()
}

fn unknown_shard() -> Vec<u8> {
    let document = Document {
        package: b"p".to_vec(),
        path: b"d".to_vec(),
        lines: vec![b"x".to_vec()],
        split: false,
    };
    let search = Search {
        expr: schema::message::Expr::Pattern(schema::message::Pattern {
            text: "x".to_owned(),
            syntax: schema::message::Syntax::Literal,
            ignore_case: false,
            ..schema::message::Pattern::default()
        }),
        ..Search::default()
    };
    batches(&document, &search, 77, 0, &mut ShardEnd::default()).remove(0)
}
