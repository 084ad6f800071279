//! Authorization service for benchmarks and fault runs.

use std::time::Duration;
use testkit::authorization::{FakeService, Mode};

const USAGE: &str = "usage: auth_service [--listen ADDR] [--latency-ms N] [--mode MODE] [--allow CREDENTIAL=NAME,NAME]...

CREDENTIAL is a whole header Cookie or Authorization; the last = separates it from the names, and * is every name.
While it runs: GET /control?mode=MODE&latency_ms=N&credential=C&names=NAME,NAME
MODE: rules, status:N, redirect, huge-body, huge-headers, garbage, wrong-type, drip, close-early, hang, not-http";

fn fail() -> ! {
    eprintln!("{USAGE}");
    std::process::exit(2)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mut listen, mut settings) = ("127.0.0.1:0".to_owned(), Vec::new());
    for pair in words.chunks(2) {
        let [flag, value] = pair else { fail() };
        match &flag[..] {
            "--listen" => listen.clone_from(value),
            "--latency-ms" | "--mode" | "--allow" => settings.push((flag, value)),
            _ => fail(),
        }
    }
    let service = FakeService::listen(&listen).unwrap_or_else(|error| {
        eprintln!("cannot listen on {listen}: {error}");
        std::process::exit(1)
    });
    for (flag, value) in settings {
        match &flag[..] {
            "--latency-ms" => {
                let ms = value.parse().unwrap_or_else(|_| fail());
                service.set_latency(Duration::from_millis(ms));
            }
            "--mode" => service.set_mode(Mode::parse(value).unwrap_or_else(|| fail())),
            _ => {
                let (credential, names) = value.rsplit_once('=').unwrap_or_else(|| fail());
                service.allow(credential, &names.split(',').collect::<Vec<_>>());
            }
        }
    }
    println!("{}", service.url());
    loop {
        std::thread::park();
    }
}
