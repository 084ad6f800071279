//! Entries of 32 bytes about documents with equal text, sorted and written like pointers.
//!
//! ```text
//! DocumentPointer, a frame of a document with matches
//!      0   64+32 bits  group: the document's text, mixed with the lines that match
//!     12          32   rank of its best match, as in a pointer
//!     16          64   hash of its name
//!     24          64   position of the frame; the lowest bit is set if the document began in another frame
//! FrameEntry, a frame of a document that has copies
//!      0          64   position of the frame
//!      8          64   number of its group, and in the lowest bit whether the document is folded
//! CopyGroup, documents with the same text
//!      0          64   number of its first DocumentPointer in the list
//!      8          64   number of documents
//! ```
//!
//! Sort keys are those of pointers: documents by group, rank and hash, frames by position.

use super::pointer::{FrameAt, Pointer, unpack_frame};

/// Prefix of a text's BLAKE3.
pub type TextHash = [u8; 12];

/// Group of documents with equal text and matching lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextGroup(u64, u32);

impl TextGroup {
    pub fn new(text: &TextHash, lines: u64) -> TextGroup {
        let [a, b, c, d, e, f, g, h, second @ ..] = *text;
        let first = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        TextGroup(first ^ lines, u32::from_le_bytes(second))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentPointer(pub Pointer);

impl DocumentPointer {
    /// `score` is that of the best match ([`Pointer::score`]), `hash` that of the name.
    pub fn new(
        TextGroup(first, second): TextGroup,
        score: u16,
        hash: u64,
        (stream, offset): FrameAt,
        is_first: bool,
    ) -> DocumentPointer {
        let frame = u64::from(stream) << 48 | offset | u64::from(!is_first);
        DocumentPointer(Pointer {
            key: [first, u64::from(second) << 32 | u64::from(score)],
            frame: hash,
            package: (frame >> 32) as u32,
            index: frame as u32,
        })
    }

    pub fn group(&self) -> TextGroup {
        TextGroup(self.0.key[0], (self.0.key[1] >> 32) as u32)
    }

    /// Order within a group: score of the best match, hash of the name.
    pub fn order(&self) -> (u32, u64) {
        (self.0.key[1] as u32, self.0.frame)
    }

    pub fn frame(&self) -> FrameAt {
        unpack_frame(self.packed() & !1)
    }

    /// True if the document begins in this frame.
    pub fn is_first(&self) -> bool {
        self.packed() & 1 == 0
    }

    fn packed(&self) -> u64 {
        u64::from(self.0.package) << 32 | u64::from(self.0.index)
    }

    /// Number shared by a group, and few others.
    pub fn scattered(&self) -> u64 {
        self.0.key[0]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameEntry(pub Pointer);

impl FrameEntry {
    pub fn new(frame: FrameAt, group: u64, is_folded: bool) -> FrameEntry {
        FrameEntry(entry([
            u64::from(frame.0) << 48 | frame.1,
            group << 1 | u64::from(is_folded),
        ]))
    }

    /// Position of the frame, packed as in a [`Pointer`].
    pub fn packed_frame(&self) -> u64 {
        self.0.key[0]
    }

    pub(crate) fn group(&self) -> u64 {
        self.0.key[1] >> 1
    }

    pub fn is_folded(&self) -> bool {
        self.0.key[1] & 1 == 1
    }
}

/// Documents with equal text and matching lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyGroup {
    pub start: u64,
    /// Number of documents, at least two.
    pub documents: u64,
}

impl CopyGroup {
    pub(crate) fn of(entry: Pointer) -> CopyGroup {
        let [start, documents] = entry.key;
        CopyGroup { start, documents }
    }

    pub fn entry(self) -> Pointer {
        entry([self.start, self.documents])
    }
}

fn entry(key: [u64; 2]) -> Pointer {
    Pointer {
        key,
        frame: 0,
        package: 0,
        index: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_every_field() {
        let group = TextGroup::new(&[0xff; 12], 5);
        let frame = (u16::MAX, (1 << 48) - 8);
        for is_first in [true, false] {
            let document = DocumentPointer::new(group, 7, u64::MAX - 1, frame, is_first);
            assert_eq!(document.group(), group);
            assert_eq!(document.order(), (7, u64::MAX - 1));
            assert_eq!((document.frame(), document.is_first()), (frame, is_first));
        }
        let entry = FrameEntry::new(frame, 9, true);
        assert_eq!(unpack_frame(entry.packed_frame()), frame);
        assert_eq!((entry.group(), entry.is_folded()), (9, true));
    }
}
