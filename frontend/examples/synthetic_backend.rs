//! A backend without an index, which sends as many matches as the query says, as fast as they are
//! taken: what is measured against it is the frontend.
//!
//! usage: synthetic_backend [--listen ADDR] [--shard N] [--per-document N] [--line-bytes N]
//!
//! It prints the address that it listens on. The pattern of a query is `matches N seed S`: that N
//! matches are sent, which are others for another S. They come in documents of `--per-document`
//! lines of `--line-bytes` bytes. A shard is made up for each N of `--shard`; two backends of one
//! frontend must have different ones.
//!
//! Everything about a stream is as the frontend wants it: keys ascend, checksums are right, and END
//! counts and hashes what was sent. Documents are encoded once, in a ring, with pseudo-random ranks
//! in [1, 2); before one is sent again, its number and path are changed and its checksum is made
//! anew. That is a copy and a CRC-32C, so the sender is several times faster than any reader.

use schema::frame::{self, Decoder, HEADER_BYTES, Kind};
use schema::message::{
    Batch, End, Failure, FailureKind, FileReply, Hello, Line, PROTOCOL, Progress, Range, Search,
    Shard, ShardEnd, Want,
};
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Documents that are encoded ahead, each of a package of its own. At 5 KB of text each they stay in
/// a processor's cache.
const RING_DOCUMENTS: u32 = 128;

/// Bytes that are gathered for one write: as much as the frontend reads at a time.
const WRITE_BYTES: usize = 256 << 10;

/// Writes between two PROGRESS frames: 8 MiB, some milliseconds.
const WRITES_PER_PROGRESS: u32 = 32;

/// How long an idle connection is silent before it is greeted again.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// More matches than this are not sent unless the request is for a heavy search.
const LIGHT_MATCHES_MAX: u64 = 100_000;

/// The distance between matching lines.
const LINE_STEP: u32 = 3;

/// Stand in an encoded document for what is to be changed, and occur in it nowhere else.
const NUMBER_MARK: u32 = 0x5a5a_5a5a;
const PATH_MARK: &str = "@@@@@@@@";

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let listener = TcpListener::bind(&options.listen)?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let (stream, options) = (stream?, options.clone());
        std::thread::spawn(move || {
            // The other side has gone, or has sent what no frontend sends: nobody is to be told.
            let _ = Session { stream, options }.serve();
        });
    }
    Ok(())
}

#[derive(Clone, Debug)]
struct Options {
    listen: String,
    shard: u8,
    per_document: u32,
    line_bytes: usize,
}

impl Options {
    fn parse() -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            listen: "127.0.0.1:0".to_owned(),
            shard: 0,
            per_document: 50,
            line_bytes: 100,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or(format!("{name}: no value"))?;
            match name.as_str() {
                "--listen" => options.listen = value,
                "--shard" => options.shard = value.parse()?,
                "--per-document" => options.per_document = value.parse()?,
                "--line-bytes" => options.line_bytes = value.parse()?,
                _ => return Err(format!("there is no option {name}").into()),
            }
        }
        Ok(options)
    }
}

/// What a pattern asks for.
#[derive(Clone, Copy, Debug)]
struct Wish {
    matches: u64,
    seed: u64,
}

impl Wish {
    fn parse(pattern: &str) -> Option<Wish> {
        let (matches, seed) = pattern.strip_prefix("matches ")?.split_once(" seed ")?;
        Some(Wish {
            matches: matches.parse().ok()?,
            seed: seed.parse().ok()?,
        })
    }
}

/// One connection of a frontend.
struct Session {
    stream: TcpStream,
    options: Options,
}

