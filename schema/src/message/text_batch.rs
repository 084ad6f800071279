//! The TEXT frame: matches of one document as text, in place of BATCH.
//!
//! Plain lines need no ranges or offsets: lines adjacent in the total order are one *run*, so a
//! line costs 4 bytes besides its text.
//!
//! **Invariant:** [`TextReader::view`] checks every length against the data, and that runs have as
//! many lines as there are numbers.

use super::batch::rank;
use super::codec::{MessageError, Segments, builder_of, finish, length, reader};
use super::record::{encode_records, read_from, record};
use crate::frame::Kind;
use crate::trawl_capnp::{text_batch, text_run};
use capnp::message::Reader;
use capnp::traits::HasStructSize;
use capnp::{primitive_list, struct_list};

record! {
    /// Adjacent lines in the total order.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TextRun: text_run {
        /// Rank of the first line; 0 if unranked.
        pub rank: f32 = [get_rank, set_rank],
        pub number: u32 = [get_number, set_number],
        pub lines: u32 = [get_lines, set_lines],
        pub text_bytes: u32 = [get_text_bytes, set_text_bytes],
    }
}

#[derive(Clone, Copy, Debug)]
pub struct TextBatch<'a> {
    /// Index in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    pub document: u32,
    pub package: &'a [u8],
    pub path: &'a [u8],
    pub hash: &'a [u8],
    /// True in revisions of a repository.
    pub is_revision: bool,
    /// Ascending.
    pub numbers: &'a [u32],
    /// In text order.
    pub runs: &'a [TextRun],
    /// Text of all runs, in parts. A line is package, "/", path, ":", number, ":", line and "\n".
    pub text: TextParts<'a>,
}

/// Ranges of a buffer, in any order.
#[derive(Clone, Copy, Debug)]
pub struct TextParts<'a> {
    pub buffer: &'a [u8],
    /// Start and end of each part.
    pub parts: &'a [(u32, u32)],
}

impl TextParts<'_> {
    fn len(&self) -> usize {
        let lengths = self.parts.iter().map(|(start, end)| end - start);
        lengths.map(|length| length as usize).sum()
    }

    fn copy_to(&self, mut to: &mut [u8]) {
        for &(start, end) in self.parts {
            let part = &self.buffer[start as usize..end as usize];
            let (place, rest) = to.split_at_mut(part.len());
            place.copy_from_slice(part);
            to = rest;
        }
    }
}

impl TextBatch<'_> {
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let text_bytes = self.text.len();
        let mut message = builder_of(self.words(text_bytes));
        let mut root = message.init_root::<text_batch::Builder<'_>>();
        root.set_shard(self.shard);
        root.set_document(self.document);
        root.set_package(self.package);
        root.set_path(self.path);
        root.set_hash(self.hash);
        root.set_is_revision(self.is_revision);
        self.text
            .copy_to(root.reborrow().init_text(length(text_bytes)));
        root.set_numbers(self.numbers)?;
        encode_records!(root.init_runs, self.runs);
        finish(Kind::Text, &message, out)
    }

    fn words(&self, text_bytes: usize) -> usize {
        let root = 1 + text_batch::Builder::STRUCT_SIZE.total() as usize;
        let names = [self.package, self.path, self.hash];
        let names: usize = names.iter().map(|name| name.len().div_ceil(8)).sum();
        let runs = 1 + self.runs.len() * text_run::Builder::STRUCT_SIZE.total() as usize;
        root + names + text_bytes.div_ceil(8) + self.numbers.len().div_ceil(2) + runs
    }
}

/// Payload of a TEXT frame; [`view`](Self::view) reads it in place.
pub struct TextReader<'a> {
    message: Reader<Segments<'a>>,
}

impl<'a> TextReader<'a> {
    /// Wraps a payload, aligned to 8 bytes.
    pub fn new(payload: &'a [u8]) -> Result<Self, MessageError> {
        Ok(TextReader {
            message: reader(payload)?,
        })
    }

    /// Checks every length and returns the content.
    pub fn view(&self) -> Result<TextView<'_>, MessageError> {
        let mut view = self.view_again()?;
        view.best_rank = view.check()?;
        Ok(view)
    }

    /// Content of a message that was checked.
    pub fn view_again(&self) -> Result<TextView<'_>, MessageError> {
        let root = self.message.get_root::<text_batch::Reader<'_>>()?;
        Ok(TextView {
            shard: root.get_shard(),
            document: root.get_document(),
            package: root.get_package()?,
            path: root.get_path()?,
            hash: root.get_hash()?,
            is_revision: root.get_is_revision(),
            text: root.get_text()?,
            numbers: root.get_numbers()?,
            runs: root.get_runs()?,
            best_rank: f32::INFINITY,
        })
    }
}

