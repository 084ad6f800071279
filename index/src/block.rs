//! Cuts a document's text into blocks of whole lines.
//!
//! A block takes lines while they fit into the target size. A line that is longer than that is a
//! block of its own.
//! **Invariant:** every byte of the text is in exactly one block, and a block ends behind a `\n` or
//! at the end of the document. So a pattern that cannot match across lines matches inside one block.

use std::ops::RangeInclusive;

/// The default size of a block in bytes; `scripts/bench index` compares sizes.
pub const BLOCK_BYTES: usize = 4096;

/// Useful sizes. With smaller blocks the table of blocks outgrows the text; with larger ones a
/// candidate block narrows a document down too little.
pub const BLOCK_BYTES_RANGE: RangeInclusive<usize> = 256..=1 << 20;

/// Where the block that begins `text` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// At this offset.
    At(usize),
    /// Undecided: more text must follow.
    Open,
    /// Inside a line that is a block of its own: the block ends at the next line end.
    OpenLine,
}

/// Returns the end of the block that begins `text`; more text may follow.
pub(crate) fn cut(text: &[u8], block_bytes: usize) -> Cut {
    if text.len() <= block_bytes {
        return Cut::Open;
    }
    match memchr::memrchr(b'\n', &text[..block_bytes]) {
        Some(end) => Cut::At(end + 1),
        None => {
            cut_line(&text[block_bytes..]).map_or(Cut::OpenLine, |end| Cut::At(block_bytes + end))
        }
    }
}

/// Returns the end of a block that is one line.
pub(crate) fn cut_line(text: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', text).map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines() {
        assert_eq!(cut(b"ab\ncd\nef\n", 7), Cut::At(6));
        assert_eq!(
            cut(b"ab\ncd\n", 6),
            Cut::Open,
            "the document may end here or go on"
        );
        assert_eq!(cut(b"ab\ncd\ne", 6), Cut::At(6));
        assert_eq!(cut(b"abcdefgh", 4), Cut::OpenLine);
        assert_eq!(cut(b"abcdefgh\ni", 4), Cut::At(9));
        assert_eq!(cut(b"abc\nefgh\ni", 4), Cut::At(4));
    }
}
