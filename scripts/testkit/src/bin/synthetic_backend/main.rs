//! Sends a requested number of matches at full speed, to measure frontends.
//!
//! usage: synthetic_backend [--listen ADDR] [--shard N] [--per-document N] [--line-bytes N]
//!
//! The pattern `matches N seed S` gives N matches in documents of `--per-document` lines of
//! `--line-bytes` bytes; `hold T` delays them by T seconds. `--shard` must differ between backends.
//!
//! A ring of encoded documents is reused with new numbers, paths and checksums, so sending is
//! cheaper than reading.

mod ring;

use ring::{RING_DOCUMENTS, Ring, number};
use schema::frame::{self, Kind};
use schema::message::{
    End, Failure, FailureKind, FileReply, Hello, ListReply, PROTOCOL, Progress, Search, ShardEnd,
    ShardInfo, Want,
};
use std::error::Error;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use testkit::backend::session::{Answers, Request, framed, serve};

/// As much as a frontend reads at once.
const WRITE_BYTES: usize = 256 << 10;

/// 8 MiB, some milliseconds.
const WRITES_PER_PROGRESS: u32 = 32;

/// Interval of HELLO on idle connections.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Interval of PROGRESS.
const HOLD_EVERY: Duration = Duration::from_millis(200);

/// Larger searches must be allowed to be heavy.
const LIGHT_MATCHES_MAX: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let listener = TcpListener::bind(&options.listen)?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let (mut stream, options) = (stream?, options.clone());
        std::thread::spawn(move || {
            // An error ends the connection.
            let _ = connected(&mut stream, &options);
        });
    }
    Ok(())
}

fn connected(stream: &mut TcpStream, options: &Options) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HEARTBEAT))?;
    serve(stream, options)
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
            let value = arguments.next().ok_or(format!("{name} needs a value"))?;
            match name.as_str() {
                "--listen" => options.listen = value,
                "--shard" => options.shard = value.parse()?,
                "--per-document" => options.per_document = value.parse()?,
                "--line-bytes" => options.line_bytes = value.parse()?,
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(options)
    }
}

#[derive(Clone, Copy, Debug)]
struct Wish {
    matches: u64,
    seed: u64,
    hold: Duration,
}

impl Wish {
    fn parse(pattern: &str) -> Option<Wish> {
        let (matches, rest) = pattern.strip_prefix("matches ")?.split_once(" seed ")?;
        let (seed, hold_s) = rest.split_once(" hold ").unwrap_or((rest, "0"));
        Some(Wish {
            matches: matches.parse().ok()?,
            seed: seed.parse().ok()?,
            hold: Duration::from_secs(hold_s.parse().ok()?),
        })
    }
}

impl<S: Write> Answers<S> for Options {
    fn hello(&self) -> Hello {
        let shard = ShardInfo {
            id: [self.shard; 32],
            packages: RING_DOCUMENTS,
            parts: RING_DOCUMENTS,
            documents: u32::MAX,
            blocks: u32::MAX,
            text_bytes: 1 << 40,
        };
        Hello {
            protocol: PROTOCOL,
            shards: vec![shard],
            updated: 0,
            has_repositories: false,
            indexed_repositories: 0,
            semantics: schema::order::SEMANTICS,
            has_views: true,
            resumes: false,
        }
    }

    fn answer(&self, request: &Request, stream: &mut S) -> io::Result<()> {
        match request {
            Request::Search(search) => match self.refusal(search) {
                Err(failure) => stream.write_all(&framed(|out| failure.encode(out))),
                Ok(wish) => self.search(wish, search.want, stream),
            },
            Request::File(_) => stream.write_all(&framed(|out| FileReply::default().encode(out))),
            Request::List(_) => stream.write_all(&framed(|out| ListReply::default().encode(out))),
            Request::Lookup(_) => Err(io::Error::other("it has announced no repositories")),
        }
    }
}

