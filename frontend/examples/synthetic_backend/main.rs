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

mod ring;

use ring::{RING_DOCUMENTS, Ring, number};
use schema::frame::{self, Decoder, Kind};
use schema::message::{
    End, Failure, FailureKind, FileReply, Hello, PROTOCOL, Progress, Search, ShardEnd, ShardInfo,
    Want,
};
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Bytes that are gathered for one write: as much as the frontend reads at a time.
const WRITE_BYTES: usize = 256 << 10;

/// Writes between two PROGRESS frames: 8 MiB, some milliseconds.
const WRITES_PER_PROGRESS: u32 = 32;

/// How long an idle connection is silent before it is greeted again.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// More matches than this are not sent unless the request is for a heavy search.
const LIGHT_MATCHES_MAX: u64 = 100_000;

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
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), schema::message::MessageError>,
    ) -> Result<(), Box<dyn Error>> {
        let mut out = Vec::new();
        encode(&mut out)?;
        Ok(self.stream.write_all(&out)?)
    }

    fn hello(&mut self) -> Result<(), Box<dyn Error>> {
        let shard = ShardInfo {
            id: [self.options.shard; 32],
            packages: RING_DOCUMENTS,
            documents: u32::MAX,
            blocks: u32::MAX,
            text_bytes: 1 << 40,
        };
        let hello = Hello {
            protocol: PROTOCOL,
            shards: vec![shard],
            updated: 0,
        };
        self.send(|out| hello.encode(out))
    }

    fn search(&mut self, search: &Search) -> Result<(), Box<dyn Error>> {
        let patterns = search.expr.patterns();
        let Some(wish) = patterns.first().and_then(|it| Wish::parse(&it.text)) else {
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
            Want::Count | Want::Estimate => {}
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

fn progress(end: &ShardEnd) -> Progress {
    Progress {
        blocks_done: end.candidates * end.matches / end.found.max(1),
        blocks_total: end.candidates,
        documents: end.documents,
        matches: end.matches,
        bound: 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{BatchReader, Pattern};

    /// The END of a stream, once everything in front of it has been counted and hashed.
    fn ask(stream: &mut TcpStream, search: &Search) -> (End, ShardEnd) {
        let (mut decoder, mut request) = (Decoder::new(), Vec::new());
        search.encode(&mut request).unwrap();
        stream.write_all(&request).unwrap();
        let (mut received, mut last) = (ShardEnd::default(), (0, 0));
        loop {
            while let Some(frame) = decoder.decode().unwrap() {
                match frame.kind {
                    Kind::Batch => {
                        let reader = BatchReader::new(frame.payload).unwrap();
                        let view = reader.view().unwrap();
                        for line in view.lines() {
                            let key = (view.document, line.number);
                            assert!(last < key && (1.0..2.0).contains(&line.rank));
                            assert_eq!(line.text.len(), 40);
                            received.hash = ShardEnd::key_hash(received.hash, key.0, key.1);
                            received.matches += 1;
                            last = key;
                        }
                    }
                    Kind::End => return (End::decode(frame.payload).unwrap(), received),
                    _ => {}
                }
            }
            let read = stream.read(decoder.space()).unwrap();
            decoder.filled(read);
        }
    }

    #[test]
    fn a_stream_is_as_a_frontend_wants_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let options = Options {
            listen: String::new(),
            shard: 7,
            per_document: 50,
            line_bytes: 40,
        };
        let stream = listener.accept().unwrap().0;
        let session = std::thread::spawn(move || Session { stream, options }.serve().is_ok());
        // More than a ring has, and a last document that is not full.
        for matches in [0, 10, 20_017] {
            let search = Search {
                expr: schema::message::Expr::Pattern(Pattern {
                    text: format!("matches {matches} seed 3"),
                    ..Pattern::default()
                }),
                shards: vec![[7; 32]],
                ..Search::default()
            };
            let (end, received) = ask(&mut ours, &search);
            assert_eq!(received.matches, matches);
            let said = (end.shards[0].matches, end.shards[0].hash);
            assert_eq!(said, (received.matches, received.hash));
        }
        drop(ours);
        assert!(session.join().unwrap());
    }
}
