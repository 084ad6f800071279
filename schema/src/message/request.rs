//! What a frontend asks: SEARCH and FILE.

use super::{Error, builder, finish, length, reader, text};
use crate::frame::Kind;
use crate::trawl_capnp::{file_request, pattern, search};

/// How a pattern's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Every character stands for itself.
    Literal,
    /// The syntax of the `regex` crate, Unicode on; `^`, `$`, `\A` and `\z` match at lines.
    Regexp,
}

/// What is searched for in each line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The literal or the regular expression.
    pub text: String,
    /// How `text` is read.
    pub syntax: Syntax,
    /// Unicode simple case folding, as ripgrep's `-i`.
    pub ignore_case: bool,
}

/// The SEARCH frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// What is searched for.
    pub pattern: Pattern,
    /// Lines sent before and after each match.
    pub context_lines: u32,
    /// Ids of the shards to search. An answer names a shard by its index here.
    pub shards: Vec<[u8; 32]>,
}

impl Search {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut message = builder();
        let mut root = message.init_root::<search::Builder<'_>>();
        let mut pattern = root.reborrow().init_query().init_pattern();
        pattern.set_text(&self.pattern.text[..]);
        pattern.set_syntax(match self.pattern.syntax {
            Syntax::Literal => pattern::Syntax::Literal,
            Syntax::Regexp => pattern::Syntax::Regexp,
        });
        pattern.set_ignore_case(self.pattern.ignore_case);
        root.set_context_lines(self.context_lines);
        let mut shards = root.init_shards(length(self.shards.len()));
        for (index, id) in (0..).zip(&self.shards) {
            shards.set(index, id);
        }
        finish(Kind::Search, &message, out)
    }

    /// Reads a frame's payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Error> {
        let message = reader(payload)?;
        let root = message.get_root::<search::Reader<'_>>()?;
        let pattern = root.get_query()?.get_pattern()?;
        let shards = root.get_shards()?;
        Ok(Search {
            pattern: Pattern {
                text: text(pattern.get_text()?)?,
                syntax: match pattern.get_syntax()? {
                    pattern::Syntax::Literal => Syntax::Literal,
                    pattern::Syntax::Regexp => Syntax::Regexp,
                },
                ignore_case: pattern.get_ignore_case(),
            },
            context_lines: root.get_context_lines(),
            shards: shards
                .iter()
                .map(|id| shard_id(id?))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// A shard's id, which is 32 bytes.
pub(super) fn shard_id(bytes: &[u8]) -> Result<[u8; 32], Error> {
    bytes.try_into().map_err(|_| Error::Impossible("shard id"))
}

/// Which part of a document is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRange {
    /// `count` whole lines from line `first` (from 1) on.
    Lines {
        /// The first line's number.
        first: u32,
        /// How many lines at most.
        count: u32,
    },
    /// `count` bytes from byte `offset` on.
    Bytes {
        /// The first byte.
        offset: u64,
        /// How many bytes at most.
        count: u64,
    },
}

/// The FILE frame, frontend to backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// The package, as its directory was named.
    pub package: Vec<u8>,
    /// The document's path within the package.
    pub path: Vec<u8>,
    /// Which part of it.
    pub range: FileRange,
}

impl FileRequest {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut message = builder();
        let mut root = message.init_root::<file_request::Builder<'_>>();
        root.set_package(&self.package);
        root.set_path(&self.path);
        match self.range {
            FileRange::Lines { first, count } => {
                let mut lines = root.init_lines();
                lines.set_first(first);
                lines.set_count(count);
            }
            FileRange::Bytes { offset, count } => {
                let mut bytes = root.init_bytes();
                bytes.set_offset(offset);
                bytes.set_count(count);
            }
        }
        finish(Kind::File, &message, out)
    }

    /// Reads a frame's payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Error> {
        let message = reader(payload)?;
        let root = message.get_root::<file_request::Reader<'_>>()?;
        let range = match root.which()? {
            file_request::Lines(lines) => FileRange::Lines {
                first: lines.get_first(),
                count: lines.get_count(),
            },
            file_request::Bytes(bytes) => FileRange::Bytes {
                offset: bytes.get_offset(),
                count: bytes.get_count(),
            },
        };
        Ok(FileRequest {
            package: root.get_package()?.to_vec(),
            path: root.get_path()?.to_vec(),
            range,
        })
    }
}
