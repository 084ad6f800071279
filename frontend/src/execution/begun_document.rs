//! A document with matches still arriving, and the data that its copies share.

use crate::execution::collector::Collector;
use results::order::{DocumentPointer, FrameAt, Origin, Pointer, TextGroup, TextHash};

/// Remembered frames of a document: 512 KiB. A document with more is never folded.
const FRAMES_LEN_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct BegunDocument {
    pub(crate) document: u32,
    pub(crate) first: u64,
    /// Hash of its text; `None` if it must not be folded.
    text: Option<TextHash>,
    path_hash: u64,
    lines: u64,
    /// Best score, encoded as in pointers.
    score: u16,
    frames: Vec<u64>,
}

impl BegunDocument {
    /// `text` is the hash of its text; empty to prevent folding.
    pub(crate) fn new(document: u32, origin: &Origin, text: &[u8]) -> BegunDocument {
        BegunDocument {
            document,
            first: origin.offset,
            text: text.first_chunk().copied(),
            path_hash: origin.hash,
            lines: 0,
            score: u16::MAX,
            frames: Vec::new(),
        }
    }

    pub(crate) fn continue_at(&mut self, offset: u64) {
        if self.frames.len() < FRAMES_LEN_MAX {
            self.frames.push(offset);
        } else {
            self.text = None;
        }
    }

    pub(crate) fn add(&mut self, pointer: &Pointer, line: u32) {
        self.score = self.score.min(pointer.score());
        self.lines =
            (self.lines.rotate_left(5) ^ u64::from(line)).wrapping_mul(0x517c_c1b7_2722_0a95);
        if line == 0 {
            // The name matches, which copies do not share.
            self.text = None;
        }
    }

    pub(crate) fn text(&self) -> Option<TextHash> {
        self.text
    }

    pub(crate) fn finish(self, backend: u16, collector: &mut Collector) {
        let Some(text) = self.text else {
            return;
        };
        let group = TextGroup::new(&text, self.lines);
        let mut push = |frame: FrameAt, is_first| {
            let document = DocumentPointer::new(group, self.score, self.path_hash, frame, is_first);
            collector.push_document(document);
        };
        push((backend, self.first), true);
        self.frames
            .iter()
            .for_each(|&offset| push((backend, offset), false));
    }
}