impl Session {
    fn serve(mut self) -> Result<(), Box<dyn Error>> {
        self.stream.set_nodelay(true)?;
        self.stream.set_read_timeout(Some(HEARTBEAT))?;
        let mut decoder = Decoder::new();
        self.hello()?;
        loop {
            while let Some(frame) = decoder.decode()? {
                match frame.kind {
                    Kind::Search => self.search(&Search::decode(frame.payload)?)?,
                    Kind::File => self.send(|out| FileReply::default().encode(out))?,
                    // Of a search that had ended by then.
                    Kind::Cancel => {}
                    other => return Err(format!("{other:?} from a frontend").into()),
                }
            }
            match self.stream.read(decoder.space()) {
                Ok(0) => return Ok(()),
                Ok(bytes) => decoder.filled(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.hello()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), schema::message::Error>,
    ) -> Result<(), Box<dyn Error>> {
        let mut out = Vec::new();
        encode(&mut out)?;
        Ok(self.stream.write_all(&out)?)
    }

    fn hello(&mut self) -> Result<(), Box<dyn Error>> {
        let shard = Shard {
            id: [self.options.shard; 32],
            packages: RING_DOCUMENTS,
            documents: u32::MAX,
            blocks: u32::MAX,
            text_bytes: 1 << 40,
        };
        let hello = Hello {
            protocol: PROTOCOL,
            shards: vec![shard],
        };
        self.send(|out| hello.encode(out))
    }

    fn search(&mut self, search: &Search) -> Result<(), Box<dyn Error>> {
        let Some(wish) = Wish::parse(&search.pattern.text) else {
            let failure = Failure::new(FailureKind::BadQuery, "not `matches N seed S`");
            return self.send(|out| failure.encode(out));
        };
        if search.shards != [[self.options.shard; 32]] {
            let failure = Failure::new(FailureKind::StaleShards, "not the shard there is");
            return self.send(|out| failure.encode(out));
        }
        if wish.matches > LIGHT_MATCHES_MAX && !search.heavy {
            let failure = Failure {
                cost: wish.matches,
                ..Failure::new(FailureKind::Heavy, "many matches")
            };
            return self.send(|out| failure.encode(out));
        }
        let per_document = u64::from(self.options.per_document);
        let documents = wish.matches.div_ceil(per_document);
        let mut end = ShardEnd {
            found: wish.matches,
            documents,
            matched_documents: documents,
            blocks: u64::from(u32::MAX),
            candidates: documents,
            matched_blocks: documents,
            verified_bytes: wish.matches * self.options.line_bytes as u64,
            ..ShardEnd::default()
        };
        match search.want {
            Want::Matches => self.matches(wish, wish.matches, per_document, &mut end)?,
            Want::Documents => {
                end.found = documents;
                self.matches(wish, documents, 1, &mut end)?;
            }
            Want::Count => {}
        }
        let end = End {
            shards: vec![end],
            plan: "all".to_owned(),
            ..End::default()
        };
        self.send(|out| end.encode(out))
    }

    /// Sends so many matches, so many of them a document.
    fn matches(
        &mut self,
        wish: Wish,
        matches: u64,
        per_document: u64,
        end: &mut ShardEnd,
    ) -> Result<(), Box<dyn Error>> {
        let mut ring = Ring::new(&self.options, wish.seed);
        let mut out = Vec::with_capacity(2 * WRITE_BYTES);
        let mut writes = 0;
        for document in 0.. {
            let lines = per_document.min(matches - end.matches) as u32;
            if lines == 0 {
                break;
            }
            frame::encode(Kind::Batch, ring.document(document, lines), &mut out)?;
            end.matches += u64::from(lines);
            end.hash = (0..lines).fold(end.hash, |hash, line| {
                ShardEnd::key_hash(hash, document, number(line))
            });
            if out.len() >= WRITE_BYTES {
                self.stream.write_all(&out)?;
                out.clear();
                writes += 1;
                if writes % WRITES_PER_PROGRESS == 0 {
                    progress(end).encode(&mut out)?;
                }
            }
        }
        Ok(self.stream.write_all(&out)?)
    }
}

/// The number of a document's `line`th match.
fn number(line: u32) -> u32 {
    1 + LINE_STEP * line
}

fn progress(end: &ShardEnd) -> Progress {
    Progress {
        blocks_done: end.candidates * end.matches / end.found.max(1),
        blocks_total: end.candidates,
        documents: end.documents,
        matches: end.matches,
        bound: 2.0,
    }
}

/// Encoded documents, to be sent again and again under other numbers.
struct Ring {
    options: Options,
    seed: u64,
    documents: Vec<Option<Document>>,
}

/// The payload of a BATCH frame, and where in it that is which changes.
struct Document {
    lines: u32,
    payload: Vec<u8>,
    number_at: usize,
    path_at: usize,
}

impl Ring {
    /// Encodes nothing yet: a query with few matches needs few documents.
    fn new(options: &Options, seed: u64) -> Ring {
        Ring {
            options: options.clone(),
            seed,
            documents: (0..RING_DOCUMENTS).map(|_| None).collect(),
        }
    }

    /// The payload of the frame with a document of so many matches.
    fn document(&mut self, number: u32, lines: u32) -> &[u8] {
        let place = number % RING_DOCUMENTS;
        let slot = &mut self.documents[place as usize];
        let document = match slot.take().filter(|document| document.lines == lines) {
            Some(document) => document,
            None => Document::new(&self.options, self.seed, place, lines),
        };
        slot.insert(document).numbered(number)
    }
}

impl Document {
    fn new(options: &Options, seed: u64, place: u32, lines: u32) -> Document {
        let mut random = Random(seed << 16 | u64::from(options.shard) << 8 | u64::from(place));
        let mut text = Vec::new();
        let line = |line: u32| {
            text_line(number(line), options.line_bytes, &mut random, &mut text);
            Line {
                number: number(line),
                rank: 1.0 + (random.next() >> 40) as f32 / (1 << 24) as f32,
                offset: u64::from(line) * (options.line_bytes as u64 + 1),
                text_bytes: options.line_bytes as u32,
                ranges: 1,
            }
        };
        let lines: Vec<Line> = (0..lines).map(line).collect();
        let ranges = vec![Range { start: 0, end: 4 }; lines.len()];
        let package = format!("package{}-{place}_1.0", options.shard);
        let path = format!("src/lib/{PATH_MARK}.c");
        let batch = Batch {
            shard: 0,
            document: NUMBER_MARK,
            package: package.as_bytes(),
            path: path.as_bytes(),
            language: "C",
            hash: &[0x80 | place as u8; 32],
            text: &text,
            lines: &lines,
            ranges: &ranges,
            windows: &[],
        };
        let mut frame = Vec::new();
        batch.encode(&mut frame).expect("a document fits a frame");
        let payload = frame.split_off(HEADER_BYTES);
        Document {
            lines: lines.len() as u32,
            number_at: only(&payload, &NUMBER_MARK.to_le_bytes()),
            path_at: only(&payload, PATH_MARK.as_bytes()),
            payload,
        }
    }

    /// The payload, with another number and path.
    fn numbered(&mut self, number: u32) -> &[u8] {
        self.payload[self.number_at..][..4].copy_from_slice(&number.to_le_bytes());
        let path = &mut self.payload[self.path_at..][..PATH_MARK.len()];
        path.iter_mut().rev().fold(number, |rest, digit| {
            *digit = b"0123456789"[(rest % 10) as usize];
            rest / 10
        });
        &self.payload
    }
}

/// A line that says its number and goes on with letters, exactly `bytes` long.
fn text_line(number: u32, bytes: usize, random: &mut Random, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(format!("line {number} ").as_bytes());
    while text.len() < start + bytes {
        text.push(b'a' + (random.next() >> 32) as u8 % 26);
    }
    text.truncate(start + bytes);
}

/// Where `mark` is; there must be one.
fn only(payload: &[u8], mark: &[u8]) -> usize {
    let mut windows = payload.windows(mark.len());
    let at = windows.position(|window| window == mark);
    let again = windows.any(|window| window == mark);
    match (at, again) {
        (Some(at), false) => at,
        _ => panic!("a mark that is not there once"),
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
