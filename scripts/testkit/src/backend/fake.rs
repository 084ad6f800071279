//! In-process backend over documents in memory, with fault injection.

use super::document::Document;
use super::listing;
use super::repository::{self, FakeRepository};
use super::session::{self, Answers, Request, framed};
use schema::frame::{Decoder, Kind};
use schema::message::{
    End, Estimate, Expr, Failure, FailureKind, Field, FileReply, FileRequest, Hello, ListKind,
    ListRequest, LookupReply, LookupRequest, PROTOCOL, Pattern, Progress, ResumePoint, Search,
    ShardEnd, ShardInfo, Skip, Want,
};
use schema::order::SEMANTICS;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Interval of HELLO on idle connections.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// Delay of frames, and polling interval.
const SLOW: Duration = Duration::from_millis(2);

/// Fault of a search, after its first batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    None,
    NoEnd,
    /// Sends random bytes, then closes.
    Garbage,
    FlippedBit,
    /// Sends nothing more.
    Silence,
    /// Answers with an error and an offset in the pattern.
    Failure(FailureKind, Option<u32>),
    /// END counts an extra match.
    Count,
    Hash,
    /// Sends every batch twice.
    Order,
    UnknownShard,
    /// END lacks the last shard.
    Forgotten,
    /// END reports a failed first shard, and a skipped document.
    ShardFailure,
    /// Listings leave the requested directory.
    Astray,
    /// Waits with PROGRESS for [`Fake::open_gate`], unless matches need not be counted.
    Gate,
    /// Delays every frame.
    Slow,
    /// Sends these bytes, then closes.
    Replay(Vec<u8>),
    /// Sends these bytes, then stalls.
    Stall(Vec<u8>),
    /// Sends the first bytes, then the others repeatedly.
    Repeat(Vec<u8>, Vec<u8>),
}

/// Byte of each shard id, with documents.
pub type Shards = Vec<(u8, Vec<Document>)>;

pub type NextFault = Arc<Mutex<Option<Fault>>>;

/// A backend over shards of documents.
pub struct Fake {
    name: String,
    shards: Mutex<Arc<Shards>>,
    fault: Mutex<Fault>,
    /// Fault of the next search only; backends can share it.
    pub next_fault: Mutex<NextFault>,
    pub protocol: u32,
    pub semantics: AtomicU32,
    /// Repositories; without any, it announces no look-ups.
    pub repositories: Mutex<Vec<FakeRepository>>,
    pub lookups: AtomicUsize,
    pub searches: AtomicUsize,
    /// Answers aborted because the frontend closed.
    pub broken_off: AtomicUsize,
    pub connections: AtomicUsize,
    pub open: AtomicUsize,
    pub greetings: AtomicUsize,
    /// Closes idle connections after an answer.
    pub drop_idle: AtomicBool,
    /// Refuses searches that may not be heavy.
    pub is_costly: AtomicBool,
    /// Announces package names, so frontends can detect duplicates in other shards.
    pub names_packages: AtomicBool,
    /// Extra documents announced, so searches seem long.
    pub more_documents: AtomicU32,
    /// Resumes answers of other backends, and announces that.
    pub resumes: AtomicBool,
    pub connecting: Mutex<Duration>,
    pub refused: AtomicUsize,
    /// Bound on later ranks in PROGRESS of [`Fault::Gate`].
    pub bound: Mutex<f32>,
    gate: (Mutex<bool>, Condvar),
    down: Mutex<bool>,
}

impl Fake {
    /// Returns a backend with these shards.
    pub fn new(name: &str, shards: Shards) -> Arc<Fake> {
        Arc::new(Fake::plain(name, shards))
    }

