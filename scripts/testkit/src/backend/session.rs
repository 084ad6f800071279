//! One frontend connection: HELLO first and while idle, and answers.

use schema::frame::{Decoder, Kind};
use schema::message::{FileRequest, Hello, ListRequest, LookupRequest, MessageError, Search};
use std::io::{self, ErrorKind, Read, Write};

#[derive(Debug)]
pub enum Request {
    Search(Search),
    File(FileRequest),
    /// Package or document names.
    List(ListRequest),
    Lookup(LookupRequest),
}

/// Answers of a backend. An error closes the connection.
pub trait Answers<S> {
    /// Greeting, sent first and on read timeouts.
    fn hello(&self) -> Hello;

    fn answer(&self, request: &Request, stream: &mut S) -> io::Result<()>;

    /// True if a connection is closed on a read timeout.
    fn closes_idle(&self, _has_answered: bool) -> bool {
        false
    }
}

/// Serves a connection until it closes. The read timeout is the heartbeat.
pub fn serve<S: Read + Write>(stream: &mut S, backend: &impl Answers<S>) -> io::Result<()> {
    let mut decoder = Decoder::new();
    let mut has_answered = false;
    let hello = || framed(|out| backend.hello().encode(out));
    stream.write_all(&hello())?;
    loop {
        while let Some(frame) = decoder.decode().map_err(io::Error::other)? {
            let request = match frame.kind {
                Kind::Search => Search::decode(frame.payload).map(Request::Search),
                Kind::File => FileRequest::decode(frame.payload).map(Request::File),
                Kind::List => ListRequest::decode(frame.payload).map(Request::List),
                Kind::Lookup => LookupRequest::decode(frame.payload).map(Request::Lookup),
                // Arrived after the end of its search.
                Kind::Cancel => continue,
                kind => return Err(io::Error::other(format!("{kind:?} from a frontend"))),
            };
            backend.answer(&request.map_err(io::Error::other)?, stream)?;
            has_answered = true;
        }
        match stream.read(decoder.space()) {
            Ok(0) => return Ok(()),
            Ok(bytes) => decoder.filled(bytes),
            Err(_) if backend.closes_idle(has_answered) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => stream.write_all(&hello())?,
            Err(error) => return Err(error),
        }
    }
}

/// Returns the frame of a message.
///
/// # Panics
/// If the message exceeds a frame.
pub fn framed(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), MessageError>) -> Vec<u8> {
    let mut frame = Vec::new();
    encode(&mut frame).expect("the message fits into a frame");
    frame
}
