//! Discards the answer of a backend, to measure streams without a frontend.
//!
//! usage: drain ADDR literal|regexp PATTERN [CONTEXT]
//!
//! Prints milliseconds until the first BATCH and END, bytes, and matches. Decodes only frame
//! headers and END.

use schema::frame::{self, HEADER_BYTES, Kind};
use schema::message::{End, Expr, Failure, Hello, Pattern, Search, Syntax};
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Read size of a frontend.
const READ_BYTES: usize = 256 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, mode, pattern, rest @ ..] = &arguments[..] else {
        return Err("usage: drain ADDR literal|regexp PATTERN [CONTEXT]".into());
    };
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let search = Search {
        expr: Expr::Pattern(Pattern {
            text: pattern.clone(),
            syntax: match mode.as_str() {
                "literal" => Syntax::Literal,
                _ => Syntax::Regexp,
            },
            ignore_case: false,
            ..Pattern::default()
        }),
        context_lines: rest.first().map_or(Ok(0), |lines| lines.parse())?,
        shards: shards(&mut stream)?,
        heavy: true,
        ..Search::default()
    };
    let mut request = Vec::new();
    search.encode(&mut request)?;
    let started = Instant::now();
    stream.write_all(&request)?;
    let drained = drain(&mut stream, started)?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (first, all) = (milliseconds(drained.first), milliseconds(started.elapsed()));
    println!("{first:.3} {all:.3} {} {}", drained.bytes, drained.matches);
    Ok(())
}

fn shards(stream: &mut TcpStream) -> Result<Vec<[u8; 32]>, Box<dyn Error>> {
    let (mut received, mut piece) = (Vec::new(), vec![0; READ_BYTES]);
    loop {
        let read = stream.read(&mut piece)?;
        received.extend_from_slice(&piece[..read]);
        if let Some(frame) = frame::decode(&received)? {
            let hello = Hello::decode(frame.payload)?;
            return Ok(hello.shards.iter().map(|shard| shard.id).collect());
        }
    }
}

struct Drained {
    first: Duration,
    bytes: u64,
    matches: u64,
}

/// Decodes only END.
fn drain(stream: &mut TcpStream, started: Instant) -> Result<Drained, Box<dyn Error>> {
    let mut buffer = vec![0; frame::FRAME_BYTES_MAX + READ_BYTES];
    let (mut have, mut bytes, mut first) = (0, 0, None);
    loop {
        let read = stream.read(&mut buffer[have..])?;
        if read == 0 {
            return Err("the stream ended without END".into());
        }
        (have, bytes) = (have + read, bytes + read as u64);
        let mut at = 0;
        while have - at >= HEADER_BYTES {
            let header = &buffer[at..at + HEADER_BYTES];
            let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let (kind, whole) = (header[4], HEADER_BYTES + length);
            if kind == Kind::Batch as u8 {
                first.get_or_insert_with(|| started.elapsed());
            }
            if have - at < whole {
                break;
            }
            let frame = &buffer[at..at + whole];
            if kind == Kind::End as u8 {
                let frame = frame.to_vec();
                let frame = frame::decode(&frame)?.ok_or("half a frame")?;
                let end = End::decode(frame.payload)?;
                return Ok(Drained {
                    first: first.unwrap_or(started.elapsed()),
                    bytes,
                    matches: end.shards.iter().map(|shard| shard.matches).sum(),
                });
            }
            if kind == Kind::Error as u8 {
                let frame = frame.to_vec();
                let frame = frame::decode(&frame)?.ok_or("half a frame")?;
                return Err(Failure::decode(frame.payload)?.message.into());
            }
            at += whole;
        }
        buffer.copy_within(at..have, 0);
        have -= at;
    }
}