impl Options {
    fn refusal(&self, search: &Search) -> Result<Wish, Failure> {
        let patterns = search.expr.patterns();
        let wish = patterns.first().and_then(|it| Wish::parse(&it.text));
        let wish = wish.ok_or_else(|| {
            let reason = "expected the pattern `matches N seed S` or `matches N seed S hold T`";
            Failure::new(FailureKind::BadQuery, reason)
        })?;
        if search.shards != [[self.shard; 32]] {
            return Err(Failure::new(FailureKind::StaleShards, "unknown shard"));
        }
        if wish.matches > LIGHT_MATCHES_MAX && !search.heavy {
            return Err(Failure {
                cost: wish.matches,
                ..Failure::new(FailureKind::Heavy, "many matches")
            });
        }
        Ok(wish)
    }

    fn search(&self, wish: Wish, want: Want, stream: &mut impl Write) -> io::Result<()> {
        let per_document = u64::from(self.per_document);
        let documents = wish.matches.div_ceil(per_document);
        let mut end = ShardEnd {
            found: wish.matches,
            documents,
            matched_documents: documents,
            blocks: u64::from(u32::MAX),
            candidates: documents,
            matched_blocks: documents,
            verified_bytes: wish.matches * self.line_bytes as u64,
            ..ShardEnd::default()
        };
        let until = Instant::now() + wish.hold;
        while Instant::now() < until {
            stream.write_all(&framed(|out| progress(&end).encode(out)))?;
            std::thread::sleep(HOLD_EVERY);
        }
        match want {
            Want::Matches => self.matches(wish, wish.matches, per_document, &mut end, stream)?,
            Want::Documents => {
                end.found = documents;
                self.matches(wish, documents, 1, &mut end, stream)?;
            }
            Want::Count | Want::Estimate => {}
        }
        let end = End {
            shards: vec![end],
            plan: "all".to_owned(),
            ..End::default()
        };
        stream.write_all(&framed(|out| end.encode(out)))
    }

    fn matches(
        &self,
        wish: Wish,
        matches: u64,
        per_document: u64,
        end: &mut ShardEnd,
        stream: &mut impl Write,
    ) -> io::Result<()> {
        let mut ring = Ring::new(self, wish.seed);
        let mut out = Vec::with_capacity(2 * WRITE_BYTES);
        let mut writes = 0;
        for document in 0.. {
            let lines = per_document.min(matches - end.matches) as u32;
            if lines == 0 {
                break;
            }
            let payload = ring.document(document, lines);
            frame::encode(Kind::Batch, payload, &mut out).map_err(io::Error::other)?;
            end.matches += u64::from(lines);
            end.hash = (0..lines).fold(end.hash, |hash, line| {
                ShardEnd::key_hash(hash, document, number(line))
            });
            if out.len() >= WRITE_BYTES {
                stream.write_all(&out)?;
                out.clear();
                writes += 1;
                if writes % WRITES_PER_PROGRESS == 0 {
                    out.extend(framed(|out| progress(end).encode(out)));
                }
            }
        }
        stream.write_all(&out)
    }
}

fn progress(end: &ShardEnd) -> Progress {
    Progress {
        blocks_done: end.candidates * end.matches / end.found.max(1),
        blocks_total: end.candidates,
        documents: end.documents,
        matches: end.matches,
        bound: 2.0,
        ..Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::frame::Decoder;
    use schema::message::{BatchReader, Expr, Pattern};
    use std::io::Read;

    /// Returns END, with the count and hash of earlier matches.
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
    fn counts_and_hashes_what_it_sends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let options = Options {
            listen: String::new(),
            shard: 7,
            per_document: 50,
            line_bytes: 40,
        };
        let mut stream = listener.accept().unwrap().0;
        let session = std::thread::spawn(move || connected(&mut stream, &options).is_ok());
        // Exceeds the ring, and leaves the last document incomplete.
        for matches in [0, 10, 20_017] {
            let search = Search {
                expr: Expr::Pattern(Pattern {
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