    /// Returns a backend that is not shared yet.
    pub fn plain(name: &str, shards: Shards) -> Fake {
        Fake {
            name: name.to_owned(),
            shards: Mutex::new(Arc::new(shards)),
            fault: Mutex::new(Fault::None),
            next_fault: Mutex::default(),
            protocol: PROTOCOL,
            semantics: AtomicU32::new(SEMANTICS),
            repositories: Mutex::default(),
            lookups: AtomicUsize::new(0),
            searches: AtomicUsize::new(0),
            broken_off: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            greetings: AtomicUsize::new(0),
            drop_idle: AtomicBool::new(false),
            is_costly: AtomicBool::new(false),
            resumes: AtomicBool::new(true),
            names_packages: AtomicBool::new(false),
            more_documents: AtomicU32::new(0),
            connecting: Mutex::default(),
            refused: AtomicUsize::new(0),
            bound: Mutex::new(f32::INFINITY),
            gate: Default::default(),
            down: Mutex::new(false),
        }
    }

    pub fn with(name: &str, shards: Shards, fault: Fault) -> Arc<Fake> {
        let fake = Fake::new(name, shards);
        fake.set(fault);
        fake
    }

    pub fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// Refuses connections, and closes idle ones.
    pub fn set_down(&self, down: bool) {
        *self.down.lock().unwrap() = down;
    }

    pub fn set_shards(&self, shards: Shards) {
        *self.shards.lock().unwrap() = Arc::new(shards);
    }

    /// Releases searches with [`Fault::Gate`] permanently.
    pub fn open_gate(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dial(self: &Arc<Self>, step_max: Duration) -> io::Result<UnixStream> {
        let began = Instant::now();
        while began.elapsed() < *self.connecting.lock().unwrap() {
            if began.elapsed() >= step_max {
                return Err(ErrorKind::TimedOut.into());
            }
            std::thread::sleep(SLOW);
        }
        self.connect()
    }

    fn connect(self: &Arc<Self>) -> io::Result<UnixStream> {
        if *self.down.lock().unwrap() {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(HEARTBEAT))?;
        let fake = Arc::clone(self);
        std::thread::spawn(move || {
            fake.connections.fetch_add(1, SeqCst);
            fake.open.fetch_add(1, SeqCst);
            // The frontend sees the end of the connection.
            let _ = session::serve(&mut ours, &*fake);
            fake.open.fetch_sub(1, SeqCst);
        });
        Ok(theirs)
    }

    /// Returns the frames of an answer.
    pub fn record(self: &Arc<Self>, search: &Search) -> Vec<Vec<u8>> {
        let mut stream = self.connect().unwrap();
        stream.write_all(&framed(|out| search.encode(out))).unwrap();
        let (mut decoder, mut frames) = (Decoder::new(), Vec::new());
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
            assert!(bytes > 0, "the connection was closed before END");
            decoder.filled(bytes);
        }
    }
}

impl Answers<UnixStream> for Fake {
    fn hello(&self) -> Hello {
        self.greetings.fetch_add(1, SeqCst);
        let shards = self.shards.lock().unwrap();
        let shard = |(id, documents): &(u8, Vec<Document>)| {
            let packages = if self.names_packages.load(SeqCst) {
                listing::packages(documents).len() as u32
            } else {
                1
            };
            ShardInfo {
                id: [*id; 32],
                packages,
                parts: packages,
                documents: documents.len() as u32 + self.more_documents.load(SeqCst),
                blocks: documents.len() as u32,
                text_bytes: 1000,
            }
        };
        Hello {
            protocol: self.protocol,
            shards: shards.iter().map(shard).collect(),
            updated: 1_600_000_000,
            has_repositories: !self.repositories.lock().unwrap().is_empty(),
            indexed_repositories: 0,
            semantics: self.semantics.load(SeqCst),
            has_views: true,
            resumes: self.resumes.load(SeqCst),
        }
    }

    fn answer(&self, request: &Request, stream: &mut UnixStream) -> io::Result<()> {
        match request {
            Request::Search(search) => self.search(stream, search),
            Request::File(request) => self.file(stream, request),
            Request::List(request) => self.list(stream, request),
            Request::Lookup(request) => self.look_up(stream, request),
        }
    }

    fn closes_idle(&self, has_answered: bool) -> bool {
        *self.down.lock().unwrap() || has_answered && self.drop_idle.load(SeqCst)
    }
}

