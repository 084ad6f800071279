//! Reads HTTP/1.1 requests.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// Ten thousand names.
const BODY_BYTES_MAX: u64 = 16 << 20;

pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) parameters: HashMap<String, String>,
    /// Lower-case names; repeated values are joined by commas.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// `None` at the end.
pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let address = words.next().unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
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
    let mut body = Vec::new();
    let length: u64 = length.unwrap_or(0);
    stream
        .take(length.min(BODY_BYTES_MAX))
        .read_to_end(&mut body)?;
    Ok(Some(Asked {
        method,
        path,
        parameters,
        headers,
        body,
    }))
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
