//! Documents encoded once and sent repeatedly with new numbers and paths.

use crate::Options;
use schema::frame::HEADER_BYTES;
use schema::message::{Batch, DocumentKind, Line, Range};

/// Documents of 5 KB fit in a processor's cache.
pub(crate) const RING_DOCUMENTS: u32 = 128;

const LINE_STEP: u32 = 3;

/// Marks that occur once in an encoded document.
const NUMBER_MARK: u32 = 0x5a5a_5a5a;
const PATH_MARK: &str = "@@@@@@@@";

pub(crate) fn number(line: u32) -> u32 {
    1 + LINE_STEP * line
}

pub(crate) struct Ring {
    options: Options,
    seed: u64,
    documents: Vec<Option<Document>>,
}

/// BATCH payload, with the offsets of number and path.
struct Document {
    lines: u32,
    payload: Vec<u8>,
    number_at: usize,
    path_at: usize,
}

impl Ring {
    pub(crate) fn new(options: &Options, seed: u64) -> Ring {
        Ring {
            options: options.clone(),
            seed,
            documents: (0..RING_DOCUMENTS).map(|_| None).collect(),
        }
    }

    pub(crate) fn document(&mut self, number: u32, lines: u32) -> &[u8] {
        let index = number % RING_DOCUMENTS;
        let slot = &mut self.documents[index as usize];
        let document = match slot.take().filter(|document| document.lines == lines) {
            Some(document) => document,
            None => Document::new(&self.options, self.seed, index, lines),
        };
        slot.insert(document).numbered(number)
    }
}

impl Document {
    fn new(options: &Options, seed: u64, index: u32, lines: u32) -> Document {
        let mut random = Random(seed << 16 | u64::from(options.shard) << 8 | u64::from(index));
        let mut text = Vec::new();
        let line = |line: u32| {
            text_line(number(line), options.line_bytes, &mut random, &mut text);
            Line {
                number: number(line),
                rank: 1.0 + (random.next() >> 40) as f32 / (1 << 24) as f32,
                offset: u64::from(line) * (options.line_bytes as u64 + 1),
                text_bytes: options.line_bytes as u32,
                ranges: 1,
            }
        };
        let lines: Vec<Line> = (0..lines).map(line).collect();
        let ranges = vec![Range { start: 0, end: 4 }; lines.len()];
        let package = format!("package{}-{index}_1.0", options.shard);
        let path = format!("src/lib/{PATH_MARK}.c");
        let batch = Batch {
            shard: 0,
            document: NUMBER_MARK,
            package: package.as_bytes(),
            path: path.as_bytes(),
            language: "C",
            kind: DocumentKind::Source,
            hash: &[0x80 | index as u8; 32],
            text: &text,
            lines: &lines,
            ranges: &ranges,
            windows: &[],
            spans: &[],
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        let mut frame = Vec::new();
        batch.encode(&mut frame).expect("a document fits a frame");
        let payload = frame.split_off(HEADER_BYTES);
        Document {
            lines: lines.len() as u32,
            number_at: only(&payload, &NUMBER_MARK.to_le_bytes()),
            path_at: only(&payload, PATH_MARK.as_bytes()),
            payload,
        }
    }

    fn numbered(&mut self, number: u32) -> &[u8] {
        self.payload[self.number_at..][..4].copy_from_slice(&number.to_le_bytes());
        let path = &mut self.payload[self.path_at..][..PATH_MARK.len()];
        path.iter_mut().rev().fold(number, |rest, digit| {
            *digit = b"0123456789"[(rest % 10) as usize];
            rest / 10
        });
        &self.payload
    }
}

/// Appends exactly `bytes` bytes: number, then letters.
fn text_line(number: u32, bytes: usize, random: &mut Random, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(format!("line {number} ").as_bytes());
    while text.len() < start + bytes {
        text.push(b'a' + (random.next() >> 32) as u8 % 26);
    }
    text.truncate(start + bytes);
}

/// Returns the position of `mark`.
///
/// # Panics
/// If it is missing or repeated.
fn only(payload: &[u8], mark: &[u8]) -> usize {
    let mut windows = payload.windows(mark.len());
    let at = windows.position(|window| window == mark);
    let again = windows.any(|window| window == mark);
    match (at, again) {
        (Some(at), false) => at,
        _ => panic!("the mark is missing or there twice"),
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