impl Fake {
    fn search(&self, stream: &mut UnixStream, search: &Search) -> io::Result<()> {
        if self.is_costly.load(SeqCst) && !search.heavy {
            self.refused.fetch_add(1, SeqCst);
            return self.fail(stream, FailureKind::Heavy, None);
        }
        self.searches.fetch_add(1, SeqCst);
        let next = self.next_fault.lock().unwrap().lock().unwrap().take();
        let fault = match next.unwrap_or_else(|| self.fault.lock().unwrap().clone()) {
            Fault::Gate if search.uncounted => Fault::None,
            fault => fault,
        };
        match &fault {
            Fault::Failure(kind, offset) => return self.fail(stream, *kind, *offset),
            Fault::Replay(bytes) => return self.write(stream, bytes).and_then(|()| close()),
            Fault::Stall(bytes) => {
                self.write(stream, bytes)?;
                return wait_for_close(stream);
            }
            Fault::Repeat(first, others) => {
                self.write(stream, first)?;
                loop {
                    self.write(stream, others)?;
                    std::thread::sleep(HEARTBEAT);
                }
            }
            _ => {}
        }
        if let Some(failure) = unknown_language(search) {
            return self.write(stream, &framed(|out| failure.encode(out)));
        }
        let mut ends = Vec::new();
        for (index, id) in (0..).zip(&search.shards) {
            let shards = Arc::clone(&self.shards.lock().unwrap());
            let Some((_, documents)) = shards.iter().find(|(known, _)| *id == [*known; 32]) else {
                return close();
            };
            let visible = listing::visible(search.visible.as_deref(), id[0], documents);
            let resumes = self.resumes.load(SeqCst);
            let point = search.resume.get(index as usize).filter(|_| resumes);
            let point = point.copied().unwrap_or(ResumePoint {
                shard: index,
                ..ResumePoint::default()
            });
            let mut end = ShardEnd {
                shard: point.shard,
                blocks: visible.iter().filter(|visible| **visible).count() as u64,
                matches: point.matches,
                hash: point.hash,
                ..ShardEnd::default()
            };
            let excluded = excluded(search, index, documents);
            for (number, document) in (0..).zip(documents) {
                if excluded.contains(&&document.package[..]) || !visible[number as usize] {
                    continue;
                }
                if search
                    .expr
                    .factors()
                    .iter()
                    .all(|each| document.passes(each))
                {
                    end.candidates += 1;
                    let frames = document.batches(search, &point, number, &mut end);
                    self.send(stream, &fault, frames)?;
                }
            }
            ends.push(end);
        }
        self.end(stream, &fault, ends, estimates(search))
    }

