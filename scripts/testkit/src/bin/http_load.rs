//! Load of GET requests. Prints answers, seconds, median and 99th percentile in microseconds, and
//! failures.
//!
//! usage: `http_load ADDRESS CONNECTIONS SECONDS FILE [RATE [HEADER]...]`. FILE has a path per
//! line; 0 SECONDS requests each once. RATE requests are due per second, and timed from then.
//! HEADER is `name: value`.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use testkit::net::read_answer;

struct Load {
    address: String,
    paths: Vec<String>,
    next: AtomicUsize,
    /// `None`: each path once.
    until: Option<Instant>,
    began: Instant,
    /// Requests per second; 0: closed loop.
    rate: u64,
    headers: String,
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, seconds, file, rest @ ..] = &arguments[..] else {
        panic!("usage: http_load ADDRESS CONNECTIONS SECONDS FILE [RATE [HEADER]...]");
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let began = Instant::now();
    let seconds = Some(number(seconds)).filter(|&seconds| seconds > 0);
    let load = Arc::new(Load {
        address: address.clone(),
        paths: std::fs::read_to_string(file)?
            .lines()
            .map(str::to_owned)
            .collect(),
        next: AtomicUsize::new(0),
        until: seconds.map(|seconds| began + Duration::from_secs(seconds)),
        began,
        rate: rest.first().map_or(0, number),
        headers: rest.iter().skip(1).map(|it| format!("{it}\r\n")).collect(),
    });
    let threads = (0..number(connections)).map(|_| {
        let load = Arc::clone(&load);
        std::thread::spawn(move || load.run())
    });
    let threads: Vec<_> = threads.collect();
    let (mut times, mut failed) = (Vec::new(), 0);
    for thread in threads {
        let (more, bad) = thread.join().expect("no panic")?;
        times.extend(more);
        failed += bad;
    }
    let elapsed = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get((share * times.len() as f64) as usize)
            .unwrap_or(&0)
    };
    println!(
        "{} {elapsed:.3} {} {} {failed}",
        times.len(),
        at(0.5),
        at(0.99)
    );
    Ok(())
}

impl Load {
    /// Microseconds of requests, and statuses other than 200.
    fn run(&self) -> std::io::Result<(Vec<u32>, usize)> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut stream, mut times, mut failed) = (stream, Vec::new(), 0);
        let mut body = Vec::new();
        while self.until.is_none_or(|until| Instant::now() < until) {
            let number = self.next.fetch_add(1, Relaxed);
            if self.until.is_none() && number >= self.paths.len() {
                break;
            }
            let path = &self.paths[number % self.paths.len()];
            let Some(began) = self.wait(number) else {
                break;
            };
            let (address, headers) = (&self.address, &self.headers);
            let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
            stream.write_all(request.as_bytes())?;
            let is_good = read_answer(&mut reader, &mut body)?;
            times.push(began.elapsed().as_micros() as u32);
            failed += usize::from(!is_good);
        }
        Ok((times, failed))
    }
}

impl Load {
    /// Returns the due time; `None` after the end.
    fn wait(&self, number: usize) -> Option<Instant> {
        if self.rate == 0 {
            return Some(Instant::now());
        }
        let due = self.began + Duration::from_secs_f64(number as f64 / self.rate as f64);
        if self.until.is_some_and(|until| due >= until) {
            return None;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        Some(due)
    }
}
