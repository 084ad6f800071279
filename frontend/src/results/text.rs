//! Reads all matches as text, directly from their frames.
//!
//! Exports of millions of matches use it, so it does not go through [`Match`](super::matches::Match): a
//! chunk of the order is one buffer, filled in the order of the spool, then rearranged. Threads make
//! chunks in parallel; the caller gets them in order.

use super::SearchResult;
use super::search_result::{LinePosition, in_spool_order};
use crate::order::Pointer;
use crate::spool::{ResultFiles, SpoolError};
use schema::message::{BatchView, LineView};
use std::sync::mpsc;
use std::thread;

/// Memory of one chunk, approximately. Each thread makes one, and the caller has one. Each chunk touches
/// nearly all frames: 387,349 matches in chunks of 4, 16 and 32 MiB took 107, 80 and 80 ms of CPU.
const CHUNK_BYTES: usize = 16 << 20;

/// Bytes of names and numbers in a match's text, approximately.
const NAMES_BYTES: usize = 64;

/// The minimum number of matches in a chunk.
const CHUNK_LEN_MIN: usize = 1000;

/// Threads that make chunks. More do not help: writing the output is slower.
const THREADS_MAX: usize = 4;

/// A match as [`Match::write_text`](super::matches::Match::write_text) has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchText<'a> {
    /// Its position in the order.
    pub index: usize,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether `bytes` has the whole line; a long line is cut.
    pub whole: bool,
}

/// The texts of a range of the order.
#[derive(Debug)]
pub struct MatchTexts {
    first: usize,
    bytes: Vec<u8>,
    ends: Vec<End>,
    /// Bytes and number of the texts that were taken.
    taken: usize,
    taken_len: usize,
}

/// Where a text ends, and whether it is whole.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u32,
    whole: bool,
}

impl MatchTexts {
    /// Iterates over the texts.
    pub fn iter(&self) -> impl Iterator<Item = MatchText<'_>> {
        let mut start = 0;
        (self.first..).zip(&self.ends).map(move |(index, end)| {
            let bytes = &self.bytes[start..end.at as usize];
            start = end.at as usize;
            MatchText {
                index,
                bytes,
                whole: end.whole,
            }
        })
    }

    /// Splits off the first texts, as many as have about `bytes_max` together and at least one, and returns
    /// their bytes with the index of the next text; `None` if there are no more.
    pub fn take(&mut self, bytes_max: usize) -> Option<(Vec<u8>, usize)> {
        let fits = |end: &End| end.at as usize <= self.taken + bytes_max;
        let count = self.ends.partition_point(fits).max(self.taken_len + 1);
        let end = self.ends.get(count - 1)?.at as usize;
        let bytes = self.bytes[self.taken..end].to_vec();
        (self.taken, self.taken_len) = (end, count);
        Some((bytes, self.first + count))
    }
}

impl SearchResult {
    /// Reads matches from `first` on as text: as many as take about `memory_bytes_max` while they are read,
    /// and at least one; none after the last. Blocks on the disk.
    pub fn texts_from(
        &self,
        first: usize,
        memory_bytes_max: usize,
    ) -> Result<MatchTexts, SpoolError> {
        // The texts in the order of the spool, their copies in order, and pointers.
        let bytes_max = memory_bytes_max / 3;
        let mut window = (bytes_max / text_bytes(self)).clamp(1, self.len().max(1));
        let mut scratch = Scratch::default();
        loop {
            let end = self.len().min(first + window);
            let pointers = self.pointers(first.min(end)..end)?;
            let bytes_max = if pointers.len() > 1 {
                bytes_max
            } else {
                usize::MAX
            };
            if scratch.read(&self.spool, &pointers, bytes_max)? {
                return Ok(scratch.in_order(first));
            }
            window = pointers.len() / 2;
        }
    }

