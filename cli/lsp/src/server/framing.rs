//! Messages on a stream: headers, an empty line, JSON.
//!
//! **Invariant:** at most [`HEADER_BYTES_MAX`] and [`MESSAGE_BYTES_MAX`] are held of a message.

use lsp_server::Message;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The whole text of a buffer is one message.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

const HEADER_BYTES_MAX: u64 = 4 << 10;

/// Reads the next message; `None` at the end of the stream.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Message>> {
    let Some(length) = content_length(input)? else {
        return Ok(None);
    };
    let mut text = vec![0; length];
    input.read_exact(&mut text).map_err(|error| {
        let reason = format!("the input ended within a message of {length} bytes");
        Error::new(error.kind(), reason)
    })?;
    let message = serde_json::from_slice(&text);
    message
        .map(Some)
        .map_err(|error| invalid(format!("malformed message of {length} bytes: {error}")))
}

fn content_length(input: &mut impl BufRead) -> Result<Option<usize>> {
    let mut headers = input.take(HEADER_BYTES_MAX);
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = headers.read_until(b'\n', &mut line)?;
        if bytes == 0 && length.is_none() && headers.limit() == HEADER_BYTES_MAX {
            return Ok(None);
        }
        let Some(text) = line.strip_suffix(b"\n") else {
            let message = "malformed header: expected Content-Length: BYTES and an empty line";
            return Err(invalid(message.to_owned()));
        };
        match text.trim_ascii_end() {
            b"" => break,
            header => length = parse_header(header)?.or(length),
        }
    }
    let length = length.ok_or_else(|| invalid("a message has no Content-Length".to_owned()))?;
    if length > MESSAGE_BYTES_MAX {
        let reason = format!("a message has {length} bytes, the limit is {MESSAGE_BYTES_MAX}");
        return Err(invalid(reason));
    }
    Ok(Some(length))
}

/// Returns the value of `Content-Length`; `None` for another header.
fn parse_header(header: &[u8]) -> Result<Option<usize>> {
    let malformed = || {
        invalid(format!(
            "malformed header {:?}",
            String::from_utf8_lossy(header)
        ))
    };
    let header = str::from_utf8(header).map_err(|_| malformed())?;
    let (name, value) = header.split_once(':').ok_or_else(malformed)?;
    if !name.eq_ignore_ascii_case("content-length") {
        return Ok(None);
    }
    value.trim().parse().map(Some).map_err(|_| malformed())
}

fn invalid(reason: String) -> Error {
    Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_input_is_an_error() {
        let check = |input: &str, expected: &str| {
            let error = read(&mut input.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{input:?}: {error}");
        };
        check("garbage\r\n\r\n", "malformed header \"garbage\"");
        check("Content-Length: 5", "malformed header: expected");
        check("Content-Length: -1\r\n\r\n", "malformed header");
        check(
            "Content-Length: 99999999\r\n\r\n{}",
            "the limit is 16777216",
        );
        check("Content-Type: x\r\n\r\n", "no Content-Length");
        check("Content-Length: 9\r\n\r\n{}", "ended within a message");
        check(
            "Content-Length: 2\r\n\r\n{}",
            "malformed message of 2 bytes",
        );
        check(&"x: y\r\n".repeat(2000), "malformed header: expected");
        assert!(read(&mut &b""[..]).unwrap().is_none());
        let good = b"content-length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m/n\"} ";
        assert!(read(&mut &good[..]).unwrap().is_some());
    }
}
