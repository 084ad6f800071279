//! Load of word searches. Prints for each answer number, lines (`-` if incomplete) and
//! microseconds.
//!
//! usage: `search_load KIND ADDRESS CONNECTIONS SECONDS FROM FILE`. KIND is `trawl`, `zoekt`, or
//! `zoekt-page` for the first ten files. FILE has a word per line, for trawl with parameters, taken
//! from number FROM.

use std::io::{BufReader, BufWriter, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use testkit::net::read_answer;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Trawl,
    Zoekt,
    ZoektPage,
}

struct Load {
    kind: Kind,
    address: String,
    words: Vec<String>,
    next: AtomicUsize,
    until: Instant,
}

/// Number, lines if complete, microseconds.
type Answer = (usize, Option<usize>, u32);

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, address, connections, seconds, from, file] = &arguments[..] else {
        panic!("usage: search_load KIND ADDRESS CONNECTIONS SECONDS FROM FILE");
    };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let load = Load {
        kind: match kind.as_str() {
            "trawl" => Kind::Trawl,
            "zoekt" => Kind::Zoekt,
            "zoekt-page" => Kind::ZoektPage,
            _ => panic!("{kind} is not trawl, zoekt or zoekt-page"),
        },
        address: address.clone(),
        words: std::fs::read_to_string(file)?
            .lines()
            .map(str::to_owned)
            .collect(),
        next: AtomicUsize::new(number(from)),
        until: Instant::now() + Duration::from_secs(number(seconds) as u64),
    };
    let answers = thread::scope(|scope| {
        let threads = (0..number(connections)).map(|_| scope.spawn(|| load.run()));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|it| it.join().expect("no panic"));
        joined.collect::<Result<Vec<_>, _>>()
    })?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (word, lines, micros) in answers.into_iter().flatten() {
        match lines {
            Some(lines) => writeln!(out, "{word} {lines} {micros}")?,
            None => writeln!(out, "{word} - {micros}")?,
        }
    }
    out.flush()
}

impl Load {
    fn run(&self) -> std::io::Result<Vec<Answer>> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut answers, mut body) = (Vec::new(), Vec::new());
        while Instant::now() < self.until {
            let number = self.next.fetch_add(1, Relaxed);
            let Some(word) = self.words.get(number) else {
                break;
            };
            let request = self.request(word);
            let began = Instant::now();
            stream.write_all(request.as_bytes())?;
            let is_good = read_answer(&mut reader, &mut body)?;
            let micros = began.elapsed().as_micros() as u32;
            let lines = is_good.then(|| self.lines(&body)).flatten();
            answers.push((number, lines, micros));
        }
        Ok(answers)
    }

    fn request(&self, word: &str) -> String {
        let host = &self.address;
        let get = |target: String| format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        match self.kind {
            Kind::Trawl => return get(format!("/api/v2/search?q={word}")),
            Kind::ZoektPage => return get(format!("/search?q={word}&num=10&format=json")),
            Kind::Zoekt => {}
        }
        let body = format!(r#"{{"Q":"content:{word}"}}"#);
        let bytes = body.len();
        format!(
            "POST /api/search HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n{body}"
        )
    }

    fn lines(&self, body: &[u8]) -> Option<usize> {
        let body = String::from_utf8_lossy(body);
        if self.kind != Kind::Trawl {
            return Some(body.matches("\"LineNumber\":").count());
        }
        let (_, total) = body.split_once("\"total\":")?;
        let digits = total.split(|it: char| !it.is_ascii_digit()).next()?;
        body.contains("\"complete\":true")
            .then(|| digits.parse().ok())?
    }
}
