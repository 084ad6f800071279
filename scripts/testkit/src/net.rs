//! Connections of servers, and HTTP/1.1: requests that a server reads, answers that a client reads.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Ten thousand names of an authorization request.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Serves a free port of 127.0.0.1, and returns its address.
pub fn serve<T>(serve: impl Fn(TcpStream) -> T + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    accept(listener, serve);
    address
}

/// Serves each connection on a thread, until the process ends.
pub fn accept<T>(listener: TcpListener, serve: impl Fn(TcpStream) -> T + Send + Sync + 'static) {
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            // An error: the client has gone.
            thread::spawn(move || drop(serve(stream)));
        }
    });
}

pub struct HttpRequest {
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    pub path: String,
    /// Decoded values of the query.
    pub parameters: HashMap<String, String>,
    /// Lower-case names; repeated values are joined by commas.
    pub headers: HashMap<String, String>,
    /// Body; its length must be given.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Reads a request; `None` at the end.
    pub fn read(stream: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let parameters = pairs
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect();
        let path = path.to_owned();
        let mut headers: HashMap<String, String> = HashMap::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            let joined = headers.entry(name.to_ascii_lowercase()).or_default();
            if !joined.is_empty() {
                joined.push_str(", ");
            }
            joined.push_str(value.trim());
        }
        let length = headers
            .get("content-length")
            .and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0).min(BODY_BYTES_MAX)];
        stream.read_exact(&mut body)?;
        Ok(Some(HttpRequest {
            method,
            target,
            path,
            parameters,
            headers,
            body,
        }))
    }
}

/// Reads an answer, also one in chunks. True for status 200.
pub fn read_answer(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<bool> {
    let (mut line, mut length, mut is_chunked) = (String::new(), 0, false);
    reader.read_line(&mut line)?;
    let is_good = line.starts_with("HTTP/1.1 200");
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        is_chunked |= name.eq_ignore_ascii_case("transfer-encoding") && value.contains("chunked");
    }
    if !is_chunked {
        body.resize(length, 0);
        reader.read_exact(body)?;
        return Ok(is_good);
    }
    body.clear();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let bytes = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let start = body.len();
        // Chunk with its line end.
        body.resize(start + bytes + 2, 0);
        reader.read_exact(&mut body[start..])?;
        body.truncate(start + bytes);
        if bytes == 0 {
            return Ok(is_good);
        }
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let escape = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
