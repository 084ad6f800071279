//! Fake service: rules, faults and connections.

use crate::net::{self, HttpRequest};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const HANG: Duration = Duration::from_secs(60);

const HUGE_BYTES: usize = 32 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Rules,
    /// This status, with an allowing body.
    Status(u16),
    /// Redirect to an allowing address.
    Redirect,
    HugeBody,
    HugeHeaders,
    Garbage,
    /// Allows as text/html.
    WrongType,
    /// Allows, a byte at a time.
    Drip,
    /// First half of an allowing answer.
    CloseEarly,
    Hang,
    /// Sends something other than HTTP.
    NotHttp,
}

impl Mode {
    /// Parses `rules`, `hang`, `status:500`, ...
    pub fn parse(text: &str) -> Option<Mode> {
        if let Some(status) = text.strip_prefix("status:") {
            return status.parse().ok().map(Mode::Status);
        }
        let all = [
            ("rules", Mode::Rules),
            ("redirect", Mode::Redirect),
            ("huge-body", Mode::HugeBody),
            ("huge-headers", Mode::HugeHeaders),
            ("garbage", Mode::Garbage),
            ("wrong-type", Mode::WrongType),
            ("drip", Mode::Drip),
            ("close-early", Mode::CloseEarly),
            ("hang", Mode::Hang),
            ("not-http", Mode::NotHttp),
        ];
        all.into_iter()
            .find_map(|(name, mode)| (name == text).then_some(mode))
    }
}

struct Rules {
    mode: Mode,
    latency: Duration,
    /// Visible names by `Cookie` or `Authorization`; `*` is all.
    visible: HashMap<String, HashSet<String>>,
    singles: Vec<String>,
    batches: Vec<usize>,
    last: HashMap<String, String>,
}

/// Ends with its process.
#[derive(Clone)]
pub struct FakeService {
    address: SocketAddr,
    rules: Arc<Mutex<Rules>>,
}

impl FakeService {
    /// Starts on a free port, denying all.
    pub fn start() -> FakeService {
        FakeService::listen("127.0.0.1:0").expect("a port is free")
    }

    pub fn listen(address: &str) -> io::Result<FakeService> {
        let listener = TcpListener::bind(address)?;
        let service = FakeService {
            address: listener.local_addr()?,
            rules: Arc::new(Mutex::new(Rules {
                mode: Mode::Rules,
                latency: Duration::ZERO,
                visible: HashMap::new(),
                singles: Vec::new(),
                batches: Vec::new(),
                last: HashMap::new(),
            })),
        };
        let accepting = service.clone();
        net::accept(listener, move |stream| accepting.serve(stream));
        Ok(service)
    }

    pub fn url(&self) -> String {
        format!("http://{}/check", self.address)
    }

    pub fn set_mode(&self, mode: Mode) {
        self.rules().mode = mode;
    }

    pub fn set_latency(&self, latency: Duration) {
        self.rules().latency = latency;
    }

    /// Allows exactly these names; `*` is all.
    pub fn allow(&self, credential: &str, names: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.rules().visible.insert(credential.to_owned(), names);
    }

    /// Names of single requests, in order.
    pub fn singles(&self) -> Vec<String> {
        self.rules().singles.clone()
    }

    pub fn batches(&self) -> Vec<usize> {
        self.rules().batches.clone()
    }

    pub fn requests(&self) -> usize {
        let rules = self.rules();
        rules.singles.len() + rules.batches.len()
    }

