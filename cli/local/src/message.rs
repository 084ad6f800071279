//! Messages on the socket, between processes of one build.
//!
//! ```text
//! message:  bytes of the rest (u32), kind (u8), fields
//! field:    u32, u64, or bytes with their length (u32) before
//! ```
//!
//! Numbers are little-endian. Paths are bytes.

use crate::condition::{Condition, PlannedCase};
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

/// A path and a pattern.
const REQUEST_BYTES_MAX: usize = 256 << 10;

/// A larger answer would take longer than it saves.
const REPLY_BYTES_MAX: usize = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Files at or below an absolute directory that can match.
    Ask {
        directory: Vec<u8>,
        condition: Condition,
    },
    /// A tree is worth an index.
    Offer {
        root: Vec<u8>,
    },
    Status,
    /// Bring all indexes up to date.
    Update,
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// No tree has the directory.
    Unknown,
    /// Every file may match.
    All,
    /// The tree has an index that is not current.
    Stale,
    Narrowed(Narrowed),
    Text(Vec<u8>),
}

/// Directories of a tree to enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Narrowed {
    pub(crate) root: Vec<u8>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) mount_namespace: u64,
    pub(crate) directories: Directories,
}

/// Path of a directory, relative to the root, to names in it that may matter: files, and
/// directories that are searched like in a scan. Directories that are no key are not entered.
pub(crate) type Directories = HashMap<Vec<u8>, HashSet<Vec<u8>>>;

impl Request {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut fields = Fields::default();
        match self {
            Request::Ask {
                directory,
                condition,
            } => {
                fields.number(0);
                fields.bytes(directory);
                fields.bytes(condition.pattern.as_bytes());
                fields.number(condition.case as u64);
                fields.number(condition.multiline.into());
                fields.number(condition.match_bytes);
            }
            Request::Offer { root } => {
                fields.number(1);
                fields.bytes(root);
            }
            Request::Status => fields.number(2),
            Request::Update => fields.number(3),
            Request::Stop => fields.number(4),
        }
        fields.write(to)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Request> {
        let message = read(from, REQUEST_BYTES_MAX)?;
        Request::parse(&mut &message[..]).ok_or_else(malformed)
    }

    fn parse(rest: &mut &[u8]) -> Option<Request> {
        Some(match number(rest)? {
            0 => Request::Ask {
                directory: bytes(rest)?.to_vec(),
                condition: Condition {
                    pattern: String::from_utf8(bytes(rest)?.to_vec()).ok()?,
                    case: match number(rest)? {
                        0 => PlannedCase::Sensitive,
                        1 => PlannedCase::Insensitive,
                        _ => PlannedCase::Either,
                    },
                    multiline: number(rest)? != 0,
                    match_bytes: number(rest)?,
                },
            },
            1 => Request::Offer {
                root: bytes(rest)?.to_vec(),
            },
            2 => Request::Status,
            3 => Request::Update,
            4 => Request::Stop,
            _ => return None,
        })
    }
}

impl Reply {
    /// Writes the reply; one beyond the limit becomes [`Reply::All`].
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut fields = Fields::default();
        match self {
            Reply::Unknown => fields.number(0),
            Reply::All => fields.number(1),
            Reply::Stale => fields.number(4),
            Reply::Narrowed(narrowed) => {
                fields.number(2);
                narrowed.encode(&mut fields);
            }
            Reply::Text(text) => {
                fields.number(3);
                fields.bytes(text);
            }
        }
        if fields.0.len() > REPLY_BYTES_MAX {
            return Reply::All.write(to);
        }
        fields.write(to)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Reply> {
        let message = read(from, REPLY_BYTES_MAX)?;
        Reply::parse(&mut &message[..]).ok_or_else(malformed)
    }

    fn parse(rest: &mut &[u8]) -> Option<Reply> {
        Some(match number(rest)? {
            0 => Reply::Unknown,
            1 => Reply::All,
            2 => Reply::Narrowed(Narrowed::decode(rest)?),
            3 => Reply::Text(bytes(rest)?.to_vec()),
            4 => Reply::Stale,
            _ => return None,
        })
    }
}

impl Narrowed {
    fn encode(&self, fields: &mut Fields) {
        fields.bytes(&self.root);
        for each in [self.device, self.inode, self.mount_namespace] {
            fields.number(each);
        }
        fields.number(self.directories.len() as u64);
        for (path, names) in &self.directories {
            fields.bytes(path);
            fields.number(names.len() as u64);
            names.iter().for_each(|name| fields.bytes(name));
        }
    }

    fn decode(rest: &mut &[u8]) -> Option<Narrowed> {
        let mut narrowed = Narrowed {
            root: bytes(rest)?.to_vec(),
            device: number(rest)?,
            inode: number(rest)?,
            mount_namespace: number(rest)?,
            directories: Directories::new(),
        };
        for _ in 0..number(rest)? {
            let path = bytes(rest)?.to_vec();
            let mut names = HashSet::new();
            for _ in 0..number(rest)? {
                names.insert(bytes(rest)?.to_vec());
            }
            narrowed.directories.insert(path, names);
        }
        Some(narrowed)
    }
}

#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend((bytes.len() as u32).to_le_bytes());
        self.0.extend(bytes);
    }

    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let length = (self.0.len() as u32).to_le_bytes();
        to.write_all(&[&length[..], &self.0].concat())
    }
}

fn read(from: &mut impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > bytes_max {
        return Err(malformed());
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok(message)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*number))
}

fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk()?;
    *rest = behind;
    rest.split_off(..u32::from_le_bytes(*length) as usize)
}

fn malformed() -> io::Error {
    io::Error::other("malformed message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_socket() {
        let condition = Condition {
            pattern: "fopen|é".to_owned(),
            case: PlannedCase::Either,
            multiline: true,
            match_bytes: 7,
        };
        let directory = b"/a/\xff".to_vec();
        let requests = [
            Request::Ask {
                directory: directory.clone(),
                condition,
            },
            Request::Offer { root: directory },
            Request::Status,
            Request::Update,
            Request::Stop,
        ];
        for request in requests {
            let mut message = Vec::new();
            request.write(&mut message).unwrap();
            assert_eq!(Request::read(&mut &message[..]).unwrap(), request);
            for end in 0..message.len() {
                assert!(Request::read(&mut &message[..end]).is_err());
            }
        }
        let names = HashSet::from([b"x.c".to_vec(), b"y".to_vec()]);
        let narrowed = Narrowed {
            root: b"/a".to_vec(),
            device: 1,
            inode: u64::MAX,
            mount_namespace: 3,
            directories: Directories::from([(b"src".to_vec(), names)]),
        };
        let plain = [Reply::Unknown, Reply::All, Reply::Stale];
        for reply in plain.into_iter().chain([Reply::Narrowed(narrowed)]) {
            let mut message = Vec::new();
            reply.write(&mut message).unwrap();
            assert_eq!(Reply::read(&mut &message[..]).unwrap(), reply);
        }
        assert!(Reply::read(&mut &[255; 64][..]).is_err());
    }
}