/// Text batch, borrowed from its frame.
#[derive(Clone, Copy)]
pub struct TextView<'a> {
    /// Index in [`Search::shards`](super::Search::shards).
    pub shard: u32,
    pub document: u32,
    pub package: &'a [u8],
    pub path: &'a [u8],
    pub hash: &'a [u8],
    /// True in revisions of a repository.
    pub is_revision: bool,
    pub text: &'a [u8],
    /// Highest rank of a run; infinite if unchecked.
    pub best_rank: f32,
    numbers: primitive_list::Reader<'a, u32>,
    runs: struct_list::Reader<'a, text_run::Owned>,
}

impl<'a> TextView<'a> {
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.numbers.iter()
    }

    /// First and last line number, if any.
    pub fn first_and_last(&self) -> Option<(u32, u32)> {
        let last = self.numbers.len().checked_sub(1)?;
        Some((self.numbers.get(0), self.numbers.get(last)))
    }

    pub fn runs(&self) -> impl Iterator<Item = TextRun> + use<'a> {
        self.runs.iter().map(|run| TextRun {
            rank: run.get_rank(),
            number: run.get_number(),
            lines: run.get_lines(),
            text_bytes: run.get_text_bytes(),
        })
    }

    /// Checks that numbers ascend, ranks are numbers, and runs use up lines and text. Returns the
    /// highest rank.
    fn check(&self) -> Result<f32, MessageError> {
        let mut last = 0;
        for number in self.numbers() {
            if number <= last {
                return Err(MessageError::Impossible("line number"));
            }
            last = number;
        }
        let (mut lines, mut text) = (0_u64, 0_u64);
        let mut best_rank = f32::NEG_INFINITY;
        for run in self.runs() {
            best_rank = best_rank.max(rank(run.rank)?);
            if run.lines == 0 || run.number == 0 {
                return Err(MessageError::Impossible("run of lines"));
            }
            lines += u64::from(run.lines);
            text += u64::from(run.text_bytes);
            let last = usize::try_from(text)
                .ok()
                .and_then(|end| end.checked_sub(1));
            if run.text_bytes == 0 || last.and_then(|at| self.text.get(at)) != Some(&b'\n') {
                return Err(MessageError::Impossible("end of a run of lines"));
            }
        }
        if lines != u64::from(self.numbers.len()) || text != self.text.len() as u64 {
            return Err(MessageError::Impossible("number of lines or bytes"));
        }
        Ok(best_rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;

    fn batch<'a>(numbers: &'a [u32], runs: &'a [TextRun]) -> TextBatch<'a> {
        TextBatch {
            shard: 3,
            document: 7,
            package: b"p",
            path: b"a.c",
            hash: &[5; 32],
            is_revision: true,
            numbers,
            runs,
            text: TextParts {
                buffer: b"p/a.c:2:x\np/a.c:9:y\n",
                parts: &[(10, 20), (0, 10)],
            },
        }
    }

    const RUNS: [TextRun; 2] = [
        TextRun {
            rank: 1.5,
            number: 9,
            lines: 1,
            text_bytes: 10,
        },
        TextRun {
            rank: 1.25,
            number: 2,
            lines: 1,
            text_bytes: 10,
        },
    ];

    fn view(batch: &TextBatch<'_>, check: impl FnOnce(Result<TextView<'_>, MessageError>)) {
        let mut out = Vec::new();
        batch.encode(&mut out).unwrap();
        let mut words = vec![0_u64; out.len() / 8];
        zerocopy::IntoBytes::as_mut_bytes(&mut words[..]).copy_from_slice(&out);
        let frame = frame::decode(zerocopy::IntoBytes::as_bytes(&words[..]));
        let frame = frame.unwrap().unwrap();
        assert_eq!((frame.kind, frame.bytes), (Kind::Text, out.len()));
        check(TextReader::new(frame.payload).unwrap().view());
    }

    #[test]
    fn what_is_encoded_is_read() {
        view(&batch(&[2, 9], &RUNS), |view| {
            let view = view.unwrap();
            assert_eq!((view.shard, view.document), (3, 7));
            assert_eq!((view.package, view.path), (&b"p"[..], &b"a.c"[..]));
            assert!(view.is_revision && view.hash == [5; 32]);
            assert_eq!(view.text, b"p/a.c:9:y\np/a.c:2:x\n");
            assert!(view.numbers().eq([2, 9]) && view.runs().eq(RUNS));
            assert_eq!(view.first_and_last(), Some((2, 9)));
        });
    }

    #[test]
    fn contradictions_are_refused() {
        let of = |change: fn(&mut TextRun)| {
            let mut runs = RUNS;
            change(&mut runs[0]);
            runs
        };
        for (numbers, runs) in [
            (&[9, 2][..], RUNS),
            (&[0, 2], RUNS),
            (&[2, 5, 9], RUNS),
            (&[2], RUNS),
            (&[2, 9], of(|run| run.text_bytes = 11)),
            (&[2, 9], of(|run| run.lines = 0)),
            (&[2, 9], of(|run| run.number = 0)),
            (&[2, 9], of(|run| run.lines = u32::MAX)),
            (&[2, 9], of(|run| run.text_bytes = 0)),
            (&[2, 9], of(|run| run.text_bytes = 9)),
        ] {
            view(&batch(numbers, &runs), |view| assert!(view.is_err()));
        }
    }
}