    fn send(&self, stream: &mut UnixStream, fault: &Fault, frames: Vec<Vec<u8>>) -> io::Result<()> {
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
                Fault::NoEnd => return close(),
                Fault::Garbage => return stream.write_all(&[0xff; 100]).and_then(|()| close()),
                Fault::Silence => return wait_for_close(stream),
                Fault::Gate => self.wait_at_the_gate(stream)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn end(
        &self,
        stream: &mut UnixStream,
        fault: &Fault,
        mut shards: Vec<ShardEnd>,
        estimates: Vec<Estimate>,
    ) -> io::Result<()> {
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
                out.extend(framed(|out| skip.encode(out)));
            }
            _ => {}
        }
        let end = End {
            shards,
            plan: "all".to_owned(),
            estimates,
            ..End::default()
        };
        out.extend(framed(|out| end.encode(out)));
        // A backend greets in the same write.
        out.extend(framed(|out| self.hello().encode(out)));
        self.write(stream, &out)
    }

    /// Counts aborted answers.
    fn write(&self, stream: &mut UnixStream, bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes).inspect_err(|_| {
            self.broken_off.fetch_add(1, SeqCst);
        })
    }

    fn fail(
        &self,
        stream: &mut UnixStream,
        kind: FailureKind,
        offset: Option<u32>,
    ) -> io::Result<()> {
        let failure = Failure {
            offset,
            ..Failure::new(kind, "not today")
        };
        self.write(stream, &framed(|out| failure.encode(out)))
    }

    fn wait_at_the_gate(&self, stream: &mut UnixStream) -> io::Result<()> {
        let mut open = self.gate.0.lock().unwrap();
        let mut steps = 0;
        while !*open {
            steps += 1;
            let progress = Progress {
                blocks_done: 1,
                blocks_total: 4,
                bound: *self.bound.lock().unwrap(),
                steps,
                ..Progress::default()
            };
            self.write(stream, &framed(|out| progress.encode(out)))?;
            open = self.gate.1.wait_timeout(open, HEARTBEAT).unwrap().0;
        }
        Ok(())
    }

    fn list(&self, stream: &mut UnixStream, request: &ListRequest) -> io::Result<()> {
        let shards = Arc::clone(&self.shards.lock().unwrap());
        let documents = listing::all_visible(request.visible.as_deref(), &shards);
        let mut reply = match request.kind {
            ListKind::Shard if self.names_packages.load(SeqCst) => {
                let mut shards = shards.iter();
                let shard = shards.find(|(id, _)| request.package == [*id; 32]);
                listing::shard(shard.map_or(&[], |(_, documents)| documents))
            }
            _ => listing::reply(documents, request),
        };
        if *self.fault.lock().unwrap() == Fault::Astray && request.kind == ListKind::Children {
            reply.entries.splice(.., listing::astray(&request.package));
        }
        self.write(stream, &framed(|out| reply.encode(out)))
    }

    /// Answers in parts, so that a frontend asks again.
    fn look_up(&self, stream: &mut UnixStream, request: &LookupRequest) -> io::Result<()> {
        const AT_ONCE: usize = 100;
        if *self.fault.lock().unwrap() == Fault::Gate {
            let open = self.gate.0.lock().unwrap();
            drop(self.gate.1.wait_while(open, |open| !*open).unwrap());
        }
        let repositories = self.repositories.lock().unwrap();
        let lookups = request.lookups.iter().take(AT_ONCE);
        let answers = lookups.map(|lookup| repository::answer(&repositories, lookup));
        let reply = LookupReply {
            answers: answers.collect(),
        };
        self.lookups.fetch_add(reply.answers.len(), SeqCst);
        self.write(stream, &framed(|out| reply.encode(out)))
    }

    fn file(&self, stream: &mut UnixStream, request: &FileRequest) -> io::Result<()> {
        let shards = Arc::clone(&self.shards.lock().unwrap());
        let mut documents = listing::all_visible(request.visible.as_deref(), &shards);
        let found = documents.find(|d| d.package == request.package && d.path == request.path);
        let reply = found.map_or_else(FileReply::default, |found| found.file(request));
        self.write(stream, &framed(|out| reply.encode(out)))
    }
}

fn close<T>() -> io::Result<T> {
    Err(ErrorKind::ConnectionAborted.into())
}

/// The other side closes first.
fn wait_for_close(stream: &mut UnixStream) -> io::Result<()> {
    loop {
        match stream.read(&mut [0; 8]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            _ => return close(),
        }
    }
}

fn excluded<'a>(search: &Search, shard: u32, documents: &'a [Document]) -> Vec<&'a [u8]> {
    let names = listing::packages(documents);
    let excluded = search.excluded.iter().filter(|each| each.shard == shard);
    let numbers = excluded.flat_map(|each| &each.packages);
    numbers.map(|&number| names[number as usize]).collect()
}

/// Returned for each pattern, if requested.
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

/// Fails for all but C.
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

fn unknown_shard() -> Vec<u8> {
    let document = Document {
        package: b"p".to_vec(),
        path: b"d".to_vec(),
        lines: vec![b"x".to_vec()],
        split: false,
    };
    let search = Search {
        expr: Expr::Pattern(Pattern {
            text: "x".to_owned(),
            ..Pattern::default()
        }),
        ..Search::default()
    };
    let unknown = ResumePoint {
        shard: 77,
        ..ResumePoint::default()
    };
    document
        .batches(&search, &unknown, 0, &mut ShardEnd::default())
        .remove(0)
}
