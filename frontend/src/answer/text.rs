//! All matches of an answer as text, straight from their frames.
//!
//! Text is what an export of millions of matches is made of, so it does not go through
//! [`Match`](crate::render::Match): a chunk of the order is one buffer, filled frame by frame, and
//! read in order. Chunks are made side by side and handed out one after the other.

use super::{Answer, frames_of};
use crate::rank::Pointer;
use crate::spool::{FrameBuffer, RunSpool, SpoolError};
use schema::message::{BatchReader, BatchView, LineView};
use std::sync::mpsc;
use std::thread;

/// Memory of a chunk, about; as many chunks as threads are made at once, and as many wait.
const CHUNK_BYTES: usize = 4 << 20;

/// What a match's text has beside its line, about: names and numbers.
const NAMES_BYTES: usize = 64;

/// Matches in a chunk, at least.
const CHUNK_LEN_MIN: usize = 1000;

/// Threads that make chunks. More do not make the writing of their output faster.
const THREADS_MAX: usize = 4;

/// A match as `package/path:line:text` and a line end, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Its place in the order.
    pub index: usize,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether the whole line is in `bytes`; a long line is there in part.
    pub whole: bool,
}

/// Texts of a range of the order.
struct Chunk {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    start: u32,
    end: u32,
    whole: bool,
}

/// Calls `each` with every match of `answer`, in order. Ends early with an error of the spool, or
/// of `each`.
pub(super) fn for_each<E: From<SpoolError>>(
    answer: &Answer,
    mut each: impl FnMut(Text<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let chunk_len = chunk_len(answer);
    let chunks = answer.len().div_ceil(chunk_len);
    let range = |chunk: usize| chunk * chunk_len..answer.len().min((chunk + 1) * chunk_len);
    let threads = match chunks {
        // Asking for the processors reads four files.
        0 | 1 => chunks,
        _ => thread::available_parallelism()
            .map_or(1, |count| count.get())
            .min(THREADS_MAX)
            .min(chunks),
    };
    if threads < 2 {
        return (0..chunks).try_for_each(|chunk| {
            let texts = Chunk::read(&answer.spool, &answer.pointers[range(chunk)])?;
            texts.for_each(range(chunk).start, &mut each)
        });
    }
    thread::scope(|scope| {
        let made: Vec<mpsc::Receiver<_>> = (0..threads)
            .map(|thread| {
                let (sender, receiver) = mpsc::sync_channel(1);
                scope.spawn(move || {
                    (thread..chunks).step_by(threads).try_for_each(|chunk| {
                        let pointers = &answer.pointers[range(chunk)];
                        // Fails when nobody wants more.
                        sender.send(Chunk::read(&answer.spool, pointers))
                    })
                });
                receiver
            })
            .collect();
        (0..chunks).try_for_each(|chunk| {
            let texts = made[chunk % threads].recv();
            let texts = texts.expect("a thread makes all its chunks, or panics with its scope")?;
            texts.for_each(range(chunk).start, &mut each)
        })
    })
}

/// The order jumps from frame to frame, so larger chunks read each frame less often.
fn chunk_len(answer: &Answer) -> usize {
    let spooled = answer.spool.bytes() as usize / answer.len().max(1);
    (CHUNK_BYTES / (NAMES_BYTES + spooled)).max(CHUNK_LEN_MIN)
}

impl Chunk {
    fn read(spool: &RunSpool, pointers: &[Pointer]) -> Result<Chunk, SpoolError> {
        let mut chunk = Chunk {
            bytes: Vec::new(),
            slots: vec![Slot::default(); pointers.len()],
        };
        let mut buffer = FrameBuffer::default();
        let order = frames_of(pointers);
        for group in order.chunk_by(|&a, &b| pointers[a].frame() == pointers[b].frame()) {
            let place = pointers[group[0]].frame();
            let corrupt = || spool.corrupt(place);
            let frame = spool.read(place, &mut buffer)?;
            let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
            let view = batch.view().map_err(|_| corrupt())?;
            chunk.add(&view, group, pointers).ok_or_else(corrupt)?;
        }
        Ok(chunk)
    }

    /// Adds the matches `group`, which are of this batch and ascend by line; `None` when the batch
    /// has no such lines.
    fn add(&mut self, batch: &BatchView<'_>, group: &[usize], pointers: &[Pointer]) -> Option<()> {
        let mut lines = (0_u32..).zip(batch.lines());
        for &at in group {
            let wanted = pointers[at].index();
            let (_, line) = lines.find(|(index, _)| *index == wanted)?;
            self.slots[at] = self.push(batch, &line)?;
        }
        Some(())
    }

    fn push(&mut self, batch: &BatchView<'_>, line: &LineView<'_>) -> Option<Slot> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(batch.package);
        self.bytes.push(b'/');
        self.bytes.extend_from_slice(batch.path);
        self.bytes.push(b':');
        push_number(line.number, &mut self.bytes);
        self.bytes.push(b':');
        self.bytes.extend_from_slice(line.text);
        self.bytes.push(b'\n');
        let end = u32::try_from(self.bytes.len()).ok()?;
        let whole = line.text.len() as u64 == line.line_bytes;
        Some(Slot { start, end, whole })
    }

    fn for_each<E>(
        &self,
        first: usize,
        each: &mut impl FnMut(Text<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.slots
            .iter()
            .enumerate()
            .try_for_each(|(index, &Slot { start, end, whole })| {
                let bytes = &self.bytes[start as usize..end as usize];
                let index = first + index;
                each(Text {
                    index,
                    bytes,
                    whole,
                })
            })
    }
}

/// Appends a number in decimal digits.
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