    pub fn last_header(&self, name: &str) -> Option<String> {
        self.rules().last.get(name).cloned()
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(asked) = HttpRequest::read(&mut reader)? {
            if asked.path == "/control" {
                let answer = if self.control(&asked) { 204 } else { 400 };
                respond(&stream, answer, "text/plain", b"")?;
                continue;
            }
            if !self.answer(&stream, &asked)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn control(&self, asked: &HttpRequest) -> bool {
        let get = |name: &str| asked.parameters.get(name);
        if let Some(mode) = get("mode") {
            let Some(mode) = Mode::parse(mode) else {
                return false;
            };
            self.set_mode(mode);
        }
        if let Some(ms) = get("latency_ms").and_then(|ms| ms.parse().ok()) {
            self.set_latency(Duration::from_millis(ms));
        }
        if let (Some(credential), Some(names)) = (get("credential"), get("names")) {
            let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
            self.allow(credential, &names);
        }
        true
    }

    /// True to keep the connection.
    fn answer(&self, mut stream: &TcpStream, asked: &HttpRequest) -> io::Result<bool> {
        let names = names(asked);
        let (mode, latency) = {
            let mut rules = self.rules();
            rules.last = asked.headers.clone();
            match &names {
                Names::One(name) => rules.singles.push(name.clone()),
                Names::Many(names) => rules.batches.push(names.len()),
            }
            (rules.mode, rules.latency)
        };
        thread::sleep(latency);
        let yes = match &names {
            Names::One(_) => json!({"allowed": true}),
            Names::Many(names) => json!({"visible": names}),
        };
        let yes = yes.to_string();
        match mode {
            Mode::Rules => {
                let (status, body) = self.by_rules(asked, &names);
                respond(stream, status, "application/json", body.as_bytes())?;
            }
            Mode::Status(status) => respond(stream, status, "application/json", yes.as_bytes())?,
            Mode::Redirect => {
                let to = format!("http://{}/yes", self.address);
                write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"
                )?;
            }
            Mode::HugeBody => respond(stream, 200, "application/json", &vec![b' '; HUGE_BYTES])?,
            Mode::HugeHeaders => {
                let header = format!("x-huge: {}\r\n", "x".repeat(HUGE_BYTES));
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\n{header}content-length: 0\r\n\r\n"
                )?;
            }
            Mode::Garbage => respond(stream, 200, "application/json", b"\xff{[\"visible\": \0")?,
            Mode::WrongType => respond(stream, 200, "text/html", yes.as_bytes())?,
            Mode::Drip => {
                let head = head(200, "application/json", yes.len());
                for byte in head.bytes().chain(yes.bytes()) {
                    stream.write_all(&[byte])?;
                    thread::sleep(Duration::from_millis(200));
                }
            }
            Mode::CloseEarly => {
                stream.write_all(head(200, "application/json", yes.len()).as_bytes())?;
                stream.write_all(&yes.as_bytes()[..yes.len() / 2])?;
                return Ok(false);
            }
            Mode::Hang => thread::sleep(HANG),
            Mode::NotHttp => {
                stream.write_all(b"220 ready\r\n")?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn by_rules(&self, asked: &HttpRequest, names: &Names) -> (u16, String) {
        let rules = self.rules();
        let sees = |name: &str| {
            let given = ["cookie", "authorization"];
            let mut given = given.iter().filter_map(|header| asked.headers.get(*header));
            given.any(|credential| {
                let visible = rules.visible.get(credential);
                visible.is_some_and(|visible| visible.contains(name) || visible.contains("*"))
            })
        };
        match names {
            Names::One(name) if sees(name) => (200, String::new()),
            Names::One(_) => (404, "no such repository".to_owned()),
            Names::Many(names) => {
                let visible: Vec<_> = names.iter().filter(|name| sees(name)).collect();
                (200, json!({"visible": visible}).to_string())
            }
        }
    }
}

enum Names {
    One(String),
    Many(Vec<String>),
}

fn names(asked: &HttpRequest) -> Names {
    if asked.method == "POST" {
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let repos = body["repos"].as_array().cloned().unwrap_or_default();
        let names = repos.iter().filter_map(Value::as_str).map(str::to_owned);
        return Names::Many(names.collect());
    }
    Names::One(asked.parameters.get("repo").cloned().unwrap_or_default())
}

fn head(status: u16, kind: &str, length: usize) -> String {
    format!("HTTP/1.1 {status} Answer\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n")
}

fn respond(mut stream: &TcpStream, status: u16, kind: &str, body: &[u8]) -> io::Result<()> {
    let mut answer = head(status, kind, body.len()).into_bytes();
    answer.extend_from_slice(body);
    stream.write_all(&answer)
}