    /// Calls `each` with all matches as text, in order, some megabytes at a time. Blocks on the
    /// disk. The first error of `each` or of the spool ends it.
    pub fn for_each_text<E: From<SpoolError>>(
        &self,
        mut each: impl FnMut(MatchTexts) -> Result<(), E>,
    ) -> Result<(), E> {
        let least = self.len().div_ceil(chunk_len_max(self));
        let threads = match least {
            // Asking for the number of processors takes longer than a small result.
            0 | 1 => 1,
            _ => thread::available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX)),
        };
        // The same number of chunks for each thread.
        let chunk_len = self
            .len()
            .div_ceil(least.next_multiple_of(threads).max(1))
            .max(1);
        let chunks = self.len().div_ceil(chunk_len);
        let threads = threads.min(chunks);
        let read = |scratch: &mut Scratch, chunk: usize| {
            let first = chunk * chunk_len;
            let pointers = self.pointers(first..self.len().min(first + chunk_len))?;
            scratch.read(&self.spool, &pointers, usize::MAX)?;
            Ok(scratch.in_order(first))
        };
        if threads < 2 {
            let mut scratch = Scratch::default();
            return (0..chunks).try_for_each(|chunk| each(read(&mut scratch, chunk)?));
        }
        thread::scope(|scope| {
            let made: Vec<mpsc::Receiver<_>> = (0..threads)
                .map(|thread| {
                    let (sender, receiver) = mpsc::sync_channel(0);
                    scope.spawn(move || {
                        let mut scratch = Scratch::default();
                        let mut chunks = (thread..chunks).step_by(threads);
                        // Fails when the caller has stopped.
                        chunks.try_for_each(|chunk| sender.send(read(&mut scratch, chunk)))
                    });
                    receiver
                })
                .collect();
            (0..chunks).try_for_each(|chunk| {
                let texts = made[chunk % threads].recv();
                each(texts.expect("a thread makes all its chunks, or its panic ends the scope")?)
            })
        })
    }
}

/// The order jumps from frame to frame, so larger chunks read each frame less often.
fn chunk_len_max(answer: &SearchResult) -> usize {
    (CHUNK_BYTES / text_bytes(answer)).max(CHUNK_LEN_MIN)
}

/// The average length of a match's text, approximately.
fn text_bytes(answer: &SearchResult) -> usize {
    NAMES_BYTES + answer.spool.frame_bytes() as usize / answer.len().max(1)
}

/// The texts of a chunk, in the order of the spool. Reused for the next chunk: new memory from the
/// system costs more than the copy.
#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    /// The texts, in the order of the result.
    texts: Vec<TextRange>,
}

#[derive(Clone, Copy, Default)]
struct TextRange {
    start: u32,
    end: u32,
    whole: bool,
}

impl Scratch {
    /// Reads the texts; false, with a part of them, if they have more than `bytes_max`.
    fn read(
        &mut self,
        spool: &ResultFiles,
        pointers: &[Pointer],
        bytes_max: usize,
    ) -> Result<bool, SpoolError> {
        self.bytes.clear();
        self.texts.clear();
        self.texts.resize(pointers.len(), TextRange::default());
        let (mut reader, mut name) = (spool.reader(), Vec::new());
        let order = in_spool_order(pointers);
        for group in order.chunk_by(|a, b| a.frame() == b.frame()) {
            reader.batch(group[0].frame(), |batch| {
                name.clear();
                for part in [batch.package, b"/", batch.path] {
                    name.extend_from_slice(part);
                }
                self.add(batch, &name, group)
            })?;
            if self.bytes.len() > bytes_max {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the matches of a batch, which ascend by line; `None` if the batch lacks a line.
    fn add(&mut self, batch: &BatchView<'_>, name: &[u8], group: &[LinePosition]) -> Option<()> {
        let mut lines = (0_u32..).zip(batch.lines());
        for position in group {
            let (_, line) = lines.find(|(index, _)| *index == position.line_index())?;
            self.texts[position.pointer_index()] = self.push(name, &line)?;
        }
        Some(())
    }

    fn push(&mut self, name: &[u8], line: &LineView<'_>) -> Option<TextRange> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        match line.number {
            // A match of the name has no line.
            0 => self.push_line(name, b""),
            number if line.lines == 1 => self.push_numbered(name, number, line.text),
            first => {
                let lines = line.text.split(|&byte| byte == b'\n');
                let lines = (first..).zip(lines);
                lines.for_each(|(number, text)| self.push_numbered(name, number, text));
            }
        }
        let end = u32::try_from(self.bytes.len()).ok()?;
        let whole = line.text.len() as u64 == line.line_bytes;
        Some(TextRange { start, end, whole })
    }

    fn push_numbered(&mut self, name: &[u8], number: u32, text: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.bytes.push(b':');
        push_number(number, &mut self.bytes);
        self.push_line(b":", text);
    }

    fn push_line(&mut self, head: &[u8], text: &[u8]) {
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
    }

    /// Returns the texts in the order of the result. The first has index `first`.
    fn in_order(&self, first: usize) -> MatchTexts {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let end = |text: &TextRange| {
            bytes.extend_from_slice(&self.bytes[text.start as usize..text.end as usize]);
            End {
                at: bytes.len() as u32,
                whole: text.whole,
            }
        };
        let ends = self.texts.iter().map(end).collect();
        MatchTexts {
            first,
            bytes,
            ends,
            taken: 0,
            taken_len: 0,
        }
    }
}

/// Appends a number in decimal.
fn push_number(mut number: u32, out: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
