//! What a frontend asks: SEARCH and FILE.

use super::{Error, builder, finish, length, reader, text};
use crate::frame::Kind;
use crate::trawl_capnp::{Want as CapnpWant, file_request, filter, pattern, search};

/// How a pattern's text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Every character stands for itself.
    #[default]
    Literal,
    /// The syntax of the `regex` crate, Unicode on; `^`, `$`, `\A` and `\z` match at lines.
    Regexp,
}

/// What is searched for in each line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The literal or the regular expression.
    pub text: String,
    /// How `text` is read.
    pub syntax: Syntax,
    /// Unicode simple case folding, as ripgrep's `-i`.
    pub ignore_case: bool,
}

/// Filters of a search, at most. Each may be a regular expression that a backend keeps compiled.
pub const FILTERS_MAX: usize = 32;

/// What of a document a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Its package's name, before the version.
    Package,
    /// Its path within the package.
    Path,
    /// Its language, by name; always [`Reading::Exact`], whatever the case.
    Language,
}

/// How a filter's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// A regular expression in the syntax of the `regex` crate, case sensitive, found anywhere.
    Regexp,
    /// The whole of it; of a package, the name of its directory too.
    Exact,
}

/// Says which documents are searched: those of which it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter {
    /// What it looks at.
    pub field: Field,
    /// How `text` is read.
    pub reading: Reading,
    /// It holds where it otherwise would not.
    pub negated: bool,
    /// The regular expression or the name.
    pub text: String,
}

/// What is wanted of what matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// Every matching line.
    #[default]
    Matches,
    /// Of every document with a match the first one.
    Documents,
    /// How many matches there are.
    Count,
}

/// The SEARCH frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What is searched for.
    pub pattern: Pattern,
    /// Which documents are searched: all must hold. At most [`FILTERS_MAX`].
    pub filters: Vec<Filter>,
    /// Lines sent before and after each match.
    pub context_lines: u32,
    /// Ids of the shards to search. An answer names a shard by its index here.
    pub shards: Vec<[u8; 32]>,
    /// What is wanted of what matches.
    pub want: Want,
    /// Only the best so many in the total order need be sent; 0: all.
    pub limit: u64,
    /// Milliseconds from when the request came until it ends with an ERROR; 0: never.
    pub deadline_ms: u32,
    /// It may cost what it costs; else one that costs much is not begun, and answered with an
    /// ERROR, [`FailureKind::Heavy`](super::FailureKind::Heavy).
    pub heavy: bool,
}

impl Search {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut message = builder();
        self.encode_to(message.init_root());
        finish(Kind::Search, &message, out)
    }

    pub(super) fn encode_to(&self, mut root: search::Builder<'_>) {
        let mut pattern = root.reborrow().init_query().init_pattern();
        pattern.set_text(&self.pattern.text[..]);
        pattern.set_syntax(match self.pattern.syntax {
            Syntax::Literal => pattern::Syntax::Literal,
            Syntax::Regexp => pattern::Syntax::Regexp,
        });
        pattern.set_ignore_case(self.pattern.ignore_case);
        root.set_context_lines(self.context_lines);
        root.set_want(match self.want {
            Want::Matches => CapnpWant::Matches,
            Want::Documents => CapnpWant::Documents,
            Want::Count => CapnpWant::Count,
        });
        root.set_limit(self.limit);
        root.set_deadline_ms(self.deadline_ms);
        root.set_heavy(self.heavy);
        let mut filters = root.reborrow().init_filters(length(self.filters.len()));
        for (index, filter) in (0..).zip(&self.filters) {
            filter.encode(filters.reborrow().get(index));
        }
        let mut shards = root.init_shards(length(self.shards.len()));
        for (index, id) in (0..).zip(&self.shards) {
            shards.set(index, id);
        }
    }

    /// Reads a frame's payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Error> {
        let message = reader(payload)?;
        Search::decode_from(message.get_root()?)
    }

    pub(super) fn decode_from(root: search::Reader<'_>) -> Result<Self, Error> {
        let pattern = root.get_query()?.get_pattern()?;
        let (filters, shards) = (root.get_filters()?, root.get_shards()?);
        if filters.len() as usize > FILTERS_MAX {
            return Err(Error::Impossible("number of filters"));
        }
        Ok(Search {
            pattern: Pattern {
                text: text(pattern.get_text()?)?,
                syntax: match pattern.get_syntax()? {
                    pattern::Syntax::Literal => Syntax::Literal,
                    pattern::Syntax::Regexp => Syntax::Regexp,
                },
                ignore_case: pattern.get_ignore_case(),
            },
            filters: filters
                .iter()
                .map(Filter::decode)
                .collect::<Result<_, _>>()?,
            context_lines: root.get_context_lines(),
            shards: shards
                .iter()
                .map(|id| shard_id(id?))
                .collect::<Result<_, _>>()?,
            want: match root.get_want()? {
                CapnpWant::Matches => Want::Matches,
                CapnpWant::Documents => Want::Documents,
                CapnpWant::Count => Want::Count,
            },
            limit: root.get_limit(),
            deadline_ms: root.get_deadline_ms(),
            heavy: root.get_heavy(),
        })
    }
}

impl Filter {
    fn encode(&self, mut to: filter::Builder<'_>) {
        to.set_field(match self.field {
            Field::Package => filter::Field::Package,
            Field::Path => filter::Field::Path,
            Field::Language => filter::Field::Language,
        });
        to.set_reading(match self.reading {
            Reading::Regexp => filter::Reading::Regexp,
            Reading::Exact => filter::Reading::Exact,
        });
        to.set_negated(self.negated);
        to.set_text(&self.text[..]);
    }

    fn decode(from: filter::Reader<'_>) -> Result<Self, Error> {
        Ok(Filter {
            field: match from.get_field()? {
                filter::Field::Package => Field::Package,
                filter::Field::Path => Field::Path,
                filter::Field::Language => Field::Language,
            },
            reading: match from.get_reading()? {
                filter::Reading::Regexp => Reading::Regexp,
                filter::Reading::Exact => Reading::Exact,
            },
            negated: from.get_negated(),
            text: text(from.get_text()?)?,
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
