//! Requests on the socket, between processes of one build. Each is answered with a text.
//!
//! ```text
//! message:  bytes of the rest (u64), fields
//! ```

use crate::fields::{self, Fields};
use std::io::{self, Read, Write};

/// A path, or the status of all trees.
const MESSAGE_BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A tree is worth an index.
    Offer {
        root: Vec<u8>,
    },
    Status,
    /// Bring all indexes up to date.
    Update,
    /// Remove indexes beyond the limit.
    Evict,
    Stop,
}

impl Request {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut fields = Fields::default();
        match self {
            Request::Offer { root } => {
                fields.number(0);
                fields.bytes(root);
            }
            Request::Status => fields.number(1),
            Request::Update => fields.number(2),
            Request::Stop => fields.number(3),
            Request::Evict => fields.number(4),
        }
        write(&fields.0, to)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Request> {
        let message = read(from)?;
        Request::parse(&mut &message[..]).ok_or_else(malformed)
    }

    fn parse(rest: &mut &[u8]) -> Option<Request> {
        Some(match fields::number(rest)? {
            0 => Request::Offer {
                root: fields::bytes(rest)?.to_vec(),
            },
            1 => Request::Status,
            2 => Request::Update,
            3 => Request::Stop,
            4 => Request::Evict,
            _ => return None,
        })
    }
}

pub(crate) fn write(message: &[u8], to: &mut impl Write) -> io::Result<()> {
    let mut fields = Fields::default();
    fields.bytes(message);
    to.write_all(&fields.0)
}

pub(crate) fn read(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MESSAGE_BYTES_MAX as u64 {
        return Err(malformed());
    }
    let mut message = vec![0; length as usize];
    from.read_exact(&mut message)?;
    Ok(message)
}

fn malformed() -> io::Error {
    io::Error::other("malformed message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_socket() {
        let root = b"/a/\xff".to_vec();
        let offer = Request::Offer { root };
        for request in [offer, Request::Status, Request::Update, Request::Stop] {
            let mut message = Vec::new();
            request.write(&mut message).unwrap();
            assert_eq!(Request::read(&mut &message[..]).unwrap(), request);
            for end in 0..message.len() {
                assert!(Request::read(&mut &message[..end]).is_err());
            }
        }
        assert!(Request::read(&mut &[255; 64][..]).is_err());
    }
}
